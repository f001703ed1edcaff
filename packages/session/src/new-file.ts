import { link, mkdir, open, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createId, ToolError } from "@toolhaft/core";

/**
 * Writes a file that must not exist yet: whole and synced under a name of its own, then linked to its place, so that no
 * reader ever sees half of it. Mode 0600.
 */
export async function writeNewFile(path: string, lines: AsyncIterable<string>): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const temporary = join(dirname(path), `.${createId()}.tmp`);
  const handle = await open(temporary, "wx", 0o600);
  try {
    try {
      for await (const line of lines) await handle.write(`${line}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await link(temporary, path);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") {
      throw new ToolError("conflict", `${path} exists already`, { hint: "call again", cause: error });
    }
    throw error;
  } finally {
    await unlink(temporary);
  }
}

import { execFile } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createContext } from "@toolhaft/core";
import { createWorkspace } from "@toolhaft/workspace";
import { createHashline } from "../src/hashline.ts";
import { createLineHasher } from "../src/line-hash.ts";
import type { HashlineReadData } from "../src/tools/read.ts";

/**
 * Bytes of memory that one call of 50 edits needs at its height over what the process held before. Runs in a process of
 * its own; `undefined` where the system does not tell a process its peak.
 */
export async function peakOfEdit(path: string): Promise<number | undefined> {
  if (process.platform !== "linux") return undefined;
  const self = fileURLToPath(import.meta.url);
  const argv = [...process.execArgv, "--expose-gc", self, path];
  const { stdout } = await promisify(execFile)(process.execPath, argv, { env: { ...process.env, HASHLINE_PEAK: "1" } });
  return Number(stdout);
}

function memory(field: "VmRSS" | "VmHWM"): number {
  const found = new RegExp(`${field}:\\s+(\\d+) kB`).exec(readFileSync("/proc/self/status", "utf8"));
  if (!found) throw new Error(`no ${field} in /proc/self/status`);
  return Number(found[1]) * 1024;
}

async function measure(source: string): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), "hashline-peak-"));
  try {
    const workspace = createWorkspace({ root: directory, lockDir: join(directory, "locks") });
    const hashline = createHashline({ workspace });
    const context = createContext({ directory });
    const hasher = await createLineHasher();
    const [read, edit] = hashline.tools;
    if (!read || !edit) throw new Error("no tools");
    // One window is read, for its version and width; the anchors are made from the text that is there already.
    const editLines = async (name: string, text: string, step: number) => {
      const result = await read.call({ filePath: name, limit: 1 }, context);
      if (!result.ok) throw new Error(result.text);
      const { version, hashWidth } = result.data as HashlineReadData;
      const lines = text.split("\n");
      const edits = Array.from({ length: 50 }, (_, index) => {
        const bytes = Buffer.from(lines[index * step] ?? "");
        const code = hasher.code(bytes, 0, bytes.length, hashWidth);
        return { pos: `${1 + index * step}#${code}`, lines: [`changed ${index}`] };
      });
      return { files: [{ filePath: name, version, edits }] };
    };
    const small = "line\n".repeat(2_500);
    writeFileSync(join(directory, "small"), small);
    await edit.call(await editLines("small", small, 50), context);
    copyFileSync(source, join(directory, "large"));
    const call = await editLines("large", readFileSync(source, "utf8"), 1_999);
    globalThis.gc?.();
    // Makes the kernel count the peak anew from here.
    writeFileSync("/proc/self/clear_refs", "5");
    const idle = memory("VmRSS");
    const result = await edit.call(call, context);
    if (!result.ok) throw new Error(result.text);
    const peak = memory("VmHWM");
    await hashline.close();
    await workspace.close();
    return peak - idle;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

if (process.env.HASHLINE_PEAK === "1" && process.argv[2]) {
  process.stdout.write(String(await measure(process.argv[2])));
}

import type { Stats } from "node:fs";
import { lstat, mkdir, open, readdir, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Spill } from "../middleware/result-cap.ts";
import { isErrno } from "./errno.ts";

export interface SpillOptions {
  /** All spilled texts together, in bytes. @default 64 MiB */
  maxBytes?: number;
  /** Older ones are removed. @default 7 */
  maxAgeDays?: number;
}

const dayMs = 86_400_000;

/**
 * Writes full texts to `<directory>/.toolhaft/spill/<callId>.txt`, readable by the user alone. What is too old or, oldest
 * first, too much is removed when the next one is written.
 */
export function spillTo(directory: string, options: SpillOptions = {}): Spill {
  const { maxBytes = 64 * 1024 * 1024, maxAgeDays = 7 } = options;
  return async (text, context) => {
    const bytes = new TextEncoder().encode(text);
    if (bytes.length > maxBytes)
      throw new RangeError(`it has ${bytes.length} bytes, over the ${maxBytes} that are kept`);
    const folder = await spillFolder(directory);
    await prune(folder, maxBytes - bytes.length, Date.now() - maxAgeDays * dayMs);
    const path = await writeNew(folder, fileName(context.callId), bytes);
    return {
      name: path.slice(folder.length + 1),
      mimeType: "text/plain; charset=utf-8",
      bytes: bytes.length,
      source: { kind: "file", path },
    };
  };
}

/** Both folders are real ones: a link that somebody put there would lead the text out of the workspace. */
async function spillFolder(directory: string): Promise<string> {
  const state = join(directory, ".toolhaft");
  await ownFolder(state);
  try {
    await writeFile(join(state, ".gitignore"), "*\n", { flag: "wx" });
  } catch (error) {
    if (!isErrno(error, "EEXIST")) throw error;
  }
  const folder = join(state, "spill");
  await ownFolder(folder);
  return folder;
}

async function ownFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700, recursive: false });
  } catch (error) {
    if (!isErrno(error, "EEXIST")) throw error;
  }
  const found = await lstat(path);
  if (!found.isDirectory()) throw new Error(`${path} is no folder`);
}

/** A host's call id may hold anything; what is no plain name is written as hex. */
function fileName(callId: string): string {
  if (/^[A-Za-z0-9_-]{1,100}$/.test(callId)) return callId;
  return `x${Buffer.from(callId, "utf8").toString("hex").slice(0, 100)}`;
}

async function writeNew(folder: string, name: string, bytes: Uint8Array): Promise<string> {
  for (let attempt = 1; ; attempt++) {
    const path = join(folder, `${name}${attempt === 1 ? "" : `-${attempt}`}.txt`);
    try {
      const file = await open(path, "wx", 0o600);
      try {
        await file.writeFile(bytes);
      } catch (error) {
        await file.close();
        await unlink(path);
        throw error;
      }
      await file.close();
      return path;
    } catch (error) {
      if (!isErrno(error, "EEXIST") || attempt === 1_000) throw error;
    }
  }
}

async function prune(folder: string, room: number, oldest: number): Promise<void> {
  const files: { path: string; size: number; time: number }[] = [];
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const found = await statOrGone(path);
    if (found?.isFile()) files.push({ path, size: found.size, time: found.mtimeMs });
  }
  files.sort((a, b) => b.time - a.time);
  let used = 0;
  for (const { path, size, time } of files) {
    used += size;
    if (time < oldest || used > room) await removeOrGone(path);
  }
}

async function statOrGone(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (error) {
    if (isErrno(error, "ENOENT")) return undefined;
    throw error;
  }
}

/** Another process may prune at the same time. */
async function removeOrGone(path: string): Promise<void> {
  try {
    await unlink(path);
  } catch (error) {
    if (!isErrno(error, "ENOENT")) throw error;
  }
}

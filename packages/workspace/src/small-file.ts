import type { FileSystem, OpenFile } from "./file-system.ts";
import { isAbsent, systemCode } from "./system-error.ts";

/** Writes all of it, however little the system takes at a time. */
export async function writeAll(file: OpenFile, bytes: Uint8Array, position = 0): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const written = await file.write(bytes.subarray(done), position + done);
    if (written <= 0) throw Object.assign(new Error("ENOSPC: the system takes no more bytes"), { code: "ENOSPC" });
    done += written;
  }
}

/** A new file with this text; fails with EEXIST where one is. A failed one is taken away again. */
export async function createFile(files: FileSystem, path: string, text: string, sync: boolean): Promise<void> {
  const file = await files.open(path, "create", 0o600);
  try {
    await closing(file, async () => {
      await writeAll(file, Buffer.from(text));
      if (sync) await file.sync();
    });
  } catch (error) {
    await removeFile(files, path);
    throw error;
  }
}

/** The text of a small file; `undefined` where none is. */
export async function readSmall(files: FileSystem, path: string): Promise<string | undefined> {
  let file: OpenFile;
  try {
    file = await files.open(path, "read");
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
  return closing(file, async () => {
    const parts: Buffer[] = [];
    for (let position = 0; ; ) {
      const buffer = Buffer.allocUnsafe(64 * 1024);
      const read = await file.read(buffer, position);
      if (read === 0) return Buffer.concat(parts).toString("utf8");
      parts.push(buffer.subarray(0, read));
      position += read;
    }
  });
}

/** Closes after use; a failure to close counts unless the use has failed already. */
export async function closing<T>(file: OpenFile, use: () => Promise<T>): Promise<T> {
  let result: T;
  try {
    result = await use();
  } catch (error) {
    await file.close().catch(() => undefined);
    throw error;
  }
  await file.close();
  return result;
}

/** Absent already is as good. Answers whether it was there. */
export async function removeFile(files: FileSystem, path: string): Promise<boolean> {
  return absentAs(false, async () => {
    await files.unlink(path);
    return true;
  });
}

/** The result, or `otherwise` where nothing is at the path. */
export async function absentAs<T, U>(otherwise: U, use: () => Promise<T>): Promise<T | U> {
  try {
    return await use();
  } catch (error) {
    if (isAbsent(error)) return otherwise;
    throw error;
  }
}

/** The names in a folder; none where there is no folder. */
export async function namesIn(files: FileSystem, path: string): Promise<readonly string[]> {
  try {
    return await files.readdir(path);
  } catch (error) {
    // A file in its place, or above it, is told where the folder is to be made.
    if (isAbsent(error) || systemCode(error) === "ENOTDIR") return [];
    throw error;
  }
}

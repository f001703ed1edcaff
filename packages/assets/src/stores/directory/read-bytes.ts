import { isUtf8 } from "node:buffer";
import { type BigIntStats, closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { codeOf } from "./disk.ts";
import { stampOf } from "./stamp.ts";

/** Largest defining file that is read, in bytes. */
export const mostFileBytes = 16 * 1024 * 1024;

export type ReadBytes =
  | { ok: true; bytes: Buffer; stat: BigIntStats }
  | { ok: false; reason: string; tooLarge?: number };

/** Reads a regular file of at most 16 MiB without following a link; a file that changes meanwhile is read again. */
export function readRegular(path: string, limit: number = mostFileBytes): ReadBytes {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const code = codeOf(error);
    return { ok: false, reason: code === "ELOOP" ? "it is a link" : `it cannot be opened (${code})` };
  }
  try {
    for (;;) {
      const before = fstatSync(file, { bigint: true });
      if (!before.isFile()) return { ok: false, reason: "it is not a regular file" };
      if (before.size > BigInt(limit)) {
        const size = Number(before.size);
        return { ok: false, reason: `it has ${size} bytes; the most is ${limit}`, tooLarge: size };
      }
      const bytes = readAll(file, Number(before.size));
      const after = fstatSync(file, { bigint: true });
      if (stampOf(before) === stampOf(after) && bytes.length === Number(after.size))
        return { ok: true, bytes, stat: after };
    }
  } catch (error) {
    return { ok: false, reason: `it cannot be read (${codeOf(error)})` };
  } finally {
    closeSync(file);
  }
}

function readAll(file: number, size: number): Buffer {
  const bytes = Buffer.allocUnsafe(size);
  let done = 0;
  while (done < size) {
    const read = readSync(file, bytes, done, size - done, done);
    if (read === 0) break;
    done += read;
  }
  return bytes.subarray(0, done);
}

/** Why bytes are no text; undefined when they are. */
export function notTextReason(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return "binary: it holds a NUL byte";
  return isUtf8(bytes) ? undefined : "not UTF-8";
}

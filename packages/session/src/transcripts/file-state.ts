import { createHash } from "node:crypto";
import { closeSync, openSync, readSync, statSync } from "node:fs";

/** Bytes hashed at the start of a file and before the place the index has reached. */
const sampleBytes = 4096;
/** Bytes at the end of a file that are looked at for its last time. */
const tailBytes = 16 * 1024;

export interface FileStat {
  dev: string;
  ino: string;
  size: number;
  mtimeNs: string;
}

/** What the index knows of a file. */
export interface KnownFile extends FileStat {
  offset: number;
  headHash: string;
  tailHash: string;
  packed: boolean;
}

export type Freshness = "unchanged" | "grown" | "replaced";

/**
 * Undefined when the file has gone, or is none (a folder or pipe of that name). Synchronous: a freshness check looks at
 * thousands of files, and a turn of the event loop for each would cost more than the looks.
 */
export function statFile(path: string): FileStat | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (found === undefined || !found.isFile()) return undefined;
  return {
    dev: String(found.dev),
    ino: String(found.ino),
    size: Number(found.size),
    mtimeNs: String(found.mtimeNs),
  };
}

export function mtimeOf({ mtimeNs }: FileStat): string {
  return new Date(Number(BigInt(mtimeNs) / 1_000_000n)).toISOString();
}

/** The last time that the end of a transcript tells; its own time where there is none, or the end is packed. */
export function lastTimeOf({ path, packed }: { path: string; packed: boolean }, stat: FileStat): string {
  if (packed) return mtimeOf(stat);
  const file = openSync(path, "r");
  try {
    const buffer = Buffer.alloc(Math.min(tailBytes, stat.size));
    const bytesRead = readSync(file, buffer, 0, buffer.length, stat.size - buffer.length);
    const last = [...buffer.toString("latin1", 0, bytesRead).matchAll(/"timestamp":\s?"([^"\\]{10,40})"/g)].at(-1);
    const time = Date.parse(last?.[1] ?? "");
    return Number.isNaN(time) ? mtimeOf(stat) : new Date(time).toISOString();
  } finally {
    closeSync(file);
  }
}

/**
 * Hosts only append. A file that grew and still holds what was read is read on; anything else is read again from its
 * start. An edit in the middle together with growth is not noticed.
 */
export function freshness(path: string, known: KnownFile, now: FileStat): Freshness {
  const same = known.dev === now.dev && known.ino === now.ino;
  if (same && known.size === now.size && known.mtimeNs === now.mtimeNs) return "unchanged";
  if (known.packed || !same || now.size < known.size || now.size === known.size) return "replaced";
  const hashes = hashesAt(path, known.offset);
  return hashes.head === known.headHash && hashes.tail === known.tailHash ? "grown" : "replaced";
}

/** Hashes of the first 4 KiB and of the 4 KiB before `offset`; shorter where the read part is shorter. */
export function hashesAt(path: string, offset: number): { head: string; tail: string } {
  const file = openSync(path, "r");
  try {
    const length = Math.min(sampleBytes, offset);
    const head = hash(file, 0, length);
    return { head, tail: offset === length ? head : hash(file, offset - length, length) };
  } finally {
    closeSync(file);
  }
}

function hash(file: number, position: number, length: number): string {
  const buffer = Buffer.alloc(length);
  const bytesRead = readSync(file, buffer, 0, length, position);
  return createHash("sha256").update(buffer.subarray(0, bytesRead)).digest("hex").slice(0, 32);
}

import { closeSync, openSync, readSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { StringCutter } from "./string-cutter.ts";

const newline = 0x0a;
const carriageReturn = 0x0d;
const firstChunkBytes = 64 * 1024;
export const chunkBytes = 1024 * 1024;

/** A file by its path, or anything that gives its bytes from an offset on (a packed file, a test). */
export type LineSource = string | { chunks(from: number, signal: AbortSignal): AsyncIterable<Uint8Array> };

/** One line of a transcript, without its terminator. The bytes are valid until the next line is asked for. */
export interface Line {
  /** The line's bytes; for an oversize line the same JSON with its long strings cut, or empty when even that is too long. */
  bytes: Uint8Array;
  /** Where the line starts in the file, in bytes. */
  offset: number;
  /** 1-based, counted from `from`. */
  number: number;
  /** Length in the file without the terminator, in bytes. */
  length: number;
  /** Where the next line starts. */
  next: number;
  /** Longer than `maxLineBytes`: never held in memory as a whole. */
  oversize: boolean;
  /** Ends with a newline; false only for an unfinished last line. */
  terminated: boolean;
}

/**
 * Reads lines as bytes in chunks of up to 1 MiB, split on 0x0A; a trailing 0x0D goes. Memory stays within two chunks
 * and `maxLineBytes`, whatever the file holds.
 *
 * @param from byte offset of a line's start
 * @throws the file system's error, or the signal's reason
 */
export async function* readLines(
  source: LineSource,
  from: number,
  options: { maxLineBytes: number; signal: AbortSignal },
): AsyncIterable<Line> {
  const pending = new PendingLine(options.maxLineBytes);
  let offset = from;
  let number = 1;
  const take = (terminated: boolean): Line => {
    const next = offset + pending.raw + (terminated ? 1 : 0);
    const line = { ...pending.take(), offset, next, number, terminated };
    number += 1;
    offset = next;
    return line;
  };
  for await (const chunk of chunksOf(source, from, options.signal)) {
    let start = 0;
    while (start < chunk.length) {
      const end = chunk.indexOf(newline, start);
      if (end === -1) {
        pending.push(chunk.subarray(start));
        break;
      }
      pending.push(chunk.subarray(start, end));
      yield take(true);
      start = end + 1;
    }
  }
  if (pending.raw > 0) yield take(false);
}

/** Bytes from an offset on, in chunks of up to 1 MiB; each is a buffer of its own. */
export async function* chunksOf(source: LineSource, from: number, signal: AbortSignal): AsyncIterable<Uint8Array> {
  if (typeof source !== "string") {
    yield* source.chunks(from, signal);
    return;
  }
  // Synchronous, with a turn of the event loop between chunks: most transcripts are one small chunk, and the thread pool's
  // round trips would cost more than their bytes.
  const file = openSync(source, "r");
  try {
    let position = from;
    for (;;) {
      signal.throwIfAborted();
      // A new buffer for each chunk: a line may point into it while the next one is read.
      const buffer = Buffer.allocUnsafeSlow(position === from ? firstChunkBytes : chunkBytes);
      const bytesRead = readSync(file, buffer, 0, buffer.length, position);
      if (bytesRead > 0) yield buffer.subarray(0, bytesRead);
      if (bytesRead < buffer.length) return;
      position += bytesRead;
      await setImmediate();
    }
  } finally {
    closeSync(file);
  }
}

/** Collects the pieces of one line; past the limit only the JSON with its strings cut is kept. */
class PendingLine {
  raw = 0;
  #pieces: Uint8Array[] = [];
  #cutter: StringCutter | undefined;
  #endsWithCarriageReturn = false;
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  push(piece: Uint8Array): void {
    if (piece.length === 0) return;
    this.raw += piece.length;
    this.#endsWithCarriageReturn = piece[piece.length - 1] === carriageReturn;
    if (this.#cutter === undefined && this.raw <= this.#limit) {
      this.#pieces.push(piece);
      return;
    }
    if (this.#cutter === undefined) {
      this.#cutter = new StringCutter();
      for (const earlier of this.#pieces) this.#cutter.push(earlier);
      this.#pieces = [];
    }
    this.#cutter.push(piece);
  }

  take(): { bytes: Uint8Array; length: number; oversize: boolean } {
    const oversize = this.#cutter !== undefined;
    const all = this.#cutter?.end() ?? joined(this.#pieces);
    const bytes = all[all.length - 1] === carriageReturn ? all.subarray(0, -1) : all;
    const length = this.raw - (this.#endsWithCarriageReturn ? 1 : 0);
    this.raw = 0;
    this.#pieces = [];
    this.#cutter = undefined;
    this.#endsWithCarriageReturn = false;
    return { bytes, length, oversize };
  }
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const [first] = pieces;
  if (first === undefined) return new Uint8Array(0);
  return pieces.length === 1 ? first : Buffer.concat(pieces);
}

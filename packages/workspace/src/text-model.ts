import { isUtf8 } from "node:buffer";
import { type TextCodec, unknown8bit, utf8 } from "./codec.ts";

/** Byte offsets of a line: content is `[start, end)`, its terminator `[end, next)`: nothing, `\n` or `\r\n`. */
export interface Line {
  readonly start: number;
  readonly end: number;
  readonly next: number;
}

/** A text as bytes with an index of its lines. Only `\n` separates lines; a final one opens no new line. */
export interface TextModel {
  readonly bytes: Uint8Array;
  /** `utf-8`, `unknown-8bit`, or the label the codec was given for. */
  readonly encoding: string;
  /** Whether the bytes start with `EF BB BF`, which belongs to the file and not to line 1. */
  readonly bom: boolean;
  readonly finalNewline: boolean;
  readonly lineCount: number;
  readonly lineEnds: { readonly lf: number; readonly crlf: number; readonly loneCr: number };
  /** @throws RangeError when `n` is not in 1..lineCount */
  line(n: number): Line;
  /** Content of line `n` as a string; bytes that cannot be decoded show as U+FFFD. */
  text(n: number): string;
  decode(start: number, end: number): string;
  /** Bytes of a payload in the encoding of this text. @throws ToolError when it cannot be written in it */
  encode(text: string): Uint8Array;
  /** Other bytes read in the same way: what an edit of this text made. */
  sibling(bytes: Uint8Array): TextModel;
}

const LF = 10;
const CR = 13;

/** A `Buffer` over the same memory: its searches and comparisons are native, those of `Uint8Array` are not. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/**
 * Indexes the lines of any bytes. Without a codec valid UTF-8 is taken as such and everything else as `unknown-8bit`,
 * where only ASCII can be written.
 */
export function parseText(bytes: Uint8Array, codec?: TextCodec): TextModel {
  const buffer = asBuffer(bytes);
  const used = codec ?? (isUtf8(bytes) ? utf8 : unknown8bit);
  const bom = buffer[0] === 0xef && buffer[1] === 0xbb && buffer[2] === 0xbf;
  const starts = lineStarts(buffer, bom ? 3 : 0);
  const lineCount = starts.length - 1;
  const finalNewline = lineCount > 0 && buffer[buffer.length - 1] === LF;

  const line = (n: number): Line => {
    const start = starts[n - 1];
    const next = starts[n];
    if (start === undefined || next === undefined) throw new RangeError(`line ${n} is not in 1-${lineCount}`);
    return { start, end: contentEnd(buffer, start, next), next };
  };
  return {
    bytes,
    encoding: used.encoding,
    bom,
    finalNewline,
    lineCount,
    lineEnds: countLineEnds(buffer, finalNewline ? lineCount : lineCount - 1),
    line,
    text(n) {
      const { start, end } = line(n);
      return used.decode(buffer.subarray(start, end));
    },
    decode: (start, end) => used.decode(buffer.subarray(start, end)),
    encode: (text) => used.encode(text),
    sibling: (other) => parseText(other, codec),
  };
}

/** Where the content of a line ends that starts at `start` and whose terminator, if any, ends at `next`. */
function contentEnd(bytes: Uint8Array, start: number, next: number): number {
  if (next === start || bytes[next - 1] !== LF) return next;
  return next - 1 > start && bytes[next - 2] === CR ? next - 2 : next - 1;
}

/** Start of every line, then the end of the text. */
function lineStarts(bytes: Buffer, first: number): Int32Array {
  let starts = new Int32Array(Math.max(16, bytes.length >> 4));
  let count = 0;
  for (let at = first; at < bytes.length; ) {
    if (count + 2 > starts.length) starts = grown(starts);
    starts[count++] = at;
    const newline = bytes.indexOf(LF, at);
    at = newline < 0 ? bytes.length : newline + 1;
  }
  starts[count++] = bytes.length;
  return starts.subarray(0, count);
}

function grown(array: Int32Array): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(array.length * 2);
  larger.set(array);
  return larger;
}

function countLineEnds(bytes: Buffer, newlines: number): TextModel["lineEnds"] {
  let crlf = 0;
  let loneCr = 0;
  for (let at = bytes.indexOf(CR); at >= 0; at = bytes.indexOf(CR, at + 1)) {
    if (bytes[at + 1] === LF) crlf++;
    else loneCr++;
  }
  return { lf: Math.max(0, newlines) - crlf, crlf, loneCr };
}

/** The line that holds byte `offset`, or `lineCount + 1` when it lies behind the last terminator. */
export function lineAt(text: TextModel, offset: number): number {
  let low = 1;
  let high = text.lineCount;
  if (high === 0) return 1;
  if (offset >= text.bytes.length && text.finalNewline) return high + 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (text.line(middle).start <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}

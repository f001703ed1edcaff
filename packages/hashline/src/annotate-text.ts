import { isAscii } from "node:buffer";
import type { TextModel } from "@toolhaft/workspace";
import { type AnnotateOptions, MAX_LINE_CHARS, shownText } from "./annotate.ts";
import { hashWidthOf, type LineHasher } from "./line-hash.ts";

/** Longest prefix of a line: ten digits, `#`, four letters, `|`; and the newline after it. */
const PREFIX = 17;

/**
 * The text of {@link annotate}, `LINE#HASH|text` line by line, for a range of lines (1-based, inclusive) or for all. It is
 * put together as bytes and decoded once, which is what makes whole files cheap.
 */
export function annotateText(
  file: TextModel,
  hasher: LineHasher,
  range: { readonly from: number; readonly to: number } = { from: 1, to: file.lineCount },
  options: AnnotateOptions = {},
): string {
  const width = hashWidthOf(file.lineCount, options.hashWidth);
  const maxLineChars = options.maxLineChars ?? MAX_LINE_CHARS;
  const from = Math.max(1, range.from);
  const to = Math.min(file.lineCount, range.to);
  if (to < from) return "";
  const { bytes } = file;
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!/^(utf-8|unknown-8bit)$/.test(file.encoding)) return byLine(file, hasher, from, to, width, maxLineChars);

  const size = file.line(to).end - file.line(from).start + (to - from + 1) * PREFIX;
  let target = Buffer.allocUnsafe(size);
  const counter = new LineCounter(from);
  let at = 0;
  for (let line = from; line <= to; line++) {
    const { start, end } = file.line(line);
    at = counter.write(target, at);
    target[at++] = 35;
    const code = hasher.code(bytes, start, end, width);
    for (let index = 0; index < code.length; index++) target[at++] = code.charCodeAt(index);
    target[at++] = 124;
    if (end - start <= maxLineChars) {
      at += source.copy(target, at, start, end);
    } else {
      const text = Buffer.from(shownText(file, line, maxLineChars), "utf8");
      // Replacement characters are longer than the bytes they stand for.
      const needed = at + text.length + (to - line) * PREFIX + (file.line(to).end - end) + 1;
      if (needed > target.length) target = Buffer.concat([target.subarray(0, at)], needed);
      at += text.copy(target, at);
    }
    target[at++] = 10;
  }
  const text = target.subarray(0, at - 1);
  return text.toString(isAscii(text) ? "latin1" : "utf8");
}

function byLine(
  file: TextModel,
  hasher: LineHasher,
  from: number,
  to: number,
  width: number,
  maxLineChars: number,
): string {
  const lines: string[] = [];
  for (let line = from; line <= to; line++) {
    const { start, end } = file.line(line);
    lines.push(`${line}#${hasher.code(file.bytes, start, end, width)}|${shownText(file, line, maxLineChars)}`);
  }
  return lines.join("\n");
}

/** A line number as digits that counts up in place: cheaper than dividing it anew for every line. */
class LineCounter {
  readonly #digits: Uint8Array;
  #first: number;

  constructor(start: number) {
    this.#digits = new Uint8Array(11).fill(48);
    const text = String(start);
    this.#first = this.#digits.length - text.length;
    for (let index = 0; index < text.length; index++) this.#digits[this.#first + index] = text.charCodeAt(index);
  }

  /** Writes the number and counts on; gives where the next byte goes. */
  write(target: Uint8Array, start: number): number {
    const digits = this.#digits;
    let at = start;
    for (let index = this.#first; index < digits.length; index++) target[at++] = digits[index] ?? 48;
    let place = digits.length - 1;
    while (digits[place] === 57) digits[place--] = 48;
    digits[place] = (digits[place] ?? 48) + 1;
    if (place < this.#first) this.#first = place;
    return at;
  }
}

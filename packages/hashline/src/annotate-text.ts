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
  let at = 0;
  for (let line = from; line <= to; line++) {
    const { start, end } = file.line(line);
    at = writeNumber(target, at, line);
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

function writeNumber(target: Buffer, at: number, value: number): number {
  let digits = 1;
  for (let limit = 10; value >= limit; limit *= 10) digits++;
  for (let index = at + digits - 1, rest = value; index >= at; index--) {
    target[index] = 48 + (rest % 10);
    rest = Math.floor(rest / 10);
  }
  return at + digits;
}

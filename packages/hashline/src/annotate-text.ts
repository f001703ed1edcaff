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
  const bytes = new Uint8Array(file.bytes.buffer, file.bytes.byteOffset, file.bytes.byteLength);
  if (!/^(utf-8|unknown-8bit)$/.test(file.encoding)) return byLine(file, hasher, from, to, width, maxLineChars);

  const last = file.line(to).end;
  // Plain arrays of bytes and loops: half the time of `Buffer` and its copies, for lines are short.
  let target = new Uint8Array(last - file.line(from).start + (to - from + 1) * PREFIX);
  let at = 0;
  for (let line = from; line <= to; line++) {
    const { start, end } = file.line(line);
    at = writeNumber(target, at, line);
    target[at++] = 35;
    const code = hasher.code(bytes, start, end, width);
    for (let index = 0; index < code.length; index++) target[at++] = code.charCodeAt(index);
    target[at++] = 124;
    if (end - start <= maxLineChars) {
      for (let index = start; index < end; index++) target[at++] = bytes[index] ?? 0;
    } else {
      const text = Buffer.from(shownText(file, line, maxLineChars), "utf8");
      // Replacement characters are longer than the bytes they stand for.
      target = withRoom(target, at, text.length + (to - line + 1) * PREFIX + last - end);
      target.set(text, at);
      at += text.length;
    }
    target[at++] = 10;
  }
  const text = Buffer.from(target.buffer, 0, at - 1);
  return text.toString(isAscii(text) ? "latin1" : "utf8");
}

function withRoom(target: Uint8Array<ArrayBuffer>, used: number, needed: number): Uint8Array<ArrayBuffer> {
  if (used + needed <= target.length) return target;
  const larger = new Uint8Array(used + needed);
  larger.set(target.subarray(0, used));
  return larger;
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

/** Writes a positive number below 2 ** 31 and gives where the next byte goes. */
function writeNumber(target: Uint8Array, start: number, value: number): number {
  const rest = (value / 10) | 0;
  const at = rest === 0 ? start : writeNumber(target, start, rest);
  target[at] = 48 + value - rest * 10;
  return at + 1;
}

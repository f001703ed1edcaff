import { ToolError } from "@toolhaft/core";
import type { TextModel } from "@toolhaft/workspace";
import { shownText } from "./annotate.ts";
import type { LineHasher } from "./line-hash.ts";

/** A line as a caller names it: its number and its code, optionally with its text as a second check. */
export interface Anchor {
  readonly line: number;
  readonly hash: string;
  /** Text after `|`, as copied from a read. */
  readonly tail?: string;
}

export const ANCHOR_GRAMMAR =
  'an anchor is LINE#HASH as shown by a read, such as "12#kq", optionally with "|" and the text';

const anchorShape = /^[ \t]*(\d{1,10})[ \t]*#[ \t]*([a-z]{2,4})[ \t]*(?:\|([\s\S]*))?$/;

/**
 * Reads `LINE#HASH`, with spaces around it and around `#` and a tail `|text` allowed.
 *
 * @throws ToolError `invalid_input` for any other spelling
 */
export function parseAnchor(text: string): Anchor {
  const match = anchorShape.exec(text);
  if (!match) {
    const given = text.length > 60 ? `${[...text].slice(0, 60).join("")}…` : text;
    throw new ToolError("invalid_input", `${JSON.stringify(given)} is no anchor`, { hint: ANCHOR_GRAMMAR });
  }
  const tail = match[3]?.replace(/\r?\n$/, "");
  return { line: Number(match[1]), hash: match[2] ?? "", ...(tail === undefined ? {} : { tail }) };
}

export interface AnchorFault {
  readonly reason: "line" | "hash" | "tail";
  /** What the line's anchor is; absent past the end. */
  readonly expected?: string;
  readonly actual: string;
  /** Lines within ten of the named one that carry the given code. */
  readonly near: readonly number[];
}

export interface TextCodes {
  readonly text: TextModel;
  readonly width: number;
  readonly hasher: LineHasher;
  readonly maxLineChars: number;
}

export function codeOf({ text, width, hasher }: TextCodes, line: number): string {
  const { start, end } = text.line(line);
  return hasher.code(text.bytes, start, end, width);
}

export function anchorOf(codes: TextCodes, line: number): string {
  return `${line}#${codeOf(codes, line)}`;
}

const NEAR = 10;

/** What is wrong with an anchor in a text; `undefined` when it names its line rightly. */
export function checkAnchor(codes: TextCodes, anchor: Anchor): AnchorFault | undefined {
  const { text } = codes;
  const { line, hash, tail } = anchor;
  const actual = `${line}#${hash}`;
  if (line < 1 || line > text.lineCount) return { reason: "line", actual, near: nearLines(codes, line, hash) };
  const expected = anchorOf(codes, line);
  if (expected !== actual) return { reason: "hash", expected, actual, near: nearLines(codes, line, hash) };
  if (tail === undefined || tail === text.text(line) || tail === shownText(text, line, codes.maxLineChars)) {
    return undefined;
  }
  return { reason: "tail", expected, actual, near: [] };
}

function nearLines(codes: TextCodes, line: number, hash: string): readonly number[] {
  const { lineCount } = codes.text;
  const near: number[] = [];
  const middle = Math.min(Math.max(line, 1), lineCount);
  for (let n = Math.max(1, middle - NEAR); n <= Math.min(lineCount, middle + NEAR); n++) {
    if (codeOf(codes, n) === hash) near.push(n);
  }
  return near;
}

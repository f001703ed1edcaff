import { TextDocument } from "vscode-languageserver-textdocument";
import type { Pos, Range } from "./answer.ts";
import type { Encoding } from "./definition.ts";

/** A text with its lines as the protocol counts them: `\n`, `\r\n` and `\r` end one. */
export interface SourceText {
  readonly text: string;
  readonly lineCount: number;
  /** Without its line end. `""` past the end. */
  line(number: number): string;
  /** UTF-16 offset; positions past an end are clamped to it. */
  offsetAt(position: Pos): number;
  positionAt(offset: number): Pos;
}

export function sourceText(text: string): SourceText {
  const document = TextDocument.create("", "", 0, text);
  return {
    text,
    get lineCount() {
      return document.lineCount;
    },
    line(number) {
      if (number < 0 || number >= document.lineCount) return "";
      const line = document.getText({ start: { line: number, character: 0 }, end: { line: number + 1, character: 0 } });
      return line.replace(/(?:\r\n|\n|\r)$/, "");
    },
    offsetAt: (position) => document.offsetAt(position),
    positionAt: (offset) => document.positionAt(offset),
  };
}

/** The column of a UTF-16 column in another encoding. A column inside a surrogate pair counts as its start. */
export function encodeColumn(line: string, character: number, encoding: Encoding): number {
  if (encoding === "utf-16") return character;
  let end = Math.min(character, line.length);
  if (end > 0 && end < line.length && isLowSurrogate(line, end) && isHighSurrogate(line, end - 1)) end--;
  const head = line.slice(0, end);
  return encoding === "utf-8" ? Buffer.byteLength(head, "utf8") : [...head].length;
}

/** The UTF-16 column of a column in another encoding, clamped to the line; never inside a surrogate pair. */
export function decodeColumn(line: string, column: number, encoding: Encoding): number {
  if (encoding === "utf-16") return column;
  let units = 0;
  let seen = 0;
  for (const char of line) {
    const size = encoding === "utf-8" ? Buffer.byteLength(char, "utf8") : 1;
    if (seen + size > column) return units;
    seen += size;
    units += char.length;
  }
  return units;
}

export function comparePositions(a: Pos, b: Pos): number {
  return a.line - b.line || a.character - b.character;
}

export function compareRanges(a: Range, b: Range): number {
  return comparePositions(a.start, b.start) || comparePositions(a.end, b.end);
}

export function contains(range: Range, position: Pos): boolean {
  return comparePositions(range.start, position) <= 0 && comparePositions(position, range.end) <= 0;
}

const identifier = /[\p{ID_Continue}$]+/gu;

export interface Word {
  text: string;
  start: number;
  end: number;
}

/** The identifiers of a line, in order. */
export function identifiers(line: string): Word[] {
  return [...line.matchAll(identifier)].map((match) => ({
    text: match[0],
    start: match.index,
    end: match.index + match[0].length,
  }));
}

/** The identifier that touches a column, else the nearest of the line (ties: right). */
export function nearestIdentifier(line: string, character: number): { word: Word; touches: boolean } | undefined {
  let best: { word: Word; distance: number } | undefined;
  for (const word of identifiers(line)) {
    const distance = character < word.start ? word.start - character : character > word.end ? character - word.end : 0;
    const wins = best === undefined || distance < best.distance || (distance === best.distance && distance > 0);
    // on the border of two words that touch the column, the one that starts there
    if (wins || (distance === 0 && word.start === character)) best = { word, distance };
  }
  return best && { word: best.word, touches: best.distance === 0 };
}

/** Moves a column out of the middle of a surrogate pair, to its start. */
export function wholeCharacter(line: string, character: number): number {
  const inside = isLowSurrogate(line, character) && isHighSurrogate(line, character - 1);
  return inside ? character - 1 : character;
}

function isLowSurrogate(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xdc00;
}

function isHighSurrogate(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xd800;
}

/** A line, trimmed and cut to `max` characters around a column, never inside a code point. */
export function excerpt(line: string, character: number, max = 100): string {
  const trimmed = line.trim();
  if (trimmed.length <= max) return trimmed;
  const column = Math.max(0, character - (line.length - line.trimStart().length));
  let start = Math.max(0, Math.min(column - Math.floor(max / 2), trimmed.length - max + 2));
  let end = Math.min(trimmed.length, start + max - (start > 0 ? 2 : 1));
  if (start > 0 && isLowSurrogate(trimmed, start)) start++;
  if (end < trimmed.length && isLowSurrogate(trimmed, end)) end--;
  return `${start > 0 ? "…" : ""}${trimmed.slice(start, end)}${end < trimmed.length ? "…" : ""}`;
}

/** At most so many UTF-16 units, never half of a code point. */
export function cutText(text: string, max: number): string {
  return text.length <= max ? text : text.slice(0, max).replace(/[\ud800-\udbff]$/, "");
}

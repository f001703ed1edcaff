import { ToolError } from "@toolhaft/core";
import { distance } from "fastest-levenshtein";
import { type ClosestPlace, closestPlaces } from "./closest.ts";
import { splitPayload } from "./payload.ts";
import { asBuffer, lineAt, type TextModel } from "./text-model.ts";

/** How strictly a text is compared, from strict to loose. Only `exact` finds parts of lines. */
export const findStrategies = [
  "exact",
  "line_trimmed",
  "whitespace_normalised",
  "indent_flexible",
  "block_anchor",
] as const;
export type FindStrategy = (typeof findStrategies)[number];

export interface FindOptions {
  /** How many places there must be. @default 1 */
  readonly expected?: number;
  /** Whether other strategies than `exact` are tried. @default true */
  readonly fuzzy?: boolean;
}

/** Where a text was found: bytes `[start, end)` in the lines `startLine`..`endLine`. */
export interface TextPlace {
  readonly start: number;
  readonly end: number;
  readonly startLine: number;
  readonly endLine: number;
}

interface Hits {
  readonly strategy: FindStrategy;
  /** Mean similarity of the lines between the ends, 0..1; of `block_anchor` only. */
  readonly similarity?: number;
  /** In order; at most 10,001 of them. */
  readonly places: readonly TextPlace[];
  readonly total: number;
}

export type TextMatch =
  | ({ readonly kind: "found" } & Hits)
  /** Found, but not as often as expected, or in places that overlap. */
  | ({ readonly kind: "ambiguous"; readonly overlapping: boolean } & Hits)
  | { readonly kind: "missing"; readonly closest: readonly ClosestPlace[] };

const MOST_PLACES = 10_001;

/**
 * Looks for a text with one strategy after the other; the first that finds anything decides. `\n` in the needle stands
 * for either line terminator.
 */
export function findText(file: TextModel, needle: string, options: FindOptions = {}): TextMatch {
  const expected = options.expected ?? 1;
  const exact = exactPlaces(file, needle.replaceAll("\r\n", "\n"));
  if (exact.total > 0) return judged({ strategy: "exact", ...exact }, expected);
  const lines = splitPayload(needle);
  if (options.fuzzy ?? true) {
    const texts = Array.from({ length: file.lineCount }, (_, index) => file.text(index + 1));
    for (const strategy of ["line_trimmed", "whitespace_normalised", "indent_flexible"] as const) {
      const starts = sequenceStarts(texts.map(normalisers[strategy]), lines.map(normalisers[strategy]));
      if (starts.length > 0) return judged(wholeLines(file, strategy, starts, lines.length), expected);
    }
    if (expected === 1) {
      const blocks = anchoredBlocks(texts.map(trimmed), lines.map(trimmed));
      const [first] = blocks;
      if (first) {
        const starts = blocks.map(({ start }) => start);
        return judged({ ...wholeLines(file, "block_anchor", starts, lines.length), similarity: first.similarity }, 1);
      }
    }
  }
  return { kind: "missing", closest: closestPlaces(file, lines) };
}

function judged(hits: Hits, expected: number): TextMatch {
  const overlapping = hits.places.some((place, index) => place.start < (hits.places[index - 1]?.end ?? 0));
  if (hits.total === expected && !overlapping) return { kind: "found", ...hits };
  return { kind: "ambiguous", overlapping, ...hits };
}

function wholeLines(file: TextModel, strategy: FindStrategy, starts: readonly number[], length: number): Hits {
  const places = starts.slice(0, MOST_PLACES).map((startLine) => {
    const endLine = startLine + length - 1;
    return { start: file.line(startLine).start, end: file.line(endLine).next, startLine, endLine };
  });
  return { strategy, places, total: starts.length };
}

function trimmedEnd(line: string): string {
  return line.replace(/[ \t\r]+$/, "");
}

function trimmed(line: string): string {
  return trimmedEnd(line).replace(/^[ \t]+/, "");
}

const normalisers = {
  line_trimmed: trimmedEnd,
  whitespace_normalised: (line: string) => trimmedEnd(line).replace(/[ \t]+/g, " "),
  indent_flexible: trimmed,
};

/** First lines (1-based) of every run of `lines` that equals `needle`, overlapping ones included. */
function sequenceStarts(lines: readonly string[], needle: readonly string[]): readonly number[] {
  const starts: number[] = [];
  const first = needle[0];
  if (first === undefined) return starts;
  for (let at = lines.indexOf(first); at >= 0; at = lines.indexOf(first, at + 1)) {
    if (at + needle.length > lines.length) break;
    if (needle.every((line, index) => lines[at + index] === line)) starts.push(at + 1);
  }
  return starts;
}

/** Least share of equal lines between the ends of a block, and least similarity of each other one. */
const EQUAL_SHARE = 0.6;
const LEAST_SIMILARITY = 0.5;

interface AnchoredBlock {
  readonly start: number;
  readonly similarity: number;
}

function anchoredBlocks(lines: readonly string[], needle: readonly string[]): readonly AnchoredBlock[] {
  const first = needle[0] ?? "";
  const last = needle.at(-1) ?? "";
  const blocks: AnchoredBlock[] = [];
  const telling = /[\p{L}\p{N}]/u;
  if (needle.length < 3 || !telling.test(first) || !telling.test(last)) return blocks;
  for (let at = lines.indexOf(first); at >= 0; at = lines.indexOf(first, at + 1)) {
    if (lines[at + needle.length - 1] !== last) continue;
    const similarity = innerSimilarity(lines.slice(at + 1, at + needle.length - 1), needle.slice(1, -1));
    if (similarity !== undefined) blocks.push({ start: at + 1, similarity });
  }
  return blocks;
}

function innerSimilarity(lines: readonly string[], needle: readonly string[]): number | undefined {
  const equal = lines.filter((line, index) => line === needle[index]).length;
  if (equal < EQUAL_SHARE * needle.length) return undefined;
  let sum = 0;
  for (const [index, line] of lines.entries()) {
    const similarity = lineSimilarity(line, needle[index] ?? "");
    if (similarity < LEAST_SIMILARITY) return undefined;
    sum += similarity;
  }
  return sum / needle.length;
}

/** 1 - Levenshtein distance / length of the longer line. */
function lineSimilarity(a: string, b: string): number {
  if (a === b) return 1;
  return 1 - distance(a, b) / Math.max(a.length, b.length);
}

function exactPlaces(file: TextModel, needle: string): { places: readonly TextPlace[]; total: number } {
  const wanted = needleBytes(file, needle);
  const haystack = wanted && needle.includes("\n") && file.lineEnds.crlf > 0 ? withoutCrlf(file) : undefined;
  const bytes = haystack?.bytes ?? asBuffer(file.bytes);
  const places: TextPlace[] = [];
  let total = 0;
  if (!wanted || wanted.length === 0) return { places, total };
  for (let at = bytes.indexOf(wanted, file.bom ? 3 : 0); at >= 0; at = bytes.indexOf(wanted, at + 1)) {
    const start = haystack ? haystack.original(at) : at;
    const end = haystack ? haystack.original(at + wanted.length) : at + wanted.length;
    const startLine = lineAt(file, start);
    const endLine = Math.min(file.lineCount, lineAt(file, end - 1));
    if (!onCharacters(file, start, end, startLine, endLine)) continue;
    total++;
    if (places.length < MOST_PLACES) places.push({ start, end, startLine, endLine });
  }
  return { places, total };
}

const utf8Like = /^(utf-8|unknown-8bit)$/;

function needleBytes(file: TextModel, needle: string): Uint8Array | undefined {
  if (utf8Like.test(file.encoding)) return Buffer.from(needle, "utf8");
  try {
    return file.encode(needle);
  } catch (error) {
    // A text that the encoding has no place for is not in the file.
    if (error instanceof ToolError && error.code === "unsupported") return undefined;
    throw error;
  }
}

/** In encodings of two bytes a character the second of one and the first of the next may look like a third. */
function onCharacters(file: TextModel, start: number, end: number, startLine: number, endLine: number): boolean {
  if (utf8Like.test(file.encoding)) return true;
  const from = file.line(startLine).start;
  const to = file.line(endLine).next;
  return file.decode(from, start) + file.decode(start, end) + file.decode(end, to) === file.decode(from, to);
}

/** The bytes with every CRLF as LF, and the way back; the offset of such an LF is that of its CR. */
function withoutCrlf(file: TextModel): { bytes: Buffer; original(at: number): number } {
  const old = asBuffer(file.bytes);
  const bytes = Buffer.allocUnsafe(old.length - file.lineEnds.crlf);
  const removed = new Int32Array(file.lineEnds.crlf);
  let count = 0;
  let written = 0;
  let copied = 0;
  for (let at = old.indexOf("\r\n"); at >= 0; at = old.indexOf("\r\n", at + 2)) {
    written += old.copy(bytes, written, copied, at);
    removed[count++] = written;
    copied = at + 1;
  }
  old.copy(bytes, written, copied);
  return {
    bytes,
    original(at) {
      let low = 0;
      let high = count;
      while (low < high) {
        const middle = (low + high) >> 1;
        if ((removed[middle] ?? 0) < at) low = middle + 1;
        else high = middle;
      }
      return at + low;
    },
  };
}

import { distance } from "fastest-levenshtein";
import { compareLines } from "./compare.ts";
import { unifiedDiff } from "./diff.ts";
import { parseText, type TextModel } from "./text-model.ts";

/** A place that resembles a text that was not found. */
export interface ClosestPlace {
  readonly line: number;
  readonly endLine: number;
  /** Mean similarity of its lines, 0..1. */
  readonly similarity: number;
  /** Hunks from the wanted text to the file. */
  readonly diff: string;
}

const PLACES = 3;
/** Candidates whose lines are compared letter by letter, and how many letters of a line. */
const CANDIDATES = 12;
const LETTERS = 200;
const LINES = 60;
const LEAST = 0.3;

/** Up to three places that resemble `needle` most, best first; fewer when the rest has little in common with it. */
export function closestPlaces(file: TextModel, needle: readonly string[]): readonly ClosestPlace[] {
  if (file.lineCount === 0 || needle.length === 0) return [];
  const wanted = needle.slice(0, LINES).map(trim);
  const texts = Array.from({ length: file.lineCount }, (_, index) => trim(file.text(index + 1)));
  const scored = candidates(texts, wanted)
    .map((start) => ({ start, similarity: blockSimilarity(texts, start, wanted) }))
    .sort((a, b) => b.similarity - a.similarity || a.start - b.start);
  const places: ClosestPlace[] = [];
  for (const { start, similarity } of scored) {
    if (places.length === PLACES || (places.length > 0 && similarity < LEAST)) break;
    const line = start + 1;
    const endLine = Math.min(file.lineCount, start + needle.length);
    if (places.some((place) => line <= place.endLine && place.line <= endLine)) continue;
    places.push({
      line,
      endLine,
      similarity: Math.round(similarity * 100) / 100,
      diff: hunks(file, needle, line, endLine),
    });
  }
  return places;
}

function trim(line: string): string {
  return line.trim().slice(0, LETTERS);
}

/** Starts (0-based) where most lines agree; where none does, those of the lines most like the longest wanted one. */
function candidates(texts: readonly string[], wanted: readonly string[]): readonly number[] {
  const positions = new Map<string, number[]>();
  wanted.forEach((line, index) => {
    if (!/[\p{L}\p{N}]/u.test(line)) return;
    const known = positions.get(line);
    if (known) known.push(index);
    else positions.set(line, [index]);
  });
  const votes = new Map<number, number>();
  texts.forEach((text, at) => {
    for (const index of positions.get(text) ?? []) {
      const start = Math.max(0, at - index);
      votes.set(start, (votes.get(start) ?? 0) + 1);
    }
  });
  if (votes.size > 0) {
    return [...votes]
      .sort(([a, left], [b, right]) => right - left || a - b)
      .slice(0, CANDIDATES)
      .map(([start]) => start);
  }
  const longest = wanted.reduce((best, line, index) => (line.length > (wanted[best]?.length ?? 0) ? index : best), 0);
  return mostAlike(texts, wanted[longest] ?? "").map((at) => Math.max(0, at - longest));
}

function mostAlike(texts: readonly string[], wanted: string): readonly number[] {
  const best: { at: number; similarity: number }[] = [];
  texts.forEach((text, at) => {
    const longer = Math.max(text.length, wanted.length);
    const bound = longer === 0 ? 0 : Math.min(text.length, wanted.length) / longer;
    const worst = best.length < CANDIDATES ? -1 : (best.at(-1)?.similarity ?? -1);
    if (bound <= worst) return;
    const value = similarity(text, wanted);
    if (value <= worst) return;
    best.push({ at, similarity: value });
    best.sort((a, b) => b.similarity - a.similarity || a.at - b.at);
    if (best.length > CANDIDATES) best.pop();
  });
  return best.map(({ at }) => at);
}

function similarity(a: string, b: string): number {
  if (a === b) return 1;
  return 1 - distance(a, b) / Math.max(a.length, b.length);
}

function blockSimilarity(texts: readonly string[], start: number, wanted: readonly string[]): number {
  const sum = wanted.reduce((total, line, index) => {
    const text = texts[start + index];
    return total + (text === undefined ? 0 : similarity(text, line));
  }, 0);
  return sum / wanted.length;
}

function hunks(file: TextModel, needle: readonly string[], line: number, endLine: number): string {
  const before = parseText(Buffer.from(needle.map((text) => `${text}\n`).join("")));
  const found = Array.from({ length: endLine - line + 1 }, (_, index) => `${file.text(line + index)}\n`).join("");
  const after = parseText(Buffer.from(found));
  // One name: two would make it the diff of a rename.
  const names = { before: "file", after: "file" };
  const { text } = unifiedDiff(before, after, compareLines(before, after).changes, names, { maxBytes: 4_096 });
  return text.replace(/^--- .*\n\+\+\+ .*\n/, "");
}

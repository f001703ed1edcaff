import { findFolded, foldPoints } from "./fold-points.ts";

export interface ShownLine {
  line: number;
  text: string;
  hit: boolean;
  /** In code points of the line, end exclusive. */
  columns?: { start: number; end: number }[];
  /** Whether the line is longer than what is shown. */
  cut?: boolean;
}

export interface HitWindow {
  startLine: number;
  lines: ShownLine[];
}

/** A hit line of a file, by number. */
export interface HitLine {
  line: number;
  hits: { start: number; end: number }[];
  heading: boolean;
}

export const mostLinePoints = 400;

/** Lines of a text without their ends; a byte order mark belongs to no line. */
export function linesOf(text: string): string[] {
  const lines = text
    .replace(/^\ufeff/, "")
    .split("\n")
    .map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** A question made ready, so that files and lines without any hit are passed over quickly. */
export interface Needle {
  points: readonly string[];
  caseSensitive: boolean;
  /** Present when the needle is ASCII: texts are passed over by plain search. */
  ascii?: string;
}

export function needleOf(query: string, caseSensitive: boolean): Needle {
  const { points } = foldPoints(query, caseSensitive);
  const text = points.join("");
  return { points, caseSensitive, ...(/^[\x00-\x7f]*$/.test(text) && { ascii: text }) };
}

/** Signs outside ASCII that fold or compose to one within it: K and ſ fold to k and s, two compose to ; and `. */
const lookAlike = /[\u017f\u212a\u037e\u1fef]/;

/** A text and what plain search needs to know of it. */
export interface Searched {
  text: string;
  /** In lower case. */
  lower: string;
  hasLookAlike: boolean;
}

export function searchedOf(text: string): Searched {
  return { text, lower: text.toLowerCase(), hasLookAlike: lookAlike.test(text) };
}

/** Whether a text can hold the needle at all; most cannot, and need not be looked at closely. */
export function mayHold({ text, lower, hasLookAlike }: Searched, { ascii, caseSensitive }: Needle): boolean {
  return ascii === undefined || hasLookAlike || (caseSensitive ? text : lower).includes(ascii);
}

export function hitLines(lines: readonly string[], needle: Needle): HitLine[] {
  const found: HitLine[] = [];
  lines.forEach((line, index) => {
    if (!mayHold(searchedOf(line), needle)) return;
    const hits = findFolded(foldPoints(line, needle.caseSensitive), needle.points);
    if (hits.length > 0) found.push({ line: index + 1, hits, heading: /^#{1,6}[ \t]/.test(line) });
  });
  return found;
}

/** Windows of `context` lines around hit lines; those that touch are one. */
export function windowsOf(lines: readonly string[], hits: readonly HitLine[], context: number): HitWindow[] {
  const byLine = new Map(hits.map((hit) => [hit.line, hit]));
  const windows: HitWindow[] = [];
  let end = 0;
  for (const { line } of hits) {
    const from = Math.max(1, line - context);
    const to = Math.min(lines.length, line + context);
    let window = windows.at(-1);
    if (!window || from > end + 1) {
      window = { startLine: from, lines: [] };
      windows.push(window);
      end = from - 1;
    }
    for (let n = end + 1; n <= to; n++) window.lines.push(shownLine(n, lines[n - 1] ?? "", byLine.get(n)));
    end = Math.max(end, to);
  }
  return windows;
}

/** A long line is cut around its first hit; columns stay those of the whole line. */
function shownLine(line: number, text: string, hit: HitLine | undefined): ShownLine {
  const columns = hit && { columns: hit.hits };
  if (text.length <= mostLinePoints) return { line, text, hit: hit !== undefined, ...columns };
  const points = [...text];
  if (points.length <= mostLinePoints) return { line, text, hit: hit !== undefined, ...columns };
  const first = hit?.hits[0] ?? { start: 0, end: 0 };
  const room = mostLinePoints - 2;
  const from = Math.max(
    0,
    Math.min(first.start - Math.floor((room - Math.min(room, first.end - first.start)) / 2), points.length - room),
  );
  const to = Math.min(points.length, from + room);
  const shown = `${from > 0 ? "…" : ""}${points.slice(from, to).join("")}${to < points.length ? "…" : ""}`;
  return { line, text: shown, hit: hit !== undefined, ...columns, cut: true };
}

import { analyse } from "./analyse.ts";
import { compose } from "./fold.ts";
import { isDense, splitRuns } from "./runs.ts";

export interface Excerpt {
  /** Part of the original text, whole code points. */
  text: string;
  /** Offset of the part in the text, in code points. */
  start: number;
  /** Whether something was left out on either side. */
  truncated: boolean;
  /** Found words within `text`: `[from, to)` in code points. */
  marks: [number, number][];
}

interface Found {
  /** Offsets in UTF-16 units. */
  from: number;
  to: number;
  terms: readonly string[];
}

const words =
  /[^\s\p{P}\p{S}\p{Z}\p{C}]+(?:[._\-/:+#'’]+[^\s\p{P}\p{S}\p{Z}\p{C}]+)*(?:\+\+|#)?|(?:\p{So}|\p{Sk}|\u200d|\ufe0f)+/gu;

/**
 * The part of a text that shows most of the terms, with the places where they stand. Offsets are those of the original
 * text: folding changes lengths (İ, ligatures), so every word is analysed where it stands.
 *
 * @param terms analysed terms, as of `analyseQuery`
 * @param chars most code points to show
 */
export function excerpt(text: string, terms: readonly string[], chars: number): Excerpt {
  const found = locate(text, new Set(terms));
  const points = codePoints(text);
  const window = chooseWindow(points, found, Math.max(1, Math.floor(chars)));
  return {
    text: text.slice(points.unit(window.from), points.unit(window.to)),
    start: window.from,
    truncated: window.from > 0 || window.to < points.count,
    marks: merged(found.map((match): [number, number] => [points.point(match.from), points.point(match.to)]))
      .filter(([from, to]) => to > window.from && from < window.to)
      .map(([from, to]) => [Math.max(from, window.from) - window.from, Math.min(to, window.to) - window.from]),
  };
}

function locate(text: string, terms: ReadonlySet<string>): Found[] {
  if (terms.size === 0) return [];
  const dense = [...terms].filter(isDense).sort((a, b) => b.length - a.length);
  const known = new Map<string, readonly string[]>();
  const found: Found[] = [];
  for (const run of splitRuns(text)) {
    if (run.dense) locateDense(run.text, run.start, dense, found);
    else locatePlain(run.text, run.start, termsInside, found);
  }
  return found;

  /** Words repeat, and analysing one is dear. */
  function termsInside(word: string): readonly string[] {
    const inside = known.get(word) ?? analyse(word).filter((term) => terms.has(term));
    known.set(word, inside);
    return inside;
  }
}

function locateDense(run: string, start: number, terms: readonly string[], found: Found[]): void {
  for (const term of terms) {
    for (let at = run.indexOf(term); at >= 0; at = run.indexOf(term, at + 1)) {
      found.push({ from: start + at, to: start + at + term.length, terms: [term] });
    }
  }
  const composed = compose(run);
  if (composed === run) return;
  // Half-width kana and the like: letters do not line up, so the run is marked as a whole.
  const inside = terms.filter((term) => composed.includes(term) && !run.includes(term));
  if (inside.length > 0) found.push({ from: start, to: start + run.length, terms: inside });
}

function locatePlain(
  run: string,
  start: number,
  termsInside: (word: string) => readonly string[],
  found: Found[],
): void {
  for (const match of run.matchAll(words)) {
    const inside = termsInside(match[0]);
    if (inside.length > 0)
      found.push({ from: start + match.index, to: start + match.index + match[0].length, terms: inside });
  }
}

interface CodePoints {
  count: number;
  /** UTF-16 offset of a code point. */
  unit(point: number): number;
  /** Code point at a UTF-16 offset. */
  point(unit: number): number;
}

function codePoints(text: string): CodePoints {
  if (!/[\ud800-\udfff]/.test(text)) return { count: text.length, unit: (point) => point, point: (unit) => unit };
  const starts: number[] = [];
  const pointOf = new Uint32Array(text.length + 1);
  for (let unit = 0; unit < text.length; ) {
    const size = (text.codePointAt(unit) ?? 0) > 0xffff ? 2 : 1;
    for (let i = 0; i < size; i++) pointOf[unit + i] = starts.length;
    starts.push(unit);
    unit += size;
  }
  pointOf[text.length] = starts.length;
  return {
    count: starts.length,
    unit: (point) => starts[point] ?? text.length,
    point: (unit) => pointOf[unit] ?? starts.length,
  };
}

function chooseWindow(points: CodePoints, found: readonly Found[], chars: number): { from: number; to: number } {
  if (points.count <= chars) return { from: 0, to: points.count };
  const best = bestMatch(points, found, chars);
  if (!best) return { from: 0, to: chars };
  // A third of the room before the first match: what leads to it is read first.
  const lead = Math.floor((chars - Math.min(chars, points.point(best.to) - points.point(best.from))) / 3);
  const from = Math.max(0, Math.min(points.point(best.from) - lead, points.count - chars));
  return { from, to: from + chars };
}

/** The first match from which a window of `chars` shows the most distinct terms. */
function bestMatch(points: CodePoints, found: readonly Found[], chars: number): Found | undefined {
  const ordered = [...found].sort((a, b) => a.from - b.from);
  const reach = Math.max(1, Math.floor((chars * 2) / 3));
  const counts = new Map<string, number>();
  let best: Found | undefined;
  let most = 0;
  let end = 0;
  for (const first of ordered) {
    for (
      let next = ordered[end];
      next && points.point(next.to) - points.point(first.from) <= reach;
      next = ordered[++end]
    ) {
      for (const term of next.terms) counts.set(term, (counts.get(term) ?? 0) + 1);
    }
    const distinct = Math.max(counts.size, 1);
    if (distinct > most) {
      most = distinct;
      best = first;
    }
    for (const term of first.terms) {
      const left = (counts.get(term) ?? 0) - 1;
      if (left > 0) counts.set(term, left);
      else counts.delete(term);
    }
    if (ordered[end] === first) end++;
  }
  return best;
}

function merged(marks: readonly [number, number][]): [number, number][] {
  const result: [number, number][] = [];
  for (const [from, to] of [...marks].sort((a, b) => a[0] - b[0] || a[1] - b[1])) {
    const last = result.at(-1);
    if (last && from < last[1]) last[1] = Math.max(last[1], to);
    else result.push([from, to]);
  }
  return result;
}

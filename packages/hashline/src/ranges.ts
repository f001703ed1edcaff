import type { LineChange } from "@toolhaft/workspace";

/** Inclusive ranges of lines, ascending, apart from each other. */
export type Ranges = readonly (readonly [number, number])[];

export function addRange(ranges: Ranges, from: number, to: number): Ranges {
  if (to < from) return ranges;
  const result: [number, number][] = [];
  let low = from;
  let high = to;
  for (const [start, end] of ranges) {
    if (end < low - 1 || start > high + 1) {
      result.push([start, end]);
    } else {
      low = Math.min(low, start);
      high = Math.max(high, end);
    }
  }
  result.push([low, high]);
  return result.sort((a, b) => a[0] - b[0]);
}

/** Lines of `from`..`to` that no range holds. */
export function missingFrom(ranges: Ranges, from: number, to: number): Ranges {
  const missing: [number, number][] = [];
  let at = from;
  for (const [start, end] of ranges) {
    if (end < at) continue;
    if (start > to) break;
    if (start > at) missing.push([at, start - 1]);
    at = end + 1;
  }
  if (at <= to) missing.push([at, to]);
  return missing;
}

/** The ranges after changes, without the lines these took away. */
export function shiftRanges(ranges: Ranges, changes: readonly LineChange[]): Ranges {
  const shifted: [number, number][] = [];
  let index = 0;
  for (const [from, to] of ranges) {
    let at = from;
    while (at <= to) {
      while (index < changes.length && endOf(changes[index]) <= at && startOf(changes[index]) <= at) index++;
      const before = changes[index - 1];
      const next = changes[index];
      if (next && next.oldLines > 0 && next.oldStart <= at) {
        at = Math.max(at, next.oldStart + next.oldLines);
        continue;
      }
      const end = Math.min(to, next ? next.oldStart - 1 : to);
      const shift = before ? before.newStart + before.newLines - before.oldStart - before.oldLines : 0;
      shifted.push([at + shift, end + shift]);
      at = end + 1;
    }
  }
  return shifted.reduce<Ranges>((all, [from, to]) => addRange(all, from, to), []);
}

function startOf(change: LineChange | undefined): number {
  return change?.oldStart ?? Number.POSITIVE_INFINITY;
}

/** First old line behind a change. */
function endOf(change: LineChange | undefined): number {
  return change ? change.oldStart + change.oldLines : Number.POSITIVE_INFINITY;
}

/** `3-5, 9` */
export function showRanges(ranges: Ranges, most = 20): string {
  const shown = ranges.slice(0, most).map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`));
  return shown.join(", ") + (ranges.length > most ? ` and ${ranges.length - most} more` : "");
}

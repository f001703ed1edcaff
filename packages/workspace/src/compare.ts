import { forcedPairs } from "./lcs.ts";
import { type LineChange, mapLine } from "./splice.ts";
import { asBuffer, type TextModel } from "./text-model.ts";

/** Which lines of one text are still there in another. */
export interface LineMap {
  /** Everything between the mapped lines, in order. */
  readonly changes: readonly LineChange[];
  /** The new number of a line; `undefined` when it is gone or cannot be told from its likes. */
  map(line: number): number | undefined;
}

export interface CompareOptions {
  /** Lines with other terminators differ. @default false */
  readonly terminators?: boolean;
}

/** Lines around the differing region that are looked at first. */
const MARGIN = 32;

/**
 * Compares two texts line by line. Sound: a line maps only if every longest common subsequence pairs it with the same new
 * line, so a deleted twin never stands for its sibling. A differing region that is both longer than 4 million cells and
 * more than 2,000 edits wide counts as changed as a whole.
 */
export function compareLines(before: TextModel, after: TextModel, options: CompareOptions = {}): LineMap {
  const changes = changedRegions(before, after, options.terminators ?? false);
  return { changes, map: (line) => mapLine(changes, line) };
}

/**
 * Splits changes whose old and new lines have lines in common, by the same sound comparison inside each change: an edit
 * that was sent with its surroundings leaves these in place.
 */
export function refineChanges(
  before: TextModel,
  after: TextModel,
  changes: readonly LineChange[],
): readonly LineChange[] {
  return changes.flatMap((change) => {
    const { oldStart, oldLines, newStart, newLines } = change;
    if (oldLines === 0 || newLines === 0) return [change];
    const ids = new LineIds(false);
    const left = ids.of(before, oldStart, oldLines);
    const partner = forcedPairs(left, ids.of(after, newStart, newLines));
    return partner ? between(partner, oldStart, newStart, newLines) : [change];
  });
}

function changedRegions(before: TextModel, after: TextModel, terminators: boolean): readonly LineChange[] {
  const n = before.lineCount;
  const m = after.lineCount;
  const prefix = commonPrefix(before, after);
  const suffix = commonSuffix(before, after, Math.min(n, m) - prefix);
  if (prefix === n && prefix === m) return [];
  const ids = new LineIds(terminators);
  let above = Math.min(MARGIN, prefix);
  let below = Math.min(MARGIN, suffix);
  for (;;) {
    const start = prefix - above;
    const oldLines = n - suffix + below - start;
    const newLines = m - suffix + below - start;
    const partner = forcedPairs(ids.of(before, start + 1, oldLines), ids.of(after, start + 1, newLines));
    if (!partner) return [wholeRegion(before, after, prefix, suffix, ids)];
    // Once the outermost equal line is forced, all lines beyond it are.
    const topHolds = above === prefix || partner[0] === 0;
    const bottomHolds = below === suffix || partner[oldLines - 1] === newLines - 1;
    if (topHolds && bottomHolds) return between(partner, start + 1, start + 1, newLines);
    if (!topHolds) above = Math.min(prefix, above * 8);
    if (!bottomHolds) below = Math.min(suffix, below * 8);
  }
}

/** The complement of forced pairs, as changes. */
function between(partner: Int32Array, oldStart: number, newStart: number, newLines: number): LineChange[] {
  const changes: LineChange[] = [];
  let oldAt = 0;
  let newAt = 0;
  const close = (oldEnd: number, newEnd: number): void => {
    if (oldEnd > oldAt || newEnd > newAt) {
      changes.push({
        oldStart: oldStart + oldAt,
        oldLines: oldEnd - oldAt,
        newStart: newStart + newAt,
        newLines: newEnd - newAt,
      });
    }
  };
  partner.forEach((right, left) => {
    if (right < 0) return;
    close(left, right);
    oldAt = left + 1;
    newAt = right + 1;
  });
  close(partner.length, newLines);
  return changes;
}

/** Too different to compare: what is outside holds from the first line on whose content each text has once. */
function wholeRegion(before: TextModel, after: TextModel, prefix: number, suffix: number, ids: LineIds): LineChange {
  const left = ids.of(before, 1, before.lineCount);
  const right = ids.of(after, 1, after.lineCount);
  const seen = new Int32Array(ids.size);
  for (const id of left) seen[id] = (seen[id] ?? 0) + 1;
  for (const id of right) seen[id] = (seen[id] ?? 0) + 1;
  const once = (index: number): boolean => seen[left[index] ?? 0] === 2;
  let top = prefix;
  while (top > 0 && !once(top - 1)) top--;
  let bottom = suffix;
  while (bottom > 0 && !once(left.length - bottom)) bottom--;
  return {
    oldStart: top + 1,
    oldLines: left.length - top - bottom,
    newStart: top + 1,
    newLines: right.length - top - bottom,
  };
}

/** Equal numbers for lines of equal content. */
class LineIds {
  readonly #ids = new Map<string, number>();
  readonly #terminators: boolean;

  constructor(terminators: boolean) {
    this.#terminators = terminators;
  }

  get size(): number {
    return this.#ids.size;
  }

  of(text: TextModel, start: number, lines: number): Int32Array {
    const bytes = asBuffer(text.bytes);
    const result = new Int32Array(lines);
    for (let index = 0; index < lines; index++) {
      const line = text.line(start + index);
      const key = bytes.toString("latin1", line.start, this.#terminators ? line.next : line.end);
      let id = this.#ids.get(key);
      if (id === undefined) {
        id = this.#ids.size;
        this.#ids.set(key, id);
      }
      result[index] = id;
    }
    return result;
  }
}

const CHUNK = 65_536;

function firstByte(text: TextModel): number {
  return text.bom ? 3 : 0;
}

/** How many lines at the start are equal, terminators included. */
function commonPrefix(before: TextModel, after: TextModel): number {
  const a = asBuffer(before.bytes).subarray(firstByte(before));
  const b = asBuffer(after.bytes).subarray(firstByte(after));
  const limit = Math.min(a.length, b.length);
  let at = 0;
  while (at < limit) {
    const size = Math.min(CHUNK, limit - at);
    if (a.compare(b, at, at + size, at, at + size) !== 0) break;
    at += size;
  }
  while (at < limit && a[at] === b[at]) at++;
  return Math.min(linesUpTo(before, at + firstByte(before)), linesUpTo(after, at + firstByte(after)));
}

/** How many lines at the end are equal, terminators included, but no more than `most`. */
function commonSuffix(before: TextModel, after: TextModel, most: number): number {
  const a = asBuffer(before.bytes).subarray(firstByte(before));
  const b = asBuffer(after.bytes).subarray(firstByte(after));
  const limit = Math.min(a.length, b.length);
  let at = 0;
  while (at < limit) {
    const size = Math.min(CHUNK, limit - at);
    const left = a.length - at;
    const right = b.length - at;
    if (a.compare(b, right - size, right, left - size, left) !== 0) break;
    at += size;
  }
  while (at < limit && a[a.length - 1 - at] === b[b.length - 1 - at]) at++;
  const equal = Math.min(linesFrom(before, before.bytes.length - at), linesFrom(after, after.bytes.length - at));
  return Math.min(most, equal);
}

/** How many lines end at or before byte `offset`. */
function linesUpTo(text: TextModel, offset: number): number {
  return search(text.lineCount, (n) => text.line(n).next <= offset);
}

/** How many lines start at or behind byte `offset`. */
function linesFrom(text: TextModel, offset: number): number {
  return text.lineCount - search(text.lineCount, (n) => text.line(n).start < offset);
}

/** The last number of 1..count for which `holds`, which is true up to it and false from then on; 0 for none. */
function search(count: number, holds: (n: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (holds(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

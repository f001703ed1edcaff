import { type DiffNames, headerOf } from "./diff-header.ts";
import type { LineChange } from "./splice.ts";
import { asBuffer, type Line, type TextModel } from "./text-model.ts";

export interface UnifiedDiff {
  /** The diff for people and models: bytes that are no text show as U+FFFD. */
  readonly text: string;
  /** The diff for `git apply` and `patch -p1`, exact. */
  readonly bytes: Uint8Array;
  /** Lines with `+`, of the whole diff also where it is cut. */
  readonly additions: number;
  readonly deletions: number;
  /** Whether hunks are left out. */
  readonly truncated: boolean;
}

export interface DiffOptions {
  /** Largest size of `bytes`; a longer diff ends at a whole hunk. @default 65_536 */
  readonly maxBytes?: number;
  /** @default 3 */
  readonly context?: number;
}

const NO_NEWLINE = "\n\\ No newline at end of file\n";

/**
 * The unified diff of an edit, made from its list of changed lines and never by comparing the texts.
 * `null` stands for a file that does not exist. A rename is told by two different names.
 */
export function unifiedDiff(
  beforeText: TextModel | null,
  afterText: TextModel | null,
  changes: readonly LineChange[],
  names: DiffNames,
  options: DiffOptions = {},
): UnifiedDiff {
  const before = withoutLineless(beforeText);
  const after = withoutLineless(afterText);
  const maxBytes = options.maxBytes ?? 65_536;
  const writer = new DiffWriter(before, after);
  const same = before === beforeText && after === afterText;
  const edits = trimmedChanges(before, after, same ? changes : [wholeChange(before, after)]);
  const header = headerOf(before, after, edits.length > 0, names);
  writer.add(header);
  let truncated = false;
  let additions = 0;
  let deletions = 0;
  for (const hunk of groupChanges(edits, options.context ?? 3)) {
    for (const { oldLines, newLines } of hunk) {
      additions += newLines;
      deletions += oldLines;
    }
    if (truncated) continue;
    const mark = writer.mark();
    writer.hunk(hunk, options.context ?? 3);
    if (writer.size > maxBytes) {
      writer.reset(mark);
      truncated = true;
    }
  }
  return { ...writer.finish(), additions, deletions, truncated };
}

/**
 * The changes without lines that are equal at both ends of an edit, neighbours joined. A line at the end that gains or
 * loses its terminator is changed, too.
 */
export function trimmedChanges(
  before: TextModel | null,
  after: TextModel | null,
  changes: readonly LineChange[],
): readonly LineChange[] {
  if (!before || !after) {
    const whole = wholeChange(before, after);
    return whole.oldLines + whole.newLines > 0 ? [whole] : [];
  }
  return joinNeighbours(withEnds(before, after, changes))
    .map((change) => trim(before, after, change))
    .filter(({ oldLines, newLines }) => oldLines + newLines > 0);
}

function wholeChange(before: TextModel | null, after: TextModel | null): LineChange {
  return { oldStart: 1, oldLines: before?.lineCount ?? 0, newStart: 1, newLines: after?.lineCount ?? 0 };
}

/** A byte order mark alone is no line of ours, but one of three bytes for whoever applies the diff. */
function withoutLineless(text: TextModel | null): TextModel | null {
  if (!text?.bom || text.lineCount > 0) return text;
  return { ...text, bom: false, lineCount: 1, line: () => ({ start: 0, end: 3, next: 3 }) };
}

/** Runs of unchanged lines whose number the changes moved, as inclusive ranges. */
export function movedRuns(
  changes: readonly LineChange[],
  oldLineCount: number,
): readonly { from: [number, number]; to: [number, number] }[] {
  const runs: { from: [number, number]; to: [number, number] }[] = [];
  let start = 1;
  let shift = 0;
  const close = (end: number): void => {
    if (shift !== 0 && end >= start) runs.push({ from: [start, end], to: [start + shift, end + shift] });
  };
  for (const change of changes) {
    close(change.oldStart - 1);
    start = change.oldStart + change.oldLines;
    shift = change.newStart + change.newLines - start;
  }
  close(oldLineCount);
  return runs;
}

/** Edits whose unchanged lines between them are too few to stand in hunks of their own. */
export function groupChanges(changes: readonly LineChange[], context: number): readonly (readonly LineChange[])[] {
  const groups: LineChange[][] = [];
  let end = Number.NEGATIVE_INFINITY;
  for (const change of changes) {
    const open = groups.at(-1);
    if (open && change.oldStart - end <= 2 * context) open.push(change);
    else groups.push([change]);
    end = change.oldStart + change.oldLines;
  }
  return groups;
}

/**
 * Lines that differ on disk though no edit names them: the last one of either text, which may gain or lose its
 * terminator, and line 1, before which a byte order mark stands.
 */
function withEnds(before: TextModel, after: TextModel, changes: readonly LineChange[]): readonly LineChange[] {
  if (before.lineCount === 0 || after.lineCount === 0) return changes;
  const result = [...changes];
  if (!before.finalNewline || !after.finalNewline) {
    addUnlessEqual(result, before, after, before.lineCount, "old");
    addUnlessEqual(result, before, after, after.lineCount, "new");
  }
  if (before.bom || after.bom) {
    addUnlessEqual(result, before, after, 1, "old");
    addUnlessEqual(result, before, after, 1, "new");
  }
  return result;
}

function addUnlessEqual(
  changes: LineChange[],
  before: TextModel,
  after: TextModel,
  line: number,
  side: "old" | "new",
): void {
  let at = 0;
  let shift = 0;
  for (const change of changes) {
    const start = side === "old" ? change.oldStart : change.newStart;
    const lines = side === "old" ? change.oldLines : change.newLines;
    if (line < start) break;
    if (line < start + lines) return;
    const delta = change.newStart + change.newLines - change.oldStart - change.oldLines;
    shift = side === "old" ? delta : -delta;
    at++;
  }
  const oldLine = side === "old" ? line : line + shift;
  const newLine = side === "old" ? line + shift : line;
  if (sameLine(before, oldLine, after, newLine)) return;
  changes.splice(at, 0, { oldStart: oldLine, oldLines: 1, newStart: newLine, newLines: 1 });
}

function joinNeighbours(changes: readonly LineChange[]): LineChange[] {
  const joined: LineChange[] = [];
  for (const change of changes) {
    const open = joined.at(-1);
    if (open && open.oldStart + open.oldLines === change.oldStart) {
      joined[joined.length - 1] = {
        oldStart: open.oldStart,
        oldLines: open.oldLines + change.oldLines,
        newStart: open.newStart,
        newLines: open.newLines + change.newLines,
      };
    } else {
      joined.push(change);
    }
  }
  return joined;
}

function trim(before: TextModel, after: TextModel, change: LineChange): LineChange {
  const { oldStart, newStart } = change;
  let { oldLines, newLines } = change;
  let head = 0;
  while (head < oldLines && head < newLines && sameLine(before, oldStart + head, after, newStart + head)) head++;
  while (
    oldLines > head &&
    newLines > head &&
    sameLine(before, oldStart + oldLines - 1, after, newStart + newLines - 1)
  ) {
    oldLines--;
    newLines--;
  }
  return { oldStart: oldStart + head, oldLines: oldLines - head, newStart: newStart + head, newLines: newLines - head };
}

/** Whether two lines are equal, terminators included. */
function sameLine(before: TextModel, oldLine: number, after: TextModel, newLine: number): boolean {
  const a = onDisk(before, oldLine);
  const b = onDisk(after, newLine);
  if (a.next - a.start !== b.next - b.start) return false;
  return asBuffer(before.bytes).compare(asBuffer(after.bytes), b.start, b.next, a.start, a.next) === 0;
}

/** A line as a diff shows it: a byte order mark stands before line 1 on disk, so it does in a diff of the bytes. */
function onDisk(text: TextModel, n: number): Line {
  const line = text.line(n);
  return n === 1 ? { ...line, start: 0 } : line;
}

/** Writes hunks as bytes and, where the texts are not UTF-8, as a string beside them. */
class DiffWriter {
  readonly #before: TextModel | null;
  readonly #after: TextModel | null;
  #bytes = Buffer.allocUnsafe(4_096);
  readonly #labelled: string[] | undefined;
  size = 0;

  constructor(before: TextModel | null, after: TextModel | null) {
    this.#before = before;
    this.#after = after;
    const plain = [before, after].every((text) => !text || /^(utf-8|unknown-8bit)$/.test(text.encoding));
    this.#labelled = plain ? undefined : [];
  }

  add(text: string): void {
    this.#reserve(text.length * 3);
    this.size += this.#bytes.write(text, this.size, "utf8");
    this.#labelled?.push(text);
  }

  mark(): { parts: number; size: number } {
    return { parts: this.#labelled?.length ?? 0, size: this.size };
  }

  reset(mark: { parts: number; size: number }): void {
    if (this.#labelled) this.#labelled.length = mark.parts;
    this.size = mark.size;
  }

  hunk(changes: readonly LineChange[], context: number): void {
    const first = changes[0];
    const last = changes.at(-1);
    if (!first || !last) return;
    const before = Math.min(context, first.oldStart - 1);
    const oldEnd = last.oldStart + last.oldLines;
    const after = Math.max(0, Math.min(context, (this.#before?.lineCount ?? 0) - oldEnd + 1));
    const oldFrom = first.oldStart - before;
    const oldCount = oldEnd + after - oldFrom;
    const newFrom = first.newStart - before;
    const newCount = last.newStart + last.newLines + after - newFrom;
    this.add(`@@ -${range(oldFrom, oldCount)} +${range(newFrom, newCount)} @@\n`);
    let at = oldFrom;
    for (const change of changes) {
      this.#lines(" ", this.#before, at, change.oldStart - at);
      this.#lines("-", this.#before, change.oldStart, change.oldLines);
      this.#lines("+", this.#after, change.newStart, change.newLines);
      at = change.oldStart + change.oldLines;
    }
    this.#lines(" ", this.#before, at, after);
  }

  #lines(sign: string, text: TextModel | null, from: number, count: number): void {
    if (!text || count <= 0) return;
    const bytes = asBuffer(text.bytes);
    for (let n = from; n < from + count; n++) {
      const { start, end, next } = onDisk(text, n);
      this.#reserve(next - start + 1);
      this.#bytes[this.size] = sign.charCodeAt(0);
      this.size += 1 + bytes.copy(this.#bytes, this.size + 1, start, next);
      this.#labelled?.push(sign + text.decode(start, end) + bytes.toString("latin1", end, next));
      if (next === end) this.add(NO_NEWLINE);
    }
  }

  finish(): { text: string; bytes: Uint8Array } {
    const bytes = Buffer.from(this.#bytes.subarray(0, this.size));
    return { bytes, text: this.#labelled?.join("") ?? bytes.toString("utf8") };
  }

  #reserve(more: number): void {
    if (this.size + more <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.size + more));
    this.#bytes.copy(larger, 0, 0, this.size);
    this.#bytes = larger;
  }
}

/** An empty range is told by the line before it. */
function range(start: number, count: number): string {
  if (count === 0) return `${start - 1},0`;
  return count === 1 ? `${start}` : `${start},${count}`;
}

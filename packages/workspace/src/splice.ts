import { asBuffer, lineAt, type TextModel } from "./text-model.ts";

/** Lines to take out and to put in, addressed by the lines of the text as it was. */
export interface LineSplice {
  /** First removed line, or the line whose front gap is filled: 1..lineCount + 1. */
  readonly at: number;
  readonly remove: number;
  /** New lines without terminators. */
  readonly insert: readonly string[];
  /** The line whose terminator a pure insert takes. @default the line before the gap, at the start line 1 */
  readonly terminatorOf?: number;
}

/** What an edit did to line numbers. An empty side stands for the gap before its start. */
export interface LineChange {
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
}

export interface Spliced {
  readonly bytes: Uint8Array;
  readonly changes: readonly LineChange[];
}

const CRLF = Buffer.from("\r\n");
const LF = Buffer.from("\n");

/**
 * Replaces and inserts lines. Bytes outside the removed lines are copied as they are; terminators, BOM and final newline
 * follow the rules of the line model. Splices may come in any order; inserts at one gap keep theirs.
 *
 * @throws RangeError for splices that overlap, lie outside the text or hold a line break
 * @throws ToolError when a line cannot be written in the encoding of the text
 */
export function spliceLines(text: TextModel, splices: readonly LineSplice[]): Spliced {
  const ordered = [...splices].sort((a, b) => a.at - b.at || Number(a.remove > 0) - Number(b.remove > 0));
  checkSplices(text, ordered);

  const writer = new LineWriter(text);
  const changes: LineChange[] = [];
  let copied = 0;
  for (const splice of ordered) {
    writer.copyLines(copied + 1, splice.at - 1);
    changes.push({
      oldStart: splice.at,
      oldLines: splice.remove,
      newStart: writer.lines + 1,
      newLines: splice.insert.length,
    });
    splice.insert.forEach((line, k) => {
      writer.add(text.encode(line), terminatorFor(text, splice, k));
    });
    copied = splice.at + splice.remove - 1;
  }
  writer.copyLines(copied + 1, text.lineCount);
  const bytes = writer.finish();
  const last = writer.lines;
  const blankEnd = bytes.length === (text.bom ? 3 : 0) || bytes.at(-1) === 10;
  const vanished = blankEnd && last > 0 && text.lineCount > 0 && !text.finalNewline;
  return { bytes, changes: vanished ? withoutLastLine(changes, last) : changes };
}

/** A blank last line of a text without final newline is no line: nothing of it is left in the bytes. */
function withoutLastLine(changes: readonly LineChange[], last: number): readonly LineChange[] {
  const inserted = changes.findLastIndex(({ newStart, newLines }) => newLines > 0 && newStart + newLines - 1 === last);
  const first = inserted >= 0 ? inserted : changes.findIndex(({ newStart }) => newStart === last + 1);
  return changes.map((change, index) => {
    if (index < first) return change;
    if (index > first) return { ...change, newStart: change.newStart - 1 };
    if (inserted >= 0) return { ...change, newLines: change.newLines - 1 };
    const { oldStart, oldLines, newStart, newLines } = change;
    return { oldStart: oldStart - 1, oldLines: oldLines + 1, newStart: newStart - 1, newLines };
  });
}

function checkSplices(text: TextModel, ordered: readonly LineSplice[]): void {
  let free = 1;
  for (const { at, remove, insert } of ordered) {
    const whole = Number.isInteger(at) && Number.isInteger(remove) && remove >= 0;
    if (!whole || at < 1 || at + remove > text.lineCount + 1) {
      throw new RangeError(`splice of ${remove} lines at ${at} lies outside 1-${text.lineCount}`);
    }
    if (at < free) throw new RangeError(`splices overlap at line ${at}`);
    if (insert.some((line) => line.includes("\n")))
      throw new RangeError(`a line of the splice at ${at} holds a line break`);
    free = at + remove;
  }
}

/** The k-th new line takes the terminator of the k-th removed line, or of the last one; an insert that of its anchor. */
function terminatorFor(text: TextModel, splice: LineSplice, k: number): Buffer {
  if (splice.remove > 0) return terminatorOf(text, splice.at + Math.min(k, splice.remove - 1));
  return terminatorOf(text, splice.terminatorOf ?? Math.max(1, splice.at - 1));
}

function terminatorOf(text: TextModel, n: number): Buffer {
  if (n >= 1 && n <= text.lineCount) {
    const { end, next } = text.line(n);
    if (next - end === 2) return CRLF;
    if (next - end === 1) return LF;
  }
  return majorityTerminator(text);
}

/** What most lines end with; on a tie what the first one ends with; `\n` where nothing ends. */
export function majorityTerminator(text: TextModel): Buffer {
  const { lf, crlf } = text.lineEnds;
  if (crlf !== lf) return crlf > lf ? CRLF : LF;
  if (crlf === 0) return LF;
  const first = text.line(1);
  return first.next - first.end === 2 ? CRLF : LF;
}

/** Collects byte ranges of the old text and new lines; the terminator of the last line is decided at the end. */
class LineWriter {
  readonly #text: TextModel;
  readonly #old: Buffer;
  readonly #parts: Uint8Array[] = [];
  /** Terminator of the last line, held back until it is known whether another line follows. */
  #pending: Uint8Array | undefined;
  #endsInCr = false;
  lines = 0;

  constructor(text: TextModel) {
    this.#text = text;
    this.#old = asBuffer(text.bytes);
    if (text.bom) this.#parts.push(this.#old.subarray(0, 3));
  }

  copyLines(from: number, to: number): void {
    if (to < from) return;
    this.#flush();
    const last = this.#text.line(to);
    const start = this.#text.line(from).start;
    this.#parts.push(this.#old.subarray(start, last.end));
    this.#endsInCr = last.end > last.start && this.#old[last.end - 1] === 13;
    this.#pending = last.next > last.end ? this.#old.subarray(last.end, last.next) : majorityTerminator(this.#text);
    this.lines += to - from + 1;
  }

  add(content: Uint8Array, terminator: Uint8Array): void {
    this.#flush();
    this.#parts.push(content);
    this.#endsInCr = content[content.length - 1] === 13;
    this.#pending = terminator;
    this.lines++;
  }

  finish(): Uint8Array {
    if (this.#text.finalNewline || this.#text.lineCount === 0) this.#flush();
    return Buffer.concat(this.#parts);
  }

  /** Content that ends in a CR needs CRLF: before a bare LF that CR would become part of the terminator. */
  #flush(): void {
    if (this.#pending) this.#parts.push(this.#endsInCr ? CRLF : this.#pending);
    this.#pending = undefined;
  }
}

/** One replacement of the bytes `[start, end)`. */
export interface ByteEdit {
  readonly start: number;
  readonly end: number;
  readonly insert: Uint8Array;
}

/**
 * Replaces byte ranges and tells which whole lines that changed. Edits may come in any order; inserts at one place keep theirs.
 *
 * @throws RangeError for edits that overlap, lie outside the text or inside its BOM
 */
export function spliceBytes(text: TextModel, edits: readonly ByteEdit[]): Spliced {
  const old = asBuffer(text.bytes);
  const ordered = [...edits].sort((a, b) => a.start - b.start || a.end - b.end);
  const parts: Uint8Array[] = [];
  let copied = 0;
  for (const { start, end, insert } of ordered) {
    if (start < copied || end < start || end > old.length)
      throw new RangeError(`bytes ${start}-${end} cannot be replaced`);
    if (text.bom && start < 3) throw new RangeError("the byte order mark is not part of the text");
    parts.push(old.subarray(copied, start), insert);
    copied = end;
  }
  parts.push(old.subarray(copied));
  return { bytes: Buffer.concat(parts), changes: changedLines(text, ordered) };
}

interface Block {
  /** First and last line touched; `last` is `first - 1` where no old line is. */
  first: number;
  last: number;
  edits: ByteEdit[];
}

function changedLines(text: TextModel, ordered: readonly ByteEdit[]): readonly LineChange[] {
  const blocks: Block[] = [];
  for (const edit of ordered) {
    const first = lineAt(text, edit.start);
    const last = Math.min(lineAt(text, edit.end), text.lineCount);
    const open = blocks.at(-1);
    if (open && first <= open.last + 1) {
      open.edits.push(edit);
      open.last = Math.max(open.last, last);
    } else {
      blocks.push({ first, last, edits: [edit] });
    }
  }
  const changes: LineChange[] = [];
  let shift = 0;
  for (const { first, last, edits } of blocks) {
    const block = newBytesOf(text, first, last, edits);
    const kept = lastLineKept(text, last, edits, block) ? 1 : 0;
    const oldLines = Math.max(0, last - first + 1 - kept);
    const newLines = lineCountOf(block) - kept;
    changes.push({ oldStart: first, oldLines, newStart: first + shift, newLines });
    shift += newLines - oldLines;
  }
  return changes;
}

function lineCountOf(bytes: Buffer): number {
  let lines = 0;
  for (let at = 0; at < bytes.length; lines++) at = bytes.indexOf(10, at) + 1 || bytes.length + 1;
  return lines;
}

/** Whether the edits end where line `last` starts and leave it a line of its own. */
function lastLineKept(text: TextModel, last: number, edits: readonly ByteEdit[], block: Buffer): boolean {
  if (last < 1 || edits.at(-1)?.end !== text.line(last).start) return false;
  const { start, next } = text.line(last);
  const before = block.length - (next - start);
  return before === 0 || block[before - 1] === 10;
}

/** What the lines `first`..`last` hold after the edits, which all lie in them. */
function newBytesOf(text: TextModel, first: number, last: number, edits: readonly ByteEdit[]): Buffer {
  const old = asBuffer(text.bytes);
  const parts: Uint8Array[] = [];
  let at = first <= text.lineCount ? text.line(first).start : old.length;
  const end = last >= first ? text.line(last).next : at;
  for (const edit of edits) {
    parts.push(old.subarray(at, edit.start), edit.insert);
    at = edit.end;
  }
  parts.push(old.subarray(at, Math.max(at, end)));
  return Buffer.concat(parts);
}

/** The new number of a line, or `undefined` when an edit replaced or removed it. `changes` are ordered. */
export function mapLine(changes: readonly LineChange[], line: number): number | undefined {
  let low = 0;
  let high = changes.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const change = changes[middle];
    if (change && change.oldStart <= line) low = middle + 1;
    else high = middle;
  }
  const change = changes[low - 1];
  if (!change) return line;
  if (line < change.oldStart + change.oldLines) return undefined;
  return line + change.newStart + change.newLines - change.oldStart - change.oldLines;
}

import { ToolError } from "@toolhaft/core";
import type { TextEdit } from "vscode-languageserver-protocol";
import { comparePositions, sourceText } from "../positions.ts";

/** One replacement in UTF-16 offsets of the snapshot. */
export interface OffsetEdit {
  start: number;
  end: number;
  text: string;
}

export function wholeChange(before: string, after: string): OffsetEdit {
  let start = 0;
  const shorter = Math.min(before.length, after.length);
  while (start < shorter && before[start] === after[start]) start++;
  let tail = 0;
  while (tail < shorter - start && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++;
  return { start, end: before.length - tail, text: after.slice(start, after.length - tail) };
}

/**
 * Text edits as sorted offsets: past an end is clamped, touching is allowed, several inserts at one place keep their
 * order, an insert at the start of a replace goes before it. New text takes the file's line ends.
 *
 * @throws ToolError `conflict` for overlapping and reversed ranges
 */
export function toOffsets(path: string, text: string, edits: readonly TextEdit[]): OffsetEdit[] {
  const source = sourceText(text);
  const eol = lineEndOf(text);
  const offsets = edits.map((edit, index) => {
    const { start, end } = edit.range;
    if (comparePositions(start, end) > 0) {
      throw new ToolError("conflict", `the edit of ${path} holds a range that ends before it starts`, {
        hint: "nothing was written",
      });
    }
    return { start: source.offsetAt(start), end: source.offsetAt(end), text: withLineEnds(edit.newText, eol), index };
  });
  const isInsert = (one: OffsetEdit) => one.start === one.end;
  offsets.sort(
    (a, b) => a.start - b.start || Number(!isInsert(a)) - Number(!isInsert(b)) || a.end - b.end || a.index - b.index,
  );
  let last = 0;
  for (const one of offsets) {
    if (one.start < last) {
      throw new ToolError("conflict", `the edit of ${path} holds edits that overlap`, { hint: "nothing was written" });
    }
    last = one.end;
  }
  return offsets.map(({ start, end, text: inserted }) => ({ start, end, text: inserted }));
}

export function applyOffsets(text: string, edits: readonly OffsetEdit[]): string {
  let result = "";
  let from = 0;
  for (const edit of edits) {
    result += text.slice(from, edit.start) + edit.text;
    from = edit.end;
  }
  return result + text.slice(from);
}

/** The line end that most lines of a text have. */
export function lineEndOf(text: string): "\n" | "\r\n" {
  const crlf = text.match(/\r\n/g)?.length ?? 0;
  const lf = (text.match(/\n/g)?.length ?? 0) - crlf;
  return crlf > lf ? "\r\n" : "\n";
}

export function withLineEnds(text: string, eol: "\n" | "\r\n"): string {
  return eol === "\r\n" ? text.replace(/\r?\n/g, "\r\n") : text.replace(/\r\n/g, "\n");
}

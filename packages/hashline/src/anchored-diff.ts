import { groupChanges, type LineChange } from "@toolhaft/workspace";
import { anchorOf, type TextCodes } from "./anchor.ts";
import { isCut, shownText } from "./annotate.ts";
import { addRange, type Ranges } from "./ranges.ts";

export interface AnchoredDiff {
  /** ` 10#kq|kept`, `-11#ab|old` with its old anchor, `+11#cd|new`; `...` between distant places. */
  readonly lines: readonly string[];
  /** Lines of the new text that it shows whole. */
  readonly shown: Ranges;
}

const CONTEXT = 2;

/** A diff whose lines carry anchors, so that the next edit can be made from it. At most `most` lines. */
export function anchoredDiff(
  before: TextCodes,
  after: TextCodes,
  changes: readonly LineChange[],
  most: number,
): AnchoredDiff {
  const lines: string[] = [];
  let shown: Ranges = [];
  const total = { left: 0 };
  const add = (sign: string, codes: TextCodes, line: number): void => {
    if (lines.length >= most) {
      total.left++;
      return;
    }
    lines.push(`${sign}${anchorOf(codes, line)}|${shownText(codes.text, line, codes.maxLineChars)}`);
    if (codes === after && !isCut(after.text, line, after.maxLineChars)) shown = addRange(shown, line, line);
  };
  for (const [index, group] of groupChanges(changes, CONTEXT).entries()) {
    const [first] = group;
    if (!first) continue;
    if (index > 0 && lines.length < most) lines.push("...");
    let at = Math.max(1, first.newStart - CONTEXT);
    for (const change of group) {
      for (; at < change.newStart; at++) add(" ", after, at);
      for (let line = change.oldStart; line < change.oldStart + change.oldLines; line++) add("-", before, line);
      for (; at < change.newStart + change.newLines; at++) add("+", after, at);
    }
    const end = Math.min(after.text.lineCount, at + CONTEXT - 1);
    for (; at <= end; at++) add(" ", after, at);
  }
  if (total.left > 0) lines.push(`... ${total.left} more lines of the diff are not shown`);
  return { lines, shown };
}

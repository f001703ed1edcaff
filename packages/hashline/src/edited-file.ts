import type { FileChange } from "@toolhaft/core";
import { type LineChange, movedRuns, type TextModel, trimmedChanges } from "@toolhaft/workspace";
import { codeOf, type TextCodes } from "./anchor.ts";
import { cut, isCut } from "./annotate.ts";
import { addRange, type Ranges } from "./ranges.ts";

/** What a reply tells of an edited file. */
export interface EditedFile {
  filePath: string;
  version: string;
  totalLines: number;
  hashWidth: number;
  diff: string;
  diffTruncated: boolean;
  additions: number;
  deletions: number;
  /** Runs of unchanged lines whose number moved. */
  remap: { from: [number, number]; to: [number, number] }[];
  /** Changed lines and two around them, at most 60. */
  anchors: { line: number; hash: string; text: string }[];
}

const ANCHORS = 60;
const AROUND = 2;
/** Characters of a line in `anchors`. */
const ANCHOR_CHARS = 500;

export function editedFile(
  change: FileChange,
  before: TextModel,
  after: TextCodes,
  changes: readonly LineChange[],
): EditedFile {
  const trimmed = trimmedChanges(before, after.text, changes);
  return {
    filePath: change.path,
    version: change.after?.version ?? "",
    totalLines: after.text.lineCount,
    hashWidth: after.width,
    diff: change.diff,
    diffTruncated: change.diffTruncated,
    additions: change.additions,
    deletions: change.deletions,
    remap: movedRuns(trimmed, before.lineCount).map(({ from, to }) => ({ from, to })),
    anchors: freshAnchors(after, trimmed),
  };
}

function freshAnchors(codes: TextCodes, changes: readonly LineChange[]): EditedFile["anchors"] {
  let ranges: Ranges = [];
  for (const { newStart, newLines } of changes) {
    const from = Math.max(1, newStart - AROUND);
    const to = Math.min(codes.text.lineCount, newStart + newLines + AROUND - 1);
    ranges = addRange(ranges, from, to);
  }
  const anchors: EditedFile["anchors"] = [];
  for (const [from, to] of ranges) {
    for (let line = from; line <= to && anchors.length < ANCHORS; line++) {
      anchors.push({ line, hash: codeOf(codes, line), text: cut(codes.text.text(line), ANCHOR_CHARS).text });
    }
  }
  return anchors;
}

/** Lines an author knows after an edit: what was sent and what the reply shows. */
export function knownLines(codes: TextCodes, changes: readonly LineChange[], anchors: EditedFile["anchors"]): Ranges {
  let known: Ranges = [];
  for (const { newStart, newLines } of changes) known = addRange(known, newStart, newStart + newLines - 1);
  for (const { line } of anchors) {
    if (!isCut(codes.text, line, ANCHOR_CHARS)) known = addRange(known, line, line);
  }
  return known;
}

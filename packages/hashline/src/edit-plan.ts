import { type LineChange, type LineSplice, spliceLines, type TextModel } from "@toolhaft/workspace";
import { type Anchor, anchorOf, checkAnchor, type TextCodes } from "./anchor.ts";
import { isCut, MAX_LINE_CHARS } from "./annotate.ts";
import { type HashlineEdit, type ParsedEdit, parseEdits } from "./edit.ts";
import { editWarnings, type Warning } from "./edit-warnings.ts";
import { type HashWidth, hashWidthOf, type LineHasher } from "./line-hash.ts";
import { type Problem, ProblemError } from "./problem.ts";

export interface PlanOptions {
  /** @default "auto" */
  readonly hashWidth?: HashWidth;
  /** Longer lines were shown cut and cannot be replaced. @default 2_000 */
  readonly maxLineChars?: number;
}

/** What edits do to a text. */
export interface EditPlan {
  readonly bytes: Uint8Array;
  readonly changes: readonly LineChange[];
  /** Per edit, in request order, the lines it took and gave; an empty range has second = first - 1. */
  readonly edits: readonly { index: number; oldLines: [number, number]; newLines: [number, number] }[];
  readonly warnings: readonly Warning[];
}

/** An edit whose lines are known: a range that is replaced, or a gap that is filled. */
export interface PlacedEdit {
  readonly index: number;
  readonly op: ParsedEdit["op"];
  /** Replace: the range. Insert: `last = first - 1`, the gap before `first`. */
  readonly first: number;
  readonly last: number;
  /** Insert: the line it hangs on, for its terminator and its place in the gap; none at the ends of the file. */
  readonly anchor?: number;
  readonly lines: readonly string[];
  readonly copied: boolean;
}

/**
 * Checks edits against the text they address and makes the new bytes. Pure.
 *
 * @throws ToolError `invalid_input` with every bad anchor, overlap and payload
 */
export function planEdits(
  file: TextModel,
  edits: readonly HashlineEdit[],
  hasher: LineHasher,
  options: PlanOptions = {},
): EditPlan {
  const codes = codesOf(file, hasher, options);
  const parsed = parseEdits(edits);
  const problems = anchorProblems(codes, parsed);
  if (problems.length > 0) throw new ProblemError(problems);
  return applyEdits(
    codes,
    placeEdits(file, parsed, (line) => line),
  );
}

export function codesOf(text: TextModel, hasher: LineHasher, options: PlanOptions = {}): TextCodes {
  return {
    text,
    hasher,
    width: hashWidthOf(text.lineCount, options.hashWidth),
    maxLineChars: options.maxLineChars ?? MAX_LINE_CHARS,
  };
}

/** Every anchor of an edit, in the order a caller reads them. */
export function anchorsOf(edit: ParsedEdit): readonly Anchor[] {
  const { pos, end, payload } = edit;
  const copied = "first" in payload ? [payload.first, payload.last] : [];
  return [pos, end, ...copied].filter((anchor) => anchor !== undefined);
}

/** Anchors that name no line of the text, or another one than they say. */
export function anchorProblems(codes: TextCodes, edits: readonly ParsedEdit[]): readonly Problem[] {
  return edits.flatMap((edit) =>
    [...new Set(anchorsOf(edit))].flatMap((anchor): Problem[] => {
      const fault = checkAnchor(codes, anchor);
      if (!fault) return [];
      const { lineCount } = codes.text;
      const near = fault.near.filter((line) => line !== anchor.line).map((line) => anchorOf(codes, line));
      const alike =
        near.length > 0 ? `; ${near.join(", ")} near it ${near.length > 1 ? "carry" : "carries"} that code` : "";
      const reasons = {
        line: `${fault.actual} is past the end: ${lineCount} lines`,
        hash: `${fault.actual} is not line ${anchor.line}, which is ${fault.expected ?? ""}`,
        tail: `${fault.actual} stands there, but the text after "|" is not that of the line`,
      };
      const around = Math.min(Math.max(anchor.line, 1), Math.max(1, lineCount));
      return [
        {
          edit: edit.index,
          code: "invalid_input",
          reason: reasons[fault.reason] + alike,
          line: anchor.line,
          actual: fault.actual,
          show: [around, ...fault.near],
          ...(fault.expected === undefined ? {} : { expected: fault.expected }),
        },
      ];
    }),
  );
}

/** Turns anchors into lines of `text`, to which `map` leads from the text the edits address. */
export function placeEdits(
  text: TextModel,
  edits: readonly ParsedEdit[],
  map: (line: number) => number,
): readonly PlacedEdit[] {
  return edits.map((edit) => {
    const { index, op, pos, end, payload } = edit;
    const copied = "first" in payload;
    const lines = copied ? textOf(text, map(payload.first.line), map(payload.last.line)) : payload;
    const base = { index, op, lines, copied };
    if (op === "replace" && pos) {
      return { ...base, first: map(pos.line), last: map((end ?? pos).line) };
    }
    if (!pos) {
      const first = op === "append" ? text.lineCount + 1 : 1;
      return { ...base, first, last: first - 1 };
    }
    const anchor = map(pos.line);
    const first = op === "append" ? anchor + 1 : anchor;
    return { ...base, first, last: first - 1, anchor };
  });
}

function textOf(text: TextModel, first: number, last: number): readonly string[] {
  return Array.from({ length: last - first + 1 }, (_, index) => text.text(first + index));
}

/** @throws ProblemError for edits that overlap, replace lines that were shown cut, or change nothing */
export function applyEdits(codes: TextCodes, placed: readonly PlacedEdit[]): EditPlan {
  const { text } = codes;
  const problems = [...overlaps(placed), ...cutLines(codes, placed)];
  if (problems.length > 0) throw new ProblemError(problems);

  const ordered = inFileOrder(placed);
  const { splices, bomIgnored } = splicesOf(ordered);
  const { bytes, changes } = spliceLines(text, splices);
  if (Buffer.compare(bytes, text.bytes) === 0) {
    throw new ProblemError([
      {
        edit: null,
        code: "invalid_input",
        reason: "the file is unchanged: its lines are already as the edits would have them",
        hint: "leave the edits out, or send the text that is to be there",
      },
    ]);
  }
  const edits = ordered.map(({ index, first, last }, at) => {
    const { newStart, newLines } = changes[at] ?? { newStart: first, newLines: 0 };
    return {
      index,
      oldLines: [first, last] satisfies [number, number],
      newLines: [newStart, newStart + newLines - 1] satisfies [number, number],
    };
  });
  return {
    bytes,
    changes,
    edits: edits.sort((a, b) => a.index - b.index),
    warnings: editWarnings(text, ordered, { bomIgnored, emptied: bytes.length === (text.bom ? 3 : 0) }),
  };
}

/** By line; in one gap appends to the line before it come first, each kind in request order. */
function inFileOrder(placed: readonly PlacedEdit[]): readonly PlacedEdit[] {
  const rank = ({ op }: PlacedEdit): number => (op === "append" ? 0 : op === "prepend" ? 1 : 2);
  return [...placed].sort((a, b) => a.first - b.first || rank(a) - rank(b) || a.index - b.index);
}

/** A byte order mark that would land at the start of the file is the file's own affair. */
function splicesOf(ordered: readonly PlacedEdit[]): { splices: readonly LineSplice[]; bomIgnored: number | undefined } {
  let bomIgnored: number | undefined;
  const leading = firstOfFile(ordered);
  const splices = ordered.map((edit): LineSplice => {
    const { first, last, lines, anchor } = edit;
    let insert = lines;
    if (edit === leading && lines[0]?.startsWith("\ufeff")) {
      bomIgnored = edit.index;
      insert = [lines[0].slice(1), ...lines.slice(1)];
    }
    const remove = last - first + 1;
    return { at: first, remove, insert, ...(anchor === undefined ? {} : { terminatorOf: anchor }) };
  });
  return { splices, bomIgnored };
}

/** The edit whose payload becomes the first line of the file. */
function firstOfFile(ordered: readonly PlacedEdit[]): PlacedEdit | undefined {
  let free = 1;
  for (const edit of ordered) {
    if (edit.first > free) return undefined;
    if (edit.lines.length > 0) return edit;
    free = Math.max(free, edit.last + 1);
  }
  return undefined;
}

function overlaps(placed: readonly PlacedEdit[]): readonly Problem[] {
  const problems: Problem[] = [];
  const clash = (a: PlacedEdit, b: PlacedEdit, reason: string): void => {
    const [earlier, later] = a.index < b.index ? [a, b] : [b, a];
    problems.push({
      edit: later.index,
      code: "invalid_input",
      reason: `it and edit ${earlier.index + 1} ${reason}`,
      hint: "all edits of a call address the file as read; join edits that touch the same lines into one",
      line: later.first,
    });
  };
  const replaces = placed.filter(({ op }) => op === "replace").sort((a, b) => a.first - b.first || a.last - b.last);
  let widest: PlacedEdit | undefined;
  for (const edit of replaces) {
    if (widest && edit.first <= widest.last) clash(widest, edit, `both replace line ${edit.first}`);
    if (!widest || edit.last > widest.last) widest = edit;
  }
  for (const insert of placed) {
    if (insert.op === "replace") continue;
    const around = replaces.find(({ first, last }) => first < insert.first && insert.first <= last);
    if (around)
      clash(around, insert, `overlap: the insert lies inside lines ${around.first}-${around.last}, which are replaced`);
  }
  return problems;
}

function cutLines({ text, maxLineChars }: TextCodes, placed: readonly PlacedEdit[]): readonly Problem[] {
  return placed.flatMap(({ index, op, first, last, lines }): Problem[] => {
    if (op !== "replace" || lines.length === 0) return [];
    for (let line = first; line <= last; line++) {
      if (!isCut(text, line, maxLineChars)) continue;
      return [
        {
          edit: index,
          code: "invalid_input",
          reason: `line ${line} is longer than ${maxLineChars} characters and was shown cut, so it cannot be replaced`,
          hint: `change a part of it with edit_file; or, to give up the whole line, delete it (lines: []) and append the new text at the same anchor in one call`,
          line,
        },
      ];
    }
    return [];
  });
}

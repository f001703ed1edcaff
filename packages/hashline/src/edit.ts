import { payloadProblem, splitPayload } from "@toolhaft/workspace";
import { ANCHOR_GRAMMAR, type Anchor, parseAnchor } from "./anchor.ts";
import { type Problem, ProblemError } from "./problem.ts";

/** One edit as a caller sends it; every edit of a file addresses the same version of it. */
export interface HashlineEdit {
  /** @default "replace" */
  readonly op?: "replace" | "append" | "prepend" | undefined;
  /** The line addressed. `append` without it means the end of the file, `prepend` the start. */
  readonly pos?: string | undefined;
  /** Last line of the range; `replace` only. @default pos */
  readonly end?: string | undefined;
  /** The payload, written as it is; `[]` deletes. */
  readonly lines?: string | readonly string[] | undefined;
  /** Lines of the same file to copy in place of `lines`: `A` or `A..B`. */
  readonly from?: string | undefined;
}

/** An edit whose words have been understood; its anchors are not checked against a text yet. */
export interface ParsedEdit {
  readonly index: number;
  readonly op: "replace" | "append" | "prepend";
  readonly pos?: Anchor;
  readonly end?: Anchor;
  readonly payload: readonly string[] | { readonly first: Anchor; readonly last: Anchor };
}

/** @throws ProblemError with every problem of every edit that shows without the file */
export function parseEdits(edits: readonly HashlineEdit[]): readonly ParsedEdit[] {
  const problems: Problem[] = [];
  const parsed = edits.map((edit, index) => parseEdit(edit, index, problems));
  if (problems.length > 0) throw new ProblemError(problems);
  return parsed;
}

function parseEdit(edit: HashlineEdit, index: number, problems: Problem[]): ParsedEdit {
  const op = edit.op ?? "replace";
  const add = (reason: string, hint: string): void => {
    problems.push({ edit: index, code: "invalid_input", reason, hint });
  };
  if (op === "replace" && edit.pos === undefined) {
    add("replace needs pos", 'send pos, or op "append" to add at the end of the file');
  }
  if (op !== "replace" && edit.end !== undefined) add(`end goes with replace, not with ${op}`, "leave end out");
  const pos = anchorIn(edit.pos, index, problems);
  const end = anchorIn(edit.end, index, problems);
  if (pos && end && end.line < pos.line) {
    problems.push({
      edit: index,
      code: "invalid_input",
      reason: `end is line ${end.line}, before pos at line ${pos.line}`,
      hint: "pos is the first line of the range, end the last",
      line: pos.line,
      actual: `${pos.line}..${end.line}`,
    });
  }
  const payload = payloadOf(edit, op, index, problems, add);
  return { index, op, payload, ...(pos ? { pos } : {}), ...(end ? { end } : {}) };
}

function anchorIn(text: string | undefined, edit: number, problems: Problem[]): Anchor | undefined {
  if (text === undefined) return undefined;
  try {
    return parseAnchor(text);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    problems.push({ edit, code: "invalid_input", reason: error.message, hint: ANCHOR_GRAMMAR });
    return undefined;
  }
}

function payloadOf(
  edit: HashlineEdit,
  op: ParsedEdit["op"],
  index: number,
  problems: Problem[],
  add: (reason: string, hint: string) => void,
): ParsedEdit["payload"] {
  if (edit.from !== undefined) {
    if (edit.lines !== undefined) add("lines and from exclude each other", "send one of them");
    const [first, last] = splitRange(edit.from).map((text) => anchorIn(text, index, problems));
    if (first && last && last.line < first.line) {
      add(`from ends at line ${last.line}, before its start at line ${first.line}`, "write from as FIRST..LAST");
    }
    return first ? { first, last: last ?? first } : [];
  }
  if (edit.lines === undefined) {
    add("lines is missing", "send the new text in lines, [] to delete, or from to copy lines of the file");
    return [];
  }
  if (op === "replace" && edit.lines === "") {
    add('lines is ""', 'use [] to delete, [""] for a blank line');
    return [];
  }
  const lines = splitPayload(edit.lines);
  if (op !== "replace" && lines.length === 0) add(`${op} of nothing`, 'send at least one line; [""] is a blank one');
  checkPayload(lines, add);
  return lines;
}

/** `A..B` or `A`; the text behind `|` of either may hold dots, so the split is where a second anchor begins. */
function splitRange(text: string): readonly string[] {
  const match = /^(.*?)\.\.([ \t]*\d{1,10}[ \t]*#[ \t]*[a-z]{2,4}[ \t]*(?:\|[\s\S]*)?)$/.exec(text);
  return match ? [match[1] ?? "", match[2] ?? ""] : [text];
}

/** Lines as a read or an edit's reply shows them. */
const copied = /^[ +-]?[ \t]*\d+#[a-z]{2,4}\|/;

function checkPayload(lines: readonly string[], add: (reason: string, hint: string) => void): void {
  const anchored = lines.findIndex((line) => copied.test(line));
  if (anchored >= 0) {
    add(
      `payload line ${anchored + 1} starts with an anchor (LINE#HASH|), as if copied from a read`,
      "send the text without anchors; use edit_file where the file must contain such text",
    );
  }
  for (const [at, line] of lines.entries()) {
    const problem = payloadProblem(line);
    if (problem) add(`payload line ${at + 1} ${problem}`, "send plain text without it");
  }
}

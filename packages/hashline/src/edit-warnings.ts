import type { TextModel } from "@toolhaft/workspace";
import type { PlacedEdit } from "./edit-plan.ts";

export const warningCodes = [
  "edge_repeats",
  "duplicate_insert",
  "looks_like_line_numbers",
  "bom_ignored",
  "replacement_character",
  "file_emptied",
  "no_op_edit",
  "unseen_lines",
  "loose_match",
  "appended_at_end",
  "owner_not_kept",
  "changed_after_write",
] as const;
export type WarningCode = (typeof warningCodes)[number];

/** Something that was written all the same and may not have been meant. */
export interface Warning {
  readonly code: WarningCode;
  readonly message: string;
  /** Line of the file before the edit, unless the message says otherwise. */
  readonly line?: number;
}

/** `ordered`: edits as they stand in the file. */
export function editWarnings(
  text: TextModel,
  ordered: readonly PlacedEdit[],
  result: { readonly bomIgnored: number | undefined; readonly emptied: boolean },
): readonly Warning[] {
  const warnings = ordered.flatMap((edit, at) => [
    ...edgeRepeats(text, ordered, at),
    ...duplicateInsert(ordered, at),
    ...noOp(text, ordered, edit),
    ...payloadWarnings(edit),
  ]);
  if (result.bomIgnored !== undefined) warnings.push(bomIgnored(result.bomIgnored));
  if (result.emptied && text.lineCount > 0) {
    warnings.push({ code: "file_emptied", message: "the file has no lines left" });
  }
  return warnings;
}

export function bomIgnored(edit: number): Warning {
  return {
    code: "bom_ignored",
    message: `edit ${edit + 1}: the byte order mark at the start of its text was not written; that mark is the file's`,
  };
}

/** The first or last new line equals the untouched line it now stands beside. */
function edgeRepeats(text: TextModel, ordered: readonly PlacedEdit[], at: number): readonly Warning[] {
  const edit = ordered[at];
  if (!edit || edit.lines.length === 0) return [];
  const before = ordered[at - 1];
  const after = ordered[at + 1];
  const touchedBefore = before !== undefined && before.last >= edit.first - 1;
  const touchedAfter = after !== undefined && after.first <= edit.last + 1;
  const warnings: Warning[] = [];
  const compare = (line: number, payload: string | undefined, which: string): void => {
    if (line < 1 || line > text.lineCount || payload === undefined || payload.trim() === "") return;
    if (payload !== text.text(line)) return;
    const message = `edit ${edit.index + 1}: its ${which} line repeats line ${line} (old number) beside it; both are there now`;
    warnings.push({ code: "edge_repeats", line, message });
  };
  if (!touchedBefore) compare(edit.first - 1, edit.lines[0], "first");
  if (!touchedAfter) compare(edit.last + 1, edit.lines.at(-1), "last");
  return warnings;
}

function duplicateInsert(ordered: readonly PlacedEdit[], at: number): readonly Warning[] {
  const edit = ordered[at];
  if (!edit || edit.op === "replace") return [];
  const twin = ordered
    .slice(0, at)
    .find(
      (other) =>
        other.op !== "replace" &&
        other.first === edit.first &&
        other.lines.length === edit.lines.length &&
        other.lines.every((line, index) => line === edit.lines[index]),
    );
  if (!twin) return [];
  const [first, second] = [twin.index, edit.index].sort((a, b) => a - b);
  const message = `edits ${(first ?? 0) + 1} and ${(second ?? 0) + 1} insert the same text at the same place; both were applied`;
  return [{ code: "duplicate_insert", line: edit.first, message }];
}

function noOp(text: TextModel, ordered: readonly PlacedEdit[], edit: PlacedEdit): readonly Warning[] {
  const { op, first, last, lines, index } = edit;
  if (op !== "replace" || ordered.length === 1 || lines.length !== last - first + 1) return [];
  if (!lines.every((line, at) => line === text.text(first + at))) return [];
  const range = first === last ? `line ${first}` : `lines ${first}-${last}`;
  return [{ code: "no_op_edit", line: first, message: `edit ${index + 1} leaves ${range} as before` }];
}

function payloadWarnings({ lines, index, first, copied }: PlacedEdit): readonly Warning[] {
  if (copied) return [];
  return textWarnings(lines, first).map((warning) => ({
    ...warning,
    message: `edit ${index + 1}: ${warning.message}`,
  }));
}

/** What looks wrong in a text, wherever it is written. */
export function textWarnings(lines: readonly string[], line: number): readonly Warning[] {
  const warnings: Warning[] = [];
  if (looksNumbered(lines)) {
    const message = "every new line starts with a line number, as if copied from a listing; it was written as sent";
    warnings.push({ code: "looks_like_line_numbers", line, message });
  }
  if (lines.some((text) => text.includes("\ufffd"))) {
    const message = "the new text holds U+FFFD, the sign for bytes that could not be read; it was written as sent";
    warnings.push({ code: "replacement_character", line, message });
  }
  return warnings;
}

function looksNumbered(lines: readonly string[]): boolean {
  const found = lines.map((line) => /^ *(\d{1,9})([|:→\t])/.exec(line));
  return (
    lines.length >= 2 &&
    found.every(
      (match, index) => match && Number(match[1]) === Number(found[0]?.[1]) + index && match[2] === found[0]?.[2],
    )
  );
}

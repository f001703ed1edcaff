import { type ToolContext, ToolError } from "@toolhaft/core";
import {
  type FindStrategy,
  findText,
  payloadProblem,
  replaceText,
  type Spliced,
  spliceLines,
  splitPayload,
  type TextFile,
  type TextMatch,
} from "@toolhaft/workspace";
import { textWarnings, type Warning } from "./edit-warnings.ts";
import { type Editor, shownPath } from "./editor.ts";
import { showRanges } from "./ranges.ts";
import { shortVersion } from "./resolve.ts";
import type { PlannedFile } from "./write.ts";

/** What a call asks for, its forms settled. */
export interface TextEdit {
  readonly target:
    | { readonly mode: "text"; readonly needle: string; readonly expected: number; readonly fuzzy: boolean }
    | { readonly mode: "range"; readonly startLine: number; readonly endLine: number };
  readonly replacement: string | readonly string[];
  readonly version: string | undefined;
  readonly allowEmpty: boolean;
}

/** Where it was done, in lines of the old file. */
export interface Place {
  readonly mode: "text" | "range";
  readonly strategy?: FindStrategy;
  readonly similarity?: number;
  readonly matches: readonly { startLine: number; endLine: number }[];
}

export interface TextEditInput {
  readonly old_content?: string | undefined;
  readonly old_content_lines?: readonly string[] | undefined;
  readonly new_content?: string | undefined;
  readonly new_content_lines?: readonly string[] | undefined;
  readonly expected_replacements: number;
  readonly start_line?: number | undefined;
  readonly end_line?: number | undefined;
  readonly version?: string | undefined;
  readonly fuzzy: boolean;
  readonly allow_empty: boolean;
}

const MAX_PAYLOAD = 5 * 1024 * 1024;

/** @throws ToolError for forms that do not go together, before any file is looked at */
export function textEditOf(input: TextEditInput): TextEdit {
  const replacement = oneOf(input.new_content, input.new_content_lines, "new_content", "new_content_lines");
  if (replacement === undefined) {
    throw invalid("new_content is missing", 'send new_content or new_content_lines; "" or [] removes');
  }
  const joined = typeof replacement === "string" ? replacement : replacement.join("\n");
  const size = Buffer.byteLength(joined);
  if (size > MAX_PAYLOAD) {
    throw new ToolError("too_large", `the new text holds ${size} bytes, the limit is ${MAX_PAYLOAD}`, {
      hint: "split it into several calls",
    });
  }
  const problem = payloadProblem(joined);
  if (problem) throw invalid(`the new text ${problem}`, "send plain text without it");
  const version = input.version?.toLowerCase();
  const base = { version, allowEmpty: input.allow_empty };

  const old = oneOf(input.old_content, input.old_content_lines, "old_content", "old_content_lines");
  const { start_line: startLine, end_line: endLine } = input;
  if (old !== undefined && (startLine !== undefined || endLine !== undefined)) {
    throw invalid("old_content and start_line exclude each other", "send the old text, or a range of lines");
  }
  if (old === undefined) {
    if (startLine === undefined) {
      throw invalid(
        endLine === undefined ? "neither old_content nor start_line is given" : "end_line without start_line",
        "send old_content, or start_line and end_line",
      );
    }
    if (endLine !== undefined && endLine < startLine) {
      throw invalid(
        `end_line ${endLine} is before start_line ${startLine}`,
        "start_line is the first line of the range",
      );
    }
    if (input.expected_replacements !== 1) {
      throw invalid("expected_replacements goes with old_content", "leave it out of a range edit");
    }
    return { ...base, replacement, target: { mode: "range", startLine, endLine: endLine ?? startLine } };
  }
  const needle = typeof old === "string" ? old : old.join("\n");
  if (needle === "") {
    throw invalid("the old text is empty", "send the text to replace; hashline_edit inserts without replacing");
  }
  if (payloadProblem(needle)) throw invalid(`the old text ${payloadProblem(needle)}`, "send the text as in the file");
  if (needle === joined) throw invalid("old and new text are equal", "send what is to change");
  const { expected_replacements: expected, fuzzy } = input;
  return { ...base, replacement: joined, target: { mode: "text", needle, expected, fuzzy } };
}

function invalid(message: string, hint: string): ToolError {
  return new ToolError("invalid_input", message, { hint });
}

function oneOf(
  text: string | undefined,
  lines: readonly string[] | undefined,
  textName: string,
  linesName: string,
): string | readonly string[] | undefined {
  if (text !== undefined && lines !== undefined) {
    throw invalid(`${textName} and ${linesName} exclude each other`, "send one of them");
  }
  return text ?? lines;
}

/** Runs under the lock. @throws ToolError when the place cannot be told or the file is not the one that was shown */
export function planText(
  editor: Editor,
  ctx: ToolContext,
  path: string,
  file: TextFile,
  edit: TextEdit,
): PlannedFile<Place> {
  const name = shownPath(ctx.directory, path);
  const { target, version } = edit;
  if (version !== undefined && !file.version.startsWith(version)) throw otherVersion(name, version, file);
  const warnings: Warning[] = [];
  const { spliced, place } =
    target.mode === "range"
      ? spliceRange(editor, ctx, name, file, target, edit, warnings)
      : spliceMatch(name, file, target, edit, warnings);
  if (Buffer.compare(spliced.bytes, file.bytes) === 0) {
    throw invalid(
      `${name} would be unchanged`,
      "the final newline and the line ends are the file's and kept; send text that differs otherwise",
    );
  }
  if (spliced.bytes.length === (file.bom ? 3 : 0) && file.lineCount > 0) {
    if (!edit.allowEmpty) {
      throw invalid(`the edit would leave ${name} empty`, "set allow_empty if that is meant");
    }
    warnings.push({ code: "file_emptied", message: "the file has no lines left" });
  }
  const lines = splitPayload(edit.replacement);
  warnings.push(...textWarnings(lines, place.matches[0]?.startLine ?? 1));
  return { path, before: file, bytes: spliced.bytes, changes: spliced.changes, warnings, extra: place };
}

function otherVersion(name: string, given: string, file: TextFile): ToolError {
  return new ToolError(
    "conflict",
    `${name} is at version ${shortVersion(file.version)}, not ${shortVersion(given)}: it changed since it was shown`,
    { hint: "read the file again", details: { filePath: name, expected: file.version, actual: given } },
  );
}

function spliceRange(
  editor: Editor,
  ctx: ToolContext,
  name: string,
  file: TextFile,
  { startLine, endLine }: Extract<TextEdit["target"], { mode: "range" }>,
  { replacement }: TextEdit,
  warnings: Warning[],
): { spliced: Spliced; place: Place } {
  const shown = editor.shown.lastShown(file.path, ctx.sessionId);
  if (shown !== undefined && shown !== file.version) throw otherVersion(name, shown, file);
  if (endLine > file.lineCount) {
    const given = startLine > file.lineCount ? `start_line ${startLine}` : `end_line ${endLine}`;
    const hint =
      file.lineCount === 0 ? "the file is empty: hashline_edit appends to it" : "read the file to see its lines";
    throw invalid(`${given}, file has ${file.lineCount} lines`, hint);
  }
  const lines = withoutBom(splitPayload(replacement), startLine === 1, warnings);
  const spliced = spliceLines(file, [{ at: startLine, remove: endLine - startLine + 1, insert: lines }]);
  return { spliced, place: { mode: "range", matches: [{ startLine, endLine }] } };
}

function withoutBom(lines: readonly string[], atStart: boolean, warnings: Warning[]): readonly string[] {
  const [first, ...rest] = lines;
  if (!atStart || !first?.startsWith("\ufeff")) return lines;
  const message = "the byte order mark at the start of the new text was not written; that mark is the file's";
  warnings.push({ code: "bom_ignored", line: 1, message });
  return [first.slice(1), ...rest];
}

function spliceMatch(
  name: string,
  file: TextFile,
  { needle, expected, fuzzy }: Extract<TextEdit["target"], { mode: "text" }>,
  { replacement }: TextEdit,
  warnings: Warning[],
): { spliced: Spliced; place: Place } {
  const match = findText(file, needle, { expected, fuzzy });
  if (match.kind === "missing") throw missingText(name, file, match);
  if (match.kind === "ambiguous") throw otherCount(name, match, expected);
  const text = typeof replacement === "string" ? replacement : replacement.join("\n");
  const atStart = match.places[0]?.start === (file.bom ? 3 : 0);
  const [first] = withoutBom([text], atStart, warnings);
  const spliced = replaceText(file, match, needle, first ?? "");
  const matches = match.places.map(({ startLine, endLine }) => ({ startLine, endLine }));
  if (match.strategy !== "exact") {
    const lines = showRanges(matches.map(({ startLine, endLine }) => [startLine, endLine]));
    const word = matches.length === 1 && matches[0]?.startLine === matches[0]?.endLine ? "line" : "lines";
    const message = `the old text was found by ${match.strategy} only, at ${word} ${lines}`;
    warnings.push({ code: "loose_match", line: matches[0]?.startLine ?? 1, message });
  }
  const { strategy, similarity } = match;
  return { spliced, place: { mode: "text", strategy, matches, ...(similarity === undefined ? {} : { similarity }) } };
}

function missingText(name: string, file: TextFile, match: Extract<TextMatch, { kind: "missing" }>): ToolError {
  const places = match.closest.map(
    ({ line, endLine, similarity, diff }) =>
      `lines ${line}-${endLine}, ${Math.round(similarity * 100)} % alike (- as sent, + in the file):\n${diff.trimEnd()}`,
  );
  const empty = file.lineCount === 0 ? `; ${name} is empty` : "";
  const closest = places.length > 0 ? `. Closest places:\n${places.join("\n")}` : empty;
  return new ToolError("conflict", `the old text was not found in ${name}${closest}`, {
    hint: "copy the file's text, or use hashline_read and hashline_edit",
    details: { filePath: name, closest: match.closest },
  });
}

const MOST_LINES = 50;

function otherCount(name: string, match: Extract<TextMatch, { kind: "ambiguous" }>, expected: number): ToolError {
  const lines = match.places.slice(0, MOST_LINES).map(({ startLine }) => startLine);
  const more = match.total > lines.length ? " and more" : "";
  const where = `lines ${lines.join(", ")}${more}`;
  const message =
    match.overlapping && match.total === expected
      ? `the old text was found in ${name} ${match.total} times by ${match.strategy}, but the places overlap: ${where}`
      : `the old text was found in ${name} ${match.total} times by ${match.strategy}, not ${expected}: ${where}`;
  return new ToolError("conflict", message, {
    hint: "send more of the text around it, or the right expected_replacements",
    details: { filePath: name, strategy: match.strategy, found: match.total, expected, lines },
  });
}

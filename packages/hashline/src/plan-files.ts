import { type ToolContext, ToolError } from "@toolhaft/core";
import { parseText, type TextFile } from "@toolhaft/workspace";
import { type HashlineEdit, parseEdits } from "./edit.ts";
import { applyEdits, type EditPlan, type PlacedEdit, placeEdits } from "./edit-plan.ts";
import type { Warning } from "./edit-warnings.ts";
import { type Editor, shownPath } from "./editor.ts";
import type { LineHasher } from "./line-hash.ts";
import { type Problem, ProblemError } from "./problem.ts";
import { type Ranges, showRanges } from "./ranges.ts";
import { type FileRejection, rejection } from "./rejection.ts";
import { type Resolved, resolveEdits, useVersion } from "./resolve.ts";
import type { PlannedFile } from "./write.ts";

/** One file of a call. */
export interface FileRequest {
  readonly filePath: string;
  /** Lower case, or `new`. */
  readonly version: string;
  readonly edits: readonly HashlineEdit[];
}

export interface PlannedEdit {
  readonly edits: EditPlan["edits"];
  readonly remapped: Resolved["remapped"];
}

type Planned = PlannedFile<PlannedEdit>;

/**
 * Plans every file of a call on the bytes under its lock. All or none.
 *
 * @throws ToolError with the problems of all files, and the lines and anchors that answer them
 */
export function planFiles(
  editor: Editor,
  hasher: LineHasher,
  ctx: ToolContext,
  requests: readonly FileRequest[],
  files: ReadonlyMap<string, TextFile | undefined>,
): readonly Planned[] {
  const planned: Planned[] = [];
  const rejected: (FileRejection & { readonly file?: TextFile })[] = [];
  for (const request of requests) {
    const name = shownPath(ctx.directory, request.filePath);
    try {
      const file = files.get(request.filePath);
      const result = file
        ? planFile(editor, hasher, ctx, name, request, file)
        : planNewFile(editor, hasher, name, request);
      if ("bytes" in result) planned.push(result);
      else rejected.push({ name, ...result, ...(file ? { file, codes: editor.codes(file, hasher) } : {}) });
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      const { code, message, hint } = error;
      const problem: Problem = { edit: null, code, reason: message, ...(hint === undefined ? {} : { hint }) };
      rejected.push({ name, problems: [problem] });
    }
  }
  if (rejected.length === 0) return planned;
  const { error, shown } = rejection(
    rejected,
    planned.map(({ path }) => shownPath(ctx.directory, path)),
  );
  for (const [index, { file }] of rejected.entries()) {
    if (file) editor.remember(file, ctx.sessionId, shown[index] ?? []);
  }
  throw error;
}

function planNewFile(
  editor: Editor,
  hasher: LineHasher,
  name: string,
  { filePath, version, edits }: FileRequest,
): Planned | { problems: readonly Problem[] } {
  if (version !== "new") {
    const hint = 'version "new" creates it';
    return { problems: [{ edit: null, code: "not_found", reason: `no file ${name}`, hint }] };
  }
  return attempt(() => {
    const parsed = parseEdits(edits);
    const wrong = parsed.filter(({ op, pos, payload }) => op === "replace" || pos || "first" in payload);
    if (wrong.length > 0) {
      const hint = 'send op "append" without pos, with the text in lines';
      throw new ProblemError(
        wrong.map(({ index }) => ({
          edit: index,
          code: "invalid_input",
          reason: "a new file has no lines to address",
          hint,
        })),
      );
    }
    const empty = parseText(new Uint8Array());
    const plan = applyEdits(
      editor.codes(empty, hasher),
      placeEdits(empty, parsed, (line) => line),
    );
    const extra = { edits: plan.edits, remapped: [] };
    return {
      path: filePath,
      before: undefined,
      bytes: plan.bytes,
      changes: plan.changes,
      warnings: plan.warnings,
      extra,
    };
  });
}

function planFile(
  editor: Editor,
  hasher: LineHasher,
  ctx: ToolContext,
  name: string,
  request: FileRequest,
  file: TextFile,
): Planned | { problems: readonly Problem[] } {
  const { filePath, version, edits } = request;
  const codes = editor.codes(file, hasher);
  if (version === "new") {
    const reason = `${name} exists already`;
    const hint = `to edit it, ${useVersion(file.version)}; to create a file, choose another path`;
    return {
      problems: [{ edit: null, code: "conflict", reason, hint, expected: file.version, actual: "new", show: [1] }],
    };
  }
  return attempt(() => {
    const parsed = parseEdits(edits);
    const now = { version: file.version, text: file };
    const snapshot = file.version.startsWith(version) ? undefined : editor.snapshots.find(file.path, version);
    const resolved = resolveEdits({
      name,
      file,
      codes,
      version,
      edits: parsed,
      mode: editor.settings.stale,
      snapshot,
      codesOf: ({ text }) => editor.codes(text, hasher),
      passage: (known) => editor.snapshots.passage(file.path, known, now),
    });
    const passage = "problems" in resolved ? resolved.passage : resolved;
    if (passage) editor.shown.carry(file.path, passage.version, file.version, passage.steps);
    if ("problems" in resolved) throw new ProblemError(resolved.problems);
    const placed = placeEdits(file, parsed, resolved.map);
    const warnings = guardUnseen(editor, ctx, file, placed);
    const plan = applyEdits(codes, placed);
    const extra = { edits: plan.edits, remapped: resolved.remapped };
    return {
      path: filePath,
      before: file,
      bytes: plan.bytes,
      changes: plan.changes,
      warnings: [...plan.warnings, ...warnings],
      extra,
    };
  });
}

function attempt(plan: () => Planned): Planned | { problems: readonly Problem[] } {
  try {
    return plan();
  } catch (error) {
    if (error instanceof ProblemError) return { problems: error.problems };
    throw error;
  }
}

/** Lines revealed by a refusal of the guard. */
const REVEALED = 40;

/** @throws ProblemError under `seenGuard: "reject"` for lines this session was not shown */
function guardUnseen(
  editor: Editor,
  ctx: ToolContext,
  file: TextFile,
  placed: readonly PlacedEdit[],
): readonly Warning[] {
  const { seenGuard } = editor.settings;
  if (seenGuard === "off") return [];
  const refused: Problem[] = [];
  const warnings: Warning[] = [];
  for (const { index, op, first, last, anchor } of placed) {
    const [from, to] = op === "replace" ? [first, last] : [anchor ?? 1, anchor ?? 0];
    const unseen = editor.shown.unseen(file.path, ctx.sessionId, file.version, from, to);
    if (unseen.length === 0) continue;
    const lines = `${unseen.length === 1 && unseen[0]?.[0] === unseen[0]?.[1] ? "line" : "lines"} ${showRanges(unseen)}`;
    if (seenGuard === "reject") {
      const show = linesIn(unseen, REVEALED);
      const hint = `read the lines shown; if they are the ones you mean, ${useVersion(file.version)}`;
      refused.push({
        edit: index,
        code: "conflict",
        reason: `${lines} were not shown to this session`,
        hint,
        line: from,
        show,
      });
    } else if (op === "replace") {
      const message = `edit ${index + 1}: ${lines} (old numbers) were replaced but had not been shown`;
      warnings.push({ code: "unseen_lines", line: unseen[0]?.[0] ?? from, message });
    }
  }
  if (refused.length > 0) throw new ProblemError(refused);
  return warnings;
}

function linesIn(ranges: Ranges, most: number): readonly number[] {
  const lines: number[] = [];
  for (const [from, to] of ranges) for (let line = from; line <= to && lines.length < most; line++) lines.push(line);
  return lines;
}

import { createHash } from "node:crypto";
import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { type FileChange, type ToolContext, ToolError } from "@toolhaft/core";
import {
  type Change,
  compareLines,
  type LineChange,
  parseText,
  type TextFile,
  type TextModel,
  unifiedDiff,
} from "@toolhaft/workspace";
import type { TextCodes } from "./anchor.ts";
import type { WarningCode } from "./edit-warnings.ts";
import { type EditedFile, editedFile, knownLines } from "./edited-file.ts";
import { type Editor, shownPath } from "./editor.ts";
import type { LineHasher } from "./line-hash.ts";

/** One file as a plan wants it written. */
export interface PlannedFile<T> {
  /** As given by the caller; a key of the call's paths. */
  readonly path: string;
  /** New path of a move, as given. */
  readonly to?: string;
  readonly before: TextFile | undefined;
  /** The new text; `undefined` deletes the file. */
  readonly bytes: Uint8Array | undefined;
  readonly changes: readonly LineChange[];
  readonly warnings: readonly { code: WarningCode; message: string; line?: number }[];
  readonly extra: T;
}

export interface WrittenFile<T> {
  /** As replies name it. */
  readonly name: string;
  readonly planned: PlannedFile<T>;
  readonly change: FileChange;
  /** Absent for a deleted file. */
  readonly edited?: EditedFile;
  /** The new text as it is on disk, and what led to it. */
  readonly after?: {
    readonly codes: TextCodes;
    readonly changes: readonly LineChange[];
    /** Set when somebody rewrote the file after the commit, with what that changed. */
    readonly file?: TextFile;
    readonly rewritten?: readonly LineChange[];
    /** How many lines were written before that. */
    readonly written: number;
  };
}

export interface ReplyWarning {
  code: WarningCode;
  filePath: string;
  line?: number;
  message: string;
}

/** What every write tool returns besides its files. */
export interface Outcome {
  dryRun: boolean;
  commitId?: string;
  notes: string[];
  warnings: ReplyWarning[];
}

export interface Written<T> {
  readonly files: readonly WrittenFile<T>[];
  readonly outcome: Outcome;
  readonly fileChanges: readonly FileChange[];
}

export interface WriteRequest<T> {
  readonly paths: readonly string[];
  readonly dryRun: boolean;
  readonly allowEmpty?: boolean;
  /** Pure; runs under the locks. */
  plan(files: ReadonlyMap<string, TextFile | undefined>): readonly PlannedFile<T>[];
}

/** Plans under the locks, commits, runs `afterCommit` and tells what is on disk. */
export async function write<T>(editor: Editor, ctx: ToolContext, request: WriteRequest<T>): Promise<Written<T>> {
  const hasher = await editor.hasher();
  const workspace = editor.workspace(ctx);
  const { dryRun, allowEmpty = false } = request;
  const committed = await workspace.edit(
    request.paths,
    (files) => {
      const planned = request.plan(files);
      const results = planned.map((file) => ({ planned: file, after: afterOf(file) }));
      if (!dryRun) for (const { planned: file, after } of results) follow(editor, file, after);
      return { changes: planned.map(changeOf), result: results };
    },
    ctx,
    { dryRun, allowEmpty },
  );
  const notes = committed.notes.filter((note) => !note.startsWith(OWNER_NOT_KEPT));
  let files = committed.result.map(({ planned, after }, index): WrittenFile<T> => {
    const change = committed.changes[index];
    if (!change) throw new ToolError("internal", `the commit tells nothing of ${planned.path}`);
    return describeFile(editor, hasher, ctx, planned, change, after);
  });
  if (!dryRun && editor.settings.afterCommit) {
    notes.push(...(await runAfterCommit(editor, ctx, committed.changes)));
    files = await Promise.all(files.map((file) => reread(editor, hasher, ctx, file, notes)));
  }
  if (!dryRun) {
    // Changes are named by their real path, relative to the real directory.
    const directory = await realpath(ctx.directory);
    for (const file of files) markShown(editor, ctx, directory, file);
  }
  return {
    files,
    fileChanges: files.map(({ change }) => change),
    outcome: {
      dryRun,
      ...(committed.id === undefined ? {} : { commitId: committed.id }),
      notes,
      warnings: [...files.flatMap((file) => warningsOf(file)), ...ownerWarnings(committed.notes)],
    },
  };
}

function changeOf(file: PlannedFile<unknown>): Change {
  const { path, to, before, bytes, changes } = file;
  if (!before) return { kind: "create", path, bytes: bytes ?? new Uint8Array() };
  if (!bytes) return { kind: "delete", path };
  if (to !== undefined) {
    return { kind: "move", path, to, ...(changes.length > 0 ? { bytes, lineChanges: changes } : {}) };
  }
  return { kind: "replace", path, bytes, lineChanges: changes };
}

interface After {
  readonly version: string;
  readonly text: TextModel;
}

function afterOf({ before, bytes }: PlannedFile<unknown>): After | undefined {
  if (!bytes) return undefined;
  const text = before ? before.sibling(bytes) : parseText(bytes);
  return { text, version: createHash("sha256").update(bytes).digest("hex") };
}

/** Under the lock, so that whoever comes next can follow this edit. */
function follow(editor: Editor, { before, changes }: PlannedFile<unknown>, after: After | undefined): void {
  if (!before || !after || before.version === after.version) return;
  const old = { version: before.version, text: before };
  editor.snapshots.remember(before.path, old);
  editor.snapshots.remember(before.path, after);
  editor.snapshots.link(before.path, old, after, changes);
  editor.shown.carry(before.path, before.version, after.version, [changes]);
}

function describeFile<T>(
  editor: Editor,
  hasher: LineHasher,
  ctx: ToolContext,
  planned: PlannedFile<T>,
  change: FileChange,
  after: After | undefined,
): WrittenFile<T> {
  const name = shownPath(ctx.directory, planned.to ?? planned.path);
  if (!after) return { name, planned, change };
  const codes = editor.codes(after.text, hasher);
  const before = planned.before ?? parseText(new Uint8Array());
  const edited = { ...editedFile(change, before, codes, planned.changes), filePath: name };
  return { name, planned, change, edited, after: { codes, changes: planned.changes, written: after.text.lineCount } };
}

async function runAfterCommit(
  editor: Editor,
  ctx: ToolContext,
  changes: readonly FileChange[],
): Promise<readonly string[]> {
  try {
    return (await editor.settings.afterCommit?.(changes, ctx)) ?? [];
  } catch (error) {
    // The files are written; that must not be told as a failure of the edit.
    return [`written, but what runs after a write failed: ${error instanceof Error ? error.message : String(error)}`];
  }
}

/** A file as it is on disk after `afterCommit`. */
async function reread<T>(
  editor: Editor,
  hasher: LineHasher,
  ctx: ToolContext,
  file: WrittenFile<T>,
  notes: string[],
): Promise<WrittenFile<T>> {
  const { planned, change, after } = file;
  if (!after) return file;
  let now: TextFile;
  try {
    now = await editor.workspace(ctx).read(planned.to ?? planned.path, ctx);
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    notes.push(`${file.name} cannot be read after the write: ${error.message}`);
    return file;
  }
  if (now.version === change.after?.version) return file;
  const before = planned.before ?? null;
  const compared = compareLines(before ?? parseText(new Uint8Array()), now, { terminators: true }).changes;
  const rewritten = compareLines(after.codes.text, now).changes;
  const names = { before: change.from ?? change.path, after: change.path, mode: now.mode };
  const { text, additions, deletions, truncated } = unifiedDiff(before, now, compared, names);
  const state = { version: now.version, bytes: now.bytes.length, lines: now.lineCount, mode: now.mode };
  const changed: FileChange = { ...change, after: state, additions, deletions, diff: text, diffTruncated: truncated };
  const codes = editor.codes(now, hasher);
  const told = { ...editedFile(changed, before ?? parseText(new Uint8Array()), codes, compared), filePath: file.name };
  return {
    ...file,
    change: changed,
    edited: told,
    after: { codes, changes: compared, file: now, rewritten, written: after.codes.text.lineCount },
  };
}

/** What an author knows of a file now: the reply shows it, or the author sent it. */
function markShown(
  editor: Editor,
  ctx: ToolContext,
  directory: string,
  { change, edited, after }: WrittenFile<unknown>,
): void {
  if (!edited || !after) return;
  const { codes, changes } = after;
  const path = resolve(directory, change.path);
  editor.snapshots.remember(path, { version: edited.version, text: codes.text });
  editor.shown.show(path, ctx.sessionId, edited.version, knownLines(codes, changes, edited.anchors));
}

function warningsOf({ name, planned, after }: WrittenFile<unknown>): readonly ReplyWarning[] {
  const own = planned.warnings.map((warning) => ({ ...warning, filePath: name }));
  if (!after?.file) return own;
  const message = `${name} was changed after it was written; version, diff and anchors are those on disk now`;
  return [...own, { code: "changed_after_write", filePath: name, message }];
}

const OWNER_NOT_KEPT = "owner_not_kept: ";

function ownerWarnings(notes: readonly string[]): readonly ReplyWarning[] {
  return notes
    .filter((note) => note.startsWith(OWNER_NOT_KEPT))
    .map((note) => {
      const message = note.slice(OWNER_NOT_KEPT.length);
      return { code: "owner_not_kept", filePath: / of (.*) could not be kept$/.exec(message)?.[1] ?? "", message };
    });
}

import type { FileChange, FileState } from "@toolhaft/core";
import { unifiedDiff } from "./diff.ts";
import type { Body, Draft } from "./draft.ts";
import type { FileSystem } from "./file-system.ts";
import type { Fresh } from "./fresh.ts";
import { readBytes } from "./read-file.ts";
import type { LineChange } from "./splice.ts";
import { parseText, type TextModel } from "./text-model.ts";

/** Larger bodies that are not in memory are not read again for a diff. */
const MAX_READ_FOR_DIFF = 1024 * 1024;

/** What a reply shows of each draft, in their order. */
export async function fileChanges(files: FileSystem, drafts: readonly Draft[]): Promise<readonly FileChange[]> {
  const changes: FileChange[] = [];
  for (const draft of drafts) changes.push(await changeOf(files, draft));
  return changes;
}

async function changeOf(files: FileSystem, draft: Draft): Promise<FileChange> {
  switch (draft.kind) {
    case "write": {
      const after = await modelOfBody(files, draft.body, draft.at);
      const before = draft.before && { model: await modelOf(files, draft.at), state: stateOnly(draft.before) };
      return diffed({
        kind: draft.before ? "modify" : "create",
        path: draft.at.diffPath,
        before,
        after: { model: after, state: draft.after },
        lineChanges: draft.lineChanges,
      });
    }
    case "delete":
      return diffed({
        kind: "delete",
        path: draft.at.diffPath,
        before: { model: await modelOf(files, draft.at), state: stateOnly(draft.before) },
        after: null,
        lineChanges: [{ oldStart: 1, oldLines: draft.before.lines, newStart: 1, newLines: 0 }],
      });
    case "move": {
      const model = await modelOf(files, draft.from);
      const state = stateOnly(draft.before);
      const { edited } = draft;
      return diffed({
        kind: "move",
        path: draft.to.diffPath,
        from: draft.from.diffPath,
        before: { model, state },
        after: edited
          ? { model: await modelOfBody(files, edited.body, draft.from), state: edited.after }
          : { model, state },
        lineChanges: edited?.lineChanges ?? [],
      });
    }
    case "move-folder":
      return { ...folderChange("move", draft.to), from: draft.from.diffPath };
    case "delete-folder":
      return folderChange("delete", draft.at);
    case "restore-folder":
      return folderChange("create", draft.at);
  }
}

/** A folder has no version, and its files are as they were. */
function folderChange(kind: FileChange["kind"], at: Fresh): FileChange {
  return {
    kind,
    path: at.diffPath,
    before: null,
    after: null,
    additions: 0,
    deletions: 0,
    diff: "",
    diffTruncated: false,
  };
}

interface Side {
  /** `undefined` for what is no text, or too large to be shown. */
  readonly model: TextModel | undefined;
  readonly state: FileState;
}

interface Diffable {
  readonly kind: FileChange["kind"];
  readonly path: string;
  readonly from?: string;
  readonly before: Side | null;
  readonly after: Side | null;
  readonly lineChanges: readonly LineChange[];
}

function diffed({ kind, path, from, before, after, lineChanges }: Diffable): FileChange {
  const about = {
    kind,
    path,
    ...(from === undefined ? {} : { from }),
    before: before?.state ?? null,
    after: after?.state ?? null,
  };
  const names = { before: from ?? path, after: path, mode: (after ?? before)?.state.mode ?? 0o644 };
  const same = before !== null && after !== null && before.state.version === after.state.version;
  if (!same && ((before && !before.model) || (after && !after.model))) {
    const left = before ? `a/${names.before}` : "/dev/null";
    const right = after ? `b/${names.after}` : "/dev/null";
    const diff = `diff --git a/${names.before} b/${names.after}\nBinary files ${left} and ${right} differ\n`;
    return { ...about, additions: 0, deletions: 0, diff, diffTruncated: true };
  }
  const empty = parseText(new Uint8Array());
  const diff = unifiedDiff(
    before && (before.model ?? empty),
    after && (after.model ?? empty),
    same ? [] : lineChanges,
    names,
  );
  return {
    ...about,
    additions: diff.additions,
    deletions: diff.deletions,
    diff: diff.text,
    diffTruncated: diff.truncated,
  };
}

async function modelOf(files: FileSystem, at: Fresh): Promise<TextModel | undefined> {
  if (at.bytes) return textModel(at.bytes, at);
  return at.stat?.kind === "file" ? modelOfFile(files, at.target.path, at) : undefined;
}

async function modelOfBody(files: FileSystem, body: Body, like: Fresh): Promise<TextModel | undefined> {
  if (body.kind === "bytes") return textModel(body.bytes, like);
  return modelOfFile(files, body.kind === "copy" ? body.path : body.source.path, like);
}

async function modelOfFile(files: FileSystem, path: string, like: Fresh): Promise<TextModel | undefined> {
  if ((await files.stat(path)).size > MAX_READ_FOR_DIFF) return undefined;
  return textModel((await readBytes(files, path, path, MAX_READ_FOR_DIFF)).bytes, like);
}

function textModel(bytes: Uint8Array, like: Fresh): TextModel | undefined {
  return bytes.includes(0) ? undefined : parseText(bytes, like.codec);
}

function stateOnly({ version, bytes, lines, mode }: FileState): FileState {
  return { version, bytes, lines, mode };
}

import { chmodSync, lstatSync, readdirSync, rmdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { type FileChange, type ToolContext, ToolError } from "@toolhaft/core";
import { type Change, compareLines, parseText, type StagedFile, type Workspace } from "@toolhaft/workspace";
import { codeOf } from "../stores/directory/disk.ts";
import { notTextReason } from "../stores/directory/read-bytes.ts";
import { sha256, type Tree } from "./tree.ts";

export interface TreeChange {
  path: string;
  before: Buffer | undefined;
  after: Buffer | undefined;
  mode: number;
}

/** What differs between two trees, by path. */
export function changesBetween(before: Tree, after: Tree): TreeChange[] {
  const paths = [...new Set([...before.keys(), ...after.keys()])].sort();
  return paths.flatMap((path) => {
    const [old, now] = [before.get(path), after.get(path)];
    if (old && now && old.bytes.equals(now.bytes) && old.mode === now.mode) return [];
    return [{ path, before: old?.bytes, after: now?.bytes, mode: now?.mode ?? old?.mode ?? 0o644 }];
  });
}

/**
 * Writes the difference of two trees in one commit, against the bytes that were read.
 *
 * @throws ToolError and then no file has changed
 */
export async function commitTree(
  workspace: Workspace,
  folder: string,
  before: Tree,
  after: Tree,
  ctx: ToolContext,
  directory: string,
): Promise<readonly FileChange[]> {
  const changes = changesBetween(before, after);
  const scope = { directory, sessionId: ctx.sessionId, signal: ctx.signal, ask: ctx.ask };
  const contents = changes.filter(({ before: old, after: now }) => !(old && now && old.equals(now)));
  let done: readonly FileChange[] = [];
  if (after.size === 0 && before.size > 0) {
    done = (
      await workspace.edit([folder], () => ({ changes: [{ kind: "delete", path: folder }], result: undefined }), scope)
    ).changes;
    return done;
  }
  if (contents.length > 0) {
    const staged = new Map<string, StagedFile>();
    try {
      for (const { path, before: old, after: now } of contents) {
        if (!now || (notTextReason(now) === undefined && (!old || notTextReason(old) === undefined))) continue;
        const file = await workspace.stage(scope);
        staged.set(path, file);
        await file.append(now);
      }
      const committed = await workspace.edit(
        contents.map(({ path }) => join(folder, path)),
        (present) => ({
          changes: contents.map((change) => changeOf(folder, change, staged.get(change.path), present)),
          result: undefined,
        }),
        scope,
        { allowEmpty: true },
      );
      done = committed.changes;
    } finally {
      for (const file of staged.values()) await file.discard();
    }
  }
  setModes(folder, after);
  pruneFolders(folder, changes);
  return done;
}

function changeOf(
  folder: string,
  { path, before, after, mode }: TreeChange,
  staged: StagedFile | undefined,
  present: ReadonlyMap<string, { version: string } | undefined>,
): Change {
  const full = join(folder, path);
  if (staged) return { kind: "adopt", path: full, staged, overwrite: before !== undefined };
  if (before !== undefined && notTextReason(before) === undefined && present.get(full)?.version !== sha256(before)) {
    throw new ToolError("conflict", `${path} changed meanwhile`, { hint: "read it again, then repeat the call" });
  }
  if (!after) return { kind: "delete", path: full };
  if (!before) return { kind: "create", path: full, bytes: after, mode };
  return {
    kind: "replace",
    path: full,
    bytes: after,
    lineChanges: compareLines(parseText(before), parseText(after)).changes,
  };
}

/** A commit keeps the mode of a file it replaces; a restored tree has its own. */
function setModes(folder: string, tree: Tree): void {
  for (const [path, { mode }] of tree) {
    const full = join(folder, path);
    const stat = lstatSync(full, { throwIfNoEntry: false });
    if (stat?.isFile() && (stat.mode & 0o777) !== (mode & 0o777)) chmodSync(full, mode & 0o777);
  }
}

function pruneFolders(folder: string, changes: readonly TreeChange[]): void {
  for (const { path, after } of changes) {
    if (after) continue;
    for (let at = dirname(join(folder, path)); at !== folder && at.startsWith(folder); at = dirname(at)) {
      try {
        if (readdirSync(at).length > 0) break;
        rmdirSync(at);
      } catch (error) {
        const code = codeOf(error);
        if (code !== "ENOENT" && code !== "ENOTEMPTY") throw error;
        break;
      }
    }
  }
}

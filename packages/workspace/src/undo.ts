import { ToolError } from "@toolhaft/core";
import type { CommitRequest, Proposal } from "./commit.ts";
import type { Body, Draft, NewBody } from "./draft.ts";
import { existsError, isSameFile, refuseReadOnly } from "./draft.ts";
import type { FileSystem } from "./file-system.ts";
import type { Fresh } from "./fresh.ts";
import { undoneIds } from "./history.ts";
import type { Journal, JournalFile, Known } from "./journal.ts";
import { digestFile } from "./read-file.ts";
import { absentAs } from "./small-file.ts";
import type { LineChange } from "./splice.ts";
import { changedError, lookAt } from "./state-of.ts";
import type { Scope } from "./types.ts";

/**
 * The commit that an undo takes back: the one named, or this session's newest that is neither an undo nor undone. One
 * that was taken back and then redone stands again, by the commit that redid it.
 *
 * @throws ToolError `not_found` listing the last commits, `conflict` for one that is undone already
 */
export function commitToUndo(journals: readonly Journal[], id: string | undefined, scope: Scope): Journal {
  const undone = undoneIds(journals);
  const chosen =
    id === undefined
      ? journals.find((journal) => !journal.undoOf && !undone.has(journal.id) && journal.sessionId === scope.sessionId)
      : journals.find((journal) => journal.id === id);
  if (!chosen) throw nothingToUndo(journals, id);
  if (undone.has(chosen.id)) {
    const by = journals.find((journal) => journal.undoOf === chosen.id);
    throw new ToolError("conflict", `commit ${chosen.id} is undone already`, {
      hint: by ? `to redo it, undo ${by.id}` : "nothing to do",
    });
  }
  return redone(journals, chosen);
}

/** An undo U of A and an undo R of U: R did again what A did, so taking A back is taking R back. */
function redone(journals: readonly Journal[], journal: Journal): Journal {
  for (const undo of journals.filter((other) => other.undoOf === journal.id)) {
    const redo = journals.find((other) => other.undoOf === undo.id);
    if (redo) return redone(journals, redo);
  }
  return journal;
}

function nothingToUndo(journals: readonly Journal[], id: string | undefined): ToolError {
  const last = journals
    .slice(0, 5)
    .map((journal) => `${journal.id} ${journal.files.map((file) => file.path).join(", ")}`);
  const list = last.length > 0 ? `; the last commits are:\n${last.join("\n")}` : "; there are no commits";
  const what = id === undefined ? "this session has nothing to undo" : `no commit ${id} is kept`;
  return new ToolError("not_found", what + list, { hint: "name one of these commits", details: { last } });
}

/** Every path that taking a commit back touches. */
export function pathsOf(journal: Journal): readonly string[] {
  return [...new Set(journal.files.flatMap(({ path, from }) => (from === undefined ? [path] : [path, from])))];
}

/**
 * The opposite of a commit, if every file is as it left them.
 *
 * @throws ToolError `conflict` when one is not; nothing is restored then
 */
export function undoRequest(
  files: FileSystem,
  journal: Journal,
  scope: Scope,
  dryRun: boolean,
  kept: readonly string[],
): CommitRequest<void> {
  return {
    paths: pathsOf(journal),
    scope,
    dryRun,
    undoOf: journal.id,
    emptied: journal.folders,
    async propose(fresh): Promise<Proposal<void>> {
      const at = (path: string): Fresh => {
        const found = fresh.get(path);
        if (!found) throw new ToolError("internal", `${path} was not read`);
        return found;
      };
      const drafts: Draft[] = [];
      for (const file of journal.files) drafts.push(...(await reverse(files, file, at, kept)));
      return { drafts, result: undefined };
    },
  };
}

async function reverse(
  files: FileSystem,
  file: JournalFile,
  at: (path: string) => Fresh,
  kept: readonly string[],
): Promise<readonly Draft[]> {
  if (file.folder) return reverseFolder(files, file, at, kept);
  const { path, from, before, after, backup, over } = file;
  if (file.kind === "create")
    return [{ kind: "delete", at: at(path), before: await unchanged(at(path), after?.version) }];
  if (file.kind === "move" && from !== undefined) {
    const old = isSameFile(at(path), at(from)) ? at(from) : absent(at(from));
    const known = await unchanged(at(path), after?.version);
    if (!over && !backup)
      return [{ kind: "move", from: at(path), to: old, before: known, over: null, edited: undefined }];
    const body: NewBody =
      backup && before
        ? await restored(files, backup, before, [])
        : { body: { kind: "copy", path }, after: plain(known), lineChanges: added(known.lines) };
    const put: Draft = { kind: "write", at: old, before: null, ...body, lineChanges: added(body.after.lines) };
    if (!over) return [put, { kind: "delete", at: at(path), before: known }];
    const swap = [{ oldStart: 1, oldLines: known.lines, newStart: 1, newLines: over.state.lines }];
    return [
      put,
      { kind: "write", at: at(path), before: known, ...(await restored(files, over.backup, over.state, swap)) },
    ];
  }
  if (!before || !backup) throw new ToolError("internal", `the journal holds no old content of ${path}`);
  if (file.kind === "delete") {
    return [
      {
        kind: "write",
        at: absent(at(path)),
        before: null,
        ...(await restored(files, backup, before, added(before.lines))),
      },
    ];
  }
  const known = await unchanged(at(path), after?.version);
  return [
    {
      kind: "write",
      at: at(path),
      before: known,
      ...(await restored(files, backup, before, inverse(file.lineChanges))),
    },
  ];
}

async function reverseFolder(
  files: FileSystem,
  { kind, path, from, backup }: JournalFile,
  at: (path: string) => Fresh,
  kept: readonly string[],
): Promise<readonly Draft[]> {
  if (kind === "delete" && backup) {
    const stat = await lookAt(files, backup);
    if (!stat) throw gone(path);
    return [{ kind: "restore-folder", at: absent(at(path)), backup, ino: String(stat.ino) }];
  }
  const folder = at(path);
  if (folder.stat?.kind !== "directory") throw changedError(path);
  if (kind === "move" && from !== undefined) return [{ kind: "move-folder", from: folder, to: absent(at(from)) }];
  if (kept.includes(path)) throw new ToolError("denied", `${path} holds the workspace itself`);
  return [{ kind: "delete-folder", at: folder }];
}

async function unchanged(at: Fresh, version: string | undefined): Promise<Known> {
  if (at.stat?.kind !== "file")
    throw new ToolError("conflict", `${at.target.shown} is gone since that commit; nothing was restored`);
  const known = await at.known();
  if (known.version !== version) {
    throw new ToolError(
      "conflict",
      `${at.target.shown} changed since that commit: it left ${version}, now it is ${known.version}; nothing was restored`,
      {
        hint: "undo the later change first, or edit the file",
        details: { path: at.target.path, expected: version, found: known.version },
      },
    );
  }
  refuseReadOnly(known.mode, at.target.shown);
  return known;
}

function absent(at: Fresh): Fresh {
  if (at.stat) throw existsError(at);
  return at;
}

/** The kept content is copied: linked back it would be changed by the next edit in place. */
async function restored(
  files: FileSystem,
  backup: string,
  state: NewBody["after"],
  lineChanges: readonly LineChange[],
): Promise<NewBody> {
  const kept = await absentAs(undefined, () => digestFile(files, backup));
  if (kept?.version !== state.version) throw gone(backup);
  const body: Body = { kind: "copy", path: backup };
  return { body, after: plain(state), lineChanges };
}

function gone(path: string): ToolError {
  return new ToolError("not_found", `the kept content of ${path} is no longer there, so the commit cannot be undone`, {
    hint: "restore it from version control",
  });
}

function plain({ version, bytes, lines, mode }: NewBody["after"]): NewBody["after"] {
  return { version, bytes, lines, mode };
}

function added(lines: number): readonly LineChange[] {
  return lines === 0 ? [] : [{ oldStart: 1, oldLines: 0, newStart: 1, newLines: lines }];
}

function inverse(changes: readonly LineChange[]): readonly LineChange[] {
  return changes.map(({ oldStart, oldLines, newStart, newLines }) => ({
    oldStart: newStart,
    oldLines: newLines,
    newStart: oldStart,
    newLines: oldLines,
  }));
}

import type { FileState } from "@toolhaft/core";
import { ToolError } from "@toolhaft/core";
import { type Fresh, stateOf } from "./fresh.ts";
import type { Known } from "./journal.ts";
import { isInside } from "./paths.ts";
import type { LineChange } from "./splice.ts";
import type { StagedSource } from "./staged-file.ts";
import { asBuffer } from "./text-model.ts";
import type { Change, EditOptions, StagedFile } from "./types.ts";

/** Where the bytes of a new body come from. */
export type Body =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "copy"; readonly path: string }
  | { readonly kind: "staged"; readonly source: StagedSource };

/** A new body with what is known of it. */
export interface NewBody {
  readonly body: Body;
  readonly after: FileState;
  readonly lineChanges: readonly LineChange[];
}

/** One checked change, before it is cut into steps. */
export type Draft =
  | ({ readonly kind: "write"; readonly at: Fresh; readonly before: Known | null } & NewBody)
  | { readonly kind: "delete"; readonly at: Fresh; readonly before: Known }
  | {
      readonly kind: "move";
      readonly from: Fresh;
      readonly to: Fresh;
      readonly before: Known;
      readonly over: Known | null;
      readonly edited: NewBody | undefined;
    }
  | { readonly kind: "move-folder"; readonly from: Fresh; readonly to: Fresh }
  | { readonly kind: "delete-folder"; readonly at: Fresh }
  | { readonly kind: "restore-folder"; readonly at: Fresh; readonly backup: string; readonly ino: string };

export interface DraftOptions extends EditOptions {
  readonly maxFileBytes: number;
  /** Mode of a new file where none is given. */
  readonly newMode: number;
  /** Folders that hold these cannot be moved or deleted. */
  readonly kept: readonly string[];
  find(path: string): Fresh | undefined;
  sourceOf(staged: StagedFile): StagedSource | undefined;
}

/**
 * Checks the changes of a plan against the files they name.
 *
 * @throws ToolError for the first that cannot be made
 */
export async function draftChanges(changes: readonly Change[], options: DraftOptions): Promise<readonly Draft[]> {
  const named = new Map<Fresh, Change>();
  const take = (path: string, change: Change): Fresh => {
    const fresh = options.find(path);
    if (!fresh) {
      throw new ToolError("internal", `the plan changes ${path}, which is not among the paths of the call`);
    }
    const twin = [...named].some(([other, of]) => other === fresh || (of !== change && isOneInode(other, fresh)));
    if (twin) {
      throw new ToolError("invalid_input", `two changes of one call name ${fresh.target.shown}`, {
        hint: "make it one change",
      });
    }
    named.set(fresh, change);
    return fresh;
  };
  const drafts: Draft[] = [];
  for (const change of changes) drafts.push(await draftOf(change, (path) => take(path, change), options));
  refuseNested(drafts);
  return drafts;
}

async function draftOf(change: Change, take: (path: string) => Fresh, options: DraftOptions): Promise<Draft> {
  const at = take(change.path);
  switch (change.kind) {
    case "replace":
      return {
        kind: "write",
        at,
        before: await existing(at),
        ...replacement(at, change.bytes, change.lineChanges, options),
      };
    case "create":
      refuseFolderName(change.path);
      refuseExisting(at);
      refuseLarge(at, change.bytes, options);
      return { kind: "write", at, before: null, ...created(change.bytes, change.mode ?? options.newMode) };
    case "adopt":
      return adopted(at, change, options);
    case "delete":
      if (at.stat?.kind === "directory") return deletedFolder(at, options);
      return { kind: "delete", at, before: await existing(at) };
    case "move":
      return moved(at, take(change.to), change, options);
  }
}

function created(bytes: Uint8Array, mode: number): NewBody {
  const after = stateOf(bytes, mode & 0o7777);
  return {
    body: { kind: "bytes", bytes },
    after,
    lineChanges: after.lines === 0 ? [] : [{ oldStart: 1, oldLines: 0, newStart: 1, newLines: after.lines }],
  };
}

function replacement(at: Fresh, bytes: Uint8Array, lineChanges: readonly LineChange[], options: DraftOptions): NewBody {
  const { shown } = at.target;
  const text = at.text();
  if (!text) throw new ToolError("internal", `${shown} cannot be replaced, it does not exist`);
  if (text.lineEnds.loneCr > 0 && text.lineEnds.lf + text.lineEnds.crlf === 0) {
    throw new ToolError("unsupported", `${shown} has CR-only line ends, so it is one line to every edit`, {
      hint: "convert its line ends to LF first",
    });
  }
  if (asBuffer(text.bytes).equals(bytes)) {
    throw new ToolError("invalid_input", `nothing to change in ${shown}: its bytes are already the wanted ones`, {
      hint: "leave it out of the call",
    });
  }
  refuseLarge(at, bytes, options);
  const after = stateOf(bytes, text.mode);
  const emptied = bytes.length === 0 || (text.bom && bytes.length === 3 && after.lines === 0);
  if (emptied && text.lineCount > 0 && !options.allowEmpty && !removesAll(lineChanges, text.lineCount)) {
    throw new ToolError(
      "internal",
      `the edit of ${shown} would leave no bytes, but does not remove all its ${text.lineCount} lines`,
    );
  }
  return { body: { kind: "bytes", bytes }, after, lineChanges };
}

function removesAll(changes: readonly LineChange[], lines: number): boolean {
  const removed = changes.reduce((sum, change) => sum + change.oldLines, 0);
  return removed >= lines && changes.every((change) => change.newLines === 0);
}

async function adopted(at: Fresh, change: Extract<Change, { kind: "adopt" }>, options: DraftOptions): Promise<Draft> {
  refuseFolderName(change.path);
  if (!change.overwrite) refuseExisting(at);
  const source = options.sourceOf(change.staged);
  if (!source) {
    throw new ToolError("internal", `the staged file for ${at.target.shown} is gone or belongs to another workspace`);
  }
  const before = at.stat ? await existing(at) : null;
  const after: FileState = { ...source.digest(), mode: before?.mode ?? options.newMode };
  if (before && before.version === after.version) {
    throw new ToolError(
      "invalid_input",
      `nothing to change in ${at.target.shown}: its bytes are already the wanted ones`,
    );
  }
  const lineChanges = [{ oldStart: 1, oldLines: before?.lines ?? 0, newStart: 1, newLines: after.lines }];
  return { kind: "write", at, before, body: { kind: "staged", source }, after, lineChanges };
}

async function moved(
  from: Fresh,
  to: Fresh,
  change: Extract<Change, { kind: "move" }>,
  options: DraftOptions,
): Promise<Draft> {
  if (from.stat?.kind === "directory") return movedFolder(from, to, change, options);
  refuseFolderName(change.to);
  const before = await existing(from);
  const caseOnly = isSameFile(from, to);
  if (!caseOnly && !change.overwrite) refuseExisting(to);
  const over = !caseOnly && to.stat ? await existing(to) : null;
  const edits = change.bytes !== undefined && from.bytes !== undefined && !asBuffer(from.bytes).equals(change.bytes);
  const edited =
    change.bytes && (edits || !from.bytes)
      ? replacement(from, change.bytes, change.lineChanges ?? [], options)
      : undefined;
  return { kind: "move", from, to, before, over, edited };
}

function movedFolder(from: Fresh, to: Fresh, change: Extract<Change, { kind: "move" }>, options: DraftOptions): Draft {
  if (change.bytes) throw new ToolError("internal", `${from.target.shown} is a folder and has no bytes`);
  refuseHolding(from, options);
  if (isInside(from.target.path, to.target.path)) {
    throw new ToolError("invalid_input", `${from.target.shown} cannot be moved into itself`, {
      hint: "choose another path",
    });
  }
  if (to.stat) throw existsError(to);
  return { kind: "move-folder", from, to };
}

function deletedFolder(at: Fresh, options: DraftOptions): Draft {
  refuseHolding(at, options);
  return { kind: "delete-folder", at };
}

/** A file may be put into a folder that is not there yet, but not in its place. */
function refuseFolderName(path: string): void {
  if (!path.endsWith("/")) return;
  throw new ToolError("invalid_input", `${path} ends in a slash, so it names a folder`, { hint: "name a file" });
}

/** @throws ToolError `denied` for a folder that holds a root or the state of this workspace */
function refuseHolding({ target }: Fresh, options: DraftOptions): void {
  if (options.kept.some((path) => isInside(target.path, path))) {
    throw new ToolError("denied", `${target.shown} holds the workspace itself`, { hint: "choose a folder inside it" });
  }
}

async function existing(at: Fresh): Promise<Known> {
  const { shown } = at.target;
  if (!at.stat) throw new ToolError("not_found", `${shown} does not exist`, { hint: "check the path" });
  if (at.stat.kind !== "file") at.text();
  refuseReadOnly(at.stat.mode, shown);
  return at.known();
}

/** A rename over a file without any write bit would succeed, also for those who may not write it. */
export function refuseReadOnly(mode: number, shown: string): void {
  if ((mode & 0o222) !== 0) return;
  throw new ToolError("denied", `${shown} is read-only (mode ${(mode & 0o7777).toString(8).padStart(4, "0")})`, {
    hint: "make it writable first, if it is meant to change",
  });
}

function refuseExisting(at: Fresh): void {
  if (at.stat) throw existsError(at);
}

export function existsError({ target }: Fresh): ToolError {
  return new ToolError("conflict", `${target.shown} exists already`, { hint: "edit it, or choose another path" });
}

function refuseLarge(at: Fresh, bytes: Uint8Array, { maxFileBytes }: DraftOptions): void {
  if (bytes.length <= maxFileBytes) return;
  throw new ToolError(
    "too_large",
    `${at.target.shown} would hold ${bytes.length} bytes, the limit is ${maxFileBytes}`,
    {
      hint: "write a smaller file, or raise maxFileBytes",
    },
  );
}

/** One inode under two names of one spelling: they differ in case on a file system that does not. */
export function isSameFile(from: Fresh, to: Fresh): boolean {
  return isOneInode(from, to) && from.target.path.toLowerCase() === to.target.path.toLowerCase();
}

function isOneInode({ stat: a }: Fresh, { stat: b }: Fresh): boolean {
  return a !== undefined && b !== undefined && a.ino === b.ino && a.dev === b.dev;
}

/** Files inside a moved folder are changed by their old path; nothing can be changed inside a deleted or a new one. */
function refuseNested(drafts: readonly Draft[]): void {
  const folders = drafts.filter((draft) => draft.kind === "move-folder" || draft.kind === "delete-folder");
  for (const folder of folders) {
    const closed = folder.kind === "delete-folder" ? [folder.at] : [folder.to];
    for (const draft of drafts) {
      if (draft === folder) continue;
      const inner = placesOf(draft);
      const clash = inner.find(({ target }) => closed.some((place) => isInside(place.target.path, target.path)));
      if (clash) {
        throw new ToolError(
          "invalid_input",
          `${clash.target.shown} lies in a folder that the same call moves there or deletes`,
          {
            hint: "name files of a moved folder by their old path, or make two calls",
          },
        );
      }
      const old = folder.kind === "move-folder" ? folder.from : undefined;
      const nested =
        old && draft.kind.endsWith("-folder") && inner.some(({ target }) => isInside(old.target.path, target.path));
      if (nested) {
        throw new ToolError("unsupported", `${old.target.shown} and a folder inside it cannot change in one call`, {
          hint: "make two calls",
        });
      }
    }
  }
}

function placesOf(draft: Draft): readonly Fresh[] {
  return "at" in draft ? [draft.at] : [draft.from, draft.to];
}

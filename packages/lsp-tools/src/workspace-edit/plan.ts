import { ToolError } from "@toolhaft/core";
import type {
  AnnotatedTextEdit,
  ChangeAnnotation,
  CreateFile,
  DeleteFile,
  RenameFile,
  SnippetTextEdit,
  TextDocumentEdit,
  TextEdit,
  WorkspaceEdit,
} from "vscode-languageserver-protocol";
import { comparePositions, sourceText } from "../positions.ts";
import { isInside, uriToPath } from "../uris.ts";

/** What a path held when the server made its edit. */
export type Snapshot =
  | {
      kind: "file";
      text: string /** The document version the server was sent, when it is open there. */;
      documentVersion?: number;
    }
  | { kind: "folder"; empty: boolean }
  | { kind: "missing" };

/** Gives the snapshot of an absolute path; pure as far as the plan is concerned. */
export type SnapshotReader = (path: string) => Snapshot;

/** One replacement in UTF-16 offsets of the snapshot. */
export interface OffsetEdit {
  start: number;
  end: number;
  text: string;
}

/** What the edit does to one path in the end. */
export type PlannedChange =
  | { operation: "edit"; path: string; text: string; edits: OffsetEdit[]; lines: number[]; count: number }
  | { operation: "create"; path: string; text: string; count: number; overwrites: boolean }
  | {
      operation: "rename";
      path: string;
      to: string;
      text: string | undefined;
      count: number;
      lines: number[];
      overwrites: boolean;
      folder: boolean;
    }
  | { operation: "delete"; path: string; folder: boolean };

export interface PlannedAnnotation {
  label: string;
  description?: string | undefined;
  needsConfirmation: boolean;
  edits: number;
}

/** A `WorkspaceEdit` simulated on snapshots: what changes, without having changed anything. */
export interface EditPlan {
  changes: PlannedChange[];
  annotations: PlannedAnnotation[];
  totalEdits: number;
}

type Operation = TextDocumentEdit | CreateFile | RenameFile | DeleteFile;

interface VirtualFile {
  text: string;
  /** Where it stood at first; `undefined` for a new one. */
  origin: string | undefined;
  /** Offsets into the original text, as long as one batch is all that was done. */
  edits: OffsetEdit[];
  lines: number[];
  batches: number;
  count: number;
}

/** The absolute path of a `file:` URI. @throws ToolError `unsupported` for other schemes */
export function editPath(uri: string): string {
  const path = uriToPath(uri);
  if (path === undefined) {
    throw new ToolError("unsupported", `the edit changes ${uri}, which is no file`, { hint: "nothing was written" });
  }
  return path;
}

/** Every path that an edit names. */
export function pathsOfEdit(edit: WorkspaceEdit): string[] {
  const paths = new Set<string>();
  for (const operation of operationsOf(edit)) {
    if (!("kind" in operation)) paths.add(editPath(operation.textDocument.uri));
    else if (operation.kind === "rename") {
      paths.add(editPath(operation.oldUri));
      paths.add(editPath(operation.newUri));
    } else paths.add(editPath(operation.uri));
  }
  return [...paths];
}

function operationsOf(edit: WorkspaceEdit): Operation[] {
  if (edit.documentChanges) return edit.documentChanges as Operation[];
  return Object.entries(edit.changes ?? {}).map(([uri, edits]) => ({ textDocument: { uri, version: null }, edits }));
}

/**
 * Carries an edit out on snapshots, operation by operation, later ones seeing what earlier ones did.
 *
 * @throws ToolError `conflict` (version, overlap, existing target, full folder), `not_found`, `unsupported`
 * @see https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/#workspaceEdit
 */
export function planWorkspaceEdit(edit: WorkspaceEdit, snapshots: SnapshotReader): EditPlan {
  const world = new World(snapshots);
  const annotations = new Map<string, PlannedAnnotation>();
  const annotate = (id: string | undefined, count: number) => {
    const annotation = id === undefined ? undefined : edit.changeAnnotations?.[id];
    if (id === undefined || !annotation) return;
    const known = annotations.get(id) ?? describeAnnotation(annotation);
    annotations.set(id, { ...known, edits: known.edits + count });
  };
  let totalEdits = 0;
  for (const operation of operationsOf(edit)) {
    if (!("kind" in operation)) {
      const path = editPath(operation.textDocument.uri);
      world.edit(path, operation.textDocument.version ?? null, operation.edits.map(plainEdit));
      totalEdits += operation.edits.length;
      for (const one of operation.edits) annotate((one as AnnotatedTextEdit).annotationId, 1);
      continue;
    }
    annotate(operation.annotationId, 1);
    if (operation.kind === "create") world.create(editPath(operation.uri), operation.options ?? {});
    else if (operation.kind === "rename") {
      world.rename(editPath(operation.oldUri), editPath(operation.newUri), operation.options ?? {});
    } else if (operation.kind === "delete") world.delete(editPath(operation.uri), operation.options ?? {});
    else
      throw new ToolError("unsupported", `the edit holds an operation of unknown kind`, {
        hint: "nothing was written",
      });
  }
  return { changes: world.changes(), annotations: [...annotations.values()], totalEdits };
}

function plainEdit(edit: TextEdit | AnnotatedTextEdit | SnippetTextEdit): TextEdit {
  if ("newText" in edit) return edit;
  throw new ToolError("unsupported", "the edit holds a snippet, which only an editor can fill in", {
    hint: "nothing was written",
  });
}

function describeAnnotation(annotation: ChangeAnnotation): PlannedAnnotation {
  return {
    label: annotation.label,
    ...(annotation.description !== undefined && { description: annotation.description }),
    needsConfirmation: annotation.needsConfirmation === true,
    edits: 0,
  };
}

/** The files an edit touches, as they are after each of its operations. */
class World {
  readonly #snapshots: SnapshotReader;
  /** Files known by now; `undefined` where there is none any more. */
  readonly #files = new Map<string, VirtualFile | undefined>();
  readonly #initial = new Map<string, Snapshot>();
  readonly #folderMoves: { from: string; to: string }[] = [];
  readonly #folderDeletes: string[] = [];
  readonly #overwritten = new Set<string>();

  constructor(snapshots: SnapshotReader) {
    this.#snapshots = snapshots;
  }

  #snapshot(path: string): Snapshot {
    let snapshot = this.#initial.get(path);
    if (!snapshot) {
      snapshot = this.#snapshots(path);
      this.#initial.set(path, snapshot);
    }
    return snapshot;
  }

  #file(path: string): VirtualFile | undefined {
    if (this.#files.has(path)) return this.#files.get(path);
    if (this.#folderDeletes.some((folder) => isInside(folder, path))) return undefined;
    const origin = this.#originalPath(path);
    if (origin === undefined) return undefined;
    const snapshot = this.#snapshot(origin);
    const file: VirtualFile | undefined =
      snapshot.kind === "file"
        ? { text: snapshot.text, origin, edits: [], lines: [], batches: 0, count: 0 }
        : undefined;
    this.#files.set(path, file);
    return file;
  }

  /** Where a path stood before folders were moved; `undefined` when a move has emptied the place. */
  #originalPath(path: string): string | undefined {
    let at = path;
    for (const move of [...this.#folderMoves].reverse()) {
      if (isInside(move.to, at)) at = move.from + at.slice(move.to.length);
      else if (isInside(move.from, at)) return undefined;
    }
    return at;
  }

  #folder(path: string): { empty: boolean } | undefined {
    if (this.#folderDeletes.some((folder) => isInside(folder, path))) return undefined;
    const origin = this.#originalPath(path);
    const snapshot = origin === undefined ? undefined : this.#snapshot(origin);
    if (snapshot?.kind !== "folder") return undefined;
    const created = [...this.#files].some(([file, content]) => content && isInside(path, file));
    return { empty: snapshot.empty && !created };
  }

  edit(path: string, version: number | null, edits: readonly TextEdit[]): void {
    const file = this.#file(path);
    if (!file)
      throw new ToolError("not_found", `the edit changes ${path}, which does not exist`, {
        hint: "nothing was written",
      });
    if (version !== null && file.origin !== undefined && file.batches === 0) {
      const snapshot = this.#snapshot(file.origin);
      const sent = snapshot.kind === "file" ? snapshot.documentVersion : undefined;
      if (sent !== undefined && sent !== version) {
        throw new ToolError(
          "conflict",
          `the edit of ${path} was made for version ${version}, the server has version ${sent}`,
          {
            hint: "nothing was written; call again",
          },
        );
      }
    }
    const offsets = toOffsets(path, file.text, edits);
    const source = sourceText(file.text);
    file.lines.push(...offsets.map((one) => source.positionAt(one.start).line));
    file.edits = offsets;
    file.batches++;
    file.count += edits.length;
    file.text = applyOffsets(file.text, offsets);
  }

  create(path: string, options: { overwrite?: boolean; ignoreIfExists?: boolean }): void {
    const exists = this.#file(path) !== undefined;
    if (this.#folder(path)) throw exists_(path, "is a folder");
    if (exists && !options.overwrite) {
      if (options.ignoreIfExists) return;
      throw exists_(path, "exists already");
    }
    if (exists) this.#overwritten.add(path);
    this.#files.set(path, { text: "", origin: undefined, edits: [], lines: [], batches: 0, count: 0 });
  }

  rename(from: string, to: string, options: { overwrite?: boolean; ignoreIfExists?: boolean }): void {
    const target = this.#file(to) !== undefined || this.#folder(to) !== undefined;
    const folder = this.#folder(from);
    const file = this.#file(from);
    if (!folder && !file)
      throw new ToolError("not_found", `the edit renames ${from}, which does not exist`, {
        hint: "nothing was written",
      });
    if (target && from !== to && !options.overwrite) {
      if (options.ignoreIfExists) return;
      throw exists_(to, "exists already");
    }
    if (from === to) return;
    if (folder) {
      if (target) throw exists_(to, "exists already, and a folder replaces nothing");
      for (const [path, content] of [...this.#files]) {
        if (!isInside(from, path)) continue;
        this.#files.delete(path);
        this.#files.set(to + path.slice(from.length), content);
      }
      this.#folderMoves.push({ from, to });
      return;
    }
    if (target) {
      if (this.#folder(to)) throw exists_(to, "is a folder");
      this.#overwritten.add(to);
    }
    this.#files.set(to, file);
    this.#files.set(from, undefined);
  }

  delete(path: string, options: { recursive?: boolean; ignoreIfNotExists?: boolean }): void {
    const folder = this.#folder(path);
    if (folder) {
      if (!folder.empty && !options.recursive) {
        throw new ToolError("conflict", `the edit deletes ${path}, a folder that is not empty`, {
          hint: "nothing was written",
        });
      }
      for (const file of [...this.#files.keys()]) if (isInside(path, file)) this.#files.delete(file);
      this.#folderDeletes.push(path);
      return;
    }
    if (this.#file(path)) {
      this.#files.set(path, undefined);
      return;
    }
    if (!options.ignoreIfNotExists) {
      throw new ToolError("not_found", `the edit deletes ${path}, which does not exist`, {
        hint: "nothing was written",
      });
    }
  }

  /** What it all comes to: one change for each path that is not as it was. */
  changes(): PlannedChange[] {
    const changes: PlannedChange[] = [];
    const kept = new Set<string>();
    for (const file of this.#files.values()) if (file?.origin !== undefined) kept.add(file.origin);
    for (const [path, file] of this.#files) {
      if (!file) continue;
      const initially = this.#snapshot(path);
      if (file.origin === undefined) {
        const overwrites = initially.kind === "file" && !kept.has(path);
        changes.push({ operation: "create", path, text: file.text, count: file.count, overwrites });
        continue;
      }
      const before = this.#snapshot(file.origin);
      const original = before.kind === "file" ? before.text : "";
      const changed = file.text !== original;
      const moved = file.origin !== path && this.#originalPath(path) !== file.origin;
      if (moved) {
        changes.push({
          operation: "rename",
          path: file.origin,
          to: path,
          text: changed ? file.text : undefined,
          count: file.count,
          lines: file.lines,
          overwrites: initially.kind === "file",
          folder: false,
        });
      } else if (changed) {
        const edits = file.batches === 1 ? file.edits : [wholeChange(original, file.text)];
        changes.push({
          operation: "edit",
          path: file.origin,
          text: file.text,
          edits,
          lines: file.lines,
          count: file.count,
        });
      }
    }
    for (const { from, to } of this.#folderMoves) {
      changes.push({
        operation: "rename",
        path: from,
        to,
        text: undefined,
        count: 0,
        lines: [],
        overwrites: false,
        folder: true,
      });
    }
    for (const [path, file] of this.#files) {
      if (file || kept.has(path) || this.#snapshot(path).kind !== "file") continue;
      changes.push({ operation: "delete", path, folder: false });
    }
    for (const path of this.#folderDeletes) changes.push({ operation: "delete", path, folder: true });
    return changes;
  }
}

function exists_(path: string, what: string): ToolError {
  return new ToolError("conflict", `${path} ${what}`, { hint: "nothing was written" });
}

function wholeChange(before: string, after: string): OffsetEdit {
  let start = 0;
  const shorter = Math.min(before.length, after.length);
  while (start < shorter && before[start] === after[start]) start++;
  let tail = 0;
  while (tail < shorter - start && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++;
  return { start, end: before.length - tail, text: after.slice(start, after.length - tail) };
}

/**
 * Text edits as sorted offsets: past an end is clamped, touching is allowed, several inserts at one place keep their
 * order, an insert at the start of a replace goes before it. New text takes the file's line ends.
 *
 * @throws ToolError `conflict` for overlapping and reversed ranges
 */
export function toOffsets(path: string, text: string, edits: readonly TextEdit[]): OffsetEdit[] {
  const source = sourceText(text);
  const eol = lineEndOf(text);
  const offsets = edits.map((edit, index) => {
    const { start, end } = edit.range;
    if (comparePositions(start, end) > 0) {
      throw new ToolError("conflict", `the edit of ${path} holds a range that ends before it starts`, {
        hint: "nothing was written",
      });
    }
    return { start: source.offsetAt(start), end: source.offsetAt(end), text: withLineEnds(edit.newText, eol), index };
  });
  const isInsert = (one: OffsetEdit) => one.start === one.end;
  offsets.sort(
    (a, b) => a.start - b.start || Number(!isInsert(a)) - Number(!isInsert(b)) || a.end - b.end || a.index - b.index,
  );
  let last = 0;
  for (const one of offsets) {
    if (one.start < last) {
      throw new ToolError("conflict", `the edit of ${path} holds edits that overlap`, { hint: "nothing was written" });
    }
    last = one.end;
  }
  return offsets.map(({ start, end, text: inserted }) => ({ start, end, text: inserted }));
}

export function applyOffsets(text: string, edits: readonly OffsetEdit[]): string {
  let result = "";
  let from = 0;
  for (const edit of edits) {
    result += text.slice(from, edit.start) + edit.text;
    from = edit.end;
  }
  return result + text.slice(from);
}

/** The line end that most lines of a text have. */
export function lineEndOf(text: string): "\n" | "\r\n" {
  const crlf = text.match(/\r\n/g)?.length ?? 0;
  const lf = (text.match(/\n/g)?.length ?? 0) - crlf;
  return crlf > lf ? "\r\n" : "\n";
}

function withLineEnds(text: string, eol: "\n" | "\r\n"): string {
  return eol === "\r\n" ? text.replace(/\r?\n/g, "\r\n") : text.replace(/\r\n/g, "\n");
}

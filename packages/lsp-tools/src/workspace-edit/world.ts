import { ToolError } from "@toolhaft/core";
import type { TextEdit } from "vscode-languageserver-protocol";
import { sourceText } from "../positions.ts";
import { isInside } from "../uris.ts";
import { applyOffsets, type OffsetEdit, toOffsets, wholeChange } from "./offsets.ts";

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

/** The files an edit touches, as they are after each of its operations. */
export class World {
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

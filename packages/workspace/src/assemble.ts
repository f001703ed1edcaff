import { dirname, join } from "node:path";
import { ToolError } from "@toolhaft/core";
import type { Body, Draft, NewBody } from "./draft.ts";
import type { FileStat, FileSystem } from "./file-system.ts";
import type { Fresh } from "./fresh.ts";
import type { JournalFile, Known, Step } from "./journal.ts";
import { absentAs } from "./small-file.ts";

/** A step's new body, to be staged at its temporary name. */
export interface ToStage {
  readonly temp: string;
  readonly body: Body;
  readonly mode: number;
  /** Whose owner and group the new file takes. */
  readonly like: FileStat | undefined;
  readonly shown: string;
}

/** An old body to be kept. */
export interface ToBackUp {
  readonly from: string;
  readonly to: string;
  readonly before: Known;
  readonly mode: "link" | "copy";
}

/** A commit cut into steps, with everything that its journal needs. */
export interface Assembly {
  readonly steps: readonly Step[];
  readonly files: readonly JournalFile[];
  readonly folders: readonly string[];
  readonly stages: readonly ToStage[];
  readonly backups: readonly ToBackUp[];
  /** Second names that only a rollback needs; they go before the commit is done. */
  readonly holds: readonly string[];
  readonly fast: boolean;
}

export interface AssembleOptions {
  readonly files: FileSystem;
  readonly id: string;
  readonly commitPath: string;
  readonly inPlace: boolean;
}

/** Steps by the time they are applied: new names first, then replaced bodies, then old names, folders last. */
type Phase = "appear" | "replace" | "vanish" | "folder";

export async function assemble(drafts: readonly Draft[], options: AssembleOptions): Promise<Assembly> {
  const assembler = new Assembler(options);
  for (const draft of drafts) await assembler.add(draft);
  return assembler.finish();
}

class Assembler {
  readonly #options: AssembleOptions;
  readonly #steps: Record<Phase, Step[]> = { appear: [], replace: [], vanish: [], folder: [] };
  readonly #files: JournalFile[] = [];
  readonly #folders = new Set<string>();
  readonly #stages: ToStage[] = [];
  readonly #backups: ToBackUp[] = [];
  readonly #holds: string[] = [];

  constructor(options: AssembleOptions) {
    this.#options = options;
  }

  async add(draft: Draft): Promise<void> {
    switch (draft.kind) {
      case "write":
        return this.#write(draft.at, draft.before, draft);
      case "delete": {
        const backup = this.#remove(draft.at, draft.before);
        this.#file({ kind: "delete", at: draft.at, before: draft.before, backup });
        return;
      }
      case "move":
        return this.#move(draft);
      default:
        return this.#folder(draft);
    }
  }

  finish(): Assembly {
    const { appear, replace, vanish, folder } = this.#steps;
    const steps = [...appear, ...replace, ...vanish, ...folder];
    const [only] = steps;
    const fast = steps.length === 1 && only?.kind === "put" && only.before !== null && !only.inPlace;
    return {
      steps,
      files: this.#files,
      folders: [...this.#folders].sort(),
      stages: this.#stages,
      backups: this.#backups,
      holds: this.#holds,
      fast,
    };
  }

  async #write(at: Fresh, before: Known | null, made: NewBody): Promise<void> {
    const { backup, inPlace } = await this.#put(at, before, made, at.stat);
    const kind = before ? "modify" : "create";
    this.#file({
      kind,
      at,
      before,
      after: made.after,
      lineChanges: made.lineChanges,
      backup: inPlace || before ? backup : null,
    });
  }

  async #put(at: Fresh, before: Known | null, { body, after }: NewBody, like: FileStat | undefined) {
    const { path, shown } = at.target;
    const inPlace = before !== null && at.stat !== undefined && (this.#options.inPlace || at.stat.links > 1);
    const backup = before ? this.#backup(path, before, inPlace ? "copy" : "link") : null;
    if (!before) await this.#parents(path);
    const temp = this.#temp(path);
    this.#stages.push({ temp, body, mode: after.mode, like, shown });
    this.#steps[before ? "replace" : "appear"].push({ kind: "put", path, temp, before, after, backup, inPlace });
    return { backup, inPlace };
  }

  /** Takes a name away; its content is kept in the returned backup. */
  #remove(at: Fresh, before: Known): string {
    const { hold, backup } = this.#keepInode(at, before);
    this.#steps.vanish.push({ kind: "remove", path: at.target.path, before, backup: hold });
    return backup;
  }

  async #move({ from, to, before, over, edited }: Extract<Draft, { kind: "move" }>): Promise<void> {
    const lineChanges = edited?.lineChanges ?? [];
    const after = edited?.after ?? {
      version: before.version,
      bytes: before.bytes,
      lines: before.lines,
      mode: before.mode,
    };
    const record = { kind: "move" as const, at: to, from, before, after, lineChanges };
    const made = edited ?? (await this.#crossDevice(from, to, before));
    if (made) {
      const put = await this.#put(to, over, made, from.stat);
      const backup = this.#remove(from, before);
      this.#file({ ...record, backup, ...(over && put.backup ? { over: { state: over, backup: put.backup } } : {}) });
      return;
    }
    const kept = over ? this.#keepInode(to, over) : undefined;
    if (!over) await this.#parents(to.target.path);
    this.#steps.appear.push({
      kind: "rename",
      from: from.target.path,
      path: to.target.path,
      before,
      over,
      backup: kept?.hold ?? null,
      caseOnly: to.stat !== undefined && over === null,
    });
    this.#file({ ...record, backup: null, ...(over && kept ? { over: { state: over, backup: kept.backup } } : {}) });
  }

  /** A name cannot move to another device: there the body is copied. */
  async #crossDevice(from: Fresh, to: Fresh, before: Known): Promise<NewBody | undefined> {
    if (from.stat?.dev === (await this.#deviceOf(dirname(to.target.path)))) return undefined;
    const { version, bytes, lines, mode } = before;
    return { body: { kind: "copy", path: from.target.path }, after: { version, bytes, lines, mode }, lineChanges: [] };
  }

  async #folder(draft: Extract<Draft, { kind: `${string}-folder` }>): Promise<void> {
    const folder = draft.kind === "move-folder" ? draft.from : draft.at;
    const { path, shown } = folder.target;
    const place = draft.kind === "move-folder" ? draft.to.target.path : path;
    if (draft.kind === "restore-folder") {
      await this.#sameDevice(await this.#deviceOf(this.#options.commitPath), place, shown);
      await this.#parents(place);
      this.#steps.folder.push({ kind: "rename-folder", from: draft.backup, path: place, ino: draft.ino });
      this.#file({ kind: "create", at: folder, folder: true });
      return;
    }
    if (!folder.stat) throw new ToolError("not_found", `${shown} does not exist`);
    const ino = String(folder.stat.ino);
    if (draft.kind === "move-folder") {
      await this.#sameDevice(folder.stat.dev, place, shown);
      await this.#parents(place);
      this.#steps.folder.push({ kind: "rename-folder", from: path, path: place, ino });
      this.#file({ kind: "move", at: draft.to, from: draft.from, folder: true });
      return;
    }
    await this.#sameDevice(folder.stat.dev, this.#options.commitPath, shown);
    const backup = this.#old();
    this.#steps.folder.push({ kind: "rename-folder", from: path, path: backup, ino });
    this.#file({ kind: "delete", at: folder, backup, folder: true });
  }

  async #sameDevice(device: bigint | undefined, place: string, shown: string): Promise<void> {
    if (device === (await this.#deviceOf(dirname(place)))) return;
    throw new ToolError("unsupported", `the folder ${shown} cannot be moved to another device`, {
      hint: "copy it, or keep it on its device",
    });
  }

  /** The device of a folder that may not exist yet. */
  async #deviceOf(folder: string): Promise<bigint | undefined> {
    const stat = await absentAs(undefined, () => this.#options.files.stat(folder));
    return stat || dirname(folder) === folder ? stat?.dev : this.#deviceOf(dirname(folder));
  }

  async #parents(path: string): Promise<void> {
    for (let folder = dirname(path); !this.#folders.has(folder); folder = dirname(folder)) {
      if (await absentAs(undefined, () => this.#options.files.stat(folder))) return;
      this.#folders.add(folder);
    }
  }

  #backup(from: string, before: Known, mode: "link" | "copy"): string {
    const to = this.#old();
    this.#backups.push({ from, to, before, mode });
    return to;
  }

  /** A link of the inode for a rollback; with several hard links also a copy, since the other names may be edited. */
  #keepInode(at: Fresh, before: Known): { hold: string; backup: string } {
    const hold = this.#backup(at.target.path, before, "link");
    if ((at.stat?.links ?? 1) === 1) return { hold, backup: hold };
    this.#holds.push(hold);
    return { hold, backup: this.#backup(at.target.path, before, "copy") };
  }

  #file(record: {
    kind: JournalFile["kind"];
    at: Fresh;
    from?: Fresh;
    before?: Known | null;
    after?: JournalFile["after"];
    lineChanges?: JournalFile["lineChanges"];
    backup?: string | null;
    over?: JournalFile["over"];
    folder?: boolean;
  }): void {
    const { kind, at, from, before = null, after = null, lineChanges, backup = null, over, folder = false } = record;
    const removed = before && !after ? [{ oldStart: 1, oldLines: before.lines, newStart: 1, newLines: 0 }] : [];
    this.#files.push({
      kind,
      path: at.target.path,
      ...(from ? { from: from.target.path } : {}),
      before,
      after,
      lineChanges: lineChanges ?? removed,
      backup,
      ...(over ? { over } : {}),
      folder,
    });
  }

  #temp(path: string): string {
    return join(dirname(path), `.toolhaft-${this.#options.id}-${this.#stages.length + 1}`);
  }

  #old(): string {
    return join(this.#options.commitPath, `old-${this.#backups.length + this.#steps.folder.length + 1}`);
  }
}

import { dirname, join } from "node:path";
import type { FileChange, FileState } from "@toolhaft/core";
import type { FileSystem } from "./file-system.ts";
import { type Holder, isHolder } from "./holder.ts";
import { absentAs, createFile, namesIn, readSmall, removeFile } from "./small-file.ts";
import type { LineChange } from "./splice.ts";

/** A file as it was found: what it held, and which inode it was. */
export interface Known extends FileState {
  readonly dev: string;
  readonly ino: string;
  readonly mtimeNs: string;
  readonly ctimeNs: string;
}

/** One change of the file system. Steps are applied in order and undone in reverse. */
export type Step =
  | {
      readonly kind: "put";
      readonly path: string;
      /** The new body, beside the target. */
      readonly temp: string;
      /** Null: the file is created. */
      readonly before: Known | null;
      readonly after: FileState;
      readonly backup: string | null;
      /** Written into the existing inode, which other names share. */
      readonly inPlace: boolean;
    }
  | { readonly kind: "remove"; readonly path: string; readonly before: Known; readonly backup: string }
  | {
      readonly kind: "rename";
      readonly from: string;
      readonly path: string;
      readonly before: Known;
      /** The file that was at the new path and is replaced. */
      readonly over: Known | null;
      readonly backup: string | null;
      /** Old and new name differ in case only and mean one file. */
      readonly caseOnly: boolean;
    }
  | { readonly kind: "rename-folder"; readonly from: string; readonly path: string; readonly ino: string };

/** What a commit did to one file, in the words of its caller; undo and history are made from it. */
export interface JournalFile {
  readonly kind: FileChange["kind"];
  readonly path: string;
  readonly from?: string;
  readonly before: FileState | null;
  readonly after: FileState | null;
  readonly lineChanges: readonly LineChange[];
  /** Where the old content is kept; null when there was none or the same inode moved on. */
  readonly backup: string | null;
  /** What a move replaced at its new path. */
  readonly over?: { readonly state: FileState; readonly backup: string };
  readonly folder: boolean;
}

export interface Journal {
  readonly format: 1;
  readonly id: string;
  readonly sessionId?: string;
  readonly time: number;
  readonly undoOf?: string;
  readonly owner: Holder;
  readonly keys: readonly string[];
  readonly fsync: boolean;
  /** One replaced file: its rename is the decision. */
  readonly fast: boolean;
  /** Folders made for new files, outermost first. */
  readonly folders: readonly string[];
  readonly steps: readonly Step[];
  readonly files: readonly JournalFile[];
  readonly backupBytes: number;
}

export const journalStates = ["staging", "committing", "rolling-back", "done"] as const;
export type JournalState = (typeof journalStates)[number];

/** The journal of a commit with the state it is in; `undefined` where there is none, or none that a crash left whole. */
export interface Opened {
  readonly state: JournalState;
  readonly journal: Journal | undefined;
}

/**
 * The folder of one commit. The journal is written once; its state is its name, so that a change of state is one
 * rename, which is atomic and needs no space.
 */
export class CommitFolder {
  readonly #files: FileSystem;
  readonly path: string;

  constructor(files: FileSystem, path: string) {
    this.#files = files;
    this.path = path;
  }

  async begin(journal: Journal): Promise<void> {
    await this.#files.mkdir(this.path, 0o700);
    await createFile(this.#files, this.#file("staging"), JSON.stringify(journal), journal.fsync);
    if (!journal.fsync) return;
    await this.#files.syncFolder(this.path);
    await this.#files.syncFolder(dirname(this.path));
  }

  async advance(from: JournalState, to: JournalState, sync: boolean): Promise<void> {
    await this.#files.rename(this.#file(from), this.#file(to));
    if (sync) await this.#files.syncFolder(this.path);
  }

  async open(): Promise<Opened | undefined> {
    const names = await namesIn(this.#files, this.path);
    const state = journalStates.find((name) => names.includes(`${name}.json`));
    if (state === undefined) return undefined;
    const text = await readSmall(this.#files, this.#file(state));
    // Between the two looks its owner may have moved on.
    return text === undefined ? this.open() : { state, journal: parseJournal(text) };
  }

  /** Takes the commit away: a crash on the way leaves a folder without journal, which means nothing. */
  async remove(): Promise<void> {
    for (const state of journalStates) await removeFile(this.#files, this.#file(state));
    await removeTree(this.#files, this.path);
  }

  #file(state: JournalState): string {
    return join(this.path, `${state}.json`);
  }
}

/** Removes a folder with all it holds; links are removed, not followed. */
export async function removeTree(files: FileSystem, path: string): Promise<void> {
  for (const name of await namesIn(files, path)) {
    const inner = join(path, name);
    const stat = await absentAs(undefined, () => files.lstat(inner));
    if (stat?.kind === "directory") await removeTree(files, inner);
    else if (stat) await removeFile(files, inner);
  }
  await absentAs(undefined, () => files.rmdir(path));
}

function parseJournal(text: string): Journal | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  return isJournal(value) ? value : undefined;
}

/** Journals are written by this package only and whole or not at all: the version decides. */
function isJournal(value: unknown): value is Journal {
  if (typeof value !== "object" || value === null) return false;
  const { format, id, owner, steps, files, folders } = value as Record<string, unknown>;
  return format === 1 && typeof id === "string" && isHolder(owner) && [steps, files, folders].every(Array.isArray);
}

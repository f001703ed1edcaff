import { join } from "node:path";
import type { FileSystem } from "./file-system.ts";
import { CommitFolder, type Journal } from "./journal.ts";
import { absentAs, namesIn } from "./small-file.ts";
import type { CommitRecord } from "./types.ts";

/** The commits that are done and kept, newest first. */
export async function doneJournals(files: FileSystem, commits: string): Promise<readonly Journal[]> {
  const journals: Journal[] = [];
  const ids = await namesIn(files, commits);
  for (const id of [...ids].sort().reverse()) {
    const opened = await new CommitFolder(files, join(commits, id)).open();
    if (opened?.state === "done" && opened.journal) journals.push(opened.journal);
  }
  return journals;
}

/** The commits that are undone: taken back by one that is not itself taken back. */
export function undoneIds(journals: readonly Pick<Journal, "id" | "undoOf">[]): ReadonlySet<string> {
  const undone = new Set<string>();
  for (const { id, undoOf } of [...journals].sort((a, b) => (a.id < b.id ? 1 : -1))) {
    if (undoOf !== undefined && !undone.has(id)) undone.add(undoOf);
  }
  return undone;
}

export function recordOf(journal: Journal, undone = false): CommitRecord {
  return {
    id: journal.id,
    ...(journal.sessionId === undefined ? {} : { sessionId: journal.sessionId }),
    time: journal.time,
    ...(journal.undoOf === undefined ? {} : { undoOf: journal.undoOf }),
    ...(undone ? { undone } : {}),
    files: journal.files.map(({ path, from, before, after, lineChanges }) => ({
      path,
      ...(from === undefined ? {} : { from }),
      before: before?.version ?? null,
      after: after?.version ?? null,
      lineChanges,
    })),
  };
}

/** Removes the oldest commits beyond a count or a sum of bytes. Sizes of known commits are kept in memory. */
export class Pruner {
  readonly #files: FileSystem;
  readonly #commits: string;
  readonly #keep: { commits: number; bytes: number };
  readonly #sizes = new Map<string, number>();

  constructor(files: FileSystem, commits: string, keep: { commits: number; bytes: number }) {
    this.#files = files;
    this.#commits = commits;
    this.#keep = keep;
  }

  async add(journal: Journal): Promise<void> {
    this.#sizes.set(journal.id, await this.#sizeOf(journal));
  }

  async prune(): Promise<void> {
    let count = 0;
    let bytes = 0;
    for (const id of [...(await this.#files.readdir(this.#commits))].sort().reverse()) {
      const folder = new CommitFolder(this.#files, join(this.#commits, id));
      const size = this.#sizes.get(id) ?? (await this.#load(id, folder));
      if (size === undefined) continue;
      count++;
      bytes += size;
      if (count <= this.#keep.commits && bytes <= this.#keep.bytes) continue;
      await folder.remove();
      this.#sizes.delete(id);
    }
  }

  /** Commits of other processes; those that are not done are nobody's to remove. */
  async #load(id: string, folder: CommitFolder): Promise<number | undefined> {
    const opened = await folder.open();
    if (opened?.state !== "done" || !opened.journal) return undefined;
    await this.add(opened.journal);
    return this.#sizes.get(id);
  }

  async #sizeOf(journal: Journal): Promise<number> {
    let bytes = journal.backupBytes;
    for (const { folder, backup } of journal.files) if (folder && backup) bytes += await treeBytes(this.#files, backup);
    return bytes;
  }
}

async function treeBytes(files: FileSystem, path: string): Promise<number> {
  const stat = await absentAs(undefined, () => files.lstat(path));
  if (stat?.kind !== "directory") return stat?.size ?? 0;
  let bytes = 0;
  for (const name of await namesIn(files, path)) bytes += await treeBytes(files, join(path, name));
  return bytes;
}

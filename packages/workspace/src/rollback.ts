import { replace, syncParents } from "./apply.ts";
import { overwrite } from "./copy-file.ts";
import type { FileSystem } from "./file-system.ts";
import type { Journal, Step } from "./journal.ts";
import { absentAs, removeFile } from "./small-file.ts";
import { contentOf, lookAt } from "./state-of.ts";
import { systemCode } from "./system-error.ts";
import type { RecoveredFile } from "./types.ts";

export interface FailedStep {
  readonly step: Step;
  readonly error: unknown;
}

/** Keeps the content of a half-written file before it is written again; answers where. */
export type KeepTorn = (path: string) => Promise<string>;

/**
 * Takes every step back, last first; a step that was not taken is left alone, and so is what somebody else wrote since.
 * Every step is tried, a failing one twice.
 */
export async function rollBack(
  files: FileSystem,
  journal: Pick<Journal, "steps" | "fsync">,
  keepTorn: KeepTorn | undefined,
): Promise<{ files: readonly RecoveredFile[]; failed: readonly FailedStep[] }> {
  const recovered: RecoveredFile[] = [];
  const failed: FailedStep[] = [];
  for (const step of [...journal.steps].reverse()) {
    const attempt = async () => {
      recovered.push(await undoStep(files, step, journal.fsync, keepTorn));
      if (journal.fsync) await syncParents(files, step);
    };
    await attempt()
      .catch(attempt)
      .catch((error: unknown) => failed.push({ step, error }));
  }
  return { files: recovered.reverse(), failed };
}

async function undoStep(
  files: FileSystem,
  step: Step,
  fsync: boolean,
  keepTorn: KeepTorn | undefined,
): Promise<RecoveredFile> {
  switch (step.kind) {
    case "put":
      return undoPut(files, step, fsync, keepTorn);
    case "remove":
      if (!(await lookAt(files, step.path)) && (await lookAt(files, step.backup))) {
        await giveName(files, step.backup, step.path);
      }
      return { path: step.path, state: "old" };
    case "rename":
      return undoRename(files, step);
    case "rename-folder": {
      const moved = await lookAt(files, step.path);
      if (String(moved?.ino) === step.ino && !(await lookAt(files, step.from)))
        await replace(files, step.path, step.from);
      return { path: step.from, state: (await lookAt(files, step.from)) ? "old" : "left-alone" };
    }
  }
}

async function undoPut(
  files: FileSystem,
  step: Extract<Step, { kind: "put" }>,
  fsync: boolean,
  keepTorn: KeepTorn | undefined,
): Promise<RecoveredFile> {
  const { path, before, after, backup, inPlace, temp } = step;
  const content = await contentOf(files, path, before, after);
  if (!before) {
    if (content === "new" || (await isReservation(files, step))) await removeFile(files, path);
    return { path, state: content === "other" && (await lookAt(files, path)) ? "left-alone" : "old" };
  }
  if (content === "old" || !backup) return { path, state: "old" };
  if (inPlace) {
    // Once the body is written its temporary name goes; another content after that is somebody else's.
    const torn = content === "other";
    if (content === "absent" || (torn && !(await lookAt(files, temp)))) return { path, state: "left-alone" };
    const found = torn && keepTorn ? await keepTorn(path) : undefined;
    await overwrite(files, backup, path, fsync);
    return { path, state: torn ? "torn" : "old", ...(found === undefined ? {} : { found }) };
  }
  if (content !== "new") return { path, state: "left-alone" };
  await replace(files, backup, path);
  return { path, state: "old" };
}

async function undoRename(files: FileSystem, step: Extract<Step, { kind: "rename" }>): Promise<RecoveredFile> {
  const { from, path, before, over, backup, caseOnly } = step;
  const there = await lookAt(files, path);
  const here = await lookAt(files, from);
  const state: RecoveredFile = { path: from, state: "old" };
  if (caseOnly) {
    await absentAs(undefined, () => files.rename(path, from));
    return state;
  }
  if (String(there?.ino) !== before.ino) {
    // Without hard links an empty file holds the new name until the rename.
    if (!over && here && there?.size === 0 && before.bytes > 0) await removeFile(files, path);
    return here ? state : { path: from, state: "left-alone" };
  }
  if (over) {
    if (!here) await replace(files, path, from);
    if (backup && !(await lookAt(files, path))) await giveName(files, backup, path);
    return state;
  }
  if (here) await removeFile(files, path);
  else await giveName(files, path, from);
  return state;
}

/** Whether a path is the empty file that reserves a name where hard links fail. */
export async function isReservation(
  files: FileSystem,
  { path, temp, after }: Extract<Step, { kind: "put" }>,
): Promise<boolean> {
  const stat = await lookAt(files, path);
  return stat?.kind === "file" && stat.size === 0 && after.bytes > 0 && (await lookAt(files, temp)) !== undefined;
}

/** Moves an inode to a name that is free. */
async function giveName(files: FileSystem, from: string, to: string): Promise<void> {
  try {
    await files.link(from, to);
  } catch (error) {
    // A full disk may refuse a new name and yet move an old one.
    if (systemCode(error) === "EEXIST" || (await lookAt(files, to))) throw error;
    return replace(files, from, to);
  }
  await removeFile(files, from);
}

/** Removes the temporary files of a commit, and the folders it made if they are empty. */
export async function sweep(files: FileSystem, journal: Pick<Journal, "steps" | "folders" | "fsync">): Promise<void> {
  for (const step of journal.steps) {
    if (step.kind === "put" && (await removeFile(files, step.temp)) && journal.fsync) await syncParents(files, step);
  }
  for (const folder of [...journal.folders].reverse()) await removeIfEmpty(files, folder);
}

export async function removeIfEmpty(files: FileSystem, folder: string): Promise<void> {
  try {
    await files.rmdir(folder);
  } catch (error) {
    if (!["ENOENT", "ENOTEMPTY", "EEXIST", "ENOTDIR"].includes(systemCode(error) ?? "")) throw error;
  }
}

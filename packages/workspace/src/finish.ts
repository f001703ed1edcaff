import { applyStep, replace, syncParents } from "./apply.ts";
import { overwrite } from "./copy-file.ts";
import type { FileSystem } from "./file-system.ts";
import type { Journal, Step } from "./journal.ts";
import { isReservation, type KeepTorn } from "./rollback.ts";
import { removeFile } from "./small-file.ts";
import { contentOf, lookAt } from "./state-of.ts";
import type { RecoveredFile } from "./types.ts";

/**
 * Takes every step of a decided commit from wherever it is to its end. What somebody else wrote since is left alone;
 * a file that was being written in place is written again, and what was found in it is kept.
 */
export async function finish(
  files: FileSystem,
  journal: Journal,
  keepTorn: KeepTorn,
): Promise<readonly RecoveredFile[]> {
  const recovered: RecoveredFile[] = [];
  const moved = await movedFolders(files, journal.steps);
  for (const step of journal.steps) {
    // A folder moves last, so whatever was inside it was done before.
    const gone = step.kind !== "rename-folder" && moved.some((folder) => step.path.startsWith(`${folder}/`));
    if (gone) {
      recovered.push({ path: step.path, state: "new" });
      continue;
    }
    recovered.push(await finishStep(files, step, journal.fsync, keepTorn));
    if (journal.fsync) await syncParents(files, step);
  }
  return recovered;
}

async function movedFolders(files: FileSystem, steps: readonly Step[]): Promise<readonly string[]> {
  const moved: string[] = [];
  for (const step of steps) {
    if (step.kind !== "rename-folder") continue;
    const there = await lookAt(files, step.path);
    if (String(there?.ino) === step.ino && !(await lookAt(files, step.from))) moved.push(step.from);
  }
  return moved;
}

async function finishStep(files: FileSystem, step: Step, fsync: boolean, keepTorn: KeepTorn): Promise<RecoveredFile> {
  switch (step.kind) {
    case "put":
      return finishPut(files, step, fsync, keepTorn);
    case "remove": {
      const content = await contentOf(files, step.path, step.before, null);
      if (content === "old") await removeFile(files, step.path);
      return { path: step.path, state: content === "other" ? "left-alone" : "new" };
    }
    case "rename":
      return finishRename(files, step);
    case "rename-folder": {
      const here = await lookAt(files, step.from);
      const there = await lookAt(files, step.path);
      if (String(here?.ino) === step.ino && !there) await applyStep(files, step, fsync);
      else if (String(there?.ino) !== step.ino) return { path: step.path, state: "left-alone" };
      return { path: step.path, state: "new" };
    }
  }
}

async function finishPut(
  files: FileSystem,
  step: Extract<Step, { kind: "put" }>,
  fsync: boolean,
  keepTorn: KeepTorn,
): Promise<RecoveredFile> {
  const { path, temp, before, after, inPlace } = step;
  const content = await contentOf(files, path, before, after);
  if (content === "new") {
    await removeFile(files, temp);
    return { path, state: "new" };
  }
  if (!(await lookAt(files, temp))) return { path, state: "left-alone" };
  if (!before) {
    if (await isReservation(files, step)) await replace(files, temp, path);
    else if (content === "absent") await applyStep(files, step, fsync);
    else return leaveAlone(files, step);
    return { path, state: "new" };
  }
  if (inPlace && content !== "absent") {
    const found = content === "other" ? await keepTorn(path) : undefined;
    await overwrite(files, temp, path, fsync);
    await removeFile(files, temp);
    return { path, state: found === undefined ? "new" : "torn", ...(found === undefined ? {} : { found }) };
  }
  if (content !== "old") return leaveAlone(files, step);
  await replace(files, temp, path);
  return { path, state: "new" };
}

async function leaveAlone(files: FileSystem, { path, temp }: Extract<Step, { kind: "put" }>): Promise<RecoveredFile> {
  await removeFile(files, temp);
  return { path, state: "left-alone" };
}

async function finishRename(files: FileSystem, step: Extract<Step, { kind: "rename" }>): Promise<RecoveredFile> {
  const { from, path, before, over, caseOnly } = step;
  if (caseOnly) {
    if (await lookAt(files, from)) await replace(files, from, path);
    return { path, state: "new" };
  }
  const here = await lookAt(files, from);
  const there = await lookAt(files, path);
  const isHere = String(here?.ino) === before.ino;
  if (String(there?.ino) === before.ino) {
    if (isHere) await removeFile(files, from);
    return { path, state: "new" };
  }
  const free = over
    ? (await contentOf(files, path, over, null)) === "old"
    : !there || (there.size === 0 && before.bytes > 0);
  if (!isHere || !free) return { path, state: "left-alone" };
  await replace(files, from, path);
  return { path, state: "new" };
}

import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ToolError } from "@toolhaft/core";
import { overwrite } from "./copy-file.ts";
import type { FileSystem } from "./file-system.ts";
import type { Known, Step } from "./journal.ts";
import { digestFile } from "./read-file.ts";
import { removeFile } from "./small-file.ts";
import { changedError, lookAt, refuseChanged } from "./state-of.ts";
import { cannotLink, systemCode } from "./system-error.ts";

/** Takes one step from old to new. Throws before it changed anything, or leaves the rest to the rollback. */
export async function applyStep(files: FileSystem, step: Step, fsync: boolean): Promise<void> {
  switch (step.kind) {
    case "put":
      if (!step.before) await placeNew(files, step.temp, step.path);
      else if (step.inPlace) await writeInPlace(files, step, fsync);
      else {
        await refuseChanged(files, step.path, step.before);
        await replace(files, step.temp, step.path);
        if (step.backup) await refuseLateWrite(files, step.backup, step.path, step.before);
      }
      break;
    case "remove":
      await refuseChanged(files, step.path, step.before);
      await files.unlink(step.path);
      break;
    case "rename":
      await refuseChanged(files, step.from, step.before);
      if (step.over) {
        await refuseChanged(files, step.path, step.over);
        await replace(files, step.from, step.path);
      } else if (step.caseOnly) await files.rename(step.from, step.path);
      else await placeNew(files, step.from, step.path);
      break;
    case "rename-folder":
      if (await lookAt(files, step.path)) throw existsNow(step.path);
      await replace(files, step.from, step.path);
      break;
  }
  if (fsync) await syncParents(files, step);
}

async function writeInPlace(files: FileSystem, step: Extract<Step, { kind: "put" }>, fsync: boolean): Promise<void> {
  if (step.before) await refuseChanged(files, step.path, step.before);
  await overwrite(files, step.temp, step.path, fsync);
  await removeFile(files, step.temp);
}

/** Gives a file a new name that must be free. */
async function placeNew(files: FileSystem, from: string, path: string): Promise<void> {
  try {
    await files.link(from, path);
  } catch (error) {
    if (systemCode(error) === "EEXIST") throw existsNow(path);
    if (!cannotLink(error)) throw error;
    return reserveAndRename(files, from, path);
  }
  await files.unlink(from);
}

/** Without hard links the name is reserved by an empty file, which the rename replaces. */
async function reserveAndRename(files: FileSystem, from: string, path: string): Promise<void> {
  try {
    await (await files.open(path, "create", 0o600)).close();
  } catch (error) {
    if (systemCode(error) === "EEXIST") throw existsNow(path);
    throw error;
  }
  try {
    await replace(files, from, path);
  } catch (error) {
    await removeFile(files, path);
    throw error;
  }
}

/** Virus scanners and indexers on Windows hold files for moments. */
export async function replace(files: FileSystem, from: string, to: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await files.rename(from, to);
    } catch (error) {
      const code = systemCode(error);
      const busy = process.platform === "win32" && (code === "EPERM" || code === "EBUSY" || code === "EACCES");
      if (!busy || attempt >= 10) throw error;
      await sleep(100);
    }
  }
}

/** The old inode now has its backup's name only: a write that came between the last look and the rename shows there. */
async function refuseLateWrite(files: FileSystem, backup: string, path: string, before: Known): Promise<void> {
  const stat = await lookAt(files, backup);
  if (String(stat?.ino) !== before.ino || String(stat?.mtimeNs) === before.mtimeNs) return;
  if ((await digestFile(files, backup)).version !== before.version) throw changedError(path);
}

function existsNow(path: string): ToolError {
  return new ToolError("conflict", `${path} was created by somebody else during the call`, {
    hint: "look at it, then choose",
  });
}

export async function syncParents(files: FileSystem, step: Step): Promise<void> {
  const folders = new Set([dirname(step.path), ...("from" in step ? [dirname(step.from)] : [])]);
  for (const folder of folders) if (await lookAt(files, folder)) await files.syncFolder(folder);
}

import { dirname } from "node:path";
import { ToolError } from "@toolhaft/core";
import type { Assembly, ToBackUp, ToStage } from "./assemble.ts";
import { copyFile, copyInto, takeOwner } from "./copy-file.ts";
import type { Body } from "./draft.ts";
import type { FileSystem, OpenFile } from "./file-system.ts";
import { closing, removeFile, writeAll } from "./small-file.ts";
import { cannotLink, systemCode, toToolError } from "./system-error.ts";

/**
 * Makes missing folders and writes every new body beside its target.
 *
 * @returns warnings
 */
export async function stageAll(files: FileSystem, assembly: Assembly, fsync: boolean): Promise<readonly string[]> {
  for (const folder of assembly.folders) {
    await files.mkdir(folder, 0o777 & ~files.umask()).catch((error: unknown) => {
      if (systemCode(error) !== "EEXIST") throw toToolError(error, `make the folder ${folder}`);
    });
    if (fsync) await files.syncFolder(dirname(folder));
  }
  const warnings: string[] = [];
  for (const stage of assembly.stages) {
    try {
      warnings.push(...(await stageOne(files, stage, fsync)));
    } catch (error) {
      throw toToolError(error, `write ${stage.shown}`);
    }
  }
  return warnings;
}

async function stageOne(files: FileSystem, stage: ToStage, fsync: boolean): Promise<readonly string[]> {
  const file = await openTemp(files, stage.temp, stage.body);
  return closing(file, async () => {
    if (stage.body.kind === "bytes") await writeAll(file, stage.body.bytes);
    if (stage.body.kind === "copy") await copyInto(files, stage.body.path, file);
    const lost = stage.like ? await takeOwner(file, stage.like, stage.mode) : [];
    if (!stage.like) await file.chmod(stage.mode);
    if (fsync) await file.sync();
    return lost.map((what) => `owner_not_kept: the ${what} of ${stage.shown} could not be kept`);
  });
}

/** A staged file is linked to the temporary name, or copied where links fail. */
async function openTemp(files: FileSystem, temp: string, body: Body): Promise<OpenFile> {
  if (body.kind !== "staged") return files.open(temp, "create", 0o600);
  await body.source.seal();
  try {
    await files.link(body.source.path, temp);
  } catch (error) {
    if (!cannotLink(error)) throw error;
    await copyFile(files, body.source.path, temp, false);
  }
  return files.open(temp, "update");
}

/** Keeps every old body. A target that is no longer the inode that was read is a `conflict`. */
export async function backUpAll(files: FileSystem, backups: readonly ToBackUp[], fsync: boolean): Promise<void> {
  for (const backup of backups) {
    try {
      await backUp(files, backup, fsync);
    } catch (error) {
      throw toToolError(error, `keep a backup of ${backup.from}`);
    }
  }
}

async function backUp(files: FileSystem, { from, to, before, mode }: ToBackUp, fsync: boolean): Promise<void> {
  if (mode === "link" && (await linked(files, from, to))) {
    const kept = await files.stat(to);
    if (String(kept.ino) === before.ino && kept.size === before.bytes) return;
    await removeFile(files, to);
    throw new ToolError("conflict", `${from} changed while it was being edited`, { hint: "read it again" });
  }
  await copyFile(files, from, to, fsync);
}

async function linked(files: FileSystem, from: string, to: string): Promise<boolean> {
  try {
    await files.link(from, to);
    return true;
  } catch (error) {
    if (cannotLink(error)) return false;
    throw error;
  }
}

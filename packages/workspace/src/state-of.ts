import type { FileState } from "@toolhaft/core";
import { ToolError } from "@toolhaft/core";
import type { FileStat, FileSystem } from "./file-system.ts";
import type { Known } from "./journal.ts";
import { digestFile } from "./read-file.ts";
import { absentAs } from "./small-file.ts";

export function lookAt(files: FileSystem, path: string): Promise<FileStat | undefined> {
  return absentAs(undefined, () => files.lstat(path));
}

/** Which of the two known contents a path holds: `old`, `new`, `absent`, or `other` that somebody else wrote. */
export async function contentOf(
  files: FileSystem,
  path: string,
  old: FileState | null,
  next: FileState | null,
): Promise<"old" | "new" | "absent" | "other"> {
  const stat = await lookAt(files, path);
  if (!stat) return "absent";
  if (stat.kind !== "file" || (stat.size !== old?.bytes && stat.size !== next?.bytes)) return "other";
  const version = (await absentAs(undefined, () => digestFile(files, path)))?.version;
  if (version === undefined) return "absent";
  if (version === next?.version) return "new";
  return version === old?.version ? "old" : "other";
}

/** @throws ToolError `conflict` when a target is no longer the file that was read; one that was touched only passes */
export async function refuseChanged(files: FileSystem, path: string, before: Known): Promise<void> {
  const stat = await lookAt(files, path);
  if (stat && sameFile(stat, before)) return;
  if (String(stat?.ino) !== before.ino || stat?.size !== before.bytes) throw changedError(path);
  if ((await digestFile(files, path)).version !== before.version) throw changedError(path);
}

/** A time stamp younger than this at the time of reading may stand for two writes. */
const RACY_MS = 20;

/**
 * As {@link refuseChanged}, by content where the times do not prove that nothing was written since `readAt`: a file
 * that was touched only passes.
 */
export async function refuseRewritten(files: FileSystem, path: string, before: Known, readAt: number): Promise<void> {
  const stat = await lookAt(files, path);
  const racy = Number(BigInt(before.mtimeNs) / 1_000_000n) > readAt - RACY_MS;
  if (stat && !racy && sameFile(stat, before) && String(stat.ctimeNs) === before.ctimeNs) return;
  if (stat?.kind !== "file" || String(stat.ino) !== before.ino || stat.size !== before.bytes) throw changedError(path);
  if ((await digestFile(files, path)).version !== before.version) throw changedError(path);
}

function sameFile(stat: FileStat, before: Known): boolean {
  return String(stat.ino) === before.ino && stat.size === before.bytes && String(stat.mtimeNs) === before.mtimeNs;
}

export function changedError(path: string): ToolError {
  return new ToolError("conflict", `${path} was changed by somebody else during the call; their version is kept`, {
    hint: "read it again and repeat the call",
  });
}

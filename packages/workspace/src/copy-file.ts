import type { FileStat, FileSystem, OpenFile } from "./file-system.ts";
import { closing, removeFile, writeAll } from "./small-file.ts";
import { systemCode } from "./system-error.ts";

const CHUNK = 256 * 1024;

export async function copyInto(files: FileSystem, from: string, target: OpenFile): Promise<number> {
  const source = await files.open(from, "read");
  return closing(source, async () => {
    const buffer = Buffer.allocUnsafeSlow(CHUNK);
    for (let position = 0; ; ) {
      const read = await source.read(buffer, position);
      if (read === 0) return position;
      await writeAll(target, buffer.subarray(0, read), position);
      position += read;
    }
  });
}

/** A new file with the content, mode and, where it may, owner of another. */
export async function copyFile(files: FileSystem, from: string, to: string, sync: boolean): Promise<void> {
  const stat = await files.stat(from);
  const target = await files.open(to, "create", 0o600);
  try {
    await closing(target, async () => {
      await copyInto(files, from, target);
      await takeOwner(target, stat, stat.mode);
      if (sync) await target.sync();
    });
  } catch (error) {
    await removeFile(files, to);
    throw error;
  }
}

/** Writes the bytes of one file into the inode of another, and its mode too. */
export async function overwrite(files: FileSystem, from: string, to: string, sync: boolean): Promise<void> {
  const { mode } = await files.stat(from);
  const target = await files.open(to, "update");
  await closing(target, async () => {
    await target.truncate(await copyInto(files, from, target));
    if ((await target.stat()).mode !== mode) await target.chmod(mode);
    if (sync) await target.sync();
  });
}

/**
 * Gives a new file the owner, group and mode of an old one. A set-id bit is not carried over to another owner or group.
 *
 * @returns what could not be kept
 */
export async function takeOwner(file: OpenFile, like: FileStat, mode: number): Promise<readonly ("owner" | "group")[]> {
  const own = await file.stat();
  const lost: ("owner" | "group")[] = [];
  if (own.uid !== like.uid && !(await permitted(file.chown(like.uid, own.gid)))) lost.push("owner");
  const uid = lost.length > 0 ? own.uid : like.uid;
  if (own.gid !== like.gid && !(await permitted(file.chown(uid, like.gid)))) lost.push("group");
  const kept = mode & ~(lost.includes("owner") ? 0o4000 : 0) & ~(lost.includes("group") ? 0o2000 : 0);
  await file.chmod(kept);
  return lost;
}

async function permitted(change: Promise<void>): Promise<boolean> {
  try {
    await change;
    return true;
  } catch (error) {
    const code = systemCode(error);
    if (code === "EPERM" || code === "EINVAL" || code === "ENOSYS" || code === "ENOTSUP") return false;
    throw error;
  }
}

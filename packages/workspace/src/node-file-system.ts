import * as fs from "node:fs";
import { type BigIntStats, constants } from "node:fs";
import { promisify } from "node:util";
import type { FileKind, FileStat, FileSystem, OpenFile, OpenMode } from "./file-system.ts";

const fsync = promisify(fs.fsync);
const readAsync = promisify(fs.read);
const writeAsync = promisify(fs.write);

/** Up to here a transfer is done at once: a hop to the thread pool takes longer than the copy. */
const INLINE_BYTES = 256 * 1024;

const flags: Record<OpenMode, number> = {
  // A FIFO without a writer must not block, a link swapped in for the real path must not be followed.
  read: constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0),
  create: constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL,
  update: constants.O_WRONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0),
};

/**
 * The file system of Node. Calls on names and inodes are made synchronously (microseconds on a local disk, where the
 * thread pool costs ten times that, forty times a commit); what waits for a disk, that is syncing and large transfers,
 * goes through the pool.
 */
export const nodeFileSystem: FileSystem = {
  realpath: async (path) => fs.realpathSync.native(path),
  stat: async (path) => factsOf(fs.statSync(path, { bigint: true })),
  lstat: async (path) => factsOf(fs.lstatSync(path, { bigint: true })),
  open: async (path, how, mode = 0o600) => openFile(fs.openSync(path, flags[how], mode)),
  link: async (existing, path) => fs.linkSync(existing, path),
  rename: async (from, to) => fs.renameSync(from, to),
  unlink: async (path) => fs.unlinkSync(path),
  mkdir: async (path, mode) => void fs.mkdirSync(path, { mode }),
  rmdir: async (path) => fs.rmdirSync(path),
  readdir: async (path) => fs.readdirSync(path),
  touch: async (path) => {
    const now = new Date();
    fs.utimesSync(path, now, now);
  },
  syncFolder,
  umask: () => process.umask(),
};

function openFile(descriptor: number): OpenFile {
  return {
    stat: async () => factsOf(fs.fstatSync(descriptor, { bigint: true })),
    async read(buffer, position) {
      if (buffer.byteLength <= INLINE_BYTES) return fs.readSync(descriptor, buffer, 0, buffer.byteLength, position);
      return (await readAsync(descriptor, buffer, 0, buffer.byteLength, position)).bytesRead;
    },
    async write(bytes, position) {
      if (bytes.byteLength <= INLINE_BYTES) return fs.writeSync(descriptor, bytes, 0, bytes.byteLength, position);
      return (await writeAsync(descriptor, bytes, 0, bytes.byteLength, position)).bytesWritten;
    },
    chown: async (uid, gid) => fs.fchownSync(descriptor, uid, gid),
    chmod: async (mode) => fs.fchmodSync(descriptor, mode),
    truncate: async (size) => fs.ftruncateSync(descriptor, size),
    sync: () => fsync(descriptor),
    close: async () => fs.closeSync(descriptor),
  };
}

/** Windows cannot open folders, and needs no sync of them. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const descriptor = fs.openSync(path, constants.O_RDONLY);
  try {
    await fsync(descriptor);
  } finally {
    fs.closeSync(descriptor);
  }
}

function factsOf(stats: BigIntStats): FileStat {
  return {
    kind: kindOf(stats),
    size: Number(stats.size),
    mode: Number(stats.mode) & 0o7777,
    uid: Number(stats.uid),
    gid: Number(stats.gid),
    links: Number(stats.nlink),
    dev: stats.dev,
    ino: stats.ino,
    mtimeNs: stats.mtimeNs,
    ctimeNs: stats.ctimeNs,
  };
}

function kindOf(stats: BigIntStats): FileKind {
  if (stats.isFile()) return "file";
  if (stats.isDirectory()) return "directory";
  if (stats.isSymbolicLink()) return "link";
  if (stats.isFIFO()) return "fifo";
  if (stats.isSocket()) return "socket";
  return stats.isBlockDevice() ? "block-device" : "character-device";
}

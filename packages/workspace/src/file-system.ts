/** What a path holds. */
export type FileKind = "file" | "directory" | "link" | "fifo" | "socket" | "block-device" | "character-device";

/** The facts of one inode, at full precision. */
export interface FileStat {
  readonly kind: FileKind;
  readonly size: number;
  /** Permission bits with setuid, setgid and sticky, without the kind. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly links: number;
  readonly dev: bigint;
  readonly ino: bigint;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
}

export interface OpenFile {
  stat(): Promise<FileStat>;
  /** Reads at `position`; 0 is the end of the file. */
  read(buffer: Uint8Array, position: number): Promise<number>;
  /** Writes at `position` and answers how many bytes were taken, which may be fewer than given. */
  write(bytes: Uint8Array, position: number): Promise<number>;
  chown(uid: number, gid: number): Promise<void>;
  chmod(mode: number): Promise<void>;
  truncate(size: number): Promise<void>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** How a file is opened: `read` never blocks on a FIFO, `create` fails with EEXIST, `update` writes an existing file. */
export type OpenMode = "read" | "create" | "update";

/**
 * Every call the workspace makes to the file system: the port through which tests inject faults. Methods reject with
 * Node's system errors (`code` holds `ENOENT` and the like).
 */
export interface FileSystem {
  realpath(path: string): Promise<string>;
  stat(path: string): Promise<FileStat>;
  lstat(path: string): Promise<FileStat>;
  open(path: string, how: OpenMode, mode?: number): Promise<OpenFile>;
  link(existing: string, path: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
  mkdir(path: string, mode: number): Promise<void>;
  rmdir(path: string): Promise<void>;
  readdir(path: string): Promise<string[]>;
  /** Sets the times of a file to now. */
  touch(path: string): Promise<void>;
  syncFolder(path: string): Promise<void>;
  /** The mask that the process takes from the mode of new files. */
  umask(): number;
}

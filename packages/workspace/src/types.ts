import type { Ask, Clock, FileChange } from "@toolhaft/core";
import type { FileSystem } from "./file-system.ts";
import type { LineChange } from "./splice.ts";
import type { TextModel } from "./text-model.ts";

/** A text file as it is on disk. */
export interface TextFile extends TextModel {
  /** The real path. */
  readonly path: string;
  /** Lower-case hex SHA-256 of all bytes, BOM and terminators included. */
  readonly version: string;
  /** Permission bits with setuid, setgid and sticky. */
  readonly mode: number;
}

export interface WorkspaceOptions {
  /** The folder that is written and read without asking. */
  root: string;
  extraRoots?: readonly { path: string; access: "read" | "write" }[];
  /**
   * Names that ask before a write wherever they stand in a path.
   * @default [".git"]
   */
  protectedPaths?: readonly string[];
  /**
   * Where journals and backups are kept; on the same device as the root.
   * @default "<root>/.toolhaft/workspace"
   */
  stateDir?: string;
  /**
   * Where lock files are kept; all processes that share files share it.
   * @default "<tmpdir>/toolhaft-locks-<uid>"
   */
  lockDir?: string;
  /**
   * Milliseconds to wait for another holder.
   * @default 10_000
   */
  lockTimeoutMs?: number;
  /**
   * Larger files are `too_large`.
   * @default 67_108_864 (64 MiB)
   */
  maxFileBytes?: number;
  /**
   * Survive power loss; `false` still survives a killed process.
   * @default true
   */
  fsync?: boolean;
  /**
   * `replace` renames a new file over the old one; `in-place` writes into the old inode, which keeps xattrs and ACLs.
   * @default "replace"
   */
  writeMode?: "replace" | "in-place";
  /**
   * How many commits, and how many bytes of backups, are kept to be undone.
   * @default { commits: 50, bytes: 67_108_864 }
   */
  undo?: { commits?: number; bytes?: number };
  /** The encoding label of a file, where it is not UTF-8 and known. Called for files without a BOM. */
  encodingOf?(path: string, bytes: Uint8Array): string | undefined;
  fileSystem?: FileSystem;
  clock?: Clock;
}

/** For whom and from where a call comes; a `ToolContext` fits. */
export interface Scope {
  /** Absolute path where relative ones start. */
  directory: string;
  sessionId?: string;
  signal?: AbortSignal;
  /** The gate. Without it paths inside the roots are allowed, all others `denied`. */
  ask?: Ask;
  /**
   * `lexical`: a read is judged by the path as given, not by where links lead. Writes are always judged by the real path.
   * @default "real"
   */
  links?: "real" | "lexical";
}

/** Where a path leads. */
export interface ResolvedPath {
  /** The real path: links followed, the missing rest appended. Locks, reads and writes use it. */
  readonly path: string;
  /** The absolute path as given, links not followed. */
  readonly given: string;
  /** For people and diffs: relative to the scope's directory with "/", absolute when outside. */
  readonly shown: string;
  readonly kind: "file" | "directory" | "other" | "missing";
  /** Whether a root that allows this access holds it. */
  readonly inside: boolean;
}

/** A file under construction for content too big for memory: mode 0600, put in place by the change `adopt`. */
export interface StagedFile {
  readonly path: string;
  readonly bytes: number;
  append(chunk: Uint8Array): Promise<void>;
  discard(): Promise<void>;
}

/**
 * Runs under the locks on fresh bytes, with the paths as they were given to `edit`; `undefined` is an absent file.
 * Asking for a folder or a file that is not text throws `unsupported` (`too_large` for one over the limit), but such
 * paths may be deleted, moved or adopted over. Throwing rejects the commit.
 */
export type Plan<T> = (files: ReadonlyMap<string, TextFile | undefined>) => {
  changes: readonly Change[];
  result: T;
};

/** Paths are spelled as in the call of `edit`, or as the real path. */
export type Change =
  | { kind: "replace"; path: string; bytes: Uint8Array; lineChanges: readonly LineChange[] }
  | { kind: "create"; path: string; bytes: Uint8Array; mode?: number }
  | { kind: "adopt"; path: string; staged: StagedFile; overwrite?: boolean }
  | { kind: "delete"; path: string }
  | {
      kind: "move";
      path: string;
      to: string;
      overwrite?: boolean;
      bytes?: Uint8Array;
      lineChanges?: readonly LineChange[];
    };

export interface Committed<T> {
  /** Absent on a dry run, and when the plan changed nothing. */
  id?: string;
  changes: readonly FileChange[];
  result: T;
  /** Sentences for the reply: owner not kept, a crashed commit that was recovered, an edit that cannot be undone. */
  notes: readonly string[];
}

/** A commit as history keeps it. */
export interface CommitRecord {
  id: string;
  sessionId?: string;
  /** Milliseconds since the epoch. */
  time: number;
  /** The commit this one took back. */
  undoOf?: string;
  /** Whether a later commit took it back. */
  undone?: boolean;
  files: readonly CommittedFile[];
}

export interface CommittedFile {
  /** Real path. */
  path: string;
  /** Old real path of a move. */
  from?: string;
  /** Versions; null where the file did not exist, and for folders. */
  before: string | null;
  after: string | null;
  lineChanges: readonly LineChange[];
}

/** What was done about a commit whose process had died. */
export interface Recovery {
  commit: string;
  sessionId?: string;
  /** `finished`: all new. `rolled-back`: all old. */
  outcome: "finished" | "rolled-back";
  files: readonly RecoveredFile[];
}

export interface RecoveredFile {
  path: string;
  /** `left-alone`: somebody else wrote it since. `torn`: half written; what was found is kept at `found`. */
  state: "old" | "new" | "left-alone" | "torn";
  found?: string;
}

export interface EditOptions {
  /** Everything but the write. */
  dryRun?: boolean;
  /** Accept a result without bytes. */
  allowEmpty?: boolean;
}

export interface Workspace extends AsyncDisposable {
  /**
   * Follows links, checks confinement and passes the gate.
   * @throws ToolError `denied`, `invalid_input`
   */
  resolve(path: string, access: "read" | "write", scope: Scope): Promise<ResolvedPath>;
  /** @throws ToolError `not_found`, `unsupported`, `too_large`, `denied`, `invalid_input` */
  read(path: string, scope: Scope): Promise<TextFile>;
  /**
   * One all-or-nothing change of one or more files.
   * @throws ToolError and then no file of the call has changed
   */
  edit<T>(paths: readonly string[], plan: Plan<T>, scope: Scope, options?: EditOptions): Promise<Committed<T>>;
  /** Takes a commit back; without an id this session's newest that is neither an undo nor undone. */
  undo(commitId: string | undefined, scope: Scope, options?: { dryRun?: boolean }): Promise<Committed<void>>;
  stage(scope: Scope): Promise<StagedFile>;
  /** Newest first. */
  history(): Promise<readonly CommitRecord[]>;
  /** Repairs what dead processes left; done by itself on first use. */
  recover(): Promise<readonly Recovery[]>;
  onCommit(listener: (commit: CommitRecord) => void): () => void;
  close(): Promise<void>;
}

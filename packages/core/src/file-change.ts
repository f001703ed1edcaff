/** A file as it stood before or after a change. */
export interface FileState {
  /** Lower-case hex SHA-256 of all bytes. */
  version: string;
  bytes: number;
  lines: number;
  mode: number;
}

/** One file that a call created, changed, deleted or moved. */
export interface FileChange {
  kind: "create" | "modify" | "delete" | "move";
  /** Relative to the context's directory with "/", absolute when outside. */
  path: string;
  /** Old path of a move. */
  from?: string;
  before: FileState | null;
  after: FileState | null;
  additions: number;
  deletions: number;
  /** Unified diff, at most 64 KiB, cut at a whole hunk. */
  diff: string;
  diffTruncated: boolean;
}

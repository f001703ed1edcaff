import type { Clock } from "@toolhaft/core";

/** What SQLite can hold. Whole numbers are bound as INTEGER by both drivers, others as REAL. */
export type SqlValue = string | number | bigint | Uint8Array | null;

/** Values for `?` in order, or for `:name` by name. */
export type Parameters = readonly SqlValue[] | Readonly<Record<string, SqlValue>>;

export type DriverName = "better-sqlite3" | "node:sqlite";

/** One step of a schema. Versions are 1, 2, 3 … without gaps; a released migration is never edited. */
export interface Migration {
  version: number;
  /** Shown when the migration fails. */
  name: string;
  up: string | ((db: Database) => void);
}

export interface OpenOptions {
  /** File of the database; its folder is made when missing. */
  path: string;
  migrations: readonly Migration[];
  /** Whose file it is: a file of another family is refused. */
  family: string;
  /** Neither creates nor migrates the file. @default false */
  readOnly?: boolean;
  /** Milliseconds a write waits for the lock of another process. @default 5_000 */
  busyTimeoutMs?: number;
  /** `full` survives a power loss after each acknowledged write, `normal` a killed process. @default "normal" */
  durability?: "normal" | "full";
  /** @default better-sqlite3, and node:sqlite where it cannot be loaded */
  driver?: DriverName;
  /** @default the system's clock */
  clock?: Clock;
  /**
   * For a mere cache that can be made anew: a damaged file is moved aside and an empty one takes its place;
   * the note says what happened. Without it damage is an error and the file stays where it is.
   */
  onRebuild?(note: string): void;
}

export interface WriteOptions {
  signal?: AbortSignal;
  /** Milliseconds to wait for the lock. @default busyTimeoutMs of the database */
  timeoutMs?: number;
}

/**
 * An open SQLite file. Statements are cached; every method throws `ToolError("unavailable")` once the file is found
 * damaged, deleted or full, and SQLite's own error (see {@link sqliteCode}) for faults of the statement.
 */
export interface Database extends AsyncDisposable {
  /** Real path of the file. */
  readonly path: string;
  readonly driver: DriverName;
  /** Schema version (`user_version`). */
  readonly version: number;
  run(sql: string, parameters?: Parameters): { changes: number; lastInsertRowid: bigint };
  get<T>(sql: string, parameters?: Parameters): T | undefined;
  all<T>(sql: string, parameters?: Parameters): T[];
  /** Rows one by one, within the current tick: an `await` between two rows is a `TypeError`. */
  iterate<T>(sql: string, parameters?: Parameters): IterableIterator<T>;
  /**
   * Runs `work` inside `BEGIN IMMEDIATE … COMMIT`. Waiting for the lock does not block the event loop.
   *
   * @throws TypeError when `work` is asynchronous or itself calls `write` (nest with {@link savepoint})
   * @throws ToolError `timeout` when the lock is not had in time, `cancelled` when the signal fires before
   */
  write<T>(work: () => T, options?: WriteOptions): Promise<T>;
  /** Runs `work` inside a savepoint of the current write: a throw undoes only its part. */
  savepoint<T>(work: () => T): T;
  /** Copies the database, while others use it, to a path that must not exist yet. */
  backup(path: string): Promise<void>;
  /** Idempotent. */
  close(): void;
}

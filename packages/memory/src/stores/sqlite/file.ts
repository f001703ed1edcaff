import { type Clock, ToolError } from "@toolhaft/core";
import { type Database, type DriverName, openDatabase, sqliteCode } from "@toolhaft/sqlite";
import { type AnalyserMark, migrations, thisAnalyser } from "./schema.ts";

export interface SqliteStoreOptions {
  /** File of the store; made when missing. */
  path: string;
  /** Milliseconds a write waits for another process. @default 30_000 */
  lockTimeoutMs?: number;
  /** @default "normal" */
  durability?: "normal" | "full";
  clock?: Clock;
  driver?: DriverName;
  /** What analyses text; tests bring a newer one. @default this package's and the runtime's */
  analyser?: AnalyserMark;
}

/** A memory file, opened on first use and again after it was found damaged or gone. */
export interface StoreFile extends AsyncDisposable {
  readonly path: string;
  readonly lockTimeoutMs: number;
  db(): Promise<Database>;
  /** A connection of its own, for the caller to close. */
  another(): Promise<Database>;
}

export function storeFile(options: SqliteStoreOptions, onOpen?: (db: Database) => void): StoreFile {
  const { path, lockTimeoutMs = 30_000 } = options;
  let opened: Promise<Database> | undefined;
  let closed = false;
  return {
    path,
    lockTimeoutMs,
    async db() {
      if (closed)
        throw new ToolError("unavailable", `the memory store at ${path} is closed`, { hint: "make a new family" });
      opened ??= open();
      const db = await opened;
      try {
        db.get("SELECT 1");
        return db;
      } catch {
        // The handle says what was wrong; a new one says what is.
        opened = open();
        return opened;
      }
    },
    another: () => openFile(),
    async [Symbol.asyncDispose]() {
      closed = true;
      const db = await opened?.catch(() => undefined);
      db?.close();
    },
  };

  function openFile(): Promise<Database> {
    return openDatabase({
      path,
      migrations: migrations(options.analyser ?? thisAnalyser),
      family: "memory",
      busyTimeoutMs: lockTimeoutMs,
      ...(options.durability && { durability: options.durability }),
      ...(options.clock && { clock: options.clock }),
      ...(options.driver && { driver: options.driver }),
    });
  }

  function open(): Promise<Database> {
    const opening = openFile();
    opening.then(onOpen, () => {
      if (opened === opening) opened = undefined;
    });
    return opening;
  }
}

/** Whether the search index, and nothing else, is damaged or missing. */
export function isIndexDamage(error: unknown): boolean {
  if (sqliteCode(error) === "SQLITE_CORRUPT_VTAB") return true;
  return (
    error instanceof Error &&
    /no such (table|column).*memory_(fts|df|terms)|memory_fts|vtable constructor failed/i.test(error.message)
  );
}

import { type Clock, systemClock } from "@toolhaft/core";
import { type Database, openDatabase } from "@toolhaft/sqlite";
import { emptyState, type FunctionRecord, type Resolution, type SessionState, type Signal } from "../model.ts";
import type { FunctionStore, Reduced, StepEntry } from "../store.ts";
import { migrations } from "./schema.ts";
import { recordSignal, signalLog, signalOfCall } from "./sqlite-signals.ts";

export interface SqliteStoreOptions {
  /** File of the database; its folder is made when missing. */
  path: string;
  /** Milliseconds a step waits for the lock of another process. @default 10_000 */
  lockTimeoutMs?: number;
  /** `full` also survives a power loss. @default "normal" */
  durability?: "normal" | "full";
  clock?: Clock;
}

/** A store in a SQLite file that any number of processes share. The file is opened by the first use. */
export function openSqliteStore(options: SqliteStoreOptions, listeners: Set<(signal: Signal) => void>): FunctionStore {
  const { path, lockTimeoutMs = 10_000, durability = "normal", clock = systemClock } = options;
  let opening: Promise<Database> | undefined;
  const open = () => {
    opening ??= openDatabase({
      path,
      family: "functions",
      migrations,
      busyTimeoutMs: lockTimeoutMs,
      durability,
      clock,
    });
    return opening.catch((error: unknown) => {
      // What stood in the way may be gone by the next call.
      opening = undefined;
      throw error;
    });
  };

  return {
    async transact<T>(
      session: string,
      reduce: (before: SessionState, next: { seq: number; repeated: Signal | undefined }) => Reduced<T>,
      { callId, signal: stop }: { callId?: string; signal?: AbortSignal } = {},
    ) {
      const db = await open();
      let recorded: Signal | undefined;
      const result = await db.write(
        () => {
          const before = readState(db, session);
          const repeated = callId === undefined ? undefined : signalOfCall(db, session, callId);
          const { result, write } = reduce(before, { seq: nextSeq(db), repeated });
          if (write === undefined) return result;
          writeState(db, before, write.state, write.entry.at);
          writeStep(db, session, write.state.step, write.entry);
          for (const resolution of write.resolutions) writeResolution(db, session, resolution);
          if (write.signal) recorded = recordSignal(db, session, write.signal);
          return result;
        },
        { timeoutMs: lockTimeoutMs, ...(stop && { signal: stop }) },
      );
      if (recorded) for (const listener of [...listeners]) listener(recorded);
      return result;
    },
    async read(session) {
      return readState(await open(), session);
    },
    async sessions(limit) {
      const rows = (await open()).all<{ session: string }>("SELECT session FROM sessions ORDER BY at DESC LIMIT ?", [
        limit,
      ]);
      return rows.map(({ session }) => session);
    },
    async steps(session) {
      const sql = "SELECT entry FROM steps WHERE session = ? ORDER BY step";
      return (await open()).all<{ entry: string }>(sql, [session]).map(({ entry }) => JSON.parse(entry) as StepEntry);
    },
    signals: signalLog(open, listeners, clock),
    async close() {
      const closing = opening;
      opening = undefined;
      if (closing) (await closing.catch(() => undefined))?.close();
    },
  };
}

type SessionRow = Omit<SessionState, "session" | "functions">;

function readState(db: Database, session: string): SessionState {
  const row = db.get<{ state: string }>("SELECT state FROM sessions WHERE session = ?", [session]);
  if (row === undefined) return emptyState(session);
  const functions: Record<string, FunctionRecord> = {};
  for (const { record } of db.all<{ record: string }>("SELECT record FROM functions WHERE session = ?", [session])) {
    const parsed = JSON.parse(record) as FunctionRecord;
    functions[parsed.id] = parsed;
  }
  return { session, ...(JSON.parse(row.state) as SessionRow), functions };
}

/** Only rows of functions that changed are written. */
function writeState(db: Database, before: SessionState, after: SessionState, at: number): void {
  const { session, functions, ...row } = after;
  db.run(
    "INSERT INTO sessions(session, step, at, state) VALUES(?, ?, ?, ?) ON CONFLICT(session) DO UPDATE SET step = excluded.step, at = excluded.at, state = excluded.state",
    [session, after.step, at, JSON.stringify(row)],
  );
  for (const id of Object.keys(before.functions)) {
    if (!functions[id]) db.run("DELETE FROM functions WHERE session = ? AND id = ?", [session, id]);
  }
  for (const [id, record] of Object.entries(functions)) {
    if (record === before.functions[id]) continue;
    db.run(
      "INSERT INTO functions(session, id, record) VALUES(?, ?, ?) ON CONFLICT(session, id) DO UPDATE SET record = excluded.record",
      [session, id, JSON.stringify(record)],
    );
  }
}

function writeStep(db: Database, session: string, step: number, entry: StepEntry): void {
  db.run("INSERT INTO steps(session, step, at, entry) VALUES(?, ?, ?, ?)", [
    session,
    step,
    entry.at,
    JSON.stringify(entry),
  ]);
}

function writeResolution(db: Database, session: string, { of, at, kind, by }: Resolution): void {
  db.run("INSERT INTO resolutions(session, pause, at, kind, by) VALUES(?, ?, ?, ?, ?)", [session, of, at, kind, by]);
}

/** AUTOINCREMENT never gives a number twice, also after pruning. */
function nextSeq(db: Database): number {
  return (db.get<{ seq: number }>("SELECT seq FROM sqlite_sequence WHERE name = 'signals'")?.seq ?? 0) + 1;
}

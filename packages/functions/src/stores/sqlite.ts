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
  const rows = createRows();
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
          const before = rows.read(db, session);
          const repeated = callId === undefined ? undefined : signalOfCall(db, session, callId);
          const { result, write } = reduce(before, { seq: nextSeq(db), repeated });
          if (write === undefined) return result;
          rows.write(db, before, write.state, write.entry.at);
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
      return rows.read(await open(), session);
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

/** What was parsed last, by its text: most rows of a step are those of the step before. */
interface Parsed {
  state: { text: string; row: SessionRow } | undefined;
  records: Map<string, { text: string; record: FunctionRecord }>;
}

/** Sessions whose rows are kept parsed. */
const mostParsed = 16;

function createRows() {
  const sessions = new Map<string, Parsed>();
  const parsedOf = (session: string): Parsed => {
    const known = sessions.get(session) ?? { state: undefined, records: new Map() };
    sessions.delete(session);
    sessions.set(session, known);
    const oldest = sessions.size > mostParsed ? sessions.keys().next().value : undefined;
    if (oldest !== undefined) sessions.delete(oldest);
    return known;
  };

  return {
    read(db: Database, session: string): SessionState {
      const row = db.get<{ state: string }>("SELECT state FROM sessions WHERE session = ?", [session]);
      if (row === undefined) return emptyState(session);
      const parsed = parsedOf(session);
      if (parsed.state?.text !== row.state)
        parsed.state = { text: row.state, row: JSON.parse(row.state) as SessionRow };
      const functions: Record<string, FunctionRecord> = {};
      const rows = db.all<{ id: string; record: string }>("SELECT id, record FROM functions WHERE session = ?", [
        session,
      ]);
      for (const { id, record: text } of rows) {
        const known = parsed.records.get(id);
        const record = known?.text === text ? known.record : (JSON.parse(text) as FunctionRecord);
        if (record !== known?.record) parsed.records.set(id, { text, record });
        functions[id] = record;
      }
      return { session, ...parsed.state.row, functions };
    },

    /** Only rows of functions that changed are written. */
    write(db: Database, before: SessionState, after: SessionState, at: number): void {
      const { session, functions, ...row } = after;
      db.run(
        "INSERT INTO sessions(session, step, at, state) VALUES(?, ?, ?, ?) ON CONFLICT(session) DO UPDATE SET step = excluded.step, at = excluded.at, state = excluded.state",
        [session, after.step, at, JSON.stringify(row)],
      );
      for (const id of Object.keys(before.functions)) {
        if (!functions[id]) db.run("DELETE FROM functions WHERE session = ? AND id = ?", [session, id]);
      }
      const { records } = parsedOf(session);
      for (const [id, record] of Object.entries(functions)) {
        if (record === before.functions[id]) continue;
        const text = JSON.stringify(record);
        // Should the transaction fail, the text on disk is another one and this is parsed anew.
        records.set(id, { text, record });
        db.run(
          "INSERT INTO functions(session, id, record) VALUES(?, ?, ?) ON CONFLICT(session, id) DO UPDATE SET record = excluded.record",
          [session, id, text],
        );
      }
    },
  };
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

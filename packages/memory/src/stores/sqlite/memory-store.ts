import { ToolError } from "@toolhaft/core";
import type { Database } from "@toolhaft/sqlite";
import type { CheckReport, MemoryStore } from "../../store.ts";
import { termsOf } from "../../terms.ts";
import { candidates, windows } from "./candidates.ts";
import { setForgotten, updateMemory, writeMemory } from "./change.ts";
import { isIndexDamage, type SqliteStoreOptions, storeFile } from "./file.ts";
import { analyserOf, checkStore, isOutdated, rebuildIndex } from "./maintenance.ts";
import { findRecord, history, list, records, stats, subjects } from "./read.ts";
import { thisAnalyser } from "./schema.ts";
import { loadBatch, purgeRows, readAll } from "./transfer.ts";
import { countPending, pendingVectors, putVectors, searchVectors } from "./vectors.ts";

/**
 * The default store: one SQLite file that many processes may share.
 *
 * @throws ToolError from its methods as `@toolhaft/sqlite` says: `unavailable`, `timeout`, `unsupported`, `conflict`
 */
export function sqliteMemoryStore(options: SqliteStoreOptions): MemoryStore {
  const analyser = options.analyser ?? thisAnalyser;
  const stopped = new AbortController();
  let rebuilding: Promise<void> | undefined;
  const file = storeFile(options, keepIndexFresh);

  return {
    async write(caller, draft, signal) {
      return writing((db) => writeMemory(db, caller, draft), signal);
    },
    async update(caller, id, change, signal) {
      return writing((db) => updateMemory(db, caller, id, change), signal);
    },
    async setForgotten(caller, id, forgotten, by, signal) {
      return writing((db) => setForgotten(db, caller, id, forgotten, by, termsOf), signal);
    },
    get: (caller, id, signal) =>
      reading((db) => {
        const found = findRecord(db, caller, id);
        if (!found) return undefined;
        const { row, ...record } = found;
        return record;
      }, signal),
    list: (caller, query, signal) => reading((db) => list(db, caller, query), signal),
    history: (caller, id, signal) => reading((db) => history(db, caller, id), signal),
    stats: (caller, signal) => reading((db) => ({ ...stats(db, caller), store: file.path, pendingVectors: 0 }), signal),
    subjects: (caller, terms, signal) => reading((db) => subjects(db, caller, terms), signal),
    candidates: (caller, query, signal) => reading((db) => candidates(db, caller, query), signal),
    windows: (caller, ids, reach, signal) => reading((db) => windows(db, caller, ids, reach), signal),
    records: (caller, ids, signal) => reading((db) => records(db, caller, ids), signal),
    async recordUse(caller, ids, at) {
      const db = await file.db();
      await db.write(
        () => {
          for (const id of ids) {
            const record = findRecord(db, caller, id);
            if (!record) continue;
            db.run(
              `INSERT INTO memory_uses(row, uses, last_used_at) VALUES(?, 1, ?)
               ON CONFLICT(row) DO UPDATE SET uses = uses + 1, last_used_at = max(last_used_at, excluded.last_used_at)`,
              [record.row, at],
            );
          }
        },
        { timeoutMs: 50 },
      );
    },
    vectors: {
      put: (caller, entries) => writing((db) => putVectors(db, caller, entries), undefined),
      pending: (caller, model, limit) => reading((db) => pendingVectors(db, caller, model, limit), undefined),
      countPending: (caller, model) => reading((db) => countPending(db, caller, model), undefined),
      search: (caller, query, signal) => reading((db) => searchVectors(db, caller, query), signal),
    },
    readAll: (filter, signal) => readAll(() => file.db(), filter, signal),
    load: (batch, policy) => writing((db) => loadBatch(db, batch, policy), undefined),
    async check() {
      await file.db();
      await rebuilding;
      return checkFresh();
    },
    async repair() {
      const db = await file.db();
      await rebuilding;
      await rebuildIndex(db, analyser, stopped.signal);
      return checkFresh();
    },
    purge: (filter, now) => writing((db) => purgeRows(db, filter, now), undefined),
    async [Symbol.asyncDispose]() {
      stopped.abort();
      await rebuilding;
      await file[Symbol.asyncDispose]();
    },
  };

  async function reading<T>(work: (db: Database) => T, signal: AbortSignal | undefined): Promise<T> {
    return repairingOnce(async (db) => {
      throwIfCancelled(signal);
      const result = work(db);
      throwIfCancelled(signal);
      return result;
    });
  }

  async function writing<T>(work: (db: Database) => T, signal: AbortSignal | undefined): Promise<T> {
    return repairingOnce((db) =>
      db.write(() => work(db), { ...(signal && { signal }), timeoutMs: file.lockTimeoutMs }),
    );
  }

  /** A damaged search index can be made anew from the memories; the damaged call then runs once more. */
  async function repairingOnce<T>(work: (db: Database) => Promise<T>): Promise<T> {
    const db = await file.db();
    try {
      return await work(db);
    } catch (error) {
      if (!isIndexDamage(error)) throw error;
      await rebuildIndex(db, analyser, stopped.signal);
      try {
        return await work(db);
      } catch (second) {
        if (!isIndexDamage(second)) throw second;
        throw new ToolError("unavailable", `the search index of ${file.path} is damaged and could not be made anew`, {
          hint: "run the repair of the memory family, or move the file away and import an export",
          cause: second,
        });
      }
    }
  }

  /**
   * A connection that has read the index before other processes wrote to it sees faults in `quick_check` that a new one
   * does not: FTS5 checks against the structure it remembers.
   */
  async function checkFresh(): Promise<CheckReport> {
    const db = await file.another();
    try {
      return await checkStore(db);
    } finally {
      db.close();
    }
  }

  function keepIndexFresh(db: Database): void {
    const mark = analyserOf(db);
    if (mark === undefined || !isOutdated(mark, analyser)) return;
    // A failure costs nothing now: the old index serves, and the next start goes on.
    rebuilding = rebuildIndex(db, analyser, stopped.signal).catch(() => undefined);
  }
}

function throwIfCancelled(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new ToolError("cancelled", "the call was cancelled");
}

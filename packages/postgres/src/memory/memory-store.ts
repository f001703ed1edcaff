import { type MemoryStore, termsOf } from "@toolhaft/memory";
import { type PostgresOptions, postgresDatabase, type Sql, type Transaction } from "../database.ts";
import { placeOf } from "../errors.ts";
import { candidates, windows } from "./candidates.ts";
import { setForgotten, updateMemory, writeMemory } from "./change.ts";
import { throwIfCancelled } from "./kv-store.ts";
import { checkStore, rebuildIndex } from "./maintenance.ts";
import { findRecord, history, list, records, stats, subjects } from "./read.ts";
import { migrations } from "./schema.ts";
import { lockWorkspace } from "./search-index.ts";
import { loadBatch, purgeRows, readAll } from "./transfer.ts";
import { countPending, pendingVectors, putVectors, searchVectors } from "./vectors.ts";

export function memoryStore(options: PostgresOptions): MemoryStore {
  const db = postgresDatabase(options, "memory", migrations);

  return {
    write: (caller, draft, signal) => writing(caller, (sql) => writeMemory(sql, caller, draft), signal),
    update: (caller, id, change, signal) => writing(caller, (sql) => updateMemory(sql, caller, id, change), signal),
    setForgotten: (caller, id, forgotten, by, signal) =>
      writing(caller, (sql) => setForgotten(sql, caller, id, forgotten, by, termsOf), signal),
    get: (caller, id, signal) =>
      reading(async (sql) => {
        const found = await findRecord(sql, caller, id);
        if (!found) return undefined;
        const { row, ...record } = found;
        return record;
      }, signal),
    list: (caller, query, signal) => reading((sql) => list(sql, caller, query), signal),
    history: (caller, id, signal) => reading((sql) => history(sql, caller, id), signal),
    stats: (caller, signal) =>
      reading(async (sql) => ({ ...(await stats(sql, caller)), store: placeOf(options), pendingVectors: 0 }), signal),
    subjects: (caller, terms, signal) => reading((sql) => subjects(sql, caller, terms), signal),
    candidates: (caller, query, signal) => reading((sql) => candidates(sql, caller, query), signal),
    windows: (caller, ids, reach, signal) => reading((sql) => windows(sql, caller, ids, reach), signal),
    records: (caller, ids, signal) => reading((sql) => records(sql, caller, ids), signal),
    async recordUse(caller, ids, at) {
      await db.run(
        `INSERT INTO @memory_uses AS u(row, uses, last_used_at)
         SELECT m.row, 1, :at::bigint FROM @memories m WHERE m.id = ANY(:ids::text[]) AND m.workspace = :workspace
           AND (m.scope = 'workspace' OR m.role = :agent) ORDER BY m.row
         ON CONFLICT(row) DO UPDATE SET uses = u.uses + 1, last_used_at = greatest(u.last_used_at, excluded.last_used_at)`,
        { workspace: caller.workspace, agent: caller.agent, ids, at },
      );
    },
    vectors: {
      put: (caller, entries) => writing(caller, (sql) => putVectors(sql, caller, entries), undefined),
      pending: (caller, model, limit) => reading((sql) => pendingVectors(sql, caller, model, limit), undefined),
      countPending: (caller, model) => reading((sql) => countPending(sql, caller, model), undefined),
      search: (caller, query, signal) => reading((sql) => searchVectors(sql, caller, query), signal),
    },
    readAll: (filter, signal) => readAll(db, filter, signal),
    load: (batch, policy) => db.transaction((sql) => loadBatch(sql, batch, policy)),
    check: () => checkStore(db),
    async repair() {
      await db.transaction(rebuildIndex);
      return checkStore(db);
    },
    purge: (filter, now) => db.transaction((sql) => purgeRows(sql, filter, now)),
    [Symbol.asyncDispose]: () => db.close(),
  };

  async function reading<T>(work: (sql: Sql) => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    throwIfCancelled(signal);
    const result = await work(db);
    throwIfCancelled(signal);
    return result;
  }

  /** Nothing of a cancelled call is written. */
  function writing<T>(
    caller: { workspace: string },
    work: (sql: Transaction) => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    return db.transaction(async (sql) => {
      throwIfCancelled(signal);
      await lockWorkspace(sql, caller);
      const answer = await work(sql);
      throwIfCancelled(signal);
      return answer;
    });
  }
}

import { ToolError } from "@toolhaft/core";
import type { Database } from "@toolhaft/sqlite";
import type { Caller, KvEntry, KvStore } from "../../store.ts";
import { type SqliteStoreOptions, storeFile } from "./file.ts";

interface KvRow {
  key: string;
  value: string;
  version: number;
  updated_at: number;
}

/** Exact keys in a table of the memory file. */
export function sqliteKvStore(options: SqliteStoreOptions): KvStore {
  const file = storeFile(options);
  return {
    async get(caller, key, signal) {
      throwIfCancelled(signal);
      return find(await file.db(), caller, key);
    },
    async set(caller, key, json, ifVersion, { at, limit }, signal) {
      const db = await file.db();
      return db.write(
        () => {
          const existing = find(db, caller, key);
          if (ifVersion !== undefined && ifVersion !== (existing?.version ?? 0)) {
            return { kind: "conflict", version: existing?.version ?? null };
          }
          if (!existing && count(db, caller, "") >= limit) return { kind: "full", keys: limit };
          const version = (existing?.version ?? 0) + 1;
          db.run(
            `INSERT INTO kv(workspace, agent, key, value, version, updated_at) VALUES(?, ?, ?, ?, ?, ?)
             ON CONFLICT(workspace, agent, key) DO UPDATE SET value = excluded.value, version = excluded.version, updated_at = excluded.updated_at`,
            [caller.workspace, caller.agent, key, json, version, at],
          );
          return { kind: "stored", version, created: existing === undefined };
        },
        { signal, timeoutMs: file.lockTimeoutMs },
      );
    },
    async delete(caller, key, ifVersion, signal) {
      const db = await file.db();
      return db.write(
        () => {
          const entry = find(db, caller, key);
          if (ifVersion !== undefined && ifVersion !== (entry?.version ?? 0))
            return { kind: "conflict", version: entry?.version ?? null };
          if (!entry) return { kind: "missing" };
          db.run("DELETE FROM kv WHERE workspace = ? AND agent = ? AND key = ?", [caller.workspace, caller.agent, key]);
          return { kind: "deleted", entry };
        },
        { signal, timeoutMs: file.lockTimeoutMs },
      );
    },
    async keys(caller, { prefix, limit, offset }, signal) {
      throwIfCancelled(signal);
      const db = await file.db();
      const rows = db.all<{ key: string; version: number; bytes: number; updated_at: number }>(
        `SELECT key, version, length(CAST(value AS BLOB)) AS bytes, updated_at FROM kv
         WHERE ${inNamespace} ORDER BY key LIMIT :limit OFFSET :offset`,
        { workspace: caller.workspace, agent: caller.agent, prefix, limit, offset },
      );
      return {
        keys: rows.map(({ updated_at, ...row }) => ({ ...row, updatedAt: updated_at })),
        total: count(db, caller, prefix),
      };
    },
    [Symbol.asyncDispose]: () => file[Symbol.asyncDispose](),
  };
}

function find(db: Database, caller: Caller, key: string): KvEntry | undefined {
  const row = db.get<KvRow>(
    "SELECT key, value, version, updated_at FROM kv WHERE workspace = ? AND agent = ? AND key = ?",
    [caller.workspace, caller.agent, key],
  );
  return row && { key: row.key, json: row.value, version: row.version, updatedAt: row.updated_at };
}

const inNamespace = "workspace = :workspace AND agent = :agent AND substr(key, 1, length(:prefix)) = :prefix";

function count(db: Database, caller: Caller, prefix: string): number {
  const parameters = { workspace: caller.workspace, agent: caller.agent, prefix };
  return db.get<{ n: number }>(`SELECT count(*) AS n FROM kv WHERE ${inNamespace}`, parameters)?.n ?? 0;
}

function throwIfCancelled(signal: AbortSignal): void {
  if (signal.aborted) throw new ToolError("cancelled", "the call was cancelled");
}

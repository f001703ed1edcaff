import { ToolError } from "@toolhaft/core";
import type { Caller, KvEntry, KvStore } from "@toolhaft/memory";
import { type PostgresOptions, postgresDatabase, type Sql } from "../database.ts";
import { migrations } from "./schema.ts";

interface KvRow {
  key: string;
  value: string;
  version: number;
  updated_at: number;
}

/** Exact keys in a table of the memories' schema. */
export function kvStore(options: PostgresOptions): KvStore {
  const db = postgresDatabase(options, "memory", migrations);
  return {
    async get(caller, key, signal) {
      throwIfCancelled(signal);
      return find(db, caller, key);
    },
    async set(caller, key, json, ifVersion, { at, limit }, signal) {
      throwIfCancelled(signal);
      return db.transaction(async (sql) => {
        await lockNamespace(sql, caller);
        const existing = await find(sql, caller, key);
        if (ifVersion !== undefined && ifVersion !== (existing?.version ?? 0))
          return { kind: "conflict", version: existing?.version ?? null };
        if (!existing && (await count(sql, caller, "")) >= limit) return { kind: "full", keys: limit };
        const version = (existing?.version ?? 0) + 1;
        await sql.run(
          `INSERT INTO @kv(workspace, agent, key, value, version, updated_at) VALUES(?, ?, ?, ?, ?, ?)
           ON CONFLICT(workspace, agent, key) DO UPDATE SET value = excluded.value, version = excluded.version,
             updated_at = excluded.updated_at`,
          [caller.workspace, caller.agent, key, json, version, at],
        );
        return { kind: "stored", version, created: existing === undefined };
      });
    },
    async delete(caller, key, ifVersion, signal) {
      throwIfCancelled(signal);
      return db.transaction(async (sql) => {
        await lockNamespace(sql, caller);
        const entry = await find(sql, caller, key);
        if (ifVersion !== undefined && ifVersion !== (entry?.version ?? 0))
          return { kind: "conflict", version: entry?.version ?? null };
        if (!entry) return { kind: "missing" };
        const { workspace, agent } = caller;
        await sql.run("DELETE FROM @kv WHERE workspace = ? AND agent = ? AND key = ?", [workspace, agent, key]);
        return { kind: "deleted", entry };
      });
    },
    async keys(caller, { prefix, limit, offset }, signal) {
      throwIfCancelled(signal);
      const rows = await db.all<{ key: string; version: number; bytes: number; updated_at: number }>(
        `SELECT key, version, octet_length(value) AS bytes, updated_at FROM @kv
         WHERE ${inNamespace} ORDER BY key LIMIT :limit OFFSET :offset`,
        { workspace: caller.workspace, agent: caller.agent, prefix, limit, offset },
      );
      return {
        keys: rows.map(({ updated_at, ...row }) => ({ ...row, updatedAt: updated_at })),
        total: await count(db, caller, prefix),
      };
    },
    [Symbol.asyncDispose]: () => db.close(),
  };
}

/** One writer of a namespace at a time: what a key was, and how many there are, stays true until the commit. */
async function lockNamespace(sql: Sql, { workspace, agent }: Caller): Promise<void> {
  await sql.get("SELECT pg_advisory_xact_lock(hashtextextended(?, 3))", [JSON.stringify([workspace, agent])]);
}

async function find(db: Sql, { workspace, agent }: Caller, key: string): Promise<KvEntry | undefined> {
  const row = await db.get<KvRow>(
    "SELECT key, value, version, updated_at FROM @kv WHERE workspace = ? AND agent = ? AND key = ?",
    [workspace, agent, key],
  );
  return row && { key: row.key, json: row.value, version: row.version, updatedAt: row.updated_at };
}

const inNamespace = "workspace = :workspace AND agent = :agent AND starts_with(key, :prefix)";

async function count(db: Sql, { workspace, agent }: Caller, prefix: string): Promise<number> {
  const parameters = { workspace, agent, prefix };
  return (await db.get<{ n: number }>(`SELECT count(*) AS n FROM @kv WHERE ${inNamespace}`, parameters))?.n ?? 0;
}

export function throwIfCancelled(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new ToolError("cancelled", "the call was cancelled");
}

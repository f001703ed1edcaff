import {
  type Caller,
  type Category,
  type Filter,
  type HistoryRow,
  type ListQuery,
  type MemoryRecord,
  type Page,
  type Scope,
  type State,
  type StoreStats,
  type Subject,
  sortKey,
} from "@toolhaft/memory";
import { type RecordRow, toRecord } from "@toolhaft/memory/adapter";
import type { Sql, SqlValue } from "../database.ts";
import { live, recordColumns, recordTables, visible } from "./rows.ts";

export type Named = Record<string, SqlValue>;

export function callerParameters(caller: Caller): Named {
  return { workspace: caller.workspace, agent: caller.agent };
}

const selectRecord = `SELECT ${recordColumns} FROM ${recordTables} WHERE m.id = :id AND ${visible}`;

export async function findRecord(
  db: Sql,
  caller: Caller,
  id: string,
): Promise<(MemoryRecord & { row: number }) | undefined> {
  const row = await db.get<RecordRow>(selectRecord, {
    ...callerParameters(caller),
    id,
  });
  return row && { ...toRecord(row), row: row.row };
}

export function stateOf(record: { forgottenAt: number | null; supersededBy: string | null }): State {
  if (record.forgottenAt !== null) return "forgotten";
  return record.supersededBy === null ? "live" : "superseded";
}

/** The live memory at the end of the chain of successors, or null. */
export async function newestOf(db: Sql, caller: Caller, id: string): Promise<string | null> {
  const row = await db.get<{ id: string }>(
    `WITH RECURSIVE chain(id, depth) AS (
       SELECT superseded_by, 1 FROM @memories m WHERE m.id = :id AND ${visible}
       UNION ALL SELECT m.superseded_by, depth + 1 FROM chain JOIN @memories m ON m.id = chain.id
         WHERE m.superseded_by IS NOT NULL AND ${visible} AND depth < 10000)
     SELECT m.id FROM chain JOIN @memories m ON m.id = chain.id WHERE ${live} AND ${visible} ORDER BY depth DESC LIMIT 1`,
    { ...callerParameters(caller), id },
  );
  return row?.id ?? null;
}

export async function records(db: Sql, caller: Caller, ids: readonly string[]): Promise<MemoryRecord[]> {
  const rows = await db.all<RecordRow>(
    `SELECT ${recordColumns} FROM ${recordTables} WHERE m.id = ANY(:ids::text[]) AND ${visible}`,
    { ...callerParameters(caller), ids },
  );
  const found = new Map(rows.map((row) => [row.id, toRecord(row)]));
  return ids.flatMap((id) => found.get(id) ?? []);
}

/** Conditions of a filter besides visibility; folded values in, as the key columns hold them. */
export function filterConditions(filter: Filter, parameters: Named): string[] {
  const conditions: string[] = [];
  if (filter.scope !== "both") {
    conditions.push("m.scope = :scope");
    parameters.scope = filter.scope;
  }
  if (filter.category !== null) {
    conditions.push("m.category = :category");
    parameters.category = filter.category;
  }
  for (const [name, column, wanted] of [
    ["tags", "m.tag_keys", filter.tags],
    ["about", "m.about_keys", filter.about],
  ] as const) {
    if (wanted.length === 0) continue;
    conditions.push(`${column}::jsonb @> :${name}::jsonb`);
    parameters[name] = JSON.stringify(wanted);
  }
  return conditions;
}

const stateConditions: Readonly<Record<State, string>> = {
  live,
  superseded: "m.superseded_by IS NOT NULL AND m.forgotten_at IS NULL",
  forgotten: "m.forgotten_at IS NOT NULL",
};

const sortColumns = {
  recent: ["m.updated_at", "m.id"],
  relevance: ["m.relevance", "m.updated_at", "m.id"],
  accessed: ["coalesce(u.last_used_at, -1)", "m.id"],
} as const;

export async function list(db: Sql, caller: Caller, query: ListQuery): Promise<Page<MemoryRecord>> {
  const parameters = callerParameters(caller);
  const where = [visible, stateConditions[query.state], ...filterConditions(query, parameters)].join(" AND ");
  const total =
    (await db.get<{ n: number }>(`SELECT count(*) AS n FROM @memories m WHERE ${where}`, parameters))?.n ?? 0;
  const columns = sortColumns[query.sort];
  const after =
    query.after === null ? "" : `AND (${columns.join(", ")}) < (${columns.map((_, i) => `:after${i}`).join(", ")})`;
  query.after?.forEach((value, i) => {
    parameters[`after${i}`] = value;
  });
  const rows = await db.all<RecordRow>(
    `SELECT ${recordColumns} FROM ${recordTables} WHERE ${where} ${after}
     ORDER BY ${columns.map((column) => `${column} DESC`).join(", ")} LIMIT :limit`,
    { ...parameters, limit: query.limit + 1 },
  );
  const items = rows.slice(0, query.limit).map(toRecord);
  const last = items.at(-1);
  return { items, total, next: rows.length > query.limit && last ? sortKey(last, query.sort) : null };
}

export async function history(db: Sql, caller: Caller, id: string): Promise<HistoryRow[]> {
  const rows = await db.all<{
    version: number;
    at: number;
    agent: string;
    session: string;
    kind: string;
    before: string | null;
  }>(
    `SELECT h.version, h.at, h.agent, h.session, h.kind, h.before FROM @memory_history h JOIN @memories m ON m.row = h.row
     WHERE m.id = :id AND ${visible} ORDER BY h.version`,
    { ...callerParameters(caller), id },
  );
  return rows.map(({ session, kind, before, ...row }) => ({
    ...row,
    sessionId: session,
    kind: kind as HistoryRow["kind"],
    before: before === null ? null : (JSON.parse(before) as Record<string, unknown>),
  }));
}

/** Bytes of the tables of memories with their indexes. */
const sizes = ["memories", "memory_terms", "memory_history", "memory_vectors", "memory_uses", "memory_subjects"]
  .map((table) => `pg_total_relation_size('@${table}')`)
  .join(" + ");

export async function stats(db: Sql, caller: Caller): Promise<Omit<StoreStats, "store" | "pendingVectors">> {
  const rows = await db.all<{
    scope: Scope;
    category: Category;
    state: State;
    n: number;
    oldest: number;
    newest: number;
  }>(
    `SELECT m.scope, m.category, count(*) AS n, min(m.created_at) AS oldest, max(m.updated_at) AS newest,
       CASE WHEN m.forgotten_at IS NOT NULL THEN 'forgotten' WHEN m.superseded_by IS NOT NULL THEN 'superseded' ELSE 'live' END AS state
     FROM @memories m WHERE ${visible} GROUP BY 1, 2, 6`,
    callerParameters(caller),
  );
  const alive = rows.filter((row) => row.state === "live");
  const sum = (some: typeof rows) => some.reduce((total, row) => total + row.n, 0);
  const size = await db.get<{ bytes: number }>(`SELECT ${sizes} AS bytes`);
  return {
    total: sum(alive),
    byScope: {
      workspace: sum(alive.filter((row) => row.scope === "workspace")),
      role: sum(alive.filter((row) => row.scope === "role")),
    },
    byCategory: Object.fromEntries(
      [...new Set(alive.map((row) => row.category))].map((c) => [c, sum(alive.filter((row) => row.category === c))]),
    ),
    byState: {
      live: sum(alive),
      superseded: sum(rows.filter((row) => row.state === "superseded")),
      forgotten: sum(rows.filter((row) => row.state === "forgotten")),
    },
    bytes: size?.bytes ?? 0,
    oldest: alive.length > 0 ? Math.min(...alive.map((row) => row.oldest)) : null,
    newest: alive.length > 0 ? Math.max(...alive.map((row) => row.newest)) : null,
  };
}

export async function subjects(db: Sql, caller: Caller, terms: readonly string[]): Promise<Subject[]> {
  return await db.all<Subject>(
    `SELECT DISTINCT s.name FROM @partitions p JOIN @memory_subjects s ON s.partition = p.id
     WHERE p.workspace = :workspace AND (p.scope = 'workspace' OR p.role = :agent)
       AND s.first_term IN (SELECT json_array_elements_text(:terms::json)) ORDER BY s.name`,
    { ...callerParameters(caller), terms: JSON.stringify(terms) },
  );
}

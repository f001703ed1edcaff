import type { Database, SqlValue } from "@toolhaft/sqlite";
import type { Category, Scope, State } from "../../model.ts";
import {
  type Caller,
  type Filter,
  type HistoryRow,
  type ListQuery,
  type MemoryRecord,
  type Page,
  type StoreStats,
  type Subject,
  sortKey,
} from "../../store.ts";
import { type RecordRow, recordColumns, recordTables, toRecord } from "./rows.ts";
import { live, visible } from "./schema.ts";

export type Named = Record<string, SqlValue>;

export function callerParameters(caller: Caller): Named {
  return { workspace: caller.workspace, agent: caller.agent };
}

const selectRecord = `SELECT ${recordColumns} FROM ${recordTables} WHERE m.id = :id AND ${visible}`;

export function findRecord(db: Database, caller: Caller, id: string): (MemoryRecord & { row: number }) | undefined {
  const row = db.get<RecordRow>(selectRecord, {
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
export function newestOf(db: Database, caller: Caller, id: string): string | null {
  const row = db.get<{ id: string }>(
    `WITH RECURSIVE chain(id, depth) AS (
       SELECT superseded_by, 1 FROM memories m WHERE m.id = :id AND ${visible}
       UNION SELECT m.superseded_by, depth + 1 FROM chain JOIN memories m ON m.id = chain.id
         WHERE m.superseded_by IS NOT NULL AND ${visible} AND depth < 10000)
     SELECT m.id FROM chain JOIN memories m ON m.id = chain.id WHERE ${live} AND ${visible} ORDER BY depth DESC LIMIT 1`,
    { ...callerParameters(caller), id },
  );
  return row?.id ?? null;
}

export function records(db: Database, caller: Caller, ids: readonly string[]): MemoryRecord[] {
  return ids.flatMap((id) => {
    const found = findRecord(db, caller, id);
    if (!found) return [];
    const { row, ...record } = found;
    return [record];
  });
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
    conditions.push(
      `NOT EXISTS (SELECT 1 FROM json_each(:${name}) w WHERE w.value NOT IN (SELECT value FROM json_each(${column})))`,
    );
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

export function list(db: Database, caller: Caller, query: ListQuery): Page<MemoryRecord> {
  const parameters = callerParameters(caller);
  const where = [visible, stateConditions[query.state], ...filterConditions(query, parameters)].join(" AND ");
  const total = db.get<{ n: number }>(`SELECT count(*) AS n FROM memories m WHERE ${where}`, parameters)?.n ?? 0;
  const columns = sortColumns[query.sort];
  const after =
    query.after === null ? "" : `AND (${columns.join(", ")}) < (${columns.map((_, i) => `:after${i}`).join(", ")})`;
  query.after?.forEach((value, i) => {
    parameters[`after${i}`] = value;
  });
  const rows = db.all<RecordRow>(
    `SELECT ${recordColumns} FROM ${recordTables} WHERE ${where} ${after}
     ORDER BY ${columns.map((column) => `${column} DESC`).join(", ")} LIMIT :limit`,
    { ...parameters, limit: query.limit + 1 },
  );
  const items = rows.slice(0, query.limit).map(toRecord);
  const last = items.at(-1);
  return { items, total, next: rows.length > query.limit && last ? sortKey(last, query.sort) : null };
}

export function history(db: Database, caller: Caller, id: string): HistoryRow[] {
  const rows = db.all<{
    version: number;
    at: number;
    agent: string;
    session: string;
    kind: string;
    before: string | null;
  }>(
    `SELECT h.version, h.at, h.agent, h.session, h.kind, h.before FROM memory_history h JOIN memories m ON m.row = h.row
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

export function stats(db: Database, caller: Caller): Omit<StoreStats, "store" | "pendingVectors"> {
  const rows = db.all<{ scope: Scope; category: Category; state: State; n: number; oldest: number; newest: number }>(
    `SELECT m.scope, m.category, count(*) AS n, min(m.created_at) AS oldest, max(m.updated_at) AS newest,
       CASE WHEN m.forgotten_at IS NOT NULL THEN 'forgotten' WHEN m.superseded_by IS NOT NULL THEN 'superseded' ELSE 'live' END AS state
     FROM memories m WHERE ${visible} GROUP BY m.scope, m.category, state`,
    callerParameters(caller),
  );
  const alive = rows.filter((row) => row.state === "live");
  const sum = (some: typeof rows) => some.reduce((total, row) => total + row.n, 0);
  const size = db.get<{ bytes: number }>(
    "SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size",
  );
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

export function subjects(db: Database, caller: Caller, terms: readonly string[]): Subject[] {
  return db.all<Subject>(
    `SELECT DISTINCT s.name FROM partitions p JOIN memory_subjects s ON s.partition = p.id
     WHERE p.workspace = :workspace AND (p.scope = 'workspace' OR p.role = :agent)
       AND s.first_term IN (SELECT value FROM json_each(:terms)) ORDER BY s.name`,
    { ...callerParameters(caller), terms: JSON.stringify(terms) },
  );
}

import {
  type Caller,
  type EdgeExport,
  type EntityExport,
  type ExportFilter,
  type ExportRecord,
  fromBytes,
  type HistoryRow,
  type ImportPolicy,
  type LoadReport,
  type MemoryExport,
  type PurgeFilter,
  signBits,
  termsOf,
  toBytes,
} from "@toolhaft/memory";
import { contentHash, placeOf, type RecordRow, relevanceNumber, toRecord } from "@toolhaft/memory/adapter";
import { foldText } from "@toolhaft/text";
import type { Sql, SqlValue, Transaction } from "../database.ts";
import { addHistory, keys } from "./change.ts";
import { recordColumns, recordTables } from "./rows.ts";
import { addToIndex, lockWorkspace, partitionId, removeFromIndex } from "./search-index.ts";

const pageRows = 200;

/** Records in id order, page by page, so that no read stays open while the consumer works. */
export async function* readAll(db: Sql, filter: ExportFilter, signal: AbortSignal): AsyncIterable<ExportRecord> {
  for (const page of [memoryPage, kvPage, entityPage, edgePage]) {
    let after: string[] | null = null;
    for (;;) {
      signal.throwIfAborted();
      const found: Page = await page(db, filter, after);
      yield* found.records;
      if (found.next === null) break;
      after = found.next;
    }
  }
}

interface Page {
  records: ExportRecord[];
  next: string[] | null;
}

function scoped(
  filter: ExportFilter,
  alias: string,
  own: string,
): { where: string; parameters: Record<string, SqlValue> } {
  return {
    where: `(:workspace::text IS NULL OR ${alias}.workspace = :workspace) AND (:agent::text IS NULL OR ${own})`,
    parameters: { workspace: filter.workspace ?? null, agent: filter.agent ?? null, limit: pageRows },
  };
}

async function memoryPage(db: Sql, filter: ExportFilter, after: string[] | null): Promise<Page> {
  const { where, parameters } = scoped(filter, "m", "m.scope = 'workspace' OR m.role = :agent");
  const rows = await db.all<RecordRow & { workspace: string; model: string | null; vector: Uint8Array | null }>(
    `SELECT ${recordColumns}, m.workspace, v.model, v.vector FROM ${recordTables} LEFT JOIN @memory_vectors v ON v.row = m.row
     WHERE ${where} AND m.id > :after ORDER BY m.id LIMIT :limit`,
    { ...parameters, after: after?.[0] ?? "" },
  );
  const histories = await historiesOf(
    db,
    rows.map(({ row }) => row),
  );
  const records = rows.map((row): ExportRecord => {
    const { supersedes, ...record } = toRecord(row);
    const vector =
      filter.vectors && row.model !== null && row.vector !== null
        ? { model: row.model, values: [...fromBytes(row.vector)] }
        : null;
    return {
      type: "memory",
      value: { ...record, workspace: row.workspace, history: histories.get(row.row) ?? [], vector },
    };
  });
  return { records, next: rows.length === pageRows ? [rows.at(-1)?.id ?? ""] : null };
}

async function historiesOf(db: Sql, numbers: readonly number[]): Promise<Map<number, HistoryRow[]>> {
  const rows = await db.all<
    Omit<HistoryRow, "before" | "sessionId"> & { row: number; session: string; before: string | null }
  >(
    `SELECT row, version, at, agent, session, kind, before FROM @memory_history WHERE row = ANY(?::bigint[])
     ORDER BY row, version`,
    [numbers],
  );
  const histories = new Map<number, HistoryRow[]>();
  for (const { row, session, before, ...rest } of rows) {
    const change = { ...rest, sessionId: session, before: before === null ? null : JSON.parse(before) };
    histories.set(row, [...(histories.get(row) ?? []), change]);
  }
  return histories;
}

async function kvPage(db: Sql, filter: ExportFilter, after: string[] | null): Promise<Page> {
  const { where, parameters } = scoped(filter, "k", "k.agent = :agent");
  const rows = await db.all<{
    workspace: string;
    agent: string;
    key: string;
    value: string;
    version: number;
    updated_at: number;
  }>(
    `SELECT * FROM @kv k WHERE ${where} AND (k.workspace, k.agent, k.key) > (:a, :b, :c) ORDER BY k.workspace, k.agent, k.key LIMIT :limit`,
    { ...parameters, a: after?.[0] ?? "", b: after?.[1] ?? "", c: after?.[2] ?? "" },
  );
  const last = rows.at(-1);
  return {
    records: rows.map(({ value, updated_at, ...row }) => ({
      type: "kv",
      value: { ...row, json: value, updatedAt: updated_at },
    })),
    next: rows.length === pageRows && last ? [last.workspace, last.agent, last.key] : null,
  };
}

interface GraphRow {
  id: string;
  workspace: string;
  agent: string;
  type: string;
  created_at: number;
  updated_at: number;
  removed_at: number | null;
}

async function entityPage(db: Sql, filter: ExportFilter, after: string[] | null): Promise<Page> {
  const { where, parameters } = scoped(filter, "e", "e.agent = :agent");
  const rows = await db.all<GraphRow & { name: string; attributes: string }>(
    `SELECT e.id, e.workspace, e.agent, e.name, e.type, e.attributes, e.created_at, e.updated_at, e.removed_at FROM @entities e
     WHERE ${where} AND e.id > :after ORDER BY e.id LIMIT :limit`,
    { ...parameters, after: after?.[0] ?? "" },
  );
  const records = rows.map(
    (row): ExportRecord => ({
      type: "entity",
      value: { ...times(row), name: row.name, attributes: JSON.parse(row.attributes) as Record<string, unknown> },
    }),
  );
  return { records, next: rows.length === pageRows ? [rows.at(-1)?.id ?? ""] : null };
}

async function edgePage(db: Sql, filter: ExportFilter, after: string[] | null): Promise<Page> {
  const { where, parameters } = scoped(filter, "a", "a.agent = :agent");
  const rows = await db.all<GraphRow & { from_id: string; to_id: string; weight: number }>(
    `SELECT e.id, a.workspace, a.agent, e.type, e.weight, e.created_at, e.updated_at, e.removed_at, a.id AS from_id, b.id AS to_id
     FROM @edges e JOIN @entities a ON a.row = e.from_row JOIN @entities b ON b.row = e.to_row
     WHERE ${where} AND e.id > :after ORDER BY e.id LIMIT :limit`,
    { ...parameters, after: after?.[0] ?? "" },
  );
  const records = rows.map(
    (row): ExportRecord => ({
      type: "edge",
      value: { ...times(row), from: row.from_id, to: row.to_id, weight: row.weight },
    }),
  );
  return { records, next: rows.length === pageRows ? [rows.at(-1)?.id ?? ""] : null };
}

function times(row: GraphRow) {
  const { id, workspace, agent, type } = row;
  return {
    id,
    workspace,
    agent,
    type,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    removedAt: row.removed_at,
  };
}

/** Called inside one transaction: a record that does not fit is left out and reported, the others are stored. */
export async function loadBatch(
  db: Transaction,
  batch: readonly ExportRecord[],
  policy: ImportPolicy,
): Promise<LoadReport> {
  const report = { imported: 0, skipped: 0, updated: 0, problems: [] as { index: number; reason: string }[] };
  const places = new Set(batch.map(({ value }) => value.workspace));
  for (const workspace of [...places].sort()) await lockWorkspace(db, { workspace });
  for (const [index, record] of batch.entries()) {
    await db.run("SAVEPOINT record");
    try {
      report[await loadRecord(db, record, policy)]++;
      await db.run("RELEASE SAVEPOINT record");
    } catch (error) {
      if (!(error instanceof Error) || isFaultOfThePlace(error)) throw error;
      await db.run("ROLLBACK TO SAVEPOINT record");
      report.problems.push({ index, reason: error.message });
    }
  }
  return report;
}

/** A lost connection or a full disk ends the import; constraint faults belong to one record. */
function isFaultOfThePlace(error: Error): boolean {
  const { code } = error as { code?: unknown };
  return code !== undefined && !(typeof code === "string" && /^(22|23)/.test(code));
}

type Loaded = "imported" | "skipped" | "updated";

async function loadRecord(db: Sql, record: ExportRecord, policy: ImportPolicy): Promise<Loaded> {
  if (record.type === "memory") return await loadMemory(db, record.value, policy);
  if (record.type === "kv") return await loadKey(db, record.value, policy);
  if (record.type === "entity") return await loadEntity(db, record.value, policy);
  return await loadEdge(db, record.value, policy);
}

/** What to do with a record that is there already: undefined means to write it. */
function settle(policy: ImportPolicy, what: string, stored: number, given: number): "skipped" | undefined {
  if (policy.onConflict === "error") throw new Error(`${what} exists already`);
  return policy.onConflict === "newer" && given > stored ? undefined : "skipped";
}

async function loadMemory(db: Sql, memory: MemoryExport, policy: ImportPolicy): Promise<Loaded> {
  const existing = await db.get<{
    row: number;
    updated_at: number;
    workspace: string;
    scope: "workspace" | "role";
    role: string;
    about: string;
    live: number;
  }>(
    `SELECT row, updated_at, workspace, scope, role, about, (superseded_by IS NULL AND forgotten_at IS NULL)::int AS live FROM @memories WHERE id = ?`,
    [memory.id],
  );
  if (existing) {
    const settled = settle(policy, memory.id, existing.updated_at, memory.updatedAt);
    if (settled) return settled;
    if (existing.live === 1)
      await removeFromIndex(db, existing.row, await partitionId(db, existing), JSON.parse(existing.about) as string[]);
    await db.run("DELETE FROM @memories WHERE row = ?", [existing.row]);
  }
  const caller: Caller = { workspace: memory.workspace, agent: memory.role ?? "" };
  const place = placeOf(caller, memory.scope);
  const isLive = memory.supersededBy === null && memory.forgottenAt === null;
  const hash = contentHash(memory.title, memory.content);
  if (isLive && (await hasEqual(db, place, hash))) return "skipped";
  const inserted = await db.get<{ row: number }>(
    `INSERT INTO @memories(id, workspace, scope, role, thread, title, title_key, content, category, relevance, tags, tag_keys, about,
       about_keys, confidence, kind, hash, version, created_at, updated_at, superseded_by, forgotten_at, provenance)
     VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING row`,
    [
      memory.id,
      memory.workspace,
      memory.scope,
      place.role,
      memory.thread,
      memory.title,
      foldText(memory.title),
      memory.content,
      memory.category,
      relevanceNumber(memory.relevance),
      JSON.stringify(memory.tags),
      keys(memory.tags),
      JSON.stringify(memory.about),
      keys(memory.about),
      memory.confidence,
      memory.kind,
      hash,
      memory.version,
      memory.createdAt,
      memory.updatedAt,
      memory.supersededBy,
      memory.forgottenAt,
      JSON.stringify(memory.provenance),
    ],
  );
  const row = inserted?.row ?? 0;
  if (isLive) await addToIndex(db, row, await partitionId(db, place), termsOf(memory), memory.about);
  for (const { version, at, agent, sessionId, kind, before } of memory.history) {
    await addHistory(db, row, version, at, { agent, sessionId, callId: "", tool: "" }, kind, before);
  }
  if (memory.uses > 0) {
    await db.run("INSERT INTO @memory_uses(row, uses, last_used_at) VALUES(?, ?, ?)", [
      row,
      memory.uses,
      memory.lastUsedAt ?? memory.updatedAt,
    ]);
  }
  if (memory.vector) {
    const vector = Float32Array.from(memory.vector.values);
    await db.run("INSERT INTO @memory_vectors(row, model, dims, bits, vector) VALUES(?, ?, ?, ?, ?)", [
      row,
      memory.vector.model,
      vector.length,
      signBits(vector),
      toBytes(vector),
    ]);
  }
  return existing ? "updated" : "imported";
}

async function hasEqual(
  db: Sql,
  place: { workspace: string; scope: string; role: string },
  hash: Uint8Array,
): Promise<boolean> {
  return (
    (await db.get(
      `SELECT 1 FROM @memories WHERE workspace = ? AND scope = ? AND role = ? AND hash = ? AND superseded_by IS NULL AND forgotten_at IS NULL`,
      [place.workspace, place.scope, place.role, hash],
    )) !== undefined
  );
}

async function loadKey(
  db: Sql,
  entry: Extract<ExportRecord, { type: "kv" }>["value"],
  policy: ImportPolicy,
): Promise<Loaded> {
  const { workspace, agent, key, json, version, updatedAt } = entry;
  const existing = await db.get<{ updated_at: number }>(
    "SELECT updated_at FROM @kv WHERE workspace = ? AND agent = ? AND key = ?",
    [workspace, agent, key],
  );
  const settled = existing && settle(policy, `key ${JSON.stringify(key)}`, existing.updated_at, updatedAt);
  if (settled) return settled;
  await db.run(
    `INSERT INTO @kv(workspace, agent, key, value, version, updated_at) VALUES(?, ?, ?, ?, ?, ?)
     ON CONFLICT(workspace, agent, key) DO UPDATE SET value = excluded.value, version = excluded.version, updated_at = excluded.updated_at`,
    [workspace, agent, key, json, version, updatedAt],
  );
  return existing ? "updated" : "imported";
}

async function loadEntity(db: Sql, entity: EntityExport, policy: ImportPolicy): Promise<Loaded> {
  const existing = await db.get<{ id: string; updated_at: number }>(
    "SELECT id, updated_at FROM @entities WHERE id = ? OR (workspace = ? AND agent = ? AND name_key = ? AND type_key = ?)",
    [entity.id, entity.workspace, entity.agent, foldText(entity.name), foldText(entity.type)],
  );
  const settled = existing && settle(policy, entity.id, existing.updated_at, entity.updatedAt);
  if (settled) return settled;
  await db.run(
    `INSERT INTO @entities(id, workspace, agent, name, type, name_key, type_key, attributes, created_at, updated_at, removed_at)
     VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET name = excluded.name, type = excluded.type, name_key = excluded.name_key, type_key = excluded.type_key,
       attributes = excluded.attributes, updated_at = excluded.updated_at, removed_at = excluded.removed_at`,
    [
      entity.id,
      entity.workspace,
      entity.agent,
      entity.name,
      entity.type,
      foldText(entity.name),
      foldText(entity.type),
      JSON.stringify(entity.attributes),
      entity.createdAt,
      entity.updatedAt,
      entity.removedAt,
    ],
  );
  return existing ? "updated" : "imported";
}

async function loadEdge(db: Sql, edge: EdgeExport, policy: ImportPolicy): Promise<Loaded> {
  const end = async (id: string): Promise<number> => {
    const row = await db.get<{ row: number }>(
      "SELECT row FROM @entities WHERE id = ? AND workspace = ? AND agent = ?",
      [id, edge.workspace, edge.agent],
    );
    if (!row) throw new Error(`edge ${edge.id} points to ${id}, which is not there`);
    return row.row;
  };
  const from = await end(edge.from);
  const to = await end(edge.to);
  const typeKey = foldText(edge.type);
  const existing = await db.get<{ updated_at: number }>(
    "SELECT updated_at FROM @edges WHERE id = ? OR (from_row = ? AND to_row = ? AND type_key = ?)",
    [edge.id, from, to, typeKey],
  );
  const settled = existing && settle(policy, edge.id, existing.updated_at, edge.updatedAt);
  if (settled) return settled;
  await db.run(
    `INSERT INTO @edges(id, from_row, to_row, type, type_key, weight, created_at, updated_at, removed_at) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET type = excluded.type, weight = excluded.weight, updated_at = excluded.updated_at, removed_at = excluded.removed_at`,
    [edge.id, from, to, edge.type, typeKey, edge.weight, edge.createdAt, edge.updatedAt, edge.removedAt],
  );
  return existing ? "updated" : "imported";
}

const dayMs = 86_400_000;

/** Deletes rows for good; called inside one write. Rows that a kept memory names as its successor stay. */
export async function purgeRows(db: Sql, filter: PurgeFilter, now: number): Promise<number> {
  const states = filter.states ?? (filter.ids ? ["live", "superseded", "forgotten"] : ["superseded", "forgotten"]);
  if (filter.workspace !== undefined) await lockWorkspace(db, { workspace: filter.workspace });
  const rows = await db.all<{
    row: number;
    id: string;
    workspace: string;
    scope: "workspace" | "role";
    role: string;
    about: string;
    state: string;
  }>(
    `SELECT row, id, workspace, scope, role, about, state FROM (
       SELECT m.row, m.id, m.workspace, m.scope, m.role, m.about, m.updated_at, u.last_used_at,
         CASE WHEN m.forgotten_at IS NOT NULL THEN 'forgotten' WHEN m.superseded_by IS NOT NULL THEN 'superseded' ELSE 'live' END AS state
       FROM @memories m LEFT JOIN @memory_uses u ON u.row = m.row
       WHERE (:workspace::text IS NULL OR m.workspace = :workspace) AND (:ids::text[] IS NULL OR m.id = ANY(:ids))) AS found
     WHERE state = ANY(:states::text[]) AND (:before::bigint IS NULL OR greatest(updated_at, coalesce(last_used_at, 0)) <= :before)`,
    {
      workspace: filter.workspace ?? null,
      ids: filter.ids ?? null,
      states,
      before: filter.idleDays === undefined ? null : now - filter.idleDays * dayMs,
    },
  );
  for (const { row, state, about, ...place } of rows) {
    if (state === "live") await removeFromIndex(db, row, await partitionId(db, place), JSON.parse(about) as string[]);
    await db.run("DELETE FROM @memories WHERE row = ?", [row]);
  }
  // A successor that is gone for good can no longer hold its predecessors back: they count as forgotten.
  await db.run(
    `UPDATE @memories SET superseded_by = NULL, forgotten_at = coalesce(forgotten_at, updated_at)
     WHERE superseded_by IS NOT NULL AND superseded_by NOT IN (SELECT id FROM @memories)`,
  );
  return rows.length;
}

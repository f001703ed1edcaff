import type { Database, SqlValue } from "@toolhaft/sqlite";
import { foldText } from "@toolhaft/text";
import { contentHash } from "../../identity.ts";
import type {
  Caller,
  EdgeExport,
  EntityExport,
  ExportFilter,
  ExportRecord,
  HistoryRow,
  ImportPolicy,
  LoadReport,
  MemoryExport,
  PurgeFilter,
} from "../../store.ts";
import { termsOf } from "../../terms.ts";
import { fromBytes, signBits, toBytes } from "../../vector-math.ts";
import { addHistory, keys } from "./change.ts";
import { type RecordRow, recordColumns, recordTables, relevanceNumber, toRecord } from "./rows.ts";
import { addToIndex, partitionId, placeOf, removeFromIndex } from "./search-index.ts";

const pageRows = 200;

/** Records in id order, page by page, so that no read stays open while the consumer works. */
export async function* readAll(
  db: () => Promise<Database>,
  filter: ExportFilter,
  signal: AbortSignal,
): AsyncIterable<ExportRecord> {
  for (const page of [memoryPage, kvPage, entityPage, edgePage]) {
    let after: string[] | null = null;
    for (;;) {
      signal.throwIfAborted();
      const found: Page = page(await db(), filter, after);
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
    where: `(:workspace IS NULL OR ${alias}.workspace = :workspace) AND (:agent IS NULL OR ${own})`,
    parameters: { workspace: filter.workspace ?? null, agent: filter.agent ?? null, limit: pageRows },
  };
}

function memoryPage(db: Database, filter: ExportFilter, after: string[] | null): Page {
  const { where, parameters } = scoped(filter, "m", "m.scope = 'workspace' OR m.role = :agent");
  const rows = db.all<RecordRow & { workspace: string; model: string | null; vector: Uint8Array | null }>(
    `SELECT ${recordColumns}, m.workspace, v.model, v.vector FROM ${recordTables} LEFT JOIN memory_vectors v ON v.row = m.row
     WHERE ${where} AND m.id > :after ORDER BY m.id LIMIT :limit`,
    { ...parameters, after: after?.[0] ?? "" },
  );
  const records = rows.map((row): ExportRecord => {
    const { supersedes, ...record } = toRecord(row);
    const vector =
      filter.vectors && row.model !== null && row.vector !== null
        ? { model: row.model, values: [...fromBytes(row.vector)] }
        : null;
    return { type: "memory", value: { ...record, workspace: row.workspace, history: historyOf(db, row.row), vector } };
  });
  return { records, next: rows.length === pageRows ? [rows.at(-1)?.id ?? ""] : null };
}

function historyOf(db: Database, row: number): HistoryRow[] {
  return db
    .all<{
      version: number;
      at: number;
      agent: string;
      session: string;
      kind: HistoryRow["kind"];
      before: string | null;
    }>("SELECT version, at, agent, session, kind, before FROM memory_history WHERE row = ? ORDER BY version", [row])
    .map(({ session, before, ...rest }) => ({
      ...rest,
      sessionId: session,
      before: before === null ? null : (JSON.parse(before) as Record<string, unknown>),
    }));
}

function kvPage(db: Database, filter: ExportFilter, after: string[] | null): Page {
  const { where, parameters } = scoped(filter, "k", "k.agent = :agent");
  const rows = db.all<{
    workspace: string;
    agent: string;
    key: string;
    value: string;
    version: number;
    updated_at: number;
  }>(
    `SELECT * FROM kv k WHERE ${where} AND (k.workspace, k.agent, k.key) > (:a, :b, :c) ORDER BY k.workspace, k.agent, k.key LIMIT :limit`,
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

function entityPage(db: Database, filter: ExportFilter, after: string[] | null): Page {
  const { where, parameters } = scoped(filter, "e", "e.agent = :agent");
  const rows = db.all<GraphRow & { name: string; attributes: string }>(
    `SELECT e.id, e.workspace, e.agent, e.name, e.type, e.attributes, e.created_at, e.updated_at, e.removed_at FROM entities e
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

function edgePage(db: Database, filter: ExportFilter, after: string[] | null): Page {
  const { where, parameters } = scoped(filter, "a", "a.agent = :agent");
  const rows = db.all<GraphRow & { from_id: string; to_id: string; weight: number }>(
    `SELECT e.id, a.workspace, a.agent, e.type, e.weight, e.created_at, e.updated_at, e.removed_at, a.id AS from_id, b.id AS to_id
     FROM edges e JOIN entities a ON a.row = e.from_row JOIN entities b ON b.row = e.to_row
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

/** Called inside one write: a record that does not fit is left out and reported, the others are stored. */
export function loadBatch(db: Database, batch: readonly ExportRecord[], policy: ImportPolicy): LoadReport {
  const report = { imported: 0, skipped: 0, updated: 0, problems: [] as { index: number; reason: string }[] };
  batch.forEach((record, index) => {
    try {
      report[db.savepoint(() => loadRecord(db, record, policy))]++;
    } catch (error) {
      if (!(error instanceof Error) || isFaultOfThePlace(error)) throw error;
      report.problems.push({ index, reason: error.message });
    }
  });
  return report;
}

/** Disk and file faults end the import; constraint faults belong to one record. */
function isFaultOfThePlace(error: Error): boolean {
  return error.name === "ToolError";
}

type Loaded = "imported" | "skipped" | "updated";

function loadRecord(db: Database, record: ExportRecord, policy: ImportPolicy): Loaded {
  if (record.type === "memory") return loadMemory(db, record.value, policy);
  if (record.type === "kv") return loadKey(db, record.value, policy);
  if (record.type === "entity") return loadEntity(db, record.value, policy);
  return loadEdge(db, record.value, policy);
}

/** What to do with a record that is there already: undefined means to write it. */
function settle(policy: ImportPolicy, what: string, stored: number, given: number): "skipped" | undefined {
  if (policy.onConflict === "error") throw new Error(`${what} exists already`);
  return policy.onConflict === "newer" && given > stored ? undefined : "skipped";
}

function loadMemory(db: Database, memory: MemoryExport, policy: ImportPolicy): Loaded {
  const existing = db.get<{
    row: number;
    updated_at: number;
    workspace: string;
    scope: "workspace" | "role";
    role: string;
    about: string;
    live: number;
  }>(
    `SELECT row, updated_at, workspace, scope, role, about, superseded_by IS NULL AND forgotten_at IS NULL AS live FROM memories WHERE id = ?`,
    [memory.id],
  );
  if (existing) {
    const settled = settle(policy, memory.id, existing.updated_at, memory.updatedAt);
    if (settled) return settled;
    if (existing.live === 1)
      removeFromIndex(db, existing.row, partitionId(db, existing), JSON.parse(existing.about) as string[]);
    db.run("DELETE FROM memories WHERE row = ?", [existing.row]);
  }
  const caller: Caller = { workspace: memory.workspace, agent: memory.role ?? "" };
  const place = placeOf(caller, memory.scope);
  const isLive = memory.supersededBy === null && memory.forgottenAt === null;
  const hash = contentHash(memory.title, memory.content);
  if (isLive && hasEqual(db, place, hash)) return "skipped";
  const { lastInsertRowid } = db.run(
    `INSERT INTO memories(id, workspace, scope, role, thread, title, title_key, content, category, relevance, tags, tag_keys, about,
       about_keys, confidence, kind, hash, version, created_at, updated_at, superseded_by, forgotten_at, provenance)
     VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
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
  const row = Number(lastInsertRowid);
  if (isLive) addToIndex(db, row, partitionId(db, place), termsOf(memory), memory.about);
  for (const { version, at, agent, sessionId, kind, before } of memory.history) {
    addHistory(db, row, version, at, { agent, sessionId, callId: "", tool: "" }, kind, before);
  }
  if (memory.uses > 0) {
    db.run("INSERT INTO memory_uses(row, uses, last_used_at) VALUES(?, ?, ?)", [
      row,
      memory.uses,
      memory.lastUsedAt ?? memory.updatedAt,
    ]);
  }
  if (memory.vector) {
    const vector = Float32Array.from(memory.vector.values);
    db.run("INSERT INTO memory_vectors(row, model, dims, bits, vector) VALUES(?, ?, ?, ?, ?)", [
      row,
      memory.vector.model,
      vector.length,
      signBits(vector),
      toBytes(vector),
    ]);
  }
  return existing ? "updated" : "imported";
}

function hasEqual(db: Database, place: { workspace: string; scope: string; role: string }, hash: Uint8Array): boolean {
  return (
    db.get(
      `SELECT 1 FROM memories WHERE workspace = ? AND scope = ? AND role = ? AND hash = ? AND superseded_by IS NULL AND forgotten_at IS NULL`,
      [place.workspace, place.scope, place.role, hash],
    ) !== undefined
  );
}

function loadKey(db: Database, entry: Extract<ExportRecord, { type: "kv" }>["value"], policy: ImportPolicy): Loaded {
  const { workspace, agent, key, json, version, updatedAt } = entry;
  const existing = db.get<{ updated_at: number }>(
    "SELECT updated_at FROM kv WHERE workspace = ? AND agent = ? AND key = ?",
    [workspace, agent, key],
  );
  const settled = existing && settle(policy, `key ${JSON.stringify(key)}`, existing.updated_at, updatedAt);
  if (settled) return settled;
  db.run(
    `INSERT INTO kv(workspace, agent, key, value, version, updated_at) VALUES(?, ?, ?, ?, ?, ?)
     ON CONFLICT(workspace, agent, key) DO UPDATE SET value = excluded.value, version = excluded.version, updated_at = excluded.updated_at`,
    [workspace, agent, key, json, version, updatedAt],
  );
  return existing ? "updated" : "imported";
}

function loadEntity(db: Database, entity: EntityExport, policy: ImportPolicy): Loaded {
  const existing = db.get<{ id: string; updated_at: number }>(
    "SELECT id, updated_at FROM entities WHERE id = ? OR (workspace = ? AND agent = ? AND name_key = ? AND type_key = ?)",
    [entity.id, entity.workspace, entity.agent, foldText(entity.name), foldText(entity.type)],
  );
  const settled = existing && settle(policy, entity.id, existing.updated_at, entity.updatedAt);
  if (settled) return settled;
  db.run(
    `INSERT INTO entities(id, workspace, agent, name, type, name_key, type_key, attributes, created_at, updated_at, removed_at)
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

function loadEdge(db: Database, edge: EdgeExport, policy: ImportPolicy): Loaded {
  const end = (id: string): number => {
    const row = db.get<{ row: number }>("SELECT row FROM entities WHERE id = ? AND workspace = ? AND agent = ?", [
      id,
      edge.workspace,
      edge.agent,
    ]);
    if (!row) throw new Error(`edge ${edge.id} points to ${id}, which is not there`);
    return row.row;
  };
  const [from, to, typeKey] = [end(edge.from), end(edge.to), foldText(edge.type)];
  const existing = db.get<{ updated_at: number }>(
    "SELECT updated_at FROM edges WHERE id = ? OR (from_row = ? AND to_row = ? AND type_key = ?)",
    [edge.id, from, to, typeKey],
  );
  const settled = existing && settle(policy, edge.id, existing.updated_at, edge.updatedAt);
  if (settled) return settled;
  db.run(
    `INSERT INTO edges(id, from_row, to_row, type, type_key, weight, created_at, updated_at, removed_at) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET type = excluded.type, weight = excluded.weight, updated_at = excluded.updated_at, removed_at = excluded.removed_at`,
    [edge.id, from, to, edge.type, typeKey, edge.weight, edge.createdAt, edge.updatedAt, edge.removedAt],
  );
  return existing ? "updated" : "imported";
}

const dayMs = 86_400_000;

/** Deletes rows for good; called inside one write. Rows that a kept memory names as its successor stay. */
export function purgeRows(db: Database, filter: PurgeFilter, now: number): number {
  const states = filter.states ?? (filter.ids ? ["live", "superseded", "forgotten"] : ["superseded", "forgotten"]);
  const rows = db.all<{
    row: number;
    id: string;
    workspace: string;
    scope: "workspace" | "role";
    role: string;
    about: string;
    state: string;
  }>(
    `SELECT * FROM (SELECT m.row, m.id, m.workspace, m.scope, m.role, m.about, m.updated_at, u.last_used_at,
       CASE WHEN m.forgotten_at IS NOT NULL THEN 'forgotten' WHEN m.superseded_by IS NOT NULL THEN 'superseded' ELSE 'live' END AS state
       FROM memories m LEFT JOIN memory_uses u ON u.row = m.row
       WHERE (:workspace IS NULL OR m.workspace = :workspace) AND (:ids IS NULL OR m.id IN (SELECT value FROM json_each(:ids))))
     WHERE state IN (SELECT value FROM json_each(:states)) AND (:before IS NULL OR max(updated_at, coalesce(last_used_at, 0)) <= :before)`,
    {
      workspace: filter.workspace ?? null,
      ids: filter.ids ? JSON.stringify(filter.ids) : null,
      states: JSON.stringify(states),
      before: filter.idleDays === undefined ? null : now - filter.idleDays * dayMs,
    },
  );
  for (const { row, state, about, ...place } of rows) {
    if (state === "live") removeFromIndex(db, row, partitionId(db, place), JSON.parse(about) as string[]);
    db.run("DELETE FROM memories WHERE row = ?", [row]);
  }
  // A successor that is gone for good can no longer hold its predecessors back: they count as forgotten.
  db.run(
    `UPDATE memories SET superseded_by = NULL, forgotten_at = coalesce(forgotten_at, updated_at)
     WHERE superseded_by IS NOT NULL AND superseded_by NOT IN (SELECT id FROM memories)`,
  );
  return rows.length;
}

import type {
  Caller,
  Change,
  Draft,
  ForgetOutcome,
  Forgetting,
  HistoryRow,
  MemoryRecord,
  Provenance,
  Scope,
  UpdateOutcome,
  WriteOutcome,
} from "@toolhaft/memory";
import { contentHash, placeOf, relevanceNumber } from "@toolhaft/memory/adapter";
import { foldText } from "@toolhaft/text";
import type { Sql } from "../database.ts";
import { findRecord, newestOf, stateOf } from "./read.ts";
import { live } from "./rows.ts";
import { addToIndex, liveCount, partitionId, removeFromIndex } from "./search-index.ts";

type Stored = MemoryRecord & { row: number };

/** Row numbers are this adapter's own affair. */
function withoutRow({ row: _, ...record }: Stored): MemoryRecord {
  return record;
}

/** Called inside one write transaction, as everything here. */
export async function writeMemory(db: Sql, caller: Caller, draft: Draft): Promise<WriteOutcome> {
  const place = placeOf(caller, draft.scope);
  const partition = await partitionId(db, place);
  const old = draft.supersedes === null ? undefined : await findRecord(db, caller, draft.supersedes);
  if (draft.supersedes !== null && !old) return { kind: "missing" };
  if (old && stateOf(old) !== "live")
    return { kind: "not_live", state: stateOf(old), newest: await newestOf(db, caller, old.id) };
  if (old && old.scope !== draft.scope) return { kind: "other_scope", scope: old.scope };
  const hash = contentHash(draft.title, draft.content);
  const equal = await equalLive(db, caller, draft.scope, hash);
  if (equal !== undefined) {
    const record = await findRecord(db, caller, equal);
    if (record) return { kind: "duplicate", record: withoutRow(record) };
  }
  const count = await liveCount(db, partition);
  if (!old && count >= draft.limit) return { kind: "full", live: count };
  if (old) await supersede(db, caller, old, draft);
  const row = await insertMemory(db, caller, draft, hash);
  await addToIndex(db, row, partition, draft.terms, draft.about);
  await addHistory(db, row, 1, draft.at, draft.by, "write", null);
  const record = await findRecord(db, caller, draft.id);
  if (!record) throw new Error(`memory ${draft.id} is not there after it was written`);
  return { kind: "stored", record: withoutRow(record), live: await liveCount(db, partition) };
}

async function insertMemory(db: Sql, caller: Caller, draft: Draft, hash: Uint8Array): Promise<number> {
  const { role } = placeOf(caller, draft.scope);
  const inserted = await db.get<{ row: number }>(
    `INSERT INTO @memories(id, workspace, scope, role, thread, title, title_key, content, category, relevance, tags, tag_keys, about,
       about_keys, confidence, kind, hash, version, created_at, updated_at, provenance)
     VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?) RETURNING row`,
    [
      draft.id,
      caller.workspace,
      draft.scope,
      role,
      draft.by.sessionId,
      draft.title,
      foldText(draft.title),
      draft.content,
      draft.category,
      relevanceNumber(draft.relevance),
      JSON.stringify(draft.tags),
      keys(draft.tags),
      JSON.stringify(draft.about),
      keys(draft.about),
      draft.confidence,
      draft.kind,
      hash,
      draft.at,
      draft.at,
      JSON.stringify(draft.by),
    ],
  );
  return inserted?.row ?? 0;
}

async function supersede(db: Sql, caller: Caller, old: Stored, draft: Draft): Promise<void> {
  await db.run("UPDATE @memories SET superseded_by = ?, version = version + 1, updated_at = ? WHERE row = ?", [
    draft.id,
    draft.at,
    old.row,
  ]);
  await removeFromIndex(db, old.row, await partitionId(db, placeOf(caller, old.scope)), old.about);
  await addHistory(db, old.row, old.version + 1, draft.at, draft.by, "supersede", { state: "live" });
}

export async function updateMemory(db: Sql, caller: Caller, id: string, change: Change): Promise<UpdateOutcome> {
  const record = await findRecord(db, caller, id);
  if (!record) return { kind: "missing" };
  if (stateOf(record) !== "live")
    return { kind: "not_live", state: stateOf(record), newest: await newestOf(db, caller, id) };
  if (change.expectedVersion !== null && change.expectedVersion !== record.version) {
    return { kind: "other_version", version: record.version };
  }
  const next = { ...record, ...given(change) };
  const changed = fields.filter((field) => JSON.stringify(next[field]) !== JSON.stringify(record[field]));
  if (changed.length === 0) return { kind: "updated", record: withoutRow(record), changed };
  const hash = contentHash(next.title, next.content);
  const equal = await equalLive(db, caller, record.scope, hash);
  if (equal !== undefined && equal !== id) return { kind: "equal", id: equal };
  const partition = await partitionId(db, placeOf(caller, record.scope));
  await removeFromIndex(db, record.row, partition, record.about);
  await db.run(
    `UPDATE @memories SET title = ?, title_key = ?, content = ?, category = ?, relevance = ?, tags = ?, tag_keys = ?, about = ?,
       about_keys = ?, confidence = ?, hash = ?, version = version + 1, updated_at = ? WHERE row = ?`,
    [
      next.title,
      foldText(next.title),
      next.content,
      next.category,
      relevanceNumber(next.relevance),
      JSON.stringify(next.tags),
      keys(next.tags),
      JSON.stringify(next.about),
      keys(next.about),
      next.confidence,
      hash,
      change.at,
      record.row,
    ],
  );
  await addToIndex(db, record.row, partition, change.terms(next), next.about);
  if (changed.includes("content") || changed.includes("title"))
    await db.run("DELETE FROM @memory_vectors WHERE row = ?", [record.row]);
  const before = Object.fromEntries(changed.map((field) => [field, record[field]]));
  await addHistory(db, record.row, record.version + 1, change.at, change.by, change.as, before);
  return { kind: "updated", record: withoutRow((await findRecord(db, caller, id)) ?? next), changed };
}

const fields = ["title", "content", "category", "tags", "relevance", "about", "confidence"] as const;

function given(change: Change): Partial<Pick<MemoryRecord, (typeof fields)[number]>> {
  return Object.fromEntries(
    fields.filter((field) => change[field] !== undefined).map((field) => [field, change[field]]),
  );
}

export async function setForgotten(
  db: Sql,
  caller: Caller,
  id: string,
  forgotten: boolean,
  by: Forgetting,
  terms: (record: MemoryRecord) => Draft["terms"],
): Promise<ForgetOutcome> {
  const record = await findRecord(db, caller, id);
  if (!record) return { kind: "missing" };
  return forgotten ? await forget(db, caller, record, by) : await restore(db, caller, record, by, terms);
}

async function forget(db: Sql, caller: Caller, record: Stored, by: Forgetting): Promise<ForgetOutcome> {
  const replaced = record.supersedes[0] ?? null;
  const state = stateOf(record);
  if (state === "forgotten") return { kind: "done", record: withoutRow(record), already: true, replaced };
  await db.run("UPDATE @memories SET forgotten_at = ?, version = version + 1, updated_at = ? WHERE row = ?", [
    by.at,
    by.at,
    record.row,
  ]);
  if (state === "live")
    await removeFromIndex(db, record.row, await partitionId(db, placeOf(caller, record.scope)), record.about);
  await addHistory(db, record.row, record.version + 1, by.at, by, "forget", {
    state,
    updatedAt: record.updatedAt,
    reason: by.reason,
  });
  return {
    kind: "done",
    record: withoutRow((await findRecord(db, caller, record.id)) ?? record),
    already: false,
    replaced,
  };
}

async function restore(
  db: Sql,
  caller: Caller,
  record: Stored,
  by: Forgetting,
  terms: (record: MemoryRecord) => Draft["terms"],
): Promise<ForgetOutcome> {
  const replaced = record.supersedes[0] ?? null;
  if (stateOf(record) === "live") return { kind: "done", record: withoutRow(record), already: true, replaced };
  const successor = await newestOf(db, caller, record.id);
  if (successor !== null) return { kind: "successor_live", successor };
  const equal = await equalLive(db, caller, record.scope, contentHash(record.title, record.content));
  if (equal !== undefined) return { kind: "equal_live", id: equal };
  const partition = await partitionId(db, placeOf(caller, record.scope));
  const count = await liveCount(db, partition);
  if (count >= by.limit) return { kind: "full", live: count };
  await db.run(
    "UPDATE @memories SET forgotten_at = NULL, superseded_by = NULL, version = version + 1, updated_at = ? WHERE row = ?",
    [by.at, record.row],
  );
  await addToIndex(db, record.row, partition, terms(record), record.about);
  const before = { state: stateOf(record), supersededBy: record.supersededBy, reason: by.reason };
  await addHistory(db, record.row, record.version + 1, by.at, by, "restore", before);
  return {
    kind: "done",
    record: withoutRow((await findRecord(db, caller, record.id)) ?? record),
    already: false,
    replaced,
  };
}

export async function addHistory(
  db: Sql,
  row: number,
  version: number,
  at: number,
  by: Provenance,
  kind: HistoryRow["kind"],
  before: Readonly<Record<string, unknown>> | null,
): Promise<void> {
  await db.run(
    "INSERT INTO @memory_history(row, version, at, agent, session, kind, before) VALUES(?, ?, ?, ?, ?, ?, ?)",
    [row, version, at, by.agent, by.sessionId, kind, before === null ? null : JSON.stringify(before)],
  );
}

async function equalLive(db: Sql, caller: Caller, scope: Scope, hash: Uint8Array): Promise<string | undefined> {
  const { workspace, role } = placeOf(caller, scope);
  return (
    await db.get<{ id: string }>(
      `SELECT m.id FROM @memories m WHERE m.workspace = ? AND m.scope = ? AND m.role = ? AND m.hash = ? AND ${live}`,
      [workspace, scope, role, hash],
    )
  )?.id;
}

export function keys(names: readonly string[]): string {
  return JSON.stringify(names.map(foldText));
}

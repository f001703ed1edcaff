import type { Database, SqlValue } from "@toolhaft/sqlite";
import { statusOf } from "../../edges.ts";
import {
  type Actor,
  type Approval,
  type Attempt,
  states,
  type Task,
  type TaskEnd,
  type TaskEvent,
  type TaskKind,
  type TaskResult,
  type TaskState,
  type Usage,
} from "../../model.ts";
import { blankRecord, recordColumns, type TaskRecord } from "../../record.ts";

/** What is kept of a result beside its text. */
export interface ResultNote {
  chars: number;
  sha256: string;
  partial: boolean;
  droppedChars: number;
  /** The text lies in chunks; the row holds its head. */
  chunked?: true;
}

/** Code points of a result that stand with the task. */
export const headChars = 4_000;

/** Where an attempt stands. */
export function placeOf(task: number, attempt: number): number {
  return task * 65_536 + attempt;
}

/** A row with its body: all that an edge needs to answer with the whole task. */
export type TaskRow = TaskRecord & { body: string };
/** What this adapter keeps in a row beside its columns. */
export interface Kept {
  /** The newest events, as JSON. */
  tail_json: string | null;
  /** Whether the row holds its last attempt. */
  kept: number;
}
export type StoredRow = TaskRow & Kept;
/** The columns of an update: those of the row, and the result of the attempt that it keeps. */
export type RowChanges = Partial<StoredRow & { last_json: string | null; last_text: string | null }>;

/** The same with the result of the last attempt, once that has ended. */
export type EndedRow = TaskRow & { result_json: string | null; head: string | null };

interface PackedRow {
  packed: string;
  body: string;
}
export type PackedEndedRow = PackedRow & Pick<EndedRow, "result_json" | "head">;

/** One value instead of 57: measured, a row so wide costs the driver three times as much as its JSON. */
const packedColumns: readonly string[] = [...recordColumns, "tail_json", "kept"];
export const rowColumns = `json_array(${packedColumns.map((column) => `t.${column}`).join(", ")}) AS packed,
  coalesce(t.body, (SELECT b.text FROM body b WHERE b.task = t.seq)) AS body`;
const ofLast = "FROM attempt a WHERE a.place = t.seq * 65536 + t.attempt AND t.ended_at IS NOT NULL";
export const taskColumns = `${rowColumns},
  CASE t.kept WHEN 1 THEN t.last_json ELSE (SELECT a.result_json ${ofLast}) END AS result_json,
  CASE t.kept WHEN 1 THEN t.last_text ELSE (SELECT substr(a.text, 1, ${headChars}) ${ofLast}) END AS head`;

/** A copy of this keeps one hidden class: a row that grows column by column becomes a slow hash table. */
const blankRow: EndedRow & Kept = { ...blankRecord, body: "", result_json: null, head: null, tail_json: null, kept: 0 };

function unpack({ packed, body }: PackedRow): EndedRow & Kept {
  const values = parsed<(string | number | null)[]>(packed);
  const row = { ...blankRow, body };
  const columns = row as unknown as Record<string, string | number | null>;
  for (let index = 0; index < packedColumns.length; index++)
    columns[packedColumns[index] ?? ""] = values[index] ?? null;
  return row;
}

export function unpackEnded(packed: PackedEndedRow): EndedRow {
  const row = unpack(packed);
  row.result_json = packed.result_json;
  row.head = packed.head;
  return row;
}

export function readTask(db: Database, id: string): EndedRow | undefined {
  const packed = db.get<PackedEndedRow>(`SELECT ${taskColumns} FROM task t WHERE t.id = ?`, [id]);
  return packed && unpackEnded(packed);
}

/** The one row, or the first, that a condition on `t` finds. */
export function readRow(db: Database, condition: string, values: readonly SqlValue[]): StoredRow | undefined {
  const packed = db.get<PackedRow>(`SELECT ${rowColumns} FROM ${condition}`, values);
  return packed && unpack(packed);
}

export function readRows(db: Database, condition: string, values: readonly SqlValue[]): StoredRow[] {
  return db.all<PackedRow>(`SELECT ${rowColumns} FROM ${condition}`, values).map(unpack);
}

export function readRecord(db: Database, id: string): StoredRow | undefined {
  return readRow(db, "task t WHERE t.id = ?", [id]);
}

/** A task as it is read, from its row. */
export function toTask(row: EndedRow): Task {
  return taskWith(row, row.result_json, row.head);
}

/** The same with a result that stands elsewhere. */
export function taskWith(row: TaskRow, resultJson: string | null, head: string | null): Task {
  return {
    id: row.id,
    seq: row.seq,
    kind: row.kind,
    title: row.title,
    body: row.body,
    agent: row.agent,
    assignee: row.assignee,
    createdBy: { agent: row.created_agent, sessionId: row.created_session },
    claimedBy: row.claimed_agent === null ? null : { agent: row.claimed_agent, sessionId: row.claimed_session ?? "" },
    leaseUntil: iso(row.lease_until),
    state: row.state,
    status: statusOf(row.state),
    mode: row.mode,
    priority: row.priority,
    lane: row.lane,
    ownerSession: row.owner,
    rootSession: row.root,
    parentTask: row.parent,
    depth: row.depth,
    continues: row.continues,
    dependsOn: row.depends_json === null ? [] : parsed<string[]>(row.depends_json),
    attempt: row.attempt,
    maxAttempts: row.max_attempts,
    fence: row.fence,
    cancelRequested:
      row.cancel_json === null ? null : parsed<{ by: Actor; reason: string | null; at: string }>(row.cancel_json),
    sessionId: row.session_id,
    createdAt: new Date(row.created_at).toISOString(),
    notBefore: iso(row.not_before),
    startedAt: iso(row.started_at),
    lastActivityAt: iso(row.activity_at),
    endedAt: iso(row.ended_at),
    durationMs: row.ended_at === null || row.started_at === null ? null : Math.max(0, row.ended_at - row.started_at),
    end: row.end_json === null ? null : parsed<TaskEnd>(row.end_json),
    result: resultOf(resultJson, head),
    usage: row.usage_json === null ? null : parsed<Usage>(row.usage_json),
    lastEventSeq: row.last_seq,
    metadata: row.meta_json === null ? null : parsed<Record<string, unknown>>(row.meta_json),
  };
}

export function resultOf(json: string | null, head: string | null): TaskResult | null {
  if (json === null) return null;
  const { chars, sha256, partial, droppedChars } = parsed<ResultNote>(json);
  return { chars, head: head ?? "", sha256, partial, droppedChars };
}

export interface AttemptRow {
  attempt: number;
  state: Attempt["state"];
  session_id: string | null;
  started_at: number | null;
  ended_at: number | null;
  end_json: string | null;
  result_json: string | null;
  head: string | null;
  usage_json: string | null;
}

export function toAttempt(taskId: string, row: AttemptRow): Attempt {
  return {
    taskId,
    attempt: row.attempt,
    state: row.state,
    sessionId: row.session_id,
    startedAt: iso(row.started_at),
    endedAt: iso(row.ended_at),
    end: row.end_json === null ? null : parsed<TaskEnd>(row.end_json),
    result: resultOf(row.result_json, row.head),
    usage: row.usage_json === null ? null : parsed<Usage>(row.usage_json),
  };
}

export interface EventRow {
  seq: number;
  attempt: number;
  at: number;
  kind: TaskEvent["kind"];
  data: string;
}

export function toEvent(taskId: string, row: EventRow): TaskEvent {
  return {
    taskId,
    seq: row.seq,
    attempt: row.attempt,
    at: new Date(row.at).toISOString(),
    kind: row.kind,
    data: parsed<Record<string, unknown>>(row.data),
  };
}

export interface ApprovalRow {
  id: string;
  task_id: string;
  agent: string | null;
  attempt: number;
  ask_key: string;
  kind: Approval["kind"];
  title: string;
  detail_json: string;
  approvers_json: string;
  state: Approval["state"];
  on_expire: Approval["onExpire"];
  on_reject: Approval["onReject"];
  attached: number;
  requested_at: number;
  expires_at: number;
  decided_at: number | null;
  decided_by_json: string | null;
  comment: string | null;
}

export const approvalColumns =
  "p.*, (SELECT t.id FROM task t WHERE t.seq = p.task) AS task_id, (SELECT t.agent FROM task t WHERE t.seq = p.task) AS agent";

export function toApproval(row: ApprovalRow): Approval {
  return {
    id: row.id,
    taskId: row.task_id,
    attempt: row.attempt,
    kind: row.kind,
    key: row.ask_key,
    agent: row.agent ?? "",
    title: row.title,
    detail: parsed<unknown>(row.detail_json),
    approvers: parsed<Approval["approvers"]>(row.approvers_json),
    state: row.state,
    onExpire: row.on_expire,
    onReject: row.on_reject,
    attached: row.attached === 1,
    requestedAt: new Date(row.requested_at).toISOString(),
    expiresAt: new Date(row.expires_at).toISOString(),
    decidedAt: iso(row.decided_at),
    decidedBy: row.decided_by_json === null ? null : parsed<NonNullable<Approval["decidedBy"]>>(row.decided_by_json),
    comment: row.comment,
  };
}

export function iso(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}

/** JSON that this package wrote itself. */
export function parsed<T>(json: string): T {
  return JSON.parse(json) as T;
}

/**
 * States and kinds stand in the text of a statement. Where a parameter is compared with a column that partial indexes
 * name, SQLite plans the statement anew with every binding: measured, three to ten times the cost of running it.
 */
export function stateSql(state: TaskState): string {
  return states.includes(state) ? `'${state}'` : "''";
}

export function kindSql(kind: TaskKind): string {
  return kind === "dispatch" ? "'dispatch'" : "'board'";
}

/** A limit is planned with as well, so it is written out too. */
export function limitSql(rows: number): string {
  return `LIMIT ${Math.min(Math.max(0, Math.trunc(rows) || 0), 2 ** 31)}`;
}

/** Writes changed columns of one row, if it is still in the state it was read in. */
export function updateTask(db: Database, row: TaskRecord, changes: RowChanges): void {
  const before: RowChanges = row;
  let set = "";
  const values: SqlValue[] = [];
  for (const key of Object.keys(changes) as (keyof RowChanges)[]) {
    const value = changes[key];
    if (value === before[key] || value === undefined) continue;
    set += set === "" ? `${key} = ?` : `, ${key} = ?`;
    values.push(value);
  }
  if (set === "") return;
  values.push(row.seq, row.fence);
  const { changes: written } = db.run(
    `UPDATE task SET ${set} WHERE seq = ? AND state = ${stateSql(row.state)} AND fence = ?`,
    values,
  );
  if (written !== 1) throw new Error(`task ${row.id} changed while it was being written`);
}

import type { Database } from "@toolhaft/sqlite";
import { isEnded } from "../../edges.ts";
import type { Approvers, EventKind, TaskEvent, Usage } from "../../model.ts";
import type { TaskRecord } from "../../record.ts";
import type { Transition } from "../../step.ts";
import { transition } from "../../transition.ts";
import { releaseReservation, sumUsage } from "./budget.ts";
import type { WriteJob } from "./file.ts";
import { writeNotice } from "./notices.ts";
import { storeResult } from "./results.ts";
import { placeOf, readRows, updateTask } from "./rows.ts";
import { isIndexed } from "./search.ts";

export interface Written<Row extends TaskRecord = TaskRecord> {
  row: Row;
  event: TaskEvent;
  /** What was stored of a result: the note and the text of the row. */
  result: { note: string; text: string } | null;
}

/** Writes one decided edge: the row, its event, at most one notice, the attempt and the budget rows it ends. */
export function writeEdge<Row extends TaskRecord>(
  write: WriteJob,
  row: Row,
  decision: Transition,
  key: string,
  told: { approvers?: Approvers; n?: number } = {},
): Written<Row> {
  const { db, now } = write;
  const { outcome, ends } = decision;
  const changes: Partial<TaskRecord> = { ...decision.changes, last_seq: row.last_seq + 1 };
  let result: Written["result"] = null;
  if (decision.frees && row.reserved === 1) {
    releaseReservation(db, row);
    changes.reserved = 0;
  }
  if (changes.unindexed === 1 || ends !== null) changes.unindexed = isIndexed(db, row.seq) ? 1 : null;
  if (ends !== null) {
    if (row.usage_json !== null) changes.usage_json = JSON.stringify({ ...JSON.parse(row.usage_json), complete: true });
    if (row.attempt > 0) result = endAttempt(db, row, decision, now);
  }
  const next: Row = Object.assign({ ...row }, changes);
  updateTask(db, row, changes);
  if (next.due_at !== null && next.due_at <= now) write.caughtUp = false;
  const event = writeEvent(write, next, next.last_seq, outcome.event, key, decision.data);
  write.tally.move(row.owner, row.kind, row.state, next.state);
  if (row.state === "waiting" && next.state !== "queued" && outcome.event === "cancelled") closeApprovals(db, row, now);
  if (outcome.notice !== null)
    writeNotice(write, next, { kind: outcome.notice, to: recipientOf(next, told.approvers), n: told.n ?? 0 });
  if (row.needed === 1 && isEnded(next.state)) unblockDependents(write, next);
  return { row: next, event, result };
}

/** An event in its place; hints go to listeners once it is there. */
export function writeEvent(
  { db, now, hint }: WriteJob,
  row: Pick<TaskRecord, "seq" | "id" | "attempt">,
  seq: number,
  kind: EventKind,
  key: string,
  data: Record<string, unknown>,
): TaskEvent {
  db.run("INSERT INTO event(task, seq, attempt, at, kind, key, data) VALUES(?, ?, ?, ?, ?, ?, ?)", [
    row.seq,
    seq,
    row.attempt,
    now,
    kind,
    key,
    JSON.stringify(data),
  ]);
  hint({ taskId: row.id, kind });
  return { taskId: row.id, seq, attempt: row.attempt, at: new Date(now).toISOString(), kind, data };
}

function endAttempt(db: Database, row: TaskRecord, { ends, changes }: Transition, now: number): Written["result"] {
  if (ends === null) return null;
  const result = ends.result === null ? null : storeResult(db, row.seq, row.attempt, ends.result, ends.partial);
  const usage: Usage | null = row.usage_json === null ? null : sumUsage(db, row.seq, row.attempt);
  db.run(
    `INSERT INTO attempt(place, task, attempt, state, session_id, started_at, ended_at, end_json, result_json, text, usage_json)
     VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      placeOf(row.seq, row.attempt),
      row.seq,
      row.attempt,
      ends.state,
      changes.session_id ?? row.session_id,
      row.started_at ?? row.claimed_at,
      now,
      JSON.stringify(ends.end),
      result?.note ?? null,
      result?.text ?? null,
      usage === null ? null : JSON.stringify({ ...usage, complete: true }),
    ],
  );
  return result;
}

/** Who is told: the owner; of an approval who may decide; of a post the assignee. */
function recipientOf(row: TaskRecord, approvers: Approvers | undefined): string {
  if (approvers !== undefined) return approvers === "owner" ? row.owner : row.root;
  return row.owner;
}

function closeApprovals(db: Database, row: TaskRecord, now: number): void {
  db.run(
    "UPDATE approval SET state = 'rejected', decided_at = ?, comment = 'the task was cancelled' WHERE task = ? AND state = 'open'",
    [now, row.seq],
  );
}

/** The settle of a last dependency frees, or fails, what waited for it; and so on below. */
function unblockDependents(write: WriteJob, row: TaskRecord): void {
  const waiting = readRows(
    write.db,
    "dependency d JOIN task t ON t.seq = d.task WHERE d.needs = ? AND t.state = 'blocked'",
    [row.seq],
  );
  for (const dependent of waiting) unblock(write, dependent);
}

/** Moves a blocked task on, if all it waits for has ended. */
export function unblock<Row extends TaskRecord>(write: WriteJob, row: Row): Written<Row> | undefined {
  const { db, now } = write;
  const needs = db.all<{ id: string; state: TaskRecord["state"] }>(
    "SELECT n.id, n.state FROM dependency d JOIN task n ON n.seq = d.needs WHERE d.task = ?",
    [row.seq],
  );
  const open = needs.filter(({ state }) => !isEnded(state)).length;
  const failed = needs.find(({ state }) => isEnded(state) && state !== "completed")?.id ?? null;
  const key = `unblock:${row.last_seq + 1}`;
  const decision = transition(row, { kind: "unblock", key }, { now, dependencies: { open, failed } });
  return "refused" in decision ? undefined : writeEdge(write, row, decision, key);
}

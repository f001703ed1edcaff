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
import { placeOf, type RowChanges, readRows, type StoredRow, updateTask } from "./rows.ts";
import { isIndexed } from "./search.ts";

/** UTF-16 units of events, and of a result, that stand in the row. */
const keptTail = 1_500;
const keptText = 1_000;

export interface Written<Row extends TaskRecord = TaskRecord> {
  row: Row;
  event: TaskEvent;
  /** What was stored of a result: the note and the text of the row. */
  result: { note: string; text: string } | null;
}

/** Writes one decided edge: the row, its event, at most one notice, the attempt and the budget rows it ends. */
export function writeEdge<Row extends StoredRow>(
  write: WriteJob,
  row: Row,
  decision: Transition,
  key: string,
  told: { approvers?: Approvers; n?: number } = {},
): Written<Row> {
  const { db, now } = write;
  const { outcome, ends } = decision;
  const seq = row.last_seq + 1;
  const changes: RowChanges = { ...decision.changes, last_seq: seq };
  let result: Written["result"] = null;
  if (decision.frees && row.reserved === 1) {
    releaseReservation(db, row);
    changes.reserved = 0;
  }
  if (changes.unindexed === 1 || ends !== null) changes.unindexed = isIndexed(write, row.seq) ? 1 : null;
  if (ends !== null) {
    if (row.usage_json !== null) changes.usage_json = JSON.stringify({ ...JSON.parse(row.usage_json), complete: true });
    if (row.attempt > 0) {
      result = ends.result === null ? null : storeResult(db, row.seq, row.attempt, ends.result, ends.partial);
      if (
        row.usage_json !== null ||
        !isEnded(ends.state) ||
        changes.ended_at === undefined ||
        (result?.text.length ?? 0) > keptText
      )
        endAttempt(db, row, decision, result, now);
      else changes.kept = 1;
    }
  } else if (row.kept === 1) giveAttempt(db, row, changes);
  const event: TaskEvent = {
    taskId: row.id,
    seq,
    attempt: changes.attempt ?? row.attempt,
    at: new Date(now).toISOString(),
    kind: outcome.event,
    data: decision.data,
  };
  changes.tail_json = tailWith(db, row, event, key, now);
  write.hint({ taskId: row.id, kind: outcome.event });
  const next: Row = Object.assign({ ...row }, changes);
  if (changes.kept === 1 && result !== null) {
    changes.last_json = result.note;
    changes.last_text = result.text;
  }
  updateTask(db, row, changes);
  if (next.due_at !== null && next.due_at <= now) write.caughtUp = false;
  write.tally.move(row.owner, row.kind, row.state, next.state);
  if (row.state === "waiting" && next.state !== "queued" && outcome.event === "cancelled") closeApprovals(db, row, now);
  if (outcome.notice !== null)
    writeNotice(write, next, { kind: outcome.notice, to: recipientOf(next, told.approvers), n: told.n ?? 0 });
  if (row.needed === 1 && isEnded(next.state)) unblockDependents(write, next);
  return { row: next, event, result };
}

/** The newest events of a row with one more; where they grow too long they move to their table. */
function tailWith(db: Database, row: StoredRow, event: TaskEvent, key: string, now: number): string | null {
  const { seq, attempt, kind, data } = event;
  const entry = JSON.stringify([seq, attempt, now, kind, key, data]);
  if ((row.tail_json?.length ?? 0) + entry.length <= keptTail)
    return row.tail_json === null ? `[${entry}]` : `${row.tail_json.slice(0, -1)},${entry}]`;
  if (row.tail_json !== null)
    db.run(
      `INSERT INTO event(task, seq, attempt, at, kind, key, data)
       SELECT ?, value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value -> 5 FROM json_each(?)`,
      [row.seq, row.tail_json],
    );
  if (entry.length <= keptTail) return `[${entry}]`;
  insertEvent(db, row.seq, event, key, now);
  return null;
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
  const event = { taskId: row.id, seq, attempt: row.attempt, at: new Date(now).toISOString(), kind, data };
  insertEvent(db, row.seq, event, key, now);
  hint({ taskId: row.id, kind });
  return event;
}

function insertEvent(db: Database, task: number, event: TaskEvent, key: string, now: number): void {
  const { seq, attempt, kind, data } = event;
  db.run("INSERT INTO event(task, seq, attempt, at, kind, key, data) VALUES(?, ?, ?, ?, ?, ?, ?)", [
    task,
    seq,
    attempt,
    now,
    kind,
    key,
    JSON.stringify(data),
  ]);
}

/** A retry of a row that holds its last attempt: that goes where earlier attempts stand. */
function giveAttempt(db: Database, row: StoredRow, changes: RowChanges): void {
  db.run(
    `INSERT INTO attempt(place, task, attempt, state, session_id, started_at, ended_at, end_json, result_json, text)
     SELECT place, task, attempt, state, session_id, started_at, ended_at, end_json, result_json, text
     FROM tried WHERE task = ? AND place = ?`,
    [row.seq, placeOf(row.seq, row.attempt)],
  );
  Object.assign(changes, { kept: 0, last_json: null, last_text: null });
}

function endAttempt(
  db: Database,
  row: TaskRecord,
  { ends, changes }: Transition,
  result: Written["result"],
  now: number,
): void {
  if (ends === null) return;
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
export function unblock<Row extends StoredRow>(write: WriteJob, row: Row): Written<Row> | undefined {
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

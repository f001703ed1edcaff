import type { Approvers, EventKind, TaskEvent, Usage } from "@toolhaft/tasks";
import { isEnded, type TaskRecord, type Transition, transition } from "@toolhaft/tasks/adapter";
import type { Sql } from "../database.ts";
import { releaseReservation, sumUsage } from "./budget.ts";
import { writeNotice } from "./notices.ts";
import { storeResult } from "./results.ts";
import { readRows, updateTask } from "./rows.ts";
import type { WriteJob } from "./write-job.ts";

export interface Written<Row extends TaskRecord = TaskRecord> {
  row: Row;
  event: TaskEvent;
  /** What was stored of a result: the note and the text of the row. */
  result: { note: string; text: string } | null;
}

/** Writes one decided edge: the row, its event, at most one notice, the attempt and the budget rows it ends. */
export async function writeEdge<Row extends TaskRecord>(
  write: WriteJob,
  row: Row,
  decision: Transition,
  key: string,
  told: { approvers?: Approvers; n?: number } = {},
): Promise<Written<Row>> {
  const { db } = write;
  const { now } = db;
  const { outcome, ends } = decision;
  const changes: Partial<TaskRecord> = { ...decision.changes, last_seq: row.last_seq + 1 };
  let result: Written["result"] = null;
  if (decision.frees && row.reserved === 1) {
    await releaseReservation(db, row);
    changes.reserved = 0;
  }
  if (ends !== null) {
    changes.unindexed = 1;
    if (row.usage_json !== null) changes.usage_json = JSON.stringify({ ...JSON.parse(row.usage_json), complete: true });
    if (row.attempt > 0) result = await endAttempt(db, row, decision, now);
  }
  const next: Row = { ...row, ...changes };
  await updateTask(db, row, changes);
  const event = await writeEvent(write, next, next.last_seq, outcome.event, key, decision.data);
  write.tally.move(row.owner, row.kind, row.state, next.state);
  if (row.state === "waiting" && next.state !== "queued" && outcome.event === "cancelled")
    await closeApprovals(db, row, now);
  if (outcome.notice !== null)
    await writeNotice(write, next, { kind: outcome.notice, to: recipientOf(next, told.approvers), n: told.n ?? 0 });
  if (row.needed === 1 && isEnded(next.state)) await unblockDependents(write, next);
  return { row: next, event, result };
}

/** An event in its place; hints go to listeners once it is there. */
export async function writeEvent(
  { db, hint }: WriteJob,
  row: Pick<TaskRecord, "seq" | "id" | "attempt">,
  seq: number,
  kind: EventKind,
  key: string,
  data: Record<string, unknown>,
): Promise<TaskEvent> {
  const { now } = db;
  await db.run("INSERT INTO @event(task, seq, attempt, at, kind, key, data) VALUES(?, ?, ?, ?, ?, ?, ?)", [
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

async function endAttempt(
  db: Sql,
  row: TaskRecord,
  { ends, changes }: Transition,
  now: number,
): Promise<Written["result"]> {
  if (ends === null) return null;
  const result = ends.result === null ? null : await storeResult(db, row.seq, row.attempt, ends.result, ends.partial);
  const usage: Usage | null = row.usage_json === null ? null : await sumUsage(db, row.seq, row.attempt);
  await db.run(
    `INSERT INTO @attempt(task, attempt, state, session_id, started_at, ended_at, end_json, result_json, text, usage_json)
     VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
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

async function closeApprovals(db: Sql, row: TaskRecord, now: number): Promise<void> {
  await db.run(
    "UPDATE @approval SET state = 'rejected', decided_at = ?, comment = 'the task was cancelled' WHERE task = ? AND state = 'open'",
    [now, row.seq],
  );
}

/** The settle of a last dependency frees, or fails, what waited for it; and so on below. */
async function unblockDependents(write: WriteJob, row: TaskRecord): Promise<void> {
  const waiting = await readRows(
    write.db,
    "@dependency d JOIN @task t ON t.seq = d.task WHERE d.needs = ? AND t.state = 'blocked' ORDER BY t.seq FOR UPDATE OF t",
    [row.seq],
  );
  for (const dependent of waiting) await unblock(write, dependent);
}

/** Moves a blocked task on, if all it waits for has ended. */
export async function unblock<Row extends TaskRecord>(write: WriteJob, row: Row): Promise<Written<Row> | undefined> {
  const { db } = write;
  const { now } = db;
  const needs = await db.all<{ id: string; state: TaskRecord["state"] }>(
    "SELECT n.id, n.state FROM @dependency d JOIN @task n ON n.seq = d.needs WHERE d.task = ?",
    [row.seq],
  );
  const open = needs.filter(({ state }) => !isEnded(state)).length;
  const failed = needs.find(({ state }) => isEnded(state) && state !== "completed")?.id ?? null;
  const key = `unblock:${row.last_seq + 1}`;
  const decision = transition(row, { kind: "unblock", key }, { now, dependencies: { open, failed } });
  return "refused" in decision ? undefined : await writeEdge(write, row, decision, key);
}

import type { Database } from "@toolhaft/sqlite";
import type { NoticeKind, StoredNotice } from "../../model.ts";
import type { TaskRecord } from "../../record.ts";
import type { WriteJob } from "./file.ts";
import { limitSql } from "./rows.ts";

/** A sync call reads its own result: only one that is gone leaves its notice to be delivered, after so many milliseconds. */
const syncHoldMs = 30_000;
const ending: readonly NoticeKind[] = ["completed", "failed", "timeout", "cancelled", "budget"];
const waking: readonly NoticeKind[] = ["failed", "timeout", "budget", "approval", "task_posted"];

export interface NoticeInit {
  kind: NoticeKind;
  to: string;
  n?: number;
  wake?: boolean;
}

/** Writes a notice beside its edge: one per task, attempt, kind and n. */
export function writeNotice({ db, now, tally, hint }: WriteJob, row: TaskRecord, init: NoticeInit): void {
  const { kind, to, n = 0 } = init;
  const left = tally.remaining(row.owner, row.kind);
  const settled = ending.includes(kind) && row.ended_at !== null && left.running + left.queued + left.waiting === 0;
  const wake = init.wake ?? (settled || waking.includes(kind));
  const held = row.mode === "sync" && ending.includes(kind) ? syncHoldMs : 0;
  db.run(
    `INSERT INTO notice(task, attempt, kind, n, recipient, created_at, deliver_after, running, queued, waiting, settled, wake)
     VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(task, attempt, kind, n) DO NOTHING`,
    [
      row.seq,
      row.attempt,
      kind,
      n,
      to,
      now,
      now + held,
      left.running,
      left.queued,
      left.waiting,
      settled ? 1 : 0,
      wake ? 1 : 0,
    ],
  );
  hint({ taskId: row.id, kind: "notice" });
}

interface NoticeRow {
  task: number;
  task_id: string;
  attempt: number;
  kind: NoticeKind;
  n: number;
  recipient: string;
  created_at: number;
  tries: number;
  running: number;
  queued: number;
  waiting: number;
  settled: number;
  wake: number;
}

/** Pending notices of some recipients, oldest first, leased so that nobody else delivers them meanwhile. */
export function leaseNotices(
  { db, now }: WriteJob,
  query: { to: readonly string[]; limit: number; leaseMs: number },
): StoredNotice[] {
  const marks = query.to.map(() => "?").join(", ");
  const rows = db.all<NoticeRow>(
    `SELECT n.*, t.id AS task_id FROM notice n JOIN task t ON t.seq = n.task
     WHERE n.acked_at IS NULL AND n.recipient IN (${marks}) AND n.deliver_after <= ? AND (n.lease_until IS NULL OR n.lease_until <= ?)
     ORDER BY n.created_at, n.settled, n.task ${limitSql(query.limit)}`,
    [...query.to, now, now],
  );
  for (const { task, attempt, kind, n } of rows)
    db.run(
      "UPDATE notice SET lease_until = ?, tries = tries + 1 WHERE task = ? AND attempt = ? AND kind = ? AND n = ?",
      [now + query.leaseMs, task, attempt, kind, n],
    );
  return rows.map((row) => ({
    id: `${row.task_id}:${row.attempt}:${row.kind}${row.n === 0 ? "" : `:${row.n}`}`,
    to: row.recipient,
    kind: row.kind,
    taskId: row.task_id,
    attempt: row.attempt,
    remaining: { running: row.running, queued: row.queued, waiting: row.waiting },
    allSettled: row.settled === 1,
    wake: row.wake === 1,
    createdAt: new Date(row.created_at).toISOString(),
    tries: row.tries,
  }));
}

/** How many of the named notices were open; they are never given again. */
export function ackNotices({ db, now }: WriteJob, ids: readonly string[]): number {
  let open = 0;
  for (const id of ids) {
    const [task = "", attempt = "", kind = "", n = "0"] = id.split(":");
    open += db.run(
      `UPDATE notice SET acked_at = ? WHERE acked_at IS NULL AND task = (SELECT seq FROM task WHERE id = ?)
       AND attempt = ? AND kind = ? AND n = ?`,
      [now, task, Number(attempt), kind, Number(n)],
    ).changes;
  }
  return open;
}

/** Notices of a task that was promoted wait no longer for its caller. */
export function deliverNow(db: Database, task: number, now: number): void {
  db.run("UPDATE notice SET deliver_after = ? WHERE task = ? AND acked_at IS NULL AND deliver_after > ?", [
    now,
    task,
    now,
  ]);
}

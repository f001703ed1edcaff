import type { NoticeKind, StoredNotice } from "@toolhaft/tasks";
import type { TaskRecord } from "@toolhaft/tasks/adapter";
import type { Sql, Transaction } from "../database.ts";
import type { WriteJob } from "./write-job.ts";

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
export async function writeNotice({ db, tally, hint }: WriteJob, row: TaskRecord, init: NoticeInit): Promise<void> {
  const { kind, to, n = 0 } = init;
  const left = await tally.remaining(row.owner, row.kind);
  const settled = ending.includes(kind) && row.ended_at !== null && left.running + left.queued + left.waiting === 0;
  const wake = init.wake ?? (settled || waking.includes(kind));
  const held = row.mode === "sync" && ending.includes(kind) ? syncHoldMs : 0;
  await db.run(
    `INSERT INTO @notice(task, attempt, kind, n, recipient, created_at, deliver_after, running, queued, waiting, settled, wake)
     VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(task, attempt, kind, n) DO NOTHING`,
    [
      row.seq,
      row.attempt,
      kind,
      n,
      to,
      left.now,
      left.now + held,
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
export async function leaseNotices(
  db: Transaction,
  query: { to: readonly string[]; limit: number; leaseMs: number },
): Promise<StoredNotice[]> {
  const rows = await db.all<NoticeRow>(
    `SELECT n.*, t.id AS task_id FROM @notice n JOIN @task t ON t.seq = n.task
     WHERE n.acked_at IS NULL AND n.recipient = ANY(?::text[]) AND n.deliver_after <= ?
       AND (n.lease_until IS NULL OR n.lease_until <= ?)
     ORDER BY n.created_at, n.settled, n.task, n.attempt, n.kind, n.n LIMIT ? FOR UPDATE OF n SKIP LOCKED`,
    [query.to, db.now, db.now, query.limit],
  );
  if (rows.length > 0)
    await db.run(
      `UPDATE @notice n SET lease_until = ?, tries = tries + 1
       FROM unnest(?::bigint[], ?::int[], ?::text[], ?::int[]) AS l(task, attempt, kind, n)
       WHERE n.task = l.task AND n.attempt = l.attempt AND n.kind = l.kind AND n.n = l.n`,
      [
        db.now + query.leaseMs,
        rows.map(({ task }) => task),
        rows.map(({ attempt }) => attempt),
        rows.map(({ kind }) => kind),
        rows.map(({ n }) => n),
      ],
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
export async function ackNotices(db: Sql, ids: readonly string[]): Promise<number> {
  const named = ids.flatMap((id) => {
    const [task = "", attempt = "", kind = "", n = "0"] = id.split(":");
    return /^\d{1,9}$/.test(attempt) && /^\d{1,9}$/.test(n)
      ? [{ task, attempt: Number(attempt), kind, n: Number(n) }]
      : [];
  });
  const { changes } = await db.run(
    `UPDATE @notice n SET acked_at = @clock_ms()
     FROM unnest(?::text[], ?::int[], ?::text[], ?::int[]) AS a(id, attempt, kind, n) JOIN @task t ON t.id = a.id
     WHERE n.acked_at IS NULL AND n.task = t.seq AND n.attempt = a.attempt AND n.kind = a.kind AND n.n = a.n`,
    [
      named.map(({ task }) => task),
      named.map(({ attempt }) => attempt),
      named.map(({ kind }) => kind),
      named.map(({ n }) => n),
    ],
  );
  return changes;
}

/** Notices of a task that was promoted wait no longer for its caller. */
export async function deliverNow(db: Sql, task: number, now: number): Promise<void> {
  await db.run("UPDATE @notice SET deliver_after = ? WHERE task = ? AND acked_at IS NULL AND deliver_after > ?", [
    now,
    task,
    now,
  ]);
}

import { createId } from "@toolhaft/core";
import type { Approval, Decider, NewApproval } from "@toolhaft/tasks";
import { type ApprovalRow, type TaskRecord, toApproval } from "@toolhaft/tasks/adapter";
import type { Sql } from "../database.ts";

const approvalColumns =
  "p.*, (SELECT t.id FROM @task t WHERE t.seq = p.task) AS task_id, (SELECT t.agent FROM @task t WHERE t.seq = p.task) AS agent";

/** Whether this ask was put before: it is put once per task, attempt and key. */
export async function wasAsked(db: Sql, row: Pick<TaskRecord, "seq" | "attempt">, key: string): Promise<boolean> {
  return (
    (await db.get("SELECT 1 AS asked FROM @approval WHERE task = ? AND attempt = ? AND ask_key = ?", [
      row.seq,
      row.attempt,
      key,
    ])) !== undefined
  );
}

/** Gives its number among the task's asks of this attempt, from 0. */
export async function insertApproval(
  db: Sql,
  row: Pick<TaskRecord, "seq" | "attempt">,
  ask: NewApproval,
  times: { now: number; expiresAt: number; attached: boolean },
): Promise<{ id: string; n: number }> {
  const id = `appr_${createId(times.now)}`;
  const earlier = await db.get<{ n: number }>("SELECT count(*) AS n FROM @approval WHERE task = ? AND attempt = ?", [
    row.seq,
    row.attempt,
  ]);
  await db.run(
    `INSERT INTO @approval(id, task, attempt, ask_key, kind, title, detail_json, approvers_json, state, on_expire, on_reject, attached, requested_at, expires_at)
     VALUES(?, ?, ?, ?, ?, ?, ?, ?, 'open', ?, ?, ?, ?, ?)`,
    [
      id,
      row.seq,
      row.attempt,
      ask.key,
      ask.kind,
      ask.title,
      JSON.stringify(ask.detail ?? null),
      JSON.stringify(ask.approvers),
      ask.onExpire ?? "reject",
      ask.onReject ?? "resume",
      times.attached ? 1 : 0,
      times.now,
      times.expiresAt,
    ],
  );
  return { id, n: earlier?.n ?? 0 };
}

export async function readApproval(db: Sql, id: string): Promise<Approval | undefined> {
  const row = await db.get<ApprovalRow>(`SELECT ${approvalColumns} FROM @approval p WHERE p.id = ?`, [id]);
  return row && toApproval(row);
}

export async function openApproval(db: Sql, task: number): Promise<Approval | undefined> {
  const row = await db.get<ApprovalRow>(
    `SELECT ${approvalColumns} FROM @approval p WHERE p.task = ? AND p.state = 'open'`,
    [task],
  );
  return row && toApproval(row);
}

export async function settleApproval(
  db: Sql,
  id: string,
  decided: { state: Approval["state"]; by: Decider; comment: string | null; now: number },
): Promise<void> {
  await db.run("UPDATE @approval SET state = ?, decided_at = ?, decided_by_json = ?, comment = ? WHERE id = ?", [
    decided.state,
    decided.now,
    JSON.stringify(decided.by),
    decided.comment,
    id,
  ]);
}

export async function findApprovals(
  db: Sql,
  query: { open?: boolean; taskId?: string; root?: string },
): Promise<Approval[]> {
  const where: string[] = [];
  const values: string[] = [];
  if (query.open !== undefined) where.push(query.open ? "p.state = 'open'" : "p.state <> 'open'");
  if (query.taskId !== undefined) {
    where.push("p.task = (SELECT seq FROM @task WHERE id = ?)");
    values.push(query.taskId);
  }
  if (query.root !== undefined) {
    where.push("p.task IN (SELECT seq FROM @task WHERE root = ?)");
    values.push(query.root);
  }
  const filter = where.length === 0 ? "" : `WHERE ${where.join(" AND ")}`;
  const rows = await db.all<ApprovalRow>(
    `SELECT ${approvalColumns} FROM @approval p ${filter} ORDER BY p.requested_at, p.id`,
    values,
  );
  return rows.map(toApproval);
}

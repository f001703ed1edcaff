import { createId } from "@toolhaft/core";
import type { Database } from "@toolhaft/sqlite";
import type { NewApproval } from "../../edges.ts";
import type { Approval, Decider } from "../../model.ts";
import type { TaskRecord } from "../../record.ts";
import { type ApprovalRow, approvalColumns, toApproval } from "./rows.ts";

/** Whether this ask was put before: it is put once per task, attempt and key. */
export function wasAsked(db: Database, row: Pick<TaskRecord, "seq" | "attempt">, key: string): boolean {
  return (
    db.get("SELECT 1 FROM approval WHERE task = ? AND attempt = ? AND ask_key = ?", [row.seq, row.attempt, key]) !==
    undefined
  );
}

/** Gives its number among the task's asks of this attempt, from 0. */
export function insertApproval(
  db: Database,
  row: Pick<TaskRecord, "seq" | "attempt">,
  ask: NewApproval,
  times: { now: number; expiresAt: number; attached: boolean },
): { id: string; n: number } {
  const id = `appr_${createId(times.now)}`;
  const earlier = db.get<{ n: number }>("SELECT count(*) AS n FROM approval WHERE task = ? AND attempt = ?", [
    row.seq,
    row.attempt,
  ]);
  db.run(
    `INSERT INTO approval(id, task, attempt, ask_key, kind, title, detail_json, approvers_json, state, on_expire, on_reject, attached, requested_at, expires_at)
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

export function readApproval(db: Database, id: string): Approval | undefined {
  const row = db.get<ApprovalRow>(`SELECT ${approvalColumns} FROM approval p WHERE p.id = ?`, [id]);
  return row && toApproval(row);
}

export function openApproval(db: Database, task: number): Approval | undefined {
  const row = db.get<ApprovalRow>(`SELECT ${approvalColumns} FROM approval p WHERE p.task = ? AND p.state = 'open'`, [
    task,
  ]);
  return row && toApproval(row);
}

export function settleApproval(
  db: Database,
  id: string,
  decided: { state: Approval["state"]; by: Decider; comment: string | null; now: number },
): void {
  db.run("UPDATE approval SET state = ?, decided_at = ?, decided_by_json = ?, comment = ? WHERE id = ?", [
    decided.state,
    decided.now,
    JSON.stringify(decided.by),
    decided.comment,
    id,
  ]);
}

export function findApprovals(db: Database, query: { open?: boolean; taskId?: string; root?: string }): Approval[] {
  const where: string[] = [];
  const values: string[] = [];
  if (query.open !== undefined) where.push(query.open ? "p.state = 'open'" : "p.state <> 'open'");
  if (query.taskId !== undefined) {
    where.push("p.task = (SELECT seq FROM task WHERE id = ?)");
    values.push(query.taskId);
  }
  if (query.root !== undefined) {
    where.push("p.task IN (SELECT seq FROM task WHERE root = ?)");
    values.push(query.root);
  }
  const filter = where.length === 0 ? "" : `WHERE ${where.join(" AND ")}`;
  const rows = db.all<ApprovalRow>(
    `SELECT ${approvalColumns} FROM approval p ${filter} ORDER BY p.requested_at, p.id`,
    values,
  );
  return rows.map(toApproval);
}

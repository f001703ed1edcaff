import type { Applied, Edge, Task } from "@toolhaft/tasks";
import {
  type EventRow,
  headChars,
  headOf,
  keepable,
  type TaskRecord,
  type TaskRow,
  type Transition,
  toEvent,
  toTask,
  transition,
} from "@toolhaft/tasks/adapter";
import type { Transaction } from "../database.ts";
import { insertApproval, readApproval, settleApproval, wasAsked } from "./approvals.ts";
import { resetTaskBudget } from "./budget.ts";
import { lockRecord, readTask } from "./rows.ts";
import { unblock, type Written, writeEdge, writeEvent } from "./write-edge.ts";
import type { WriteJob } from "./write-job.ts";

/** Applies one edge to one task, inside a write. */
export async function applyEdge(write: WriteJob, taskId: string, edge: Edge): Promise<Applied> {
  const { db } = write;
  const row = await lockRecord(db, taskId);
  if (row === undefined) return { ok: false, why: "not_found" };
  const { now } = db;
  // These could happen twice by themselves; all others find that they are out of place, and are looked up then.
  if (edge.kind === "retry" || edge.kind === "hold") {
    const before = await appliedBefore(write, row, edge.key);
    if (before !== undefined) return before;
  }
  if (edge.kind === "unblock") {
    const moved = await unblock(write, row);
    return moved === undefined
      ? await refusal(write, row, edge, "wrong_state")
      : { ok: true, task: taskOf(moved), event: moved.event };
  }
  const approval = edge.kind === "decide" ? await readApproval(db, edge.approvalId) : undefined;
  const decision = transition(row, edge, { now, approval: approval?.taskId === row.id ? approval : undefined });
  if ("refused" in decision) return await refusal(write, row, edge, decision.refused);
  if (!(await isFree(write, row, edge))) return await refusal(write, row, edge, "wrong_state");
  const written = await writeEdge(write, row, decision, edge.key, await before(write, row, edge, decision));
  return { ok: true, task: taskOf(written), event: written.event };
}

/** What stands beside the row and goes first: approvals and counters. */
async function before(
  write: WriteJob,
  row: TaskRecord,
  edge: Edge,
  decision: Transition,
): Promise<{ approvers?: NonNullable<Extract<Edge, { kind: "ask" }>["approval"]["approvers"]>; n?: number }> {
  const { db } = write;
  const { now } = db;
  switch (edge.kind) {
    case "ask":
    case "hold": {
      const { id, n } = await insertApproval(db, row, edge.approval, {
        now,
        expiresAt: decision.changes.wait_until ?? now,
        attached: edge.kind === "ask" && edge.attached,
      });
      decision.data.approvalId = id;
      decision.data.title = edge.approval.title;
      return { approvers: edge.approval.approvers, n };
    }
    case "decide": {
      const state = edge.by === "expiry" ? "expired" : edge.decision;
      await settleApproval(db, edge.approvalId, { state, by: edge.by, comment: edge.comment ?? null, now });
      return {};
    }
    case "retry":
      if (edge.resetBudget === true) await resetTaskBudget(db, row);
      return {};
    default:
      return {};
  }
}

/** A session is used by one run at a time, and an ask is put once. */
async function isFree({ db }: WriteJob, row: TaskRecord, edge: Edge): Promise<boolean> {
  if (edge.kind === "ask" || edge.kind === "hold") return !(await wasAsked(db, row, edge.approval.key));
  if (edge.kind !== "start" || edge.sessionId == null) return true;
  return !(await isSessionUsed(db, edge.sessionId, row.seq));
}

export async function isSessionUsed(db: Transaction, sessionId: string, but: number): Promise<boolean> {
  return (
    (await db.get(
      "SELECT 1 AS used FROM @task WHERE session_id = ? AND state IN ('starting', 'running') AND seq <> ?",
      [sessionId, but],
    )) !== undefined
  );
}

/** An edge that was applied already is answered with what it did; a settle that comes too late leaves its text. */
async function refusal(write: WriteJob, row: TaskRecord, edge: Edge, why: "stale" | "wrong_state"): Promise<Applied> {
  const before = await appliedBefore(write, row, edge.key);
  if (before !== undefined) return before;
  const text = "result" in edge ? keepable(edge.result?.text ?? "") : "";
  if (why === "stale" && text !== "") {
    const seq = row.last_seq + 1;
    await write.db.run("UPDATE @task SET last_seq = ? WHERE seq = ?", [seq, row.seq]);
    const ref = "ref" in edge ? edge.ref : undefined;
    await writeEvent(write, row, seq, "late_result", edge.key, {
      edge: edge.kind,
      fence: ref?.fence ?? null,
      text: headOf(text, headChars),
    });
  }
  const task = await readTask(write.db, row.id);
  return { ok: false, why, ...(task && { task: toTask(task) }) };
}

async function appliedBefore({ db }: WriteJob, row: TaskRecord, key: string): Promise<Applied | undefined> {
  const event = await db.get<EventRow>("SELECT seq, attempt, at, kind, data FROM @event WHERE task = ? AND key = ?", [
    row.seq,
    key,
  ]);
  const task = event && (await readTask(db, row.id));
  if (event === undefined || task === undefined) return undefined;
  if (event.kind === "late_result") return { ok: false, why: "stale", task: toTask(task) };
  return { ok: true, task: toTask(task), event: toEvent(row.id, event) };
}

/** The whole task as it stands after an edge. */
export function taskOf({ row, result }: Pick<Written<TaskRow>, "row" | "result">): Task {
  return toTask({
    ...row,
    result_json: result?.note ?? null,
    head: result === null ? null : headOf(result.text, headChars),
  });
}

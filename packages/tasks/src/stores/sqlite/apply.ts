import type { Edge } from "../../edges.ts";
import type { Task } from "../../model.ts";
import type { TaskRecord } from "../../record.ts";
import type { Transition } from "../../step.ts";
import type { Applied } from "../../store.ts";
import { headOf, keepable } from "../../text-window.ts";
import { transition } from "../../transition.ts";
import { insertApproval, readApproval, settleApproval, wasAsked } from "./approvals.ts";
import { resetTaskBudget } from "./budget.ts";
import type { WriteJob } from "./file.ts";
import { type EventRow, headChars, readRecord, readTask, type TaskRow, taskWith, toEvent, toTask } from "./rows.ts";
import { unblock, type Written, writeEdge, writeEvent } from "./write-edge.ts";

/** Applies one edge to one task, inside a write. */
export function applyEdge(write: WriteJob, taskId: string, edge: Edge): Applied {
  const { db, now } = write;
  const row = readRecord(db, taskId);
  if (row === undefined) return { ok: false, why: "not_found" };
  // These could happen twice by themselves; all others find that they are out of place, and are looked up then.
  if (edge.kind === "retry" || edge.kind === "hold") {
    const before = appliedBefore(write, row, edge.key);
    if (before !== undefined) return before;
  }
  if (edge.kind === "unblock") {
    const moved = unblock(write, row);
    return moved === undefined
      ? refusal(write, row, edge, "wrong_state")
      : { ok: true, task: taskOf(moved), event: moved.event };
  }
  const approval = edge.kind === "decide" ? readApproval(db, edge.approvalId) : undefined;
  const decision = transition(row, edge, { now, approval: approval?.taskId === row.id ? approval : undefined });
  if ("refused" in decision) return refusal(write, row, edge, decision.refused);
  if (!isFree(write, row, edge)) return refusal(write, row, edge, "wrong_state");
  const written = writeEdge(write, row, decision, edge.key, before(write, row, edge, decision));
  return { ok: true, task: taskOf(written), event: written.event };
}

/** What stands beside the row and goes first: approvals and counters. */
function before(
  write: WriteJob,
  row: TaskRecord,
  edge: Edge,
  decision: Transition,
): { approvers?: NonNullable<Extract<Edge, { kind: "ask" }>["approval"]["approvers"]>; n?: number } {
  const { db, now } = write;
  switch (edge.kind) {
    case "ask":
    case "hold": {
      const { id, n } = insertApproval(db, row, edge.approval, {
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
      settleApproval(db, edge.approvalId, { state, by: edge.by, comment: edge.comment ?? null, now });
      return {};
    }
    case "retry":
      if (edge.resetBudget === true) resetTaskBudget(db, row);
      return {};
    default:
      return {};
  }
}

/** A session is used by one run at a time, and an ask is put once. */
function isFree({ db }: WriteJob, row: TaskRecord, edge: Edge): boolean {
  if (edge.kind === "ask" || edge.kind === "hold") return !wasAsked(db, row, edge.approval.key);
  if (edge.kind !== "start" || edge.sessionId == null) return true;
  return !isSessionUsed(db, edge.sessionId, row.seq);
}

export function isSessionUsed(db: WriteJob["db"], sessionId: string, but: number): boolean {
  return (
    db.get("SELECT 1 FROM task WHERE session_id = ? AND state IN ('starting', 'running') AND seq <> ?", [
      sessionId,
      but,
    ]) !== undefined
  );
}

/** An edge that was applied already is answered with what it did; a settle that comes too late leaves its text. */
function refusal(write: WriteJob, row: TaskRecord, edge: Edge, why: "stale" | "wrong_state"): Applied {
  const before = appliedBefore(write, row, edge.key);
  if (before !== undefined) return before;
  const text = "result" in edge ? keepable(edge.result?.text ?? "") : "";
  if (why === "stale" && text !== "") {
    const seq = row.last_seq + 1;
    write.db.run("UPDATE task SET last_seq = ? WHERE seq = ?", [seq, row.seq]);
    const ref = "ref" in edge ? edge.ref : undefined;
    writeEvent(write, row, seq, "late_result", edge.key, {
      edge: edge.kind,
      fence: ref?.fence ?? null,
      text: headOf(text, headChars),
    });
  }
  const task = readTask(write.db, row.id);
  return { ok: false, why, ...(task && { task: toTask(task) }) };
}

function appliedBefore({ db }: WriteJob, row: TaskRecord, key: string): Applied | undefined {
  const event = db.get<EventRow>("SELECT seq, attempt, at, kind, data FROM happened WHERE task = ? AND key = ?", [
    row.seq,
    key,
  ]);
  const task = event && readTask(db, row.id);
  if (event === undefined || task === undefined) return undefined;
  if (event.kind === "late_result") return { ok: false, why: "stale", task: toTask(task) };
  return { ok: true, task: toTask(task), event: toEvent(row.id, event) };
}

/** The whole task as it stands after an edge. */
export function taskOf({ row, result }: Pick<Written<TaskRow>, "row" | "result">): Task {
  return taskWith(row, result?.note ?? null, result === null ? null : headOf(result.text, headChars));
}

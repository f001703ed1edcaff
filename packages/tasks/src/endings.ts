import type { Edge, EdgeKind, NewResult, Outcome } from "./edges.ts";
import type { TaskEnd, TaskState } from "./model.ts";
import { cancelGraceOf, endOf, isHeld, type TaskRecord } from "./record.ts";
import { carried, type Decision, freed, move, note, type Transition } from "./step.ts";

export function complete(row: TaskRecord, edge: Extract<Edge, { kind: "complete" }>, now: number): Decision {
  if (edge.result.text === "" && row.allow_empty === 0) {
    return ending("complete", "failed", row, now, endOf("no_result", "the run ended without a result"), edge.result);
  }
  const done = ending("complete", "completed", row, now, endOf("done", ""), edge.result);
  return { ...done, changes: { ...done.changes, ...named(edge) } };
}

export function fail(row: TaskRecord, edge: Extract<Edge, { kind: "fail" }>, now: number): Decision {
  const end = endOf(edge.reason, edge.message, edge.retryable);
  if (!edge.retryable || row.attempt >= row.max_attempts || row.cancel_json !== null) {
    return ending("fail", "failed", row, now, end, edge.result);
  }
  return again("fail", "requeued", row, now, end, edge.result, edge.backoffMs ?? 0, "failed");
}

export function lose(row: TaskRecord, now: number): Decision {
  if (row.lease_until === null || row.lease_until > now || row.cancel_json !== null) return { refused: "wrong_state" };
  const left = row.attempt < row.max_attempts && row.on_lost === "requeue";
  const end = endOf("lease_lost", `the claim of attempt ${row.attempt} ran out: its holder is gone or stalled`, true);
  return left
    ? again("lose", "lease_lost", row, now, end, undefined, 0, "lost")
    : ending("lose", "failed", row, now, end);
}

export function cancel(row: TaskRecord, edge: Extract<Edge, { kind: "cancel" }>, now: number): Decision {
  if (isHeld(row)) {
    const over = row.cancel_at !== null && (row.cancel_at + cancelGraceOf(row) <= now || (row.lease_until ?? 0) <= now);
    const byHolder = edge.ref !== undefined && row.cancel_json !== null;
    if (!over && !byHolder) return { refused: "wrong_state" };
  }
  const message = edge.reason ?? "";
  return ending("cancel", "cancelled", row, now, endOf("cancelled", message), edge.result, { by: edge.by });
}

/** Back to the queue; this attempt is over. */
function again(
  kind: "fail" | "lose",
  event: "requeued" | "lease_lost",
  row: TaskRecord,
  now: number,
  end: TaskEnd,
  result: NewResult | undefined,
  backoffMs: number,
  why: "failed" | "lost",
): Transition {
  return {
    ...move(
      kind,
      "queued",
      { reason: end.reason, message: end.message, attempt: row.attempt },
      {
        ...freed,
        ...note(carried(row, { why, approvalId: undefined })),
        attempt_open: 0,
        queued_at: now,
        started_at: null,
        claimed_at: null,
        activity_at: null,
        ...(backoffMs > 0 && { not_before: now + backoffMs }),
      },
      event,
    ),
    ends: { state: "failed", end, result: result ?? null, partial: true },
    frees: true,
  };
}

/** Into an ended state. */
export function ending(
  kind: EdgeKind,
  state: "completed" | "failed" | "timed_out" | "cancelled",
  row: TaskRecord,
  now: number,
  end: TaskEnd,
  result?: NewResult,
  data: Record<string, unknown> = {},
  event?: Outcome["event"],
): Transition {
  const reported = state === "completed" ? {} : { reason: end.reason, message: end.message };
  return {
    ...move(
      kind,
      state,
      { ...reported, ...data },
      {
        // Who worked on it last stays to be seen.
        token_hash: null,
        lease_until: null,
        attached: 0,
        attempt_open: 0,
        ended_at: now,
        wait_until: null,
        resume_json: null,
        end_json: JSON.stringify(end),
        unindexed: 1,
        ...(row.started_at === null && row.claimed_at !== null && { started_at: row.claimed_at }),
      },
      event,
    ),
    // Between two attempts there is none to end: the last one has its ending, and keeps it.
    ends: row.attempt_open === 1 ? { state, end, result: kept(state, result), partial: state !== "completed" } : null,
    frees: true,
  };
}

/** An empty text is a result of a completed task only. */
function kept(state: TaskState, result: NewResult | undefined): NewResult | null {
  if (result === undefined || (result.text === "" && state !== "completed")) return null;
  return result;
}

/** Session and run handle that an edge names. */
export function named(edge: { sessionId?: string | null; handle?: unknown }): Partial<TaskRecord> {
  return {
    ...(edge.sessionId !== undefined && edge.sessionId !== null && { session_id: edge.sessionId }),
    ...("handle" in edge && { handle_json: JSON.stringify(edge.handle ?? null) }),
  };
}

import { EDGES, type Edge, type EdgeKind, type NewResult, type Outcome } from "./edges.ts";
import type { Actor, Approval, TaskEnd, TaskState } from "./model.ts";
import {
  cancelGraceOf,
  defaultLimits,
  dueOf,
  endOf,
  holds,
  isHeld,
  limitsOf,
  queueEndOf,
  type ResumeNote,
  type TaskRecord,
} from "./record.ts";

/** What an edge writes: computed once, here, for every adapter. */
export interface Transition {
  outcome: Outcome;
  changes: Partial<TaskRecord>;
  /** Data of the event. */
  data: Record<string, unknown>;
  /** The attempt ends with this: its row is written, and its result stored. */
  ends: { state: TaskState; end: TaskEnd; result: NewResult | null; partial: boolean } | null;
  /** The claim ends with this: its reservation is given back. */
  frees: boolean;
}

export type Refusal = { refused: "stale" | "wrong_state" };
export type Decision = Transition | Refusal;

/** What an edge may need to know beside the row. */
export interface Surroundings {
  now: number;
  /** The approval that `decide` names, if it is of this task. */
  approval?: Approval | undefined;
  /** Of `unblock`: dependencies that have not ended, and the first that ended badly. */
  dependencies?: { open: number; failed: string | null } | undefined;
}

const freed: Partial<TaskRecord> = {
  claimed_agent: null,
  claimed_session: null,
  token_hash: null,
  lease_until: null,
  attached: 0,
};

/** Who claims, as a row keeps it. */
export interface Claiming {
  by: Actor;
  engine: string | null;
  tokenHash: string;
  leaseMs: number;
}

/** The claim of a queued row. Whether it may be claimed (order, caps, budgets) the adapter has found out. */
export function claimed(row: TaskRecord, { by, engine, tokenHash, leaseMs }: Claiming, now: number): Transition {
  const goesOn = row.attempt_open === 1;
  const board = row.kind === "board";
  const fence = row.fence + 1;
  const leaseUntil = now + leaseMs;
  return move(
    "claim",
    board ? "running" : "starting",
    { by, engine, fence, leaseUntil: new Date(leaseUntil).toISOString() },
    {
      fence,
      attempt: goesOn ? row.attempt : row.attempt + 1,
      attempt_open: 1,
      // A retry has numbered its attempt already; no claim has begun it yet.
      sessions: row.sessions + (goesOn && row.claimed_at !== null ? 0 : 1),
      claimed_agent: by.agent,
      claimed_session: by.sessionId,
      engine,
      token_hash: tokenHash,
      lease_until: leaseUntil,
      due_at: leaseUntil,
      attached: 0,
      claimed_at: now,
      ...(board && { started_at: row.started_at ?? now }),
    },
  );
}

/** Decides one edge on one row. Pure: the adapter reads the row under its lock, and writes what comes out. */
export function transition(row: TaskRecord, edge: Edge, around: Surroundings): Decision {
  const rule = EDGES[edge.kind];
  const ref = "ref" in edge ? edge.ref : undefined;
  const known = (rule.from as readonly TaskState[]).includes(row.state);
  if (rule.guard === "fence" || (rule.guard === "fence_where_held" && ref !== undefined)) {
    if (ref === undefined || ref.taskId !== row.id || !holds(row, ref.fence, around.now)) return { refused: "stale" };
  }
  if (!known) return { refused: "wrong_state" };
  const decision = decide(row, edge, around);
  if ("refused" in decision) return decision;
  const next = { ...row, ...decision.changes };
  const due = dueOf(next);
  if (due !== row.due_at) decision.changes.due_at = due;
  return decision;
}

function decide(row: TaskRecord, edge: Edge, around: Surroundings): Decision {
  const { now } = around;
  switch (edge.kind) {
    case "start":
      return move(
        "start",
        "running",
        { sessionId: edge.sessionId ?? null },
        {
          ...named(edge),
          started_at: row.started_at ?? now,
          activity_at: now,
        },
      );
    case "complete":
      return complete(row, edge, now);
    case "fail":
      return fail(row, edge, now);
    case "time_out": {
      const state = edge.reason === "not_started" ? "failed" : "timed_out";
      const end = endOf(edge.reason, edge.message, edge.reason === "not_started");
      return ending("time_out", state, row, now, end, edge.result);
    }
    case "release":
      return requeue("release", "released", row, now, { why: "release" }, { reason: edge.reason ?? null });
    case "exceed":
      if (edge.ref === undefined && row.state !== "queued") return { refused: "wrong_state" };
      return ending("exceed", "cancelled", row, now, endOf("budget_exceeded", edge.message), edge.result);
    case "request_cancel":
      if (row.cancel_json !== null) return { refused: "wrong_state" };
      return move("request_cancel", "same", { by: edge.by, reason: edge.reason }, cancelNote(edge, now));
    case "cancel":
      return cancel(row, edge, now);
    case "ask":
      return wait("ask", row, now, edge.attached, edge.approval.expiresMs, edge.approval.key);
    case "hold":
      return row.kind === "dispatch"
        ? wait("hold", row, now, false, edge.approval.expiresMs, edge.approval.key)
        : { refused: "wrong_state" };
    case "decide":
      return decideApproval(row, edge, around);
    case "lose":
      return lose(row, now);
    case "expire": {
      const end = queueEndOf(row);
      if (end === null || end > now) return { refused: "wrong_state" };
      const message = `waited longer than ${end - Math.max(row.queued_at ?? 0, row.not_before ?? 0)} ms for ${waitsFor(row)}`;
      return ending("expire", "failed", row, now, endOf("queue_timeout", message, true));
    }
    case "unblock":
      return unblock(row, around);
    case "retry":
      return retry(row, edge, now);
  }
}

function complete(row: TaskRecord, edge: Extract<Edge, { kind: "complete" }>, now: number): Decision {
  if (edge.result.text === "" && row.allow_empty === 0) {
    return ending("complete", "failed", row, now, endOf("no_result", "the run ended without a result"), edge.result);
  }
  const done = ending("complete", "completed", row, now, endOf("done", ""), edge.result);
  return { ...done, changes: { ...done.changes, ...named(edge) } };
}

function fail(row: TaskRecord, edge: Extract<Edge, { kind: "fail" }>, now: number): Decision {
  const end = endOf(edge.reason, edge.message, edge.retryable);
  if (!edge.retryable || row.attempt >= row.max_attempts || row.cancel_json !== null) {
    return ending("fail", "failed", row, now, end, edge.result);
  }
  return again("fail", "requeued", row, now, end, edge.result, edge.backoffMs ?? 0, "failed");
}

function lose(row: TaskRecord, now: number): Decision {
  if (row.lease_until === null || row.lease_until > now || row.cancel_json !== null) return { refused: "wrong_state" };
  const left = row.attempt < row.max_attempts && row.on_lost === "requeue";
  const end = endOf("lease_lost", `the claim of attempt ${row.attempt} ran out: its holder is gone or stalled`, true);
  return left
    ? again("lose", "lease_lost", row, now, end, undefined, 0, "lost")
    : ending("lose", "failed", row, now, end);
}

function cancel(row: TaskRecord, edge: Extract<Edge, { kind: "cancel" }>, now: number): Decision {
  if (isHeld(row)) {
    const over = row.cancel_at !== null && (row.cancel_at + cancelGraceOf(row) <= now || (row.lease_until ?? 0) <= now);
    const byHolder = edge.ref !== undefined && row.cancel_json !== null;
    if (!over && !byHolder) return { refused: "wrong_state" };
  }
  const message = edge.reason ?? "";
  return ending("cancel", "cancelled", row, now, endOf("cancelled", message), edge.result, { by: edge.by });
}

function decideApproval(row: TaskRecord, edge: Extract<Edge, { kind: "decide" }>, around: Surroundings): Decision {
  const { approval, now } = around;
  if (approval === undefined || approval.state !== "open") return { refused: "wrong_state" };
  const late = Date.parse(approval.expiresAt) <= now;
  const expired = edge.by === "expiry";
  if (late !== expired) return { refused: "wrong_state" };
  const event = expired ? "expired" : edge.decision;
  const allowed = edge.decision === "approved";
  const data = { approvalId: approval.id, by: edge.by, comment: edge.comment ?? null, allowed };
  if (edge.cancel === true && event === "rejected") {
    return ending(
      "decide",
      "cancelled",
      row,
      now,
      endOf("cancelled", edge.comment ?? "rejected"),
      undefined,
      data,
      event,
    );
  }
  if (!allowed && approval.onReject === "end") {
    const end = expired
      ? endOf("approval_expired", `nobody decided on "${approval.title}" in time`)
      : endOf("approval_rejected", edge.comment ?? `"${approval.title}" was rejected`);
    return ending("decide", "failed", row, now, end, undefined, data, event);
  }
  // An attached run keeps its claim's lease: it is taken up first by the engine where it waits.
  const kept = row.attached === 1 && (row.lease_until ?? 0) > now ? {} : freed;
  const changes = {
    state: "queued",
    queued_at: now,
    wait_until: null,
    ...kept,
    ...note({ why: "approval", approvalId: approval.id }),
  } as const;
  return { ...move("decide", "queued", data, changes, event), frees: row.attached === 0 };
}

function unblock(row: TaskRecord, { dependencies, now }: Surroundings): Decision {
  if (dependencies === undefined || dependencies.open > 0) return { refused: "wrong_state" };
  if (dependencies.failed !== null) {
    const end = endOf("dependency_failed", `${dependencies.failed} did not complete`);
    return ending("unblock", "failed", row, now, end);
  }
  return move("unblock", "queued", {}, { queued_at: now });
}

function retry(row: TaskRecord, edge: Extract<Edge, { kind: "retry" }>, now: number): Decision {
  const attempt = row.attempt + 1;
  const session = edge.keepSession === false ? null : row.session_id;
  return move(
    "retry",
    "queued",
    { by: edge.by, attempt, resumes: session !== null, modifyPrompt: edge.modifyPrompt ?? null },
    {
      ...freed,
      ...note({ why: "retry", modifyPrompt: edge.modifyPrompt ?? null }),
      attempt,
      attempt_open: 1,
      max_attempts: Math.max(row.max_attempts, attempt),
      session_id: session,
      cancel_json: null,
      cancel_at: null,
      not_before: null,
      queued_at: now,
      claimed_at: null,
      started_at: null,
      activity_at: null,
      ended_at: null,
      end_json: null,
    },
  );
}

/** Into `waiting`; the claim stays with a run that waits, and ends otherwise. */
function wait(
  kind: "ask" | "hold",
  row: TaskRecord,
  now: number,
  attached: boolean,
  expiresMs: number | undefined,
  key: string,
): Transition {
  const limit = expiresMs ?? limitsOf(row).approvalMs ?? defaultLimits.approvalMs;
  const changes: Partial<TaskRecord> = { wait_until: now + limit, ...(attached ? { attached: 1 } : freed) };
  if (kind === "ask") changes.attempt_open = 1;
  return {
    ...move(kind, "waiting", { key, expiresAt: new Date(now + limit).toISOString() }, changes),
    frees: !attached,
  };
}

/** Back to the queue with the same attempt. */
function requeue(
  kind: "release",
  event: "released",
  row: TaskRecord,
  now: number,
  why: ResumeNote,
  data: Record<string, unknown>,
): Transition {
  const changes: Partial<TaskRecord> = { ...freed, ...note(why), queued_at: now, attempt_open: 1, activity_at: null };
  if (row.state === "starting") changes.started_at = null;
  return { ...move(kind, "queued", data, changes, event), frees: true };
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
        ...note({ why }),
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
function ending(
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
        ...freed,
        attempt_open: 0,
        ended_at: now,
        wait_until: null,
        resume_json: null,
        end_json: JSON.stringify(end),
        ...(row.started_at === null && row.claimed_at !== null && { started_at: row.claimed_at }),
      },
      event,
    ),
    ends: { state, end, result: kept(state, result), partial: state !== "completed" },
    frees: true,
  };
}

/** An empty text is a result of a completed task only. */
function kept(state: TaskState, result: NewResult | undefined): NewResult | null {
  if (result === undefined || (result.text === "" && state !== "completed")) return null;
  return result;
}

/** The row of the table with this target and, where several share it, this event. */
function move(
  kind: EdgeKind,
  to: Outcome["to"],
  data: Record<string, unknown>,
  changes: Partial<TaskRecord>,
  event?: Outcome["event"],
): Transition {
  const outcomes: readonly Outcome[] = EDGES[kind].outcomes;
  const outcome = outcomes.find((one) => one.to === to && (event === undefined || one.event === event));
  if (outcome === undefined) throw new TypeError(`the table has no outcome ${to} ${event ?? ""} of ${kind}`);
  return { outcome, data, changes: to === "same" ? changes : { ...changes, state: to }, ends: null, frees: false };
}

function named(edge: { sessionId?: string | null; handle?: unknown }): Partial<TaskRecord> {
  return {
    ...(edge.sessionId !== undefined && edge.sessionId !== null && { session_id: edge.sessionId }),
    ...("handle" in edge && { handle_json: JSON.stringify(edge.handle ?? null) }),
  };
}

function cancelNote(edge: Extract<Edge, { kind: "request_cancel" }>, now: number): Partial<TaskRecord> {
  const at = new Date(now).toISOString();
  return { cancel_json: JSON.stringify({ by: edge.by, reason: edge.reason, at }), cancel_at: now };
}

function note(resume: ResumeNote): Partial<TaskRecord> {
  return { resume_json: JSON.stringify(resume) };
}

function waitsFor(row: TaskRecord): string {
  if (row.kind === "board") return row.assignee === null ? "somebody to claim it" : `${row.assignee} to claim it`;
  return row.lane === null ? "a dispatcher to start it" : `a slot in lane ${row.lane}`;
}

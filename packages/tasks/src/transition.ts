import { EDGES, type Edge } from "./edges.ts";
import { cancel, complete, ending, fail, lose, named } from "./endings.ts";
import type { Actor, Approval, TaskState } from "./model.ts";
import { dueOf, endOf, holds, queueEndOf, type ResumeNote, type TaskRecord } from "./record.ts";
import { carried, type Decision, freed, move, note, type Transition } from "./step.ts";
import { decideApproval, wait } from "./waiting.ts";

/** What an edge may need to know beside the row. */
export interface Surroundings {
  now: number;
  /** The approval that `decide` names, if it is of this task. */
  approval?: Approval | undefined;
  /** Of `unblock`: dependencies that have not ended, and the first that ended badly. */
  dependencies?: { open: number; failed: string | null } | undefined;
}

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
      unindexed: 1,
    },
  );
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
  const changes: Partial<TaskRecord> = {
    ...freed,
    ...note(carried(row, why)),
    queued_at: now,
    attempt_open: 1,
    activity_at: null,
  };
  if (row.state === "starting") changes.started_at = null;
  return { ...move(kind, "queued", data, changes, event), frees: true };
}

function cancelNote(edge: Extract<Edge, { kind: "request_cancel" }>, now: number): Partial<TaskRecord> {
  const at = new Date(now).toISOString();
  return { cancel_json: JSON.stringify({ by: edge.by, reason: edge.reason, at }), cancel_at: now };
}

function waitsFor(row: TaskRecord): string {
  if (row.kind === "board") return row.assignee === null ? "somebody to claim it" : `${row.assignee} to claim it`;
  return row.lane === null ? "a dispatcher to start it" : `a slot in lane ${row.lane}`;
}

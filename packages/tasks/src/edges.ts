import {
  type Actor,
  type ApprovalKind,
  type Approvers,
  type Decider,
  type EndReason,
  type EventKind,
  endedStates,
  type NoticeKind,
  type Remaining,
  states,
  type TaskState,
  type TaskStatus,
} from "./model.ts";
import type { ClaimRef } from "./store.ts";

/** One way an edge can come out: where to, with which event, and what the owner is told. */
export interface Outcome {
  /** `same`: the state stays. */
  to: TaskState | "same";
  event: EventKind;
  notice: NoticeKind | null;
}

export interface EdgeRule {
  /** Empty: the task does not exist yet. */
  from: readonly TaskState[];
  /** `fence`: needs the live claim; `fence_or_request`: that, or in `blocked`, `queued`, `waiting` anybody. */
  guard: "none" | "fence" | "fence_where_held";
  by: readonly EdgeActor[];
  outcomes: readonly Outcome[];
}

export type EdgeActor =
  | "poster"
  | "dependency"
  | "sweep"
  | "engine"
  | "worker"
  | "holder"
  | "approver"
  | "canceller"
  | "caller";

const to = (state: Outcome["to"], event: EventKind, notice: NoticeKind | null = null): Outcome => ({
  to: state,
  event,
  notice,
});

/**
 * The only ways a task changes state. An edge is one transaction: the task row, one event, at most one notice, and the
 * budget rows it names. Any other move writes nothing; ended states absorb every edge but `retry`.
 */
export const EDGES = {
  post: {
    from: [],
    guard: "none",
    by: ["poster"],
    outcomes: [to("queued", "posted", "task_posted"), to("blocked", "posted", "task_posted")],
  },
  unblock: {
    from: ["blocked"],
    guard: "none",
    by: ["dependency", "sweep"],
    outcomes: [to("queued", "unblocked"), to("failed", "failed", "failed")],
  },
  claim: {
    from: ["queued"],
    guard: "none",
    by: ["engine", "worker"],
    outcomes: [to("starting", "claimed"), to("running", "claimed")],
  },
  start: { from: ["starting"], guard: "fence", by: ["holder"], outcomes: [to("running", "started")] },
  ask: {
    from: ["starting", "running"],
    guard: "fence",
    by: ["holder"],
    outcomes: [to("waiting", "approval_requested", "approval")],
  },
  hold: {
    from: ["queued"],
    guard: "none",
    by: ["sweep"],
    outcomes: [to("waiting", "approval_requested", "approval")],
  },
  decide: {
    from: ["waiting"],
    guard: "none",
    by: ["approver", "sweep"],
    outcomes: [
      to("queued", "approved"),
      to("queued", "rejected"),
      to("queued", "expired"),
      to("failed", "rejected", "failed"),
      to("failed", "expired", "failed"),
      to("cancelled", "rejected", "cancelled"),
    ],
  },
  complete: {
    from: ["starting", "running"],
    guard: "fence",
    by: ["holder"],
    outcomes: [to("completed", "completed", "completed"), to("failed", "failed", "failed")],
  },
  fail: {
    from: ["starting", "running"],
    guard: "fence",
    by: ["holder"],
    outcomes: [to("failed", "failed", "failed"), to("queued", "requeued")],
  },
  time_out: {
    from: ["starting", "running"],
    guard: "fence",
    by: ["holder"],
    outcomes: [to("timed_out", "timed_out", "timeout"), to("failed", "failed", "failed")],
  },
  release: { from: ["starting", "running"], guard: "fence", by: ["holder"], outcomes: [to("queued", "released")] },
  lose: {
    from: ["starting", "running"],
    guard: "none",
    by: ["sweep", "engine", "worker"],
    outcomes: [to("queued", "lease_lost"), to("failed", "lease_lost", "failed")],
  },
  expire: { from: ["queued"], guard: "none", by: ["sweep"], outcomes: [to("failed", "failed", "failed")] },
  request_cancel: {
    from: ["starting", "running"],
    guard: "none",
    by: ["canceller"],
    outcomes: [to("same", "cancel_requested")],
  },
  cancel: {
    from: ["blocked", "queued", "waiting", "starting", "running"],
    guard: "fence_where_held",
    by: ["canceller", "holder", "sweep"],
    outcomes: [to("cancelled", "cancelled", "cancelled")],
  },
  exceed: {
    from: ["queued", "starting", "running"],
    guard: "fence_where_held",
    by: ["engine", "holder"],
    outcomes: [to("cancelled", "budget_exceeded", "budget")],
  },
  retry: { from: endedStates, guard: "none", by: ["caller"], outcomes: [to("queued", "retried")] },
} as const satisfies Record<string, EdgeRule>;

export type EdgeKind = keyof typeof EDGES;

/** A result as the holder brings it. */
export interface NewResult {
  text: string;
  /** Code points the holder itself left out in front. @default 0 */
  droppedChars?: number;
}

export interface NewApproval {
  kind: ApprovalKind;
  /** Call id, or hash of the arguments. */
  key: string;
  title: string;
  detail?: unknown;
  approvers: Approvers;
  /** @default `approvalMs` of the task */
  expiresMs?: number;
  /** @default "reject" */
  onExpire?: "reject" | "allow";
  /** @default "resume" */
  onReject?: "resume" | "end";
}

interface Keyed {
  /** Made by the caller, new for each wish: an edge sent again with its key is applied once. */
  key: string;
}
interface Held extends Keyed {
  ref: ClaimRef;
}

/** Every edge but `post` and `claim`, which have methods of their own. */
export type Edge =
  | ({ kind: "start"; sessionId?: string | null; handle?: unknown } & Held)
  | ({ kind: "ask"; approval: NewApproval; attached: boolean } & Held)
  | ({ kind: "complete"; result: NewResult; sessionId?: string | null } & Held)
  | ({
      kind: "fail";
      reason: EndReason;
      message: string;
      retryable: boolean;
      /** Earliest next claim, when it goes back to the queue. @default 0 */
      backoffMs?: number;
      result?: NewResult;
    } & Held)
  | ({
      kind: "time_out";
      reason: "wall_timeout" | "idle_timeout" | "not_started";
      message: string;
      result?: NewResult;
    } & Held)
  | ({ kind: "release"; reason?: string } & Held)
  | ({ kind: "exceed"; message: string; ref?: ClaimRef; result?: NewResult } & Keyed)
  | ({ kind: "request_cancel"; by: Actor; reason: string | null } & Keyed)
  | ({ kind: "cancel"; by: Actor; reason: string | null; ref?: ClaimRef; result?: NewResult } & Keyed)
  | ({
      kind: "decide";
      approvalId: string;
      decision: "approved" | "rejected";
      by: Decider;
      comment?: string | null;
      /** A no ends the task as cancelled instead of what the approval says. @default false */
      cancel?: boolean;
    } & Keyed)
  | ({ kind: "hold"; approval: NewApproval } & Keyed)
  | ({
      kind: "retry";
      by: Actor;
      /** Put before the prompt, or sent alone to a session that goes on. */
      modifyPrompt?: string | null;
      /** The attempt starts with the task's own counters at zero. @default false */
      resetBudget?: boolean;
      /** Whether the subagent's session goes on. @default true where there is one */
      keepSession?: boolean;
    } & Keyed)
  | ({ kind: "unblock" } & Keyed)
  | ({ kind: "lose" } & Keyed)
  | ({ kind: "expire" } & Keyed);

const shown: Readonly<Record<TaskState, TaskStatus>> = {
  blocked: "pending",
  queued: "pending",
  starting: "pending",
  running: "running",
  waiting: "awaiting_approval",
  completed: "completed",
  failed: "error",
  timed_out: "timeout",
  cancelled: "cancelled",
};

/** The status that is shown for a state. */
export function statusOf(state: TaskState): TaskStatus {
  return shown[state];
}

/** Whether only a retry leaves this state. */
export function isEnded(state: TaskState): boolean {
  return endedStates.some((ended) => ended === state);
}

/** The states that a status stands for. */
export function statesOf(status: TaskStatus): TaskState[] {
  return states.filter((state) => statusOf(state) === status);
}

/** Under which heading an open task counts for its owner. */
export function heapOf(state: TaskState | null): keyof Remaining | null {
  switch (state) {
    case "blocked":
    case "queued":
    case "starting":
      return "queued";
    case "running":
      return "running";
    case "waiting":
      return "waiting";
    default:
      return null;
  }
}

/** What a reader is told. */
export const statuses = [
  "pending",
  "running",
  "awaiting_approval",
  "completed",
  "error",
  "cancelled",
  "timeout",
] as const;
export type TaskStatus = (typeof statuses)[number];

/** What the store knows; every change is a row of `EDGES`. */
export const states = [
  "blocked",
  "queued",
  "starting",
  "running",
  "waiting",
  "completed",
  "failed",
  "timed_out",
  "cancelled",
] as const;
export type TaskState = (typeof states)[number];

/** States that only a retry leaves. */
export const endedStates = ["completed", "failed", "timed_out", "cancelled"] as const;

export const endReasons = [
  "done",
  "runner_failed",
  "runner_unavailable",
  "not_started",
  "no_result",
  "queue_timeout",
  "wall_timeout",
  "idle_timeout",
  "lease_lost",
  "dependency_failed",
  "approval_rejected",
  "approval_expired",
  "budget_exceeded",
  "cancelled",
] as const;
export type EndReason = (typeof endReasons)[number];

export interface Actor {
  agent: string;
  sessionId: string;
}

export type TaskKind = "dispatch" | "board";
export type TaskMode = "sync" | "background";

/** How an attempt ended. */
export interface TaskEnd {
  reason: EndReason;
  message: string;
  retryable: boolean;
}

/** A stored result, without its text: `TaskStore.readResult` reads that. */
export interface TaskResult {
  /** Code points of what is stored. */
  chars: number;
  /** The first 4,000 code points. */
  head: string;
  sha256: string;
  /** Written before the attempt failed. */
  partial: boolean;
  /** Code points in front that were not kept. */
  droppedChars: number;
}

/**
 * Tokens and money. Input is counted without cache, output with reasoning; `null`: the runner did not say.
 * `complete` is false while the attempt runs, or when a runner reports nothing.
 */
export interface Usage {
  inputTokens: number | null;
  outputTokens: number | null;
  reasoningTokens: number | null;
  cacheReadTokens: number | null;
  cacheWriteTokens: number | null;
  costUsd: number | null;
  complete: boolean;
}

/** What nobody has said anything of: unknown, not zero. */
export const unknownUsage: Readonly<Usage> = {
  inputTokens: null,
  outputTokens: null,
  reasoningTokens: null,
  cacheReadTokens: null,
  cacheWriteTokens: null,
  costUsd: null,
  complete: false,
};

/** One piece of work. Times are ISO 8601 UTC, durations milliseconds, lengths code points. */
export interface Task {
  id: string;
  /** Order of posting on this store. */
  seq: number;
  kind: TaskKind;
  /** Of a dispatch task: its description, or the first line of the prompt. */
  title: string;
  /** Of a dispatch task: the prompt. */
  body: string;
  agent: string | null;
  assignee: string | null;
  createdBy: Actor;
  claimedBy: Actor | null;
  leaseUntil: string | null;
  state: TaskState;
  status: TaskStatus;
  mode: TaskMode | null;
  priority: number;
  lane: string | null;
  ownerSession: string;
  rootSession: string;
  parentTask: string | null;
  depth: number;
  continues: string | null;
  dependsOn: readonly string[];
  attempt: number;
  maxAttempts: number;
  /** Grows with every claim. */
  fence: number;
  cancelRequested: { by: Actor; reason: string | null; at: string } | null;
  /** The subagent's own session, known once it has started. */
  sessionId: string | null;
  createdAt: string;
  notBefore: string | null;
  startedAt: string | null;
  lastActivityAt: string | null;
  endedAt: string | null;
  durationMs: number | null;
  end: TaskEnd | null;
  result: TaskResult | null;
  /** Of all attempts together. */
  usage: Usage | null;
  lastEventSeq: number;
  metadata: Record<string, unknown> | null;
}

/** One try at a task. Once ended it is never changed. */
export interface Attempt {
  taskId: string;
  attempt: number;
  state: TaskState;
  sessionId: string | null;
  startedAt: string | null;
  endedAt: string | null;
  end: TaskEnd | null;
  result: TaskResult | null;
  usage: Usage | null;
}

export const edgeEventKinds = [
  "posted",
  "unblocked",
  "claimed",
  "started",
  "approval_requested",
  "approved",
  "rejected",
  "expired",
  "completed",
  "failed",
  "requeued",
  "timed_out",
  "released",
  "lease_lost",
  "cancel_requested",
  "cancelled",
  "budget_exceeded",
  "retried",
] as const;
/** Events that are not edges. */
export const noteEventKinds = [
  "activity",
  "usage",
  "progress",
  "checkpoint",
  "budget_warning",
  "late_result",
  "transcript",
] as const;
export const eventKinds = [...edgeEventKinds, ...noteEventKinds] as const;
export type EventKind = (typeof eventKinds)[number];

/** `seq` runs from 1 per task, without gaps. */
export interface TaskEvent {
  taskId: string;
  seq: number;
  attempt: number;
  at: string;
  kind: EventKind;
  data: Record<string, unknown>;
}

/** Limits in milliseconds; `null` is none. */
export interface TimeLimits {
  /** From `queued` to the claim. @default null */
  queueMs: number | null;
  /** From the claim to the start. @default 60_000 */
  startMs: number;
  /** From the start of the attempt; stands still in `waiting`. @default 1_800_000 */
  wallMs: number;
  /** Since the last text, tool or usage report. @default 600_000 */
  idleMs: number;
  /** @default 30_000 for dispatch tasks, 600_000 on the board */
  leaseMs: number;
  /** From the ask. @default 86_400_000 */
  approvalMs: number;
  /** From a request to cancel until the sweep ends it. @default 10_000 */
  cancelGraceMs: number;
}

export const budgetMeasures = ["inputTokens", "outputTokens", "totalTokens", "costUsd", "sessions"] as const;
export type BudgetMeasure = (typeof budgetMeasures)[number];
/** What may be spent; a measure left out is unlimited. */
export type BudgetLimits = { [M in BudgetMeasure]?: number | undefined };
export type BudgetAmount = Record<BudgetMeasure, number>;
/** A root session, or a task with everything below it. */
export type BudgetScope = { root: string } | { task: string };

export interface BudgetState {
  scope: BudgetScope;
  limits: BudgetLimits | null;
  /** `null`: attempts ran here and none of them said. */
  used: Record<BudgetMeasure, number | null>;
  /** Held by live claims and not yet used. */
  reserved: BudgetAmount;
  /** Ended attempts below this scope that never reported usage. */
  unknownUsage: number;
  /**
   * Of a task with a live claim: what it was granted, and what it reported since. `exceeded` is the first measure of
   * which it used more than it was granted although a top-up was tried: then the holder applies `exceed`.
   */
  claim: { granted: BudgetLimits; consumed: BudgetAmount; exceeded: BudgetMeasure | null } | null;
}

export type Approvers = "human" | "owner" | readonly string[];
export type ApprovalKind = "launch" | "tool" | "stale_resume";

export interface Approval {
  id: string;
  taskId: string;
  attempt: number;
  kind: ApprovalKind;
  /** Call id, or hash of the arguments: one ask per task, attempt and key. */
  key: string;
  agent: string;
  title: string;
  detail: unknown;
  approvers: Approvers;
  state: "open" | "approved" | "rejected" | "expired";
  /** What silence means. */
  onExpire: "reject" | "allow";
  /** What a no means for the run. */
  onReject: "resume" | "end";
  /** Whether a run waits inside its `ask()`. */
  attached: boolean;
  requestedAt: string;
  expiresAt: string;
  decidedAt: string | null;
  decidedBy: Decider | null;
  comment: string | null;
}

/** Who decided: an agent, a person outside, or nobody in time. */
export type Decider = Actor | { human: string } | "expiry";

export interface ApprovalDecision {
  approvalId: string;
  key: string;
  decision: "approved" | "rejected" | "expired";
  /** Whether the effect may happen: approved, or expired where silence allows. */
  allowed: boolean;
  by: Decider;
  comment: string | null;
}

export const noticeKinds = [
  "completed",
  "failed",
  "timeout",
  "cancelled",
  "budget",
  "approval",
  "progress",
  "task_posted",
] as const;
export type NoticeKind = (typeof noticeKinds)[number];

/** A message to an owner as it is stored; text is made at delivery from the task it names. */
export interface StoredNotice {
  /** `<task>:<attempt>:<kind>[:<n>]`: one per attempt and kind, for good. */
  id: string;
  /** A session, or `agent:<name>`. */
  to: string;
  kind: NoticeKind;
  taskId: string;
  attempt: number;
  /** The owner's unfinished tasks when this was written. */
  remaining: Remaining;
  /** True exactly once: for the last of the owner's open tasks. */
  allSettled: boolean;
  /** Whether it is worth starting a turn. */
  wake: boolean;
  createdAt: string;
  /** How often it was leased before. */
  tries: number;
}

export interface Remaining {
  running: number;
  queued: number;
  waiting: number;
}

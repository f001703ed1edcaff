import type { EndReason, TaskEnd, TaskKind, TaskMode, TaskState, TimeLimits } from "./model.ts";

/** A task as a backend keeps it: one flat row, times in milliseconds, `*_json` as JSON text. */
export interface TaskRecord {
  seq: number;
  id: string;
  kind: TaskKind;
  title: string;
  agent: string | null;
  assignee: string | null;
  created_agent: string;
  created_session: string;
  claimed_agent: string | null;
  claimed_session: string | null;
  engine: string | null;
  token_hash: string | null;
  lease_until: number | null;
  /** The run waits in its `ask()`: its engine has the first right to go on while the lease lives. */
  attached: number;
  state: TaskState;
  mode: TaskMode | null;
  /** The mode it is counted under in its lane. */
  class: TaskMode | null;
  priority: number;
  lane: string | null;
  owner: string;
  root: string;
  parent: string | null;
  depth: number;
  continues: string | null;
  slot_of: string | null;
  dedupe_key: string | null;
  depends_json: string | null;
  attempt: number;
  /** Whether the next claim goes on with `attempt` instead of beginning another. */
  attempt_open: number;
  max_attempts: number;
  on_lost: "requeue" | "fail";
  fence: number;
  /** Attempts that a claim has begun. */
  sessions: number;
  cancel_json: string | null;
  cancel_at: number | null;
  session_id: string | null;
  handle_json: string | null;
  limits_json: string | null;
  allow_empty: number;
  /** Whether a reservation is held for it. */
  reserved: number;
  resume_json: string | null;
  not_before: number | null;
  created_at: number;
  queued_at: number | null;
  claimed_at: number | null;
  started_at: number | null;
  activity_at: number | null;
  ended_at: number | null;
  /** When the open approval of a waiting task expires. */
  wait_until: number | null;
  end_json: string | null;
  usage_json: string | null;
  last_seq: number;
  meta_json: string | null;
  /** The next moment at which time alone changes something. */
  due_at: number | null;
  /** 1 while the search index does not know its newest texts. */
  unindexed: number | null;
  /** Whether others wait for it to end. */
  needed: number;
}

/** Every column, in the order in which rows are packed. */
export const recordColumns = [
  "seq",
  "id",
  "kind",
  "title",
  "agent",
  "assignee",
  "created_agent",
  "created_session",
  "claimed_agent",
  "claimed_session",
  "engine",
  "token_hash",
  "lease_until",
  "attached",
  "state",
  "mode",
  "class",
  "priority",
  "lane",
  "owner",
  "root",
  "parent",
  "depth",
  "continues",
  "slot_of",
  "dedupe_key",
  "depends_json",
  "attempt",
  "attempt_open",
  "max_attempts",
  "on_lost",
  "fence",
  "sessions",
  "cancel_json",
  "cancel_at",
  "session_id",
  "handle_json",
  "limits_json",
  "allow_empty",
  "reserved",
  "resume_json",
  "not_before",
  "created_at",
  "queued_at",
  "claimed_at",
  "started_at",
  "activity_at",
  "ended_at",
  "wait_until",
  "end_json",
  "usage_json",
  "last_seq",
  "meta_json",
  "due_at",
  "unindexed",
  "needed",
] as const satisfies readonly (keyof TaskRecord)[];

/** What the next claim is told, kept with the row. */
export interface ResumeNote {
  why: "approval" | "retry" | "release" | "lost" | "failed" | "continue";
  modifyPrompt?: string | null;
  approvalId?: string | undefined;
}

export const defaultLimits: Omit<TimeLimits, "leaseMs"> = {
  queueMs: null,
  startMs: 60_000,
  wallMs: 1_800_000,
  idleMs: 600_000,
  approvalMs: 86_400_000,
  cancelGraceMs: 10_000,
};

export function limitsOf(record: Pick<TaskRecord, "limits_json">): Partial<TimeLimits> {
  return record.limits_json === null ? {} : (JSON.parse(record.limits_json) as Partial<TimeLimits>);
}

/** Whether somebody has the right to work on it, as far as the row says. */
export function isHeld(record: Pick<TaskRecord, "state">): boolean {
  return record.state === "starting" || record.state === "running";
}

/** Whether the claim with this fence lives at `now`. */
export function holds(record: TaskRecord, fence: number, now: number): boolean {
  if (record.fence !== fence || record.lease_until === null || record.lease_until <= now) return false;
  return isHeld(record) || record.attached === 1;
}

/** When time alone changes this row next: a lease, a grace, a queue limit or an approval that ends. */
export function dueOf(record: TaskRecord): number | null {
  switch (record.state) {
    case "starting":
    case "running": {
      const grace = record.cancel_at === null ? null : record.cancel_at + cancelGraceOf(record);
      return least(record.lease_until, grace);
    }
    case "waiting":
      return least(record.wait_until, record.attached === 1 ? record.lease_until : null);
    case "queued":
      return least(queueEndOf(record), record.attached === 1 ? record.lease_until : null);
    default:
      return null;
  }
}

export function cancelGraceOf(record: TaskRecord): number {
  return limitsOf(record).cancelGraceMs ?? defaultLimits.cancelGraceMs;
}

/** When a queued task has waited too long. */
export function queueEndOf(record: TaskRecord): number | null {
  const queueMs = limitsOf(record).queueMs ?? null;
  if (queueMs === null || record.queued_at === null) return null;
  return Math.max(record.queued_at, record.not_before ?? 0) + queueMs;
}

function least(a: number | null, b: number | null): number | null {
  if (a === null) return b;
  return b === null ? a : Math.min(a, b);
}

export function endOf(reason: EndReason, message: string, retryable = false): TaskEnd {
  return { reason, message, retryable };
}

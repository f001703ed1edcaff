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

/** A task of which nothing is known yet: the one list of all columns, in the order in which rows are packed. */
export const blankRecord: Readonly<TaskRecord> = {
  seq: 0,
  id: "",
  kind: "board",
  title: "",
  agent: null,
  assignee: null,
  created_agent: "",
  created_session: "",
  claimed_agent: null,
  claimed_session: null,
  engine: null,
  token_hash: null,
  lease_until: null,
  attached: 0,
  state: "queued",
  mode: null,
  class: null,
  priority: 0,
  lane: null,
  owner: "",
  root: "",
  parent: null,
  depth: 0,
  continues: null,
  slot_of: null,
  dedupe_key: null,
  depends_json: null,
  attempt: 0,
  attempt_open: 0,
  max_attempts: 1,
  on_lost: "requeue",
  fence: 0,
  sessions: 0,
  cancel_json: null,
  cancel_at: null,
  session_id: null,
  handle_json: null,
  limits_json: null,
  allow_empty: 0,
  reserved: 0,
  resume_json: null,
  not_before: null,
  created_at: 0,
  queued_at: null,
  claimed_at: null,
  started_at: null,
  activity_at: null,
  ended_at: null,
  wait_until: null,
  end_json: null,
  usage_json: null,
  last_seq: 1,
  meta_json: null,
  due_at: null,
  unindexed: null,
  needed: 0,
};

/** Every column, in the order in which rows are packed. */
export const recordColumns = Object.keys(blankRecord) as readonly (keyof TaskRecord)[];

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

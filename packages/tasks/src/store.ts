import type { Edge } from "./edges.ts";
import type {
  Actor,
  Approval,
  ApprovalDecision,
  Attempt,
  BudgetLimits,
  BudgetScope,
  BudgetState,
  EventKind,
  NoticeKind,
  StoredNotice,
  Task,
  TaskEnd,
  TaskEvent,
  TaskKind,
  TaskMode,
  TaskStatus,
  TimeLimits,
  Usage,
} from "./model.ts";

/** A task store opened by nobody yet: the first method opens it. */
export interface TaskBackend extends AsyncDisposable {
  readonly queue: TaskQueue;
  readonly store: TaskStore;
  /** Where another process finds the same store, as `TOOLHAFT_STORE` says it: a folder, a file, or an address. */
  readonly location?: string;
  /** Idempotent; ends every listener and timer. */
  close(): Promise<void>;
}

/** Who may run what, now. */
export interface TaskQueue {
  /**
   * All or none. `created` is false where an open task has the dedupe key already.
   *
   * @throws ToolError `invalid_input` (unknown dependency) · `unavailable` (`maxQueued` reached; `details: { queued, limit, lane }`)
   */
  post(tasks: readonly NewTask[]): Promise<readonly { task: Task; created: boolean }[]>;
  /** Up to `n` tasks in one transaction: highest priority first, then the oldest. */
  claim(query: ClaimQuery): Promise<readonly Claim[]>;
  /** One answer per ref, in order. */
  renew(refs: readonly ClaimRef[], leaseMs: number): Promise<readonly ("ok" | "cancel_requested" | "lost")[]>;
  /** Every other edge. A refused one writes nothing, but a refused settle leaves its text as `late_result`. */
  apply(taskId: string, edge: Edge): Promise<Applied>;
  /** Makes visible what time has done. Any process, any time; idempotent. @param limit Most tasks moved. @default 1_000 */
  sweep(limit?: number): Promise<SweepReport>;
  /** Hints, not a log: look again after each. Changes of other processes come without a task. */
  onChange(listener: (hint: ChangeHint) => void): Promise<AsyncDisposable>;
}

export interface ChangeHint {
  /** Left out when another process changed something. */
  taskId?: string;
  kind: EventKind | "notice" | "unknown";
}

export interface NewTask {
  kind: TaskKind;
  title: string;
  body: string;
  createdBy: Actor;
  ownerSession: string;
  rootSession: string;
  agent?: string | null;
  assignee?: string | null;
  mode?: TaskMode | null;
  /** -100 to 100, higher first. @default 0 */
  priority?: number;
  lane?: string | null;
  parentTask?: string | null;
  /** @default 0 */
  depth?: number;
  /** Id of the ended task whose session this one goes on with. */
  continues?: string | null;
  /** The session to go on with. */
  sessionId?: string | null;
  /** Id of the parent that waits for it and lends its slot. */
  slotOf?: string | null;
  dependsOn?: readonly string[];
  /** At most one open task has it. */
  dedupeKey?: string | null;
  /** @default 1 */
  maxAttempts?: number;
  /** What a lost claim means while attempts are left. @default "requeue" */
  onLost?: "requeue" | "fail";
  /** Milliseconds since the epoch. */
  notBefore?: number | null;
  limits?: Partial<TimeLimits>;
  /** Of this task and everything below it. */
  budget?: BudgetLimits | null;
  /** Whether an empty result is a success. @default true on the board, false for dispatch tasks */
  allowEmptyOutput?: boolean;
  metadata?: Record<string, unknown> | null;
  /** Posting is refused when so many tasks wait already: in its lane, or on the board. */
  maxQueued?: number;
}

export interface ClaimRef {
  taskId: string;
  fence: number;
}

export interface Claim extends ClaimRef {
  task: Task;
  /** Secret of the claim; only its hash is stored. */
  token: string;
  leaseUntil: string;
  /** What an attempt goes on with; null for a first one. */
  resume: Resume | null;
  /** What was set aside in the budgets above it; null where none has limits. */
  reserved: BudgetLimits | null;
  terms: TaskTerms;
}

/** What a task was posted with and the holder needs; not part of its record. */
export interface TaskTerms {
  limits: Partial<TimeLimits>;
  budget: BudgetLimits | null;
  onLost: "requeue" | "fail";
  allowEmptyOutput: boolean;
  /** Engine of the live or last claim. */
  engine: string | null;
  /** What `start` brought to find the run again. */
  handle: unknown;
}

export interface Resume {
  why: "approval" | "retry" | "release" | "lost" | "failed" | "continue";
  /** The subagent's session to go on with. */
  session: string | null;
  /** Last text of kind `transcript`. */
  transcript: string | null;
  /** Last checkpoint of any attempt. */
  checkpoint: TaskEvent | null;
  modifyPrompt: string | null;
  decision: ApprovalDecision | null;
  /** The run is still there and waits in its `ask()`. */
  attached: boolean;
  handle: unknown;
  previous: { attempt: number; end: TaskEnd | null } | null;
}

export interface ClaimQuery {
  by: Actor;
  /** Id of the dispatcher. */
  engine?: string;
  kind: TaskKind;
  /** @default 1 */
  n?: number;
  /** Only tasks for these agents. */
  agents?: readonly string[];
  taskId?: string;
  minPriority?: number;
  /** Only tasks below this top session. */
  rootSession?: string;
  lanes?: LaneLimits;
  /** What a claim sets aside where a budget is limited. @default 50_000 tokens, 0.5 USD */
  step?: BudgetLimits;
  /** Milliseconds. @throws TypeError unless above 0 */
  leaseMs: number;
  /** Whether a lease that the task was posted with goes before `leaseMs`. @default false */
  ownLease?: boolean;
}

export interface LaneLimit {
  limit: number;
  /** Slots that background tasks never take. */
  reservedSync: number;
}

export interface LaneLimits {
  default: LaneLimit;
  lanes?: Readonly<Record<string, LaneLimit>>;
  /** Active tasks of one owner. */
  perOwner?: number | null;
  /** Active tasks of the store. */
  total?: number | null;
  /** Whether a task that waits for an approval counts. @default false */
  holdSlotWhileWaiting?: boolean;
}

export type Applied =
  | { ok: true; task: Task; event: TaskEvent }
  | { ok: false; why: "stale" | "wrong_state" | "not_found"; task?: Task };

export interface SweepReport {
  moved: readonly { taskId: string; event: EventKind }[];
  /** Whether the limit cut it short. */
  more: boolean;
}

export interface Page<T> {
  items: readonly T[];
  total: number;
  nextCursor: string | null;
}

export interface TaskQuery {
  /** Every term must occur; `*` alone, or nothing, is all. */
  text?: string;
  kind?: TaskKind;
  statuses?: readonly TaskStatus[];
  agent?: string;
  assignee?: string;
  /** Agent or session of the poster. */
  createdBy?: string;
  ownerSession?: string;
  rootSession?: string;
  parentTask?: string;
  /** The subagent's own session. */
  sessionId?: string;
  /** Milliseconds, inclusive; on `startedAt`, else `createdAt`. */
  from?: number;
  to?: number;
  /** @default "recent": newest post first */
  sort?: "recent" | "relevance" | "board";
  limit: number;
  cursor?: string;
}

export interface TreeNode {
  task: Task;
  /** 0 at a top. */
  level: number;
  attempts: number;
}

export interface TreePage {
  /** Depth first; continuations stand beside their source. */
  nodes: readonly TreeNode[];
  total: number;
  hiddenBelowDepth: number;
}

export interface BucketQuery {
  from?: number;
  to?: number;
  groupBy: "hour" | "day" | "agent";
  /** IANA name. */
  timeZone: string;
  rootSession?: string;
  limit: number;
}

export interface Bucket {
  key: string;
  count: number;
  byStatus: Record<TaskStatus, number>;
  usage: Usage;
}

export interface NewEvent {
  /** Entries with a known key are not written again; a usage entry replaces the amounts of its key. */
  key: string;
  kind: Extract<EventKind, "activity" | "usage" | "progress" | "checkpoint" | "budget_warning" | "transcript">;
  /** Of usage: `{ total: Usage }`, the running total under this key. */
  data: Record<string, unknown>;
  /** Session or run handle that became known with it. */
  sessionId?: string;
  handle?: unknown;
  /** Whether the idle clock starts anew. @default true but for `budget_warning` and `transcript` */
  activity?: boolean;
  /** Told to the owner in the same transaction, once per task, attempt, kind and n. */
  notice?: { kind: Extract<NoticeKind, "progress" | "budget">; n?: number; wake?: boolean };
  /** What a top-up of the reservation adds. @default 50_000 tokens, 0.5 USD */
  step?: BudgetLimits;
}

/** Code points of a stored text. */
export interface TextWindow {
  text: string;
  offset: number;
  chars: number;
  /** Of the whole text, whatever the window. */
  totalChars: number;
  nextOffset: number | null;
}

export interface LaneSnapshot {
  lane: string;
  limit: number;
  reservedSync: number;
  active: { sync: number; background: number };
  /** `background` has the reserve taken off. */
  available: { sync: number; background: number };
  queued: number;
  oldestWaitMs: number | null;
}

export interface OwnerSnapshot {
  session: string;
  active: number;
  limit: number | null;
}

export interface EngineInfo {
  id: string;
  host: string;
  pid: number;
  startedAt: string;
  lanes: LaneLimits | null;
  /** Owner sessions it serves. */
  sessions: readonly string[];
}

export interface KnownEngine extends EngineInfo {
  beatAt: string;
  alive: boolean;
}

export interface Retention {
  /** Ended tasks older than this go. @default 90 */
  days?: number;
  /** The newest ended tasks that stay whatever their age. @default 0 */
  keep?: number;
}

/** What happened. No method changes a state. */
export interface TaskStore {
  get(id: string): Promise<Task | undefined>;
  /** Oldest first. */
  attempts(id: string): Promise<readonly Attempt[]>;
  find(query: TaskQuery): Promise<Page<Task>>;
  tree(query: { root?: string; task?: string; depth: number; limit: number }): Promise<TreePage>;
  buckets(query: BucketQuery): Promise<{ buckets: readonly Bucket[]; hidden: number }>;
  /**
   * Gives the event's seq.
   *
   * @throws ToolError `not_found` · `conflict` when the claim is over (`details: { why: "stale" }`)
   */
  append(id: string, ref: ClaimRef, entry: NewEvent): Promise<number>;
  /** In order of seq. The cursor is a seq. */
  events(
    id: string,
    query: { afterSeq?: number; since?: string; kinds?: readonly EventKind[]; limit: number },
  ): Promise<Page<TaskEvent>>;
  /** An attempt without result is the empty text. */
  readResult(
    id: string,
    attempt: number,
    window: { offset: number; limit: number } | { tail: number },
  ): Promise<TextWindow>;
  /** What a task was posted with. */
  terms(id: string): Promise<TaskTerms | undefined>;
  /** The live claim a token is the secret of. */
  claimOf(id: string, token: string): Promise<ClaimRef | undefined>;
  /** A sync wait is over: the task goes on in the background, and its notices are delivered. */
  promote(id: string): Promise<Task | undefined>;
  budget(scope: BudgetScope): Promise<BudgetState>;
  setBudget(scope: BudgetScope, limits: BudgetLimits | null): Promise<void>;
  approvals(query: { open?: boolean; taskId?: string; root?: string }): Promise<readonly Approval[]>;
  /** Leases pending notices, oldest first: until the lease is over nobody else gets them. */
  notices(query: { to: readonly string[]; limit: number; leaseMs: number }): Promise<readonly StoredNotice[]>;
  /** How many were open. */
  ackNotices(ids: readonly string[]): Promise<number>;
  lanes(): Promise<readonly LaneSnapshot[]>;
  owners(): Promise<readonly OwnerSnapshot[]>;
  /** Registers, or says that it lives. Gives the engines alive on this store. */
  beat(engine: EngineInfo): Promise<readonly EngineInfo[]>;
  /** All engines that were ever seen within the retention. */
  engines(): Promise<readonly KnownEngine[]>;
  /** Takes an engine off the list at once. */
  retire(engineId: string): Promise<void>;
  prune(policy?: Retention): Promise<{ tasks: number }>;
}

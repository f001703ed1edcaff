export type { Caller } from "./caller.ts";
export {
  EDGES,
  type Edge,
  type EdgeActor,
  type EdgeKind,
  type EdgeRule,
  isEnded,
  type NewApproval,
  type NewResult,
  type Outcome,
  statusOf,
} from "./edges.ts";
export { checkTaskId } from "./ids.ts";
export type {
  Actor,
  Approval,
  ApprovalDecision,
  ApprovalKind,
  Approvers,
  Attempt,
  BudgetAmount,
  BudgetLimits,
  BudgetMeasure,
  BudgetScope,
  BudgetState,
  Decider,
  EndReason,
  EventKind,
  NoticeKind,
  Remaining,
  StoredNotice,
  Task,
  TaskEnd,
  TaskEvent,
  TaskKind,
  TaskMode,
  TaskResult,
  TaskState,
  TaskStatus,
  TimeLimits,
  Usage,
} from "./model.ts";
export { eventKinds } from "./model.ts";
export type { SqliteTasksOptions, Tasks, TasksApi, TasksOptions } from "./options.ts";
export { eventSchema, taskRowSchema, textWindowSchema, usageSchema } from "./schemas.ts";
export { matchesTask } from "./search-text.ts";
export { sqliteTasks } from "./sqlite-tasks.ts";
export type {
  Applied,
  Bucket,
  BucketQuery,
  ChangeHint,
  Claim,
  ClaimQuery,
  ClaimRef,
  EngineInfo,
  KnownEngine,
  LaneLimit,
  LaneLimits,
  LaneSnapshot,
  NewEvent,
  NewTask,
  OwnerSnapshot,
  Page,
  Resume,
  Retention,
  SweepReport,
  TaskBackend,
  TaskQuery,
  TaskQueue,
  TaskStore,
  TaskTerms,
  TextWindow,
  TreeNode,
  TreePage,
} from "./store.ts";
export { type TaskRow, taskRow } from "./task-row.ts";
export { createTasks } from "./tasks.ts";

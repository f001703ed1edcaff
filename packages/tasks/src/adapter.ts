/** What another adapter of the ports is built from: the row, and what each edge writes to it. */
export { amounts, type BucketPart, bucketsOf, quarterMs } from "./buckets.ts";
export { EDGES, heapOf, isEnded, statesOf, statusOf } from "./edges.ts";
export { createTaskId, noSuchTask } from "./ids.ts";
export { budgetMeasures, states, statuses, unknownUsage } from "./model.ts";
export { afterCondition, decodeCursor, encodeCursor, type SortKey } from "./page-cursor.ts";
export { noRoom, noSuchDependency, postedColumns, postedRecord } from "./posting.ts";
export {
  cancelGraceOf,
  defaultLimits,
  dueOf,
  holds,
  isHeld,
  limitsOf,
  type ResumeNote,
  recordColumns,
  type TaskRecord,
} from "./record.ts";
export { fold, searchText, termsOf } from "./search-text.ts";
export type { Decision, Refusal, Transition } from "./step.ts";
export {
  type ApprovalRow,
  type AttemptRow,
  type EndedRow,
  type EventRow,
  headChars,
  iso,
  parsed,
  type ResultNote,
  resultOf,
  type TaskRow,
  toApproval,
  toAttempt,
  toEvent,
  toTask,
} from "./stores/sqlite/rows.ts";
export { headOf, keepable, lengthOf, offsetOf, tailOf, windowAt, windowOf } from "./text-window.ts";
export { isTimeZone, type ZoneClock, zoneClock } from "./time-zone.ts";
export { type Claiming, claimed, type Surroundings, transition } from "./transition.ts";

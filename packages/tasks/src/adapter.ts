/** What another adapter of the ports is built from: the row, and what each edge writes to it. */
export { createTaskId } from "./ids.ts";
export { postedColumns, postedRecord } from "./posting.ts";
export { defaultLimits, dueOf, holds, isHeld, limitsOf, type ResumeNote, type TaskRecord } from "./record.ts";
export { searchText, termsOf } from "./search-text.ts";
export type { Decision, Refusal, Transition } from "./step.ts";
export { headOf, keepable, lengthOf, offsetOf, tailOf, windowAt, windowOf } from "./text-window.ts";
export { isTimeZone, type ZoneClock, zoneClock } from "./time-zone.ts";
export { type Claiming, claimed, type Surroundings, transition } from "./transition.ts";

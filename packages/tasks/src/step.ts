import { EDGES, type EdgeKind, type NewResult, type Outcome } from "./edges.ts";
import type { TaskEnd, TaskState } from "./model.ts";
import type { ResumeNote, TaskRecord } from "./record.ts";

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

/** What a row loses when its claim ends. */
export const freed: Partial<TaskRecord> = {
  claimed_agent: null,
  claimed_session: null,
  token_hash: null,
  lease_until: null,
  attached: 0,
};

/** The row of the table with this target and, where several share it, this event. */
export function move(
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

/** What the next claim is told. */
export function note(resume: ResumeNote): Partial<TaskRecord> {
  return { resume_json: JSON.stringify(resume) };
}

/** The same wish again: what a retry or a decision brought is kept until an attempt has ended with it. */
export function carried(row: TaskRecord, resume: ResumeNote): ResumeNote {
  return { ...(row.resume_json === null ? {} : (JSON.parse(row.resume_json) as ResumeNote)), ...resume };
}

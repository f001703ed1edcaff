import { noUsage, type Usage } from "../model.ts";

/** What the interpreter of a rollout carries from record to record, as JSON. */
export interface State {
  identified: boolean;
  /** When the replay of a parent was written; what is newer is the session's own. */
  replayedAt: string;
  /** Parent session, which the file replays. */
  parent: string | null;
  /** How many of the parent's totals were seen in order; -1 once the child went its own way. */
  matched: number;
  /** Offset from which records are the session's own; 0 until a replay is known. */
  ownFrom: number;
  answer: string | null;
  answers: number;
  model: string | null;
  provider: string | null;
  total: Usage;
  userEvents: boolean;
  window: number | null;
  /** Calls of `apply_patch` without an end event yet. */
  patches: [string, string][];
}

export function freshState(): State {
  return {
    identified: false,
    replayedAt: "",
    parent: null,
    matched: 0,
    ownFrom: 0,
    answer: null,
    answers: 0,
    model: null,
    provider: null,
    total: noUsage,
    userEvents: false,
    window: null,
    patches: [],
  };
}

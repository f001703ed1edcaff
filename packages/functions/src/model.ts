/** Every signal, mildest class last. */
export const signalTypes = [
  "answer",
  "revise_needed",
  "escalate",
  "need_approval",
  "blocked",
  "need_clarification",
  "handoff",
  "progress",
] as const;
export type SignalType = (typeof signalTypes)[number];
export type SignalClass = "terminating" | "pausing" | "handoff" | "info";
export type Payload = Readonly<Record<string, unknown>>;

export const phases = ["active", "gated", "paused", "complete"] as const;
export type Phase = (typeof phases)[number];

/** What a signal did to a function that was there. */
export interface SignalEffect {
  id: string;
  effect: "paused" | "completed" | "resumed" | "recorded";
}

/** One row of the log. Times are epoch milliseconds. */
export interface Signal {
  /** Order of the log; rises over all sessions of a store and is never given twice. */
  seq: number;
  id: string;
  session: string;
  at: number;
  type: SignalType;
  class: SignalClass;
  payload: Payload | null;
  agent: string | null;
  callId: string | null;
  /** When a pause ends by itself. */
  expiresAt: number | null;
  functions: readonly SignalEffect[];
}

/** How a pause ended; a row of its own. */
export interface Resolution {
  of: number;
  at: number;
  kind: "resolved" | "expired" | "superseded";
  by: string | null;
}

export interface OpenPause {
  seq: number;
  type: SignalType;
  expiresAt: number | null;
}

/** One activated function of a session. One that is not active has no record. */
export interface FunctionRecord {
  /** `role/name`, or `name`. */
  id: string;
  name: string;
  role: string | null;
  phase: Phase;
  /** Number of this activation, from 1. */
  run: number;
  schemaVersion: number;
  activatedAt: number;
  /** Turns since activation. */
  turns: number;
  evidence: readonly string[];
  values: Readonly<Record<string, unknown>>;
  /** Seqs of the open pauses of this run. */
  pausedBy: readonly number[];
  decision: "approved" | "rejected" | null;
  /** Tools that succeeded in this run. */
  tools: readonly string[];
  /** Types of signals sent in this run. */
  signals: readonly string[];
  /** Transitions that fired in this run, by index. */
  fired: readonly { index: number; at: number }[];
  /** `idle` events that were answered with `continue`. */
  continued: number;
  params: { args: readonly string[]; named: Readonly<Record<string, string>> };
}

/** All that is known of a session. Plain data: two equal ones are the same state. */
export interface SessionState {
  session: string;
  /** Number of steps so far; 0: nothing was recorded. */
  step: number;
  turn: number;
  todos: { total: number; done: number } | null;
  /** Names under which agents acted here: none of them may approve. */
  agents: readonly string[];
  /** Values set in the session, with the step that set them. */
  values: Readonly<Record<string, { value: unknown; step: number }>>;
  /** Last run of each function that was ever active. */
  runs: Readonly<Record<string, number>>;
  /** The step in which the last run of a function ended. */
  ended: Readonly<Record<string, number>>;
  /** Oldest first. */
  pauses: readonly OpenPause[];
  latestTerminating: number | null;
  functions: Readonly<Record<string, FunctionRecord>>;
}

export function emptyState(session: string): SessionState {
  return {
    session,
    step: 0,
    turn: 0,
    todos: null,
    agents: [],
    values: {},
    runs: {},
    ended: {},
    pauses: [],
    latestTerminating: null,
    functions: {},
  };
}

/** What a step changed, and why. */
export type LogEntry =
  | { kind: "phase"; function: string; run: number; from: Phase | "none"; to: Phase | "none" }
  | { kind: "deactivated"; function: string; run: number }
  | { kind: "reset"; function: string; run: number; from: number; to: number }
  | { kind: "fired"; function: string; run: number; index: number; activate: string[]; deactivate: string[] }
  | { kind: "pause_ended"; seq: number; how: Resolution["kind"] }
  | { kind: "evidence"; function: string; label: string; set: boolean }
  | { kind: "captured"; function: string; artifact: string; as: "text" | "payload" }
  | { kind: "inject"; function: string; text: string }
  | { kind: "continue"; function: string; count: number; max: number }
  | { kind: "problem"; function: string | null; problem: string };

export interface ArtifactFact {
  state: "missing" | "empty" | "present";
  /** Boxes `- [ ]` in its text. */
  unchecked: number;
}

/** What a step saw of the world: with it and the event, the step can be done again. */
export interface OuterFacts {
  /** Epoch milliseconds. */
  now: number;
  artifacts: Readonly<Record<string, ArtifactFact>>;
  /** Of all texts that `when_output` looks for, those that the output holds. */
  needles: readonly string[];
  /** What `capture_artifact` would write. */
  text: ArtifactFact | null;
  /** What the log will give a signal. */
  seq: number;
}

import type { FunctionEvent } from "./events.ts";
import type { LogEntry, OuterFacts, Resolution, SessionState, Signal } from "./model.ts";

/** A signal before the log gives it its place. */
export type NewSignal = Omit<Signal, "seq" | "session">;

/** What the log will give, known inside the transaction. */
export interface Next {
  /** Seq of the signal, if the step is one. */
  seq: number;
  /** The signal that was recorded before under the same call id. */
  repeated: Signal | undefined;
}

/** One step as the log keeps it. */
export interface StepEntry {
  at: number;
  event: FunctionEvent;
  facts: OuterFacts;
  log: readonly LogEntry[];
}

export interface Reduced<T> {
  result: T;
  /** Left out: nothing is written. */
  write?: {
    state: SessionState;
    entry: StepEntry;
    resolutions: readonly Resolution[];
    signal?: NewSignal;
  };
}

export interface TransactOptions {
  /** Looks for a signal that was recorded under it. */
  callId?: string;
  signal?: AbortSignal;
}

export interface Terminating {
  /** All, in order. */
  signals: readonly Signal[];
  latest: Signal | undefined;
  /** escalate before revise_needed before answer; the newest of that type. */
  mostSevere: Signal | undefined;
}

/** The append-only log of signals. */
export interface SignalLog {
  /** Signals of a session after a seq, in order. */
  since(session: string, seq?: number, limit?: number): Promise<readonly Signal[]>;
  /** The newest pausing signal that is not resolved, expired or superseded. */
  openPause(session: string): Promise<Signal | undefined>;
  terminating(session: string, sinceSeq?: number): Promise<Terminating>;
  /** Every way a pause ended, by the seq of the pause. */
  resolutions(session: string): Promise<readonly Resolution[]>;
  /** Called after each signal that this instance records, once it is committed. Gives what ends it. */
  subscribe(listener: (signal: Signal) => void): () => void;
  /**
   * Deletes signals older than a time (epoch milliseconds), open pauses aside, and the steps of sessions that rested
   * since; gives the number of signals.
   */
  prune(options: { olderThan: number }): Promise<number>;
}

/**
 * States, steps and signals of sessions. A session's steps run one after another, whoever makes them; what one wrote is
 * there whole or not at all.
 */
export interface FunctionStore {
  /** `reduce` is called with what is there now, inside the transaction; it must be synchronous. */
  transact<T>(
    session: string,
    reduce: (before: SessionState, next: Next) => Reduced<T>,
    options?: TransactOptions,
  ): Promise<T>;
  /** `step` is 0 where nothing was recorded. */
  read(session: string): Promise<SessionState>;
  /** Sessions with a record, the one that was active last first. */
  sessions(limit: number): Promise<readonly string[]>;
  /** The steps of a session, in order. */
  steps(session: string): Promise<readonly StepEntry[]>;
  readonly signals: SignalLog;
  /** Idempotent. */
  close(): Promise<void>;
}

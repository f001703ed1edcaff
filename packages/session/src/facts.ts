import type { MessageKind, ProblemCode, Todo, ToolStatus, Usage } from "./model.ts";

/** Where a record stands: the line in bytes, and its 1-based number. */
export interface Place {
  file: string;
  line: number;
  offset: number;
  length: number;
}

/** A piece of a message's content, as one record holds it. */
export type Content =
  | { kind: "text" | "thinking"; text: string }
  | { kind: "call"; name: string; callId: string; input: string }
  | { kind: "file"; name: string | null; mime: string; bytes: number }
  | { kind: "other"; text: string };

/** The outcome of a tool call, paired by its id wherever it stands. Absent fields leave what an earlier record said. */
export interface CallResult {
  callId: string;
  status: Exclude<ToolStatus, "running" | "no_result">;
  output: string;
  exitCode?: number;
  durationMs?: number;
  /** Of two records for one call the higher one is shown: hosts write a structured one beside the model's. */
  rank: number;
}

export interface RecordedChange {
  path: string;
  from: string | null;
  kind: "create" | "modify" | "delete" | "move";
  /** Whole texts where the host keeps them; a patch where it keeps only that. */
  before: string | null | undefined;
  after: string | null | undefined;
  patch: string | null;
  additions: number | null;
  deletions: number | null;
}

export type TitleRank = 1 | 2 | 3 | 4 | 5;

/**
 * What one record of a transcript says. The index stores facts, the reader makes messages from them; both call the same
 * interpreter, so they cannot disagree. `session` is absent for the file's own session.
 */
export type Fact = { session?: string } & (
  | {
      kind: "session";
      id?: string;
      directory?: string;
      /** The session lives on in `directory`: what was told before counts no more. */
      moved?: boolean;
      /** Its own times where the host keeps them, ISO 8601; else those of the messages. */
      created?: string;
      updated?: string;
      branch?: string;
      version?: string;
      provider?: string;
      archived?: boolean;
      parent?: { id: string; kind: "fork" | "subagent" | "resume"; at: string | null };
    }
  | { kind: "title"; rank: TitleRank; text: string; leaf?: string }
  | {
      kind: "message";
      key: string;
      role: string;
      messageKind: MessageKind;
      at: string | null;
      model: string | null;
      provider: string | null;
      inherited: boolean;
      /** The message above, where the record names it and no tree of lines tells it. */
      parent?: string;
      /** Taken back by the user: kept in the file, off the main path. */
      reverted?: boolean;
      content: readonly Content[];
    }
  | { kind: "node"; id: string; parent: string | null; logicalParent: string | null; message: string | null }
  | { kind: "results"; results: readonly CallResult[]; at: string | null }
  | {
      kind: "usage";
      /** Counted once per key; a later record replaces an earlier one. */
      key: string;
      /** The response, whoever repeats it. */
      response: string;
      message: string;
      model: string | null;
      provider: string | null;
      usage: Usage;
      /** The part of cache writes that is kept for an hour. */
      cacheWrite1h: number;
      costUsd: number | null;
      sidechain: boolean;
      inherited: boolean;
    }
  | { kind: "change"; message: string | null; callId: string | null; change: RecordedChange }
  | { kind: "todos"; todos: readonly Todo[] }
  /** Records before `from` are a replay of the parent; `null` while nothing of the session's own was seen. */
  | { kind: "own"; from: number | null }
  | { kind: "child"; id: string; callId: string | null }
  | { kind: "context"; peakTokens: number | null; window: number | null }
  | { kind: "bookkeeping"; type: string }
  | { kind: "problem"; code: ProblemCode }
);

/** Reads the records of one file in order. */
export interface Interpreter {
  /** The facts of one record. Never throws on a wrong shape: that is a problem fact. */
  record(record: Readonly<Record<string, unknown>>, place: Place): readonly Fact[];
  /** What must be known to go on after the last record, as JSON. */
  state(): unknown;
}

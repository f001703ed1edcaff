/** Who asks, from the context of the call and never from a parameter. */
export interface ContextCaller {
  /** Absolute path of the workspace. */
  directory: string;
  agent: string;
}

/** The call that shows a hit whole. */
export interface FollowUp {
  tool: string;
  input: Record<string, unknown>;
}

export interface ContextHit {
  /** What the family's own reading tool accepts. */
  ref: string;
  title: string;
  text: string;
  /** Finite, 0 or more, higher is better. Left out: the order of the hits counts. */
  score?: number;
  /** Epoch milliseconds of the last change. */
  at?: number;
  follow?: FollowUp;
}

export interface ContextQuery {
  topic: string;
  /** Folded words of the topic, the words that carry no meaning left out. */
  terms: readonly string[];
  /** Most hits that are used. */
  limit: number;
  caller: ContextCaller;
}

/** One place where something may be known. It is borrowed: neither opened nor closed by a call. */
export interface ContextSource {
  /** What `sources` calls it: a lower-case word. */
  readonly name: string;
  /** How much its hits count beside those of others. @default 1 */
  readonly weight?: number;
  /** Finds by meaning: its hits need not hold a word of the topic. @default false */
  readonly semantic?: boolean;
  search(query: ContextQuery, signal: AbortSignal): Promise<readonly ContextHit[] | NotedHits>;
}

/** Hits together with what the reader must know of the search: "stopped after 2,000 files". */
export interface NotedHits {
  hits: readonly ContextHit[];
  note: string;
}

export interface TokenCounter {
  /** Shown in the header of each answer. */
  readonly name: string;
  count(text: string): number;
}

export interface SourceFailure {
  code: string;
  message: string;
  /** Whether the same search may succeed later. */
  retryable: boolean;
}

/** What one source gave, good or bad. */
export type SourceResult = { name: string; weight: number; semantic: boolean; durationMs: number } & (
  | { status: "answered"; hits: readonly ContextHit[]; note?: string }
  | { status: "failed"; error: SourceFailure }
  | { status: "not_configured" }
);

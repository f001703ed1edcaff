import type { Ask } from "@toolhaft/core";
import type { Message, MessageKind, Problem, Summary, Todo, Usage } from "./model.ts";

export interface Page<T> {
  items: readonly T[];
  total: number;
  /** Opaque; null on the last page. */
  nextCursor: string | null;
}

/** Which sessions a list holds. Directories are real paths; a session belongs when its directory lies in one of them. */
export interface ListQuery {
  directories: readonly string[] | "all";
  limit: number;
  cursor?: string;
  /** Milliseconds since the epoch; sessions active in the range, both ends inclusive. */
  from?: number;
  to?: number;
  includeChildren: boolean;
  includeArchived: boolean;
  /** Milliseconds that bringing an index up to date may take. */
  indexMs: number;
}

export type SearchedPart = "text" | "tool_input" | "tool_output" | "thinking";

export interface SearchQuery {
  query: string;
  match: "words" | "literal";
  /** Whether excerpts show secrets as what they are; done before they are cut, for half a secret is not known as one. */
  redact?: boolean;
  caseSensitive: boolean;
  directories: readonly string[] | "all";
  /** One session, its children included. */
  session?: string;
  role?: string;
  parts: readonly SearchedPart[];
  sort: "relevance" | "recent";
  from?: number;
  to?: number;
  limit: number;
  cursor?: string;
  /** Milliseconds that indexing and scanning may take. */
  indexMs: number;
  scanMs: number;
}

export interface SearchHit {
  sessionId: string;
  title: string;
  messageId: string;
  index: number;
  role: string;
  at: string | null;
  part: SearchedPart;
  tool: string | null;
  excerpt: string;
  /** Code point offsets in the excerpt. */
  marks: [number, number][];
  allTerms: boolean;
  /** Further hits of the same part that are not shown. */
  more: number;
  score: number;
  /** The cursor that goes on after this hit. */
  after: string;
}

/** How far a store's index is behind its files. A store without an index is always up to date. */
export interface IndexProgress {
  upToDate: boolean;
  pendingFiles: number;
  pendingBytes: number;
  /** Folders and files that could not be read, each with its cause. */
  unreadable: readonly { path: string; cause: string }[];
}

export interface SearchPage {
  hits: readonly SearchHit[];
  total: number;
  totalIsFloor: boolean;
  nextCursor: string | null;
  searched: { sessions: number; messages: number };
  index: IndexProgress;
  /** How far a scan of bytes came; null when none was needed. */
  scan: { files: number; filesLeft: number; bytesLeft: number } | null;
}

export interface ModelUsage {
  provider: string | null;
  model: string;
  answers: number;
  usage: Usage;
  /** The part of cache writes kept for an hour. */
  cacheWrite1h: number;
  recordedUsd: number | null;
  at: string | null;
  inherited: boolean;
}

export interface UsageReport {
  models: readonly ModelUsage[];
  complete: boolean;
  context: { peakTokens: number | null; window: number | null };
  activeMs: number;
  version: string | null;
  counts: {
    messages: number;
    prompts: number;
    answers: number;
    toolCalls: number;
    compactions: number;
    branches: number;
  };
  tools: readonly { name: string; calls: number; errors: number; denied: number }[];
  problems: readonly Problem[];
}

export interface RecordedFileChange {
  messageId: string | null;
  path: string;
  from: string | null;
  kind: "create" | "modify" | "delete" | "move";
  /** Whole texts where they are known; null for "no file". */
  before: Uint8Array | null | undefined;
  after: Uint8Array | null | undefined;
  /** Hunks of a unified diff, where only that is known. */
  patch: string | null;
  additions: number | null;
  deletions: number | null;
}

export interface Changes {
  basis: "snapshots" | "patches" | "host";
  /** In the order they happened. */
  changes: readonly RecordedFileChange[];
  notes: readonly string[];
}

/** A branch beside the main path: how many messages, and the message it leaves the path at. */
export interface Branch {
  branch: string;
  messages: number;
  from: string;
}

export interface MessageRange {
  from?: number;
  to?: number;
  branch: "main" | "all";
}

/** Reads one source of sessions. Throws on failure; what is absent is undefined, never an empty list for "could not look". */
export interface SessionReader {
  list(query: ListQuery, signal: AbortSignal): Promise<Page<Summary> & { elsewhere: number; index: IndexProgress }>;
  get(id: string, signal: AbortSignal): Promise<Summary | undefined>;
  /** Ids that share a beginning with an unknown one, of sessions in these directories; of all without. */
  near(
    id: string,
    limit: number,
    signal: AbortSignal,
    directories?: readonly string[] | "all",
  ): Promise<readonly string[]>;
  /** Which of these ids the store holds, as far as it knows without a look at the host's files. */
  known?(ids: readonly string[], signal: AbortSignal): Promise<readonly string[]>;
  /** Where a session belongs, told before any message of it is read; undefined for an unknown id. @default `get` */
  directoryOf?(id: string, signal: AbortSignal): Promise<{ directory: string | null } | undefined>;
  /** Damage that a session's records show. @default that of `usage` */
  problems?(id: string, signal: AbortSignal): Promise<readonly Problem[]>;
  messages(id: string, range: MessageRange, signal: AbortSignal): AsyncIterable<Message>;
  /** One message by its id or `#n`, on whatever branch. */
  message(id: string, messageId: string, signal: AbortSignal): Promise<Message | undefined>;
  /** Messages of all branches. */
  count(id: string, signal: AbortSignal): Promise<number>;
  branches(id: string, signal: AbortSignal): Promise<readonly Branch[]>;
  search(query: SearchQuery, signal: AbortSignal): Promise<SearchPage>;
  usage(id: string, signal: AbortSignal): Promise<UsageReport>;
  todos(id: string, signal: AbortSignal): Promise<readonly Todo[] | undefined>;
  changes(id: string, upTo: string | undefined, signal: AbortSignal): Promise<Changes | undefined>;
  children(id: string, signal: AbortSignal): Promise<readonly Summary[]>;
}

export interface ForkResult {
  fork: Summary;
  at: { messageId: string; index: number };
  copied: number;
  /** The command that goes on with the fork. */
  resume: string | null;
  notes: readonly string[];
}

export interface SessionForker {
  fork(
    id: string,
    at: string | undefined,
    options: { title?: string; ask: Ask },
    signal: AbortSignal,
  ): Promise<ForkResult>;
}

export interface SessionStore extends AsyncDisposable {
  readonly source: string;
  readonly reader: SessionReader;
  readonly forker?: SessionForker;
  /** What the store cannot do, with the reason that is told. */
  readonly unsupported: Readonly<Partial<Record<"fork" | "diff" | "todos", string>>>;
}

export interface NewSession {
  /** @default a fresh one */
  id?: string;
  directory: string;
  title?: string;
  branch?: string;
  agent?: string;
  parent?: string;
}

export interface NewMessage {
  id: string;
  role: string;
  kind?: MessageKind;
  /** ISO 8601; the store's clock when absent. */
  at?: string;
  model?: string;
  provider?: string;
  usage?: Usage;
  costUsd?: number;
  parts: readonly NewPart[];
}

export type NewPart =
  | { kind: "text" | "thinking"; text: string }
  | {
      kind: "tool";
      name: string;
      callId: string;
      input: string;
      output?: string;
      status: "completed" | "error" | "denied" | "running" | "no_result";
    }
  | { kind: "file"; name?: string; mime: string; bytes: number };

export interface SessionWriter extends AsyncDisposable {
  readonly id: string;
  /** Idempotent by message id. */
  append(messages: NewMessage | readonly NewMessage[]): Promise<void>;
  file(change: { messageId: string; path: string; before: Uint8Array | null; after: Uint8Array | null }): Promise<void>;
  todos(todos: readonly Todo[]): Promise<void>;
  /** Rejects with the first append that failed. */
  flush(): Promise<void>;
}

export interface SessionRecorder {
  open(session: NewSession): Promise<SessionWriter>;
}

import type { Category, Relevance, Scope, State } from "./model.ts";

/** Who asks: every method of a store takes one, so there is no statement without its row filter. */
export interface Caller {
  workspace: string;
  /** The role, `ctx.agent`. */
  agent: string;
}

/** Where a change came from. */
export interface Provenance {
  agent: string;
  sessionId: string;
  messageId?: string;
  callId: string;
  tool: string;
  imported?: boolean;
}

/** Analysed terms of a memory, each column joined by blanks. */
export interface Terms {
  title: string;
  body: string;
  tags: string;
  about: string;
  /** Number of terms in all columns. */
  length: number;
}

export type Kind = "note" | "fragment";

/** A memory as a store keeps it. Times are epoch milliseconds. */
export interface MemoryRecord {
  id: string;
  scope: Scope;
  role: string | null;
  thread: string;
  title: string;
  content: string;
  category: Category;
  relevance: Relevance;
  tags: readonly string[];
  about: readonly string[];
  /** 0–1, as written. */
  confidence: number;
  kind: Kind;
  version: number;
  createdAt: number;
  updatedAt: number;
  supersededBy: string | null;
  forgottenAt: number | null;
  supersedes: readonly string[];
  uses: number;
  lastUsedAt: number | null;
  provenance: Provenance;
}

export interface Draft {
  id: string;
  scope: Scope;
  title: string;
  content: string;
  category: Category;
  relevance: Relevance;
  tags: readonly string[];
  about: readonly string[];
  confidence: number;
  kind: Kind;
  terms: Terms;
  /** Id of the live memory of the same scope that this one replaces. */
  supersedes: string | null;
  by: Provenance;
  at: number;
  /** Most live memories of its partition. */
  limit: number;
}

export type WriteOutcome =
  | { kind: "stored"; record: MemoryRecord; live: number }
  | { kind: "duplicate"; record: MemoryRecord }
  | { kind: "missing" }
  | { kind: "other_scope"; scope: Scope }
  | { kind: "not_live"; state: State; newest: string | null }
  | { kind: "full"; live: number };

export interface Change {
  title?: string;
  content?: string;
  category?: Category;
  relevance?: Relevance;
  tags?: readonly string[];
  about?: readonly string[];
  confidence?: number;
  /** Terms of the memory with this change applied. */
  terms(record: MemoryRecord): Terms;
  expectedVersion: number | null;
  /** Kind of the history row. */
  as: "update" | "merge";
  by: Provenance;
  at: number;
}

export type UpdateOutcome =
  | { kind: "updated"; record: MemoryRecord; changed: readonly string[] }
  | { kind: "missing" }
  | { kind: "not_live"; state: State; newest: string | null }
  | { kind: "other_version"; version: number }
  | { kind: "equal"; id: string };

export interface Forgetting extends Provenance {
  reason: string | null;
  at: number;
  /** Most live memories of a partition, checked on restore. */
  limit: number;
}

export type ForgetOutcome =
  | { kind: "done"; record: MemoryRecord; already: boolean; replaced: string | null }
  | { kind: "missing" }
  | { kind: "successor_live"; successor: string }
  | { kind: "equal_live"; id: string }
  | { kind: "full"; live: number };

export interface HistoryRow {
  version: number;
  at: number;
  agent: string;
  sessionId: string;
  kind: "write" | "update" | "supersede" | "forget" | "restore" | "merge" | "import";
  before: Readonly<Record<string, unknown>> | null;
}

export type ScopeChoice = Scope | "both";

export interface Filter {
  scope: ScopeChoice;
  category: Category | null;
  /** All of them, folded. */
  tags: readonly string[];
  /** All of them, folded. */
  about: readonly string[];
}

export type Sort = "recent" | "relevance" | "accessed";

export interface ListQuery extends Filter {
  sort: Sort;
  state: State;
  limit: number;
  /** Values of the sort's columns and the id of the last entry before the page. */
  after: readonly (number | string)[] | null;
}

export interface Page<T> {
  items: readonly T[];
  total: number;
  /** `after` of the next page. */
  next: readonly (number | string)[] | null;
}

/** Columns by which a list is sorted, all falling; the id breaks ties. */
export function sortKey(record: MemoryRecord, sort: Sort): (number | string)[] {
  const rank = { low: 0, medium: 1, high: 2 }[record.relevance];
  if (sort === "recent") return [record.updatedAt, record.id];
  if (sort === "relevance") return [rank, record.updatedAt, record.id];
  return [record.lastUsedAt ?? -1, record.id];
}

export interface CandidateQuery extends Filter {
  /** Analysed, distinct. */
  terms: readonly string[];
  /** Folded title; live memories of exactly this title are always among the candidates. */
  titleKey: string;
  /** Most rows to give. */
  limit: number;
}

/** What ranking reads of a memory. */
export interface Candidate {
  id: string;
  scope: Scope;
  thread: string;
  title: string;
  category: Category;
  relevance: Relevance;
  kind: Kind;
  tags: readonly string[];
  about: readonly string[];
  updatedAt: number;
  uses: number;
  lastUsedAt: number | null;
  terms: Terms;
}

/** What ranking needs; ranking itself is not the store's. */
export interface Candidates {
  rows: readonly Candidate[];
  /** Live memories of the searched partitions that hold each term. */
  df: ReadonlyMap<string, number>;
  /** Live memories of the searched partitions. */
  count: number;
  averageLength: number;
  /** Live memories that hold a searched term; at least this many when `capped`. */
  matched: number;
  /** Rows that hold a term were left out. */
  capped: boolean;
}

export interface Subject {
  name: string;
}

export interface StoreStats {
  total: number;
  byScope: Readonly<Record<Scope, number>>;
  byCategory: Readonly<Partial<Record<Category, number>>>;
  byState: Readonly<Record<State, number>>;
  pendingVectors: number;
  /** What is opened: a path or a host. */
  store: string;
  bytes: number;
  oldest: number | null;
  newest: number | null;
}

export interface VectorTable {
  put(caller: Caller, entries: readonly { id: string; model: string; vector: Float32Array }[]): Promise<void>;
  /** Live memories without a vector of the model, oldest first. */
  pending(caller: Caller, model: string, limit: number): Promise<readonly { id: string; text: string }[]>;
  countPending(caller: Caller, model: string): Promise<number>;
  /** Best by cosine, best first. */
  search(caller: Caller, query: VectorQuery, signal: AbortSignal): Promise<readonly { id: string; cosine: number }[]>;
}

export interface VectorQuery extends Filter {
  model: string;
  vector: Float32Array;
  limit: number;
}

/** One line of an export. */
export type ExportRecord =
  | { type: "memory"; value: MemoryExport }
  | {
      type: "kv";
      value: { workspace: string; agent: string; key: string; json: string; version: number; updatedAt: number };
    }
  | { type: "entity"; value: EntityExport }
  | { type: "edge"; value: EdgeExport };

export interface MemoryExport extends Omit<MemoryRecord, "supersedes"> {
  workspace: string;
  history: readonly HistoryRow[];
  vector: { model: string; values: readonly number[] } | null;
}

export interface EntityExport extends Omit<Entity, "createdAt" | "updatedAt"> {
  workspace: string;
  agent: string;
  createdAt: number;
  updatedAt: number;
  removedAt: number | null;
}

export interface EdgeExport extends Omit<Edge, "createdAt" | "updatedAt"> {
  workspace: string;
  agent: string;
  createdAt: number;
  updatedAt: number;
  removedAt: number | null;
}

export interface ExportFilter {
  workspace?: string;
  /** Role memories, keys and graph of this agent only; memories of the workspace always. */
  agent?: string;
  vectors?: boolean;
}

export interface ImportPolicy {
  onConflict: "skip" | "newer" | "error";
}

export interface LoadReport {
  imported: number;
  skipped: number;
  updated: number;
  /** By index in the batch. */
  problems: readonly { index: number; reason: string }[];
}

export interface PurgeFilter {
  workspace?: string;
  /** Only rows in these states. @default ["forgotten", "superseded"] */
  states?: readonly State[];
  /** Only rows idle for at least this many days, counted from the later of last change and last use. */
  idleDays?: number;
  ids?: readonly string[];
}

export interface CheckReport {
  ok: boolean;
  problems: readonly string[];
  memories: number;
  live: number;
}

/** The port every database of memories implements; its contract is test/contract.ts. */
export interface MemoryStore extends AsyncDisposable {
  write(caller: Caller, draft: Draft, signal: AbortSignal): Promise<WriteOutcome>;
  update(caller: Caller, id: string, change: Change, signal: AbortSignal): Promise<UpdateOutcome>;
  setForgotten(
    caller: Caller,
    id: string,
    forgotten: boolean,
    by: Forgetting,
    signal: AbortSignal,
  ): Promise<ForgetOutcome>;
  get(caller: Caller, id: string, signal: AbortSignal): Promise<MemoryRecord | undefined>;
  list(caller: Caller, query: ListQuery, signal: AbortSignal): Promise<Page<MemoryRecord>>;
  history(caller: Caller, id: string, signal: AbortSignal): Promise<readonly HistoryRow[]>;
  stats(caller: Caller, signal: AbortSignal): Promise<StoreStats>;
  /** Subjects of visible live memories of which at least the first term is among the given ones. */
  subjects(caller: Caller, terms: readonly string[], signal: AbortSignal): Promise<readonly Subject[]>;
  candidates(caller: Caller, query: CandidateQuery, signal: AbortSignal): Promise<Candidates>;
  /**
   * For each id the live memories of the same thread, scope and role around it, in the order they were written: up to
   * `reach` before, itself, up to `reach` after. Ids that are not live and visible give an empty window.
   */
  windows(
    caller: Caller,
    ids: readonly string[],
    reach: number,
    signal: AbortSignal,
  ): Promise<readonly (readonly Candidate[])[]>;
  /** Whole records of visible memories, in the order of the ids; unknown ones are left out. */
  records(caller: Caller, ids: readonly string[], signal: AbortSignal): Promise<readonly MemoryRecord[]>;
  recordUse(caller: Caller, ids: readonly string[], at: number): Promise<void>;
  vectors: VectorTable;
  readAll(filter: ExportFilter, signal: AbortSignal): AsyncIterable<ExportRecord>;
  load(batch: readonly ExportRecord[], policy: ImportPolicy): Promise<LoadReport>;
  check(): Promise<CheckReport>;
  repair(): Promise<CheckReport>;
  purge(filter: PurgeFilter, now: number): Promise<number>;
}

export interface KvEntry {
  key: string;
  /** As stored: order of properties and spelling of numbers are kept. */
  json: string;
  version: number;
  updatedAt: number;
}

export type KvSet =
  | { kind: "stored"; version: number; created: boolean }
  | { kind: "conflict"; version: number | null }
  | { kind: "full"; keys: number };

export interface KvPage {
  keys: readonly { key: string; version: number; bytes: number; updatedAt: number }[];
  total: number;
}

export interface KvWrite {
  at: number;
  /** Most keys of a namespace. */
  limit: number;
}

export type KvDelete =
  | { kind: "deleted"; entry: KvEntry }
  | { kind: "missing" }
  | { kind: "conflict"; version: number | null };

/** Exact keys of a namespace: `workspace` and `agent` of the caller. */
export interface KvStore extends AsyncDisposable {
  get(caller: Caller, key: string, signal: AbortSignal): Promise<KvEntry | undefined>;
  set(
    caller: Caller,
    key: string,
    json: string,
    ifVersion: number | undefined,
    write: KvWrite,
    signal: AbortSignal,
  ): Promise<KvSet>;
  delete(caller: Caller, key: string, ifVersion: number | undefined, signal: AbortSignal): Promise<KvDelete>;
  /** Sorted by bytes. */
  keys(caller: Caller, query: { prefix: string; limit: number; offset: number }, signal: AbortSignal): Promise<KvPage>;
}

/** Times are ISO 8601 UTC. */
export interface Entity {
  id: string;
  name: string;
  type: string;
  attributes: Record<string, unknown>;
  createdAt: string;
  updatedAt: string;
}

/** `from` and `to` are ids of entities. */
export interface Edge {
  id: string;
  from: string;
  to: string;
  type: string;
  weight: number;
  createdAt: string;
  updatedAt: string;
}

export type Direction = "out" | "in" | "both";

export interface EntityDraft {
  id: string;
  name: string;
  type: string;
  /** Merged by key; null removes one. */
  attributes: Readonly<Record<string, unknown>>;
  at: number;
  /** Refuses what the merged attributes may not be. */
  check(attributes: Readonly<Record<string, unknown>>): void;
}

export interface EntityOutcome {
  entity: Entity;
  created: boolean;
  changed: readonly string[];
  /** Others of the same name with another type. */
  sameName: readonly { id: string; type: string }[];
}

export interface EdgeDraft {
  id: string;
  from: string;
  to: string;
  type: string;
  weight: number;
  at: number;
}

export type EdgeOutcome = { kind: "stored"; edge: Edge; created: boolean } | { kind: "missing"; id: string };

export interface LevelOptions {
  direction: Direction;
  /** Folded; null: all. */
  types: readonly string[] | null;
  limit: number;
}

/** A graph private to workspace and agent of the caller. */
export interface GraphStore extends AsyncDisposable {
  upsertEntity(caller: Caller, entity: EntityDraft, signal: AbortSignal): Promise<EntityOutcome>;
  upsertEdge(caller: Caller, edge: EdgeDraft, signal: AbortSignal): Promise<EdgeOutcome>;
  /** By id, or all types of a folded name. */
  find(caller: Caller, nameOrId: string, signal: AbortSignal): Promise<readonly Entity[]>;
  /** By ids, in any order. */
  entities(caller: Caller, ids: readonly string[], signal: AbortSignal): Promise<readonly Entity[]>;
  /** Names to choose the nearest from when one is unknown. */
  names(caller: Caller, limit: number, signal: AbortSignal): Promise<readonly string[]>;
  /** Entity or edge; an entity takes its edges along. Undefined: no such id. */
  setRemoved(
    caller: Caller,
    id: string,
    removed: boolean,
    at: number,
    signal: AbortSignal,
  ): Promise<readonly string[] | undefined>;
  /** Edges at the given entities, heaviest first. */
  level(caller: Caller, from: readonly string[], options: LevelOptions, signal: AbortSignal): Promise<readonly Edge[]>;
  /** Edges of which both ends are given. */
  between(
    caller: Caller,
    ids: readonly string[],
    options: Omit<LevelOptions, "limit">,
    signal: AbortSignal,
  ): Promise<readonly Edge[]>;
}

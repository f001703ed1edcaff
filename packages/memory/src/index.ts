export { type BfsOptions, type BfsResult, breadthFirst, type LevelQuery } from "./bfs.ts";
export { defaultHalfLives, type FadeInput, fade, type HalfLives } from "./decay.ts";
export type { Extractor } from "./extract.ts";
export type { HostQuery, MemoryHost } from "./host.ts";
export { contentHash } from "./identity.ts";
export { createKnowledge, type KnowledgeOptions } from "./knowledge.ts";
export { createKvMemory, type KvMemoryOptions } from "./kv.ts";
export { defaultLimits, type Limits } from "./limits.ts";
export { createMemory, type MemoryFamily, type MemoryOptions } from "./memory.ts";
export {
  type Category,
  categories,
  type Degraded,
  type Hit,
  type Memory,
  type Relevance,
  relevances,
  type Scope,
  type State,
  scopes,
  type Warning,
} from "./model.ts";
export type { Embedder, PlaceOptions, SearchOptions, SecretMode } from "./options.ts";
export { type InContext, type Population, type Ranked, type RankQuery, rank, type Weights } from "./rank.ts";
export type { MemoryQuery, SearchResult } from "./search.ts";
export {
  createSemanticMemory,
  type HostDeclaration,
  type SemanticMemoryFamily,
  type SemanticMemoryOptions,
} from "./semantic.ts";
export type {
  Caller,
  Candidate,
  CandidateQuery,
  Candidates,
  Change,
  CheckReport,
  Direction,
  Draft,
  Edge,
  EdgeDraft,
  EdgeExport,
  EdgeOutcome,
  Entity,
  EntityDraft,
  EntityExport,
  EntityOutcome,
  ExportFilter,
  ExportRecord,
  Filter,
  ForgetOutcome,
  Forgetting,
  GraphStore,
  HistoryRow,
  ImportPolicy,
  Kind,
  KvDelete,
  KvEntry,
  KvPage,
  KvSet,
  KvStore,
  KvWrite,
  LevelOptions,
  ListQuery,
  LoadReport,
  MemoryExport,
  MemoryRecord,
  MemoryStore,
  Page,
  Provenance,
  PurgeFilter,
  ScopeChoice,
  Sort,
  StoreStats,
  Subject,
  Terms,
  UpdateOutcome,
  VectorQuery,
  VectorTable,
  WriteOutcome,
} from "./store.ts";
export { sortKey } from "./store.ts";
export { type SqliteStoreOptions, sqliteGraphStore, sqliteKvStore, sqliteMemoryStore } from "./stores/sqlite/index.ts";
export { termsOf } from "./terms.ts";
export type { ImportOptions, ImportReport } from "./transfer.ts";
export { cosine, fromBytes, hammingDistance, signBits, toBytes } from "./vector-math.ts";

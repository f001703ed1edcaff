export { fromModelMessages, fromStep } from "./ai-sdk.ts";
export { claudeCodeStore } from "./claude-code/store.ts";
export { codexStore } from "./codex/store.ts";
export { type Cost, litellmPrices, type Price, type PriceTable } from "./cost.ts";
export { type Line, type LineSource, readLines } from "./lines.ts";
export type {
  Message,
  MessageKind,
  Part,
  Problem,
  ProblemCode,
  Summary,
  Todo,
  ToolCall,
  ToolStatus,
  Usage,
} from "./model.ts";
export type { OpencodeStoreOptions } from "./opencode/options.ts";
export { opencodeStore } from "./opencode/store.ts";
export { createSessions, type HostName, type Sessions, type SessionsOptions } from "./sessions.ts";
export type {
  Branch,
  Changes,
  ForkResult,
  IndexProgress,
  ListQuery,
  MessageRange,
  ModelUsage,
  NewMessage,
  NewPart,
  NewSession,
  Page,
  RecordedFileChange,
  SearchedPart,
  SearchHit,
  SearchPage,
  SearchQuery,
  SessionForker,
  SessionReader,
  SessionRecorder,
  SessionStore,
  SessionWriter,
  UsageReport,
} from "./store.ts";
export { recordSession, type SqliteSessionStoreOptions, sqliteSessionStore } from "./stores/sqlite.ts";
export type { IndexedStore, IndexHome } from "./stores/transcript-store.ts";

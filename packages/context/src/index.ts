export { type Assembled, type AssembledHit, type AssembledSource, type AssembleOptions, assemble } from "./assemble.ts";
export { type ContextFamily, type ContextOptions, createContextTools, knownSources } from "./context.ts";
export { renderContext, type ShownHit } from "./render.ts";
export type {
  ContextCaller,
  ContextHit,
  ContextQuery,
  ContextSource,
  FollowUp,
  NotedHits,
  SourceFailure,
  SourceResult,
  TokenCounter,
} from "./source.ts";
export {
  type AssetFound,
  type AssetSearch,
  type AssetSourceOptions,
  type AssetText,
  assetSource,
} from "./sources/asset.ts";
export { type FileLimits, type FilesSourceOptions, filesSource } from "./sources/files.ts";
export { type MemoryHit, type MemorySearch, type MemorySourceOptions, memorySource } from "./sources/memory.ts";
export {
  type SessionHit,
  type SessionMessage,
  type SessionQuery,
  type SessionSearch,
  type SessionSourceOptions,
  sessionSource,
} from "./sources/session.ts";
export { type TaskFound, type TaskSearch, type TaskSourceOptions, taskSource } from "./sources/task.ts";
export { type Encoding, loadTokens } from "./tokens.ts";

export {
  builtinConditions,
  type ConditionDefinition,
  type ConditionRegistry,
  type Facts,
} from "@toolhaft/asset-format";
export type { ArtifactInfo, ArtifactStore } from "./artifacts/artifact.ts";
export { fileArtifacts } from "./artifacts/file-artifacts.ts";
export { memoryArtifacts } from "./artifacts/memory-artifacts.ts";
export type { FunctionEngine, StepResult } from "./engine.ts";
export type { Verdict } from "./evaluate.ts";
export type { FunctionEvent } from "./events.ts";
export { createFunctions, type Functions, type FunctionsOptions } from "./functions.ts";
export type { Graph, GraphEdge, GraphNode } from "./graph.ts";
export {
  type ArtifactFact,
  emptyState,
  type FunctionRecord,
  type LogEntry,
  type OpenPause,
  type OuterFacts,
  type Payload,
  type Phase,
  type Resolution,
  type SessionState,
  type Signal,
  type SignalClass,
  type SignalEffect,
  type SignalType,
  signalTypes,
} from "./model.ts";
export type { ObserveOptions } from "./observe.ts";
export type { Capture } from "./observers.ts";
export { reduceStep, type Step } from "./reduce.ts";
export { classOf } from "./signal-types.ts";
export { type CatalogAsset, type CatalogText, catalogSpecs, type FunctionCatalog } from "./specs/catalog.ts";
export { type DirectorySpecsOptions, directorySpecs } from "./specs/directory.ts";
export { type FunctionSpec, type FunctionSpecs, staticSpecs } from "./specs/specs.ts";
export type { FunctionStateData, FunctionView } from "./state-view.ts";
export type {
  FunctionStore,
  NewSignal,
  Next,
  Reduced,
  SignalLog,
  StepEntry,
  Terminating,
  TransactOptions,
} from "./store.ts";
export { sqliteStore } from "./stores/lazy-sqlite.ts";
export { memoryStore } from "./stores/memory.ts";
export type { SqliteStoreOptions } from "./stores/sqlite.ts";

export { type AfterCommitOptions, diagnosticsAfterCommit } from "./after-commit.ts";
export type {
  Answer,
  DiagnosticsData,
  EditData,
  EditedFile,
  FileDiagnostic,
  Outcome,
  Page,
  Place,
  Pos,
  Range,
  ServerReport,
  Severity,
  Target,
} from "./answer.ts";
export {
  type ClientCommand,
  defineServer,
  type Encoding,
  type FileMatch,
  type Install,
  type ReadyRule,
  type ServerDefinition,
  type Timeouts,
} from "./definition.ts";
export { checkLanguageServers, type LspCheck } from "./doctor.ts";
export type { LspLogEvent } from "./engine-options.ts";
export { createLspTools, type LspTools, type LspToolsOptions } from "./lsp-tools.ts";
export { createLspPool, type LspPool, type LspPoolOptions, type ServerSession } from "./pool.ts";
export { builtinServers } from "./registry/index.ts";
export type { ServerStatus } from "./status.ts";
export { resolveSymbol, type SymbolHit, type SymbolQuery } from "./symbol-address.ts";
export type { FlatSymbol } from "./symbols.ts";
export type { OffsetEdit } from "./workspace-edit/offsets.ts";
export { type EditPlan, type PlannedAnnotation, planWorkspaceEdit } from "./workspace-edit/plan.ts";
export type { PlannedChange, Snapshot, SnapshotReader } from "./workspace-edit/world.ts";

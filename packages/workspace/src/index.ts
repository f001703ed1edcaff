export type { ClosestPlace } from "./closest.ts";
export { closestPlaces } from "./closest.ts";
export { payloadProblem, type TextCodec } from "./codec.ts";
export { type CompareOptions, compareLines, type LineMap, refineChanges } from "./compare.ts";
export {
  type DiffOptions,
  groupChanges,
  movedRuns,
  trimmedChanges,
  type UnifiedDiff,
  unifiedDiff,
} from "./diff.ts";
export type { DiffNames } from "./diff-header.ts";
export type { FileKind, FileStat, FileSystem, OpenFile, OpenMode } from "./file-system.ts";
export {
  type FindOptions,
  type FindStrategy,
  findStrategies,
  findText,
  type TextMatch,
  type TextPlace,
} from "./find-text.ts";
export { indentOf } from "./indent.ts";
export { nodeFileSystem } from "./node-file-system.ts";
export { splitPayload } from "./payload.ts";
export { carryIndent, replaceText } from "./replace-text.ts";
export {
  type ByteEdit,
  type LineChange,
  type LineSplice,
  mapLine,
  type Spliced,
  spliceBytes,
  spliceLines,
} from "./splice.ts";
export { type Line, lineAt, parseText, type TextModel } from "./text-model.ts";
export type {
  Change,
  CommitRecord,
  Committed,
  CommittedFile,
  EditOptions,
  Plan,
  RecoveredFile,
  Recovery,
  ResolvedPath,
  Scope,
  StagedFile,
  TextFile,
  Workspace,
  WorkspaceOptions,
} from "./types.ts";
export { createWorkspace } from "./workspace.ts";

export type { ClosestPlace } from "./closest.ts";
export { closestPlaces } from "./closest.ts";
export { payloadProblem, type TextCodec } from "./codec.ts";
export { type CompareOptions, compareLines, type LineMap, refineChanges } from "./compare.ts";
export {
  type DiffNames,
  type DiffOptions,
  groupChanges,
  movedRuns,
  trimmedChanges,
  type UnifiedDiff,
  unifiedDiff,
} from "./diff.ts";
export {
  type FindOptions,
  type FindStrategy,
  findStrategies,
  findText,
  type TextMatch,
  type TextPlace,
} from "./find-text.ts";
export { indentOf } from "./indent.ts";
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

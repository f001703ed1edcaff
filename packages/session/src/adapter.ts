/** What another store that sessions are recorded into is built from. */
export { listCursor, parseListCursor } from "./list-cursor.ts";
export {
  AppendQueue,
  activeMsOf,
  contentHash,
  forkPointOf,
  messageKindOf,
  otherContent,
  sessionIdOf,
  titleFrom,
  unknownMessage,
} from "./recording.ts";
export { type Matcher, matcherOf } from "./search-text.ts";
export {
  builtInSource,
  changesFrom,
  costRow,
  type ModelSums,
  messageFrom,
  modelSums,
  modelUsageFrom,
  partRow,
  type RecordedMessage,
  type RecordedPart,
  type RecordedSession,
  summaryFrom,
} from "./stores/recorded.ts";
export {
  type Candidate,
  columnOf,
  indexedTexts,
  inOrder,
  mostCandidates,
  noIndex,
  nothingFound,
  partsAtOnce,
  totalIsFloor,
  weightOf,
} from "./stores/recorded-search.ts";
export { todosOf } from "./todo-list.ts";
export { hitFrom, partTexts, recency } from "./transcripts/searched.ts";

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
export { lengthOf } from "./show.ts";
export { todosOf } from "./todo-list.ts";
export { hitFrom, partTexts, recency } from "./transcripts/searched.ts";

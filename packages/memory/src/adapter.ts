/** What another adapter of the ports is built from: rows as they are read, and what follows from texts. */
export { contentHash } from "./identity.ts";
export {
  type CandidateRow,
  type RecordRow,
  relevanceNumber,
  toCandidate,
  toRecord,
} from "./stores/sqlite/rows.ts";
export { type Place, placeOf, prefixed, subjectsOf } from "./stores/sqlite/search-index.ts";

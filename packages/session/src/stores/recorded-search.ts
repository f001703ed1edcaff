import type { IndexProgress, SearchedPart, SearchPage } from "../store.ts";

/** How searches of recorded sessions judge what their database found. */

/** Messages of one part that are ranked at most. */
export const mostCandidates = 2_000;
/** Parts that are judged between two looks at the signal. */
export const partsAtOnce = 500;
/** Characters of a tool's input that are searched. */
const indexedInput = 2_048;

/** Recorded texts are indexed by the search that needs them: no search is behind. */
export const noIndex: IndexProgress = { upToDate: true, pendingFiles: 0, pendingBytes: 0, unreadable: [] };

export const nothingFound: SearchPage = {
  hits: [],
  total: 0,
  totalIsFloor: false,
  nextCursor: null,
  searched: { sessions: 0, messages: 0 },
  index: noIndex,
  scan: null,
};

export interface Candidate {
  /** The session that holds the message. */
  home: number;
  sessionId: string;
  title: string;
  message: number;
  part: SearchedPart;
  score: number;
  allTerms: number;
  at: string;
}

/** Best first, or newest first. */
export function inOrder<T extends Candidate>(candidates: readonly T[], sort: "relevance" | "recent"): T[] {
  const newest = (a: T, b: T) => (a.at === b.at ? b.message - a.message : a.at < b.at ? 1 : -1);
  return [...candidates].sort((a, b) =>
    sort === "recent" ? newest(a, b) : b.allTerms - a.allTerms || b.score - a.score || newest(a, b),
  );
}

export function totalIsFloor(candidates: readonly Candidate[], parts: readonly SearchedPart[]): boolean {
  return parts.some((part) => candidates.filter((one) => one.part === part).length >= mostCandidates);
}

/** What a tool's input counts less than a text. */
export function weightOf(part: SearchedPart): number {
  return part === "tool_input" ? 0.5 : 1;
}

/** Where a searched part stands in a table `parts`. */
export function columnOf(part: SearchedPart): { kind: string; column: "text" | "input" | "output" } {
  if (part === "text" || part === "thinking") return { kind: part, column: "text" };
  return { kind: "tool", column: part === "tool_input" ? "input" : "output" };
}

/** The texts of a part that are indexed. */
export function indexedTexts(part: {
  kind: string;
  text: string | null;
  input: string | null;
  output: string | null;
}): Record<SearchedPart, string | null> {
  return {
    text: part.kind === "text" ? part.text : null,
    tool_input: part.input?.slice(0, indexedInput) ?? null,
    thinking: part.kind === "thinking" ? part.text : null,
    tool_output: part.output,
  };
}

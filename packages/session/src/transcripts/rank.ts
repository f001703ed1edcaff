import type { Database } from "@toolhaft/sqlite";
import type { Matcher } from "../search-text.ts";
import type { SearchedPart, SearchQuery } from "../store.ts";
import { recencyAt, scopeOf } from "./searched.ts";
import { insideOf } from "./summaries.ts";

/** A part of a message that the full-text index found. */
export interface Candidate {
  message: number;
  part: Exclude<SearchedPart, "tool_output">;
  /** Milliseconds since the epoch. */
  at: number | null;
  score: number;
  allTerms: number;
}

/** Most candidates that one query ranks; a query of common words alone would rank every message. */
export const mostCandidates = 2_000;

/**
 * A word that stands in more than half of all texts tells nothing of any of them: BM25 weighs it with nothing. Of those
 * texts the ones indexed last are ranked, so that the most common words are not the slowest.
 */
const mostOfCommonWord = 20_000;

/** Messages that hold the terms, those with all of them first; among equals the newer is a little better. */
export function rank(db: Database, store: string, query: SearchQuery, matcher: Matcher, now: number): Candidate[] {
  if (matcher.terms.length === 0) return [];
  const parts = query.parts.filter((part) => part !== "tool_output");
  if (parts.length === 0) return [];
  const columns = parts.map((part) => (part === "tool_input" ? "tool" : part)).join(" ");
  const terms = matcher.terms.map((term) => `"${term.replaceAll('"', '""')}"`);
  const find = (expression: string, allTerms: 0 | 1) =>
    found(db, store, query, `{${columns}} : (${expression})`, terms.length === 1).map((row) => ({ ...row, allTerms }));
  const all = find(terms.join(" AND "), 1);
  const withFewer = terms.length > 1 && matcher.exact.length === 0 && all.length < mostCandidates;
  const best = new Map<string, Candidate>();
  for (const candidate of [...all, ...(withFewer ? find(terms.join(" OR "), 0) : [])]) {
    const key = candidateKey(candidate);
    const known = best.get(key);
    if (known === undefined || (known.allTerms === candidate.allTerms && known.score < candidate.score))
      best.set(key, candidate);
  }
  const ranked = [...best.values()];
  for (const candidate of ranked) candidate.score *= recencyAt(candidate.at, now);
  const newest = (a: Candidate, b: Candidate) => (b.at ?? 0) - (a.at ?? 0) || b.message - a.message;
  return query.sort === "recent"
    ? ranked.sort(newest)
    : ranked.sort((a, b) => b.allTerms - a.allTerms || b.score - a.score || newest(a, b));
}

export function candidateKey({ message, part }: Pick<Candidate, "message" | "part">): string {
  return `${message} ${part}`;
}

/** The best rows for one expression. Rows are looked up after they are ranked, and no more of them than are taken. */
function found(
  db: Database,
  store: string,
  query: SearchQuery,
  expression: string,
  oneWord: boolean,
): Omit<Candidate, "allTerms">[] {
  const scope = scopeOf(store, query);
  const recent = query.sort === "recent";
  const newest = oneWord && !recent && isInMost(db, expression) ? `ORDER BY rowid DESC LIMIT ${mostOfCommonWord}` : "";
  const scored = `SELECT rowid, -bm25(message_fts, 1.0, 0.5, 1.0) AS score FROM message_fts WHERE message_fts MATCH ? ${newest}`;
  // A limit keeps the order of the rows inside; without one SQLite drops it.
  const ordered = `SELECT rowid, score FROM (${scored}) ORDER BY score DESC LIMIT ${coversAll(db, store, query) ? mostCandidates : -1}`;
  return db.all<Omit<Candidate, "allTerms">>(
    `SELECT p.message, p.part, p.at, f.score FROM (${recent ? scored : ordered}) f
       CROSS JOIN parts p ON p.row = f.rowid CROSS JOIN sessions s ON s.row = p.session
     WHERE ${scope.sql} ${recent ? "ORDER BY p.at DESC" : ""} LIMIT ${mostCandidates}`,
    [expression, ...scope.parameters],
  );
}

function isInMost(db: Database, expression: string): boolean {
  const rows = db.get<{ hits: number; last: number | null }>(
    "SELECT (SELECT count(*) FROM message_fts WHERE message_fts MATCH ?) AS hits, (SELECT max(row) FROM parts) AS last",
    [expression],
  );
  return rows !== undefined && rows.hits > mostOfCommonWord && rows.hits * 2 > (rows.last ?? 0);
}

/** Whether a search looks at all that the index holds words of: then the best rows are taken before any is looked up. */
function coversAll(db: Database, store: string, query: SearchQuery): boolean {
  if (query.session !== undefined || query.role !== undefined || query.from !== undefined || query.to !== undefined)
    return false;
  const inside = insideOf(query.directories);
  return (
    db.get(
      `SELECT 1 FROM sessions s JOIN files f ON f.id = s.file WHERE f.scope = 'full'
         AND (s.live = 0 OR s.store <> ? OR coalesce(s.parent_kind, '') IN ('fork', 'resume') OR NOT coalesce(${inside.sql}, 0)) LIMIT 1`,
      [store, ...inside.parameters],
    ) === undefined
  );
}

import type { Database } from "@toolhaft/sqlite";
import { type Matcher, matcherOf } from "../search-text.ts";
import type { SearchedPart, SearchHit, SearchPage, SearchQuery } from "../store.ts";
import { hitFrom, partTexts, recency } from "../transcripts/searched.ts";
import {
  type Candidate,
  columnOf,
  inOrder,
  mostCandidates,
  nothingFound,
  partsAtOnce,
  totalIsFloor,
  weightOf,
} from "./recorded-search.ts";
import { chain, type MessageRow, messageOf } from "./sqlite-rows.ts";
import { type SearchScope, searchScope } from "./sqlite-scope.ts";

const indexColumns: Readonly<Record<SearchedPart, string>> = {
  text: "text",
  tool_input: "tool",
  thinking: "thinking",
  tool_output: "output",
};

const fields = "s.row AS home, s.id AS sessionId, s.title, m.row AS message, m.at";
const join = "JOIN messages m ON m.row = p.message JOIN sessions s ON s.row = m.session";

/** The store holds its texts, so words, phrases and literals alike are judged on them. */
export function searchBuiltIn(db: Database, query: SearchQuery, now: number, signal: AbortSignal): SearchPage {
  const matcher = matcherOf(query.query, query);
  const scope = searchScope(db, query);
  const searched = db.get<{ sessions: number; messages: number }>(
    `SELECT count(DISTINCT s.row) AS sessions, count(*) AS messages FROM messages m JOIN sessions s ON s.row = m.session WHERE ${scope.sql}`,
    scope.parameters,
  );
  const byWords = query.match === "words" && matcher.terms.length > 0;
  const candidates = inOrder(
    query.parts.flatMap((part) =>
      byWords ? rank(db, matcher, part, scope, now) : scanned(db, matcher, part, scope, signal),
    ),
    query.sort,
  );
  const hits: SearchHit[] = [];
  let at = query.cursor === undefined ? 0 : Number(query.cursor);
  for (; at < candidates.length && hits.length < query.limit; at += 1) {
    signal.throwIfAborted();
    const candidate = candidates[at];
    const hit = candidate === undefined ? undefined : hitOf(db, candidate, matcher, scope);
    if (hit !== undefined) hits.push({ ...hit, after: String(at + 1) });
  }
  return {
    ...nothingFound,
    hits,
    total: candidates.length,
    totalIsFloor: totalIsFloor(candidates, query.parts),
    nextCursor: at < candidates.length ? String(at) : null,
    searched: searched ?? nothingFound.searched,
  };
}

/** Messages that the full-text index knows for the words of a query; phrases and case are judged on their texts. */
function rank(db: Database, matcher: Matcher, part: SearchedPart, scope: SearchScope, now: number): Candidate[] {
  const terms = matcher.terms.map((term) => `"${term.replaceAll('"', '""')}"`);
  const find = (expression: string, allTerms: 0 | 1) =>
    db.all<Candidate>(
      `SELECT ${fields}, '${part}' AS part, -bm25(parts_fts) * ${weightOf(part)} AS score, ${allTerms} AS allTerms FROM parts_fts JOIN parts p ON p.row = parts_fts.rowid ${join}
       WHERE parts_fts MATCH ? AND ${scope.sql} ORDER BY score DESC LIMIT ${mostCandidates}`,
      [`${indexColumns[part]} : (${expression})`, ...scope.parameters],
    );
  const best = new Map<number, Candidate>();
  const some = terms.length > 1 && matcher.exact.length === 0 ? find(terms.join(" OR "), 0) : [];
  for (const candidate of [...find(terms.join(" AND "), 1), ...some])
    if (!best.has(candidate.message)) best.set(candidate.message, candidate);
  const judged = matcher.exact.length > 0 || matcher.caseSensitive;
  return [...best.values()]
    .filter((candidate) => !judged || fittingTexts(db, candidate, matcher, scope).length > 0)
    .map((candidate) => ({ ...candidate, score: candidate.score * recency(candidate.at, now) }));
}

/** A literal may begin and end within a word, so it is looked for in the texts themselves, newest first. */
function scanned(
  db: Database,
  matcher: Matcher,
  part: SearchedPart,
  scope: SearchScope,
  signal: AbortSignal,
): Candidate[] {
  const { kind, column } = columnOf(part);
  const found = new Map<number, Candidate>();
  for (let before = Number.MAX_SAFE_INTEGER; found.size < mostCandidates; ) {
    signal.throwIfAborted();
    const rows = db.all<Candidate & { row: number; judged: string }>(
      `SELECT ${fields}, p.row, p.${column} AS judged, '${part}' AS part, 0 AS score, 1 AS allTerms FROM parts p ${join}
       WHERE p.row < ? AND p.kind = ? AND p.${column} IS NOT NULL AND ${scope.sql} ORDER BY p.row DESC LIMIT ${partsAtOnce}`,
      [before, kind, ...scope.parameters],
    );
    for (const { row, judged, ...candidate } of rows) {
      before = row;
      if (!found.has(candidate.message) && matcher.marks(judged, 1).length > 0 && matcher.fits(judged))
        found.set(candidate.message, candidate);
    }
    if (rows.length < partsAtOnce) break;
  }
  return [...found.values()];
}

function messageIn(db: Database, { home, message }: Candidate, { asked }: SearchScope) {
  const session = asked?.chain.has(home) === true ? asked.session.row : home;
  const row = db.get<MessageRow>(`${chain} SELECT * FROM path WHERE row = :row`, { session, row: message });
  return row === undefined ? undefined : messageOf(db, row);
}

function fittingTexts(db: Database, candidate: Candidate, matcher: Matcher, scope: SearchScope) {
  const message = messageIn(db, candidate, scope);
  return message === undefined ? [] : partTexts(message, candidate.part).filter(({ text }) => matcher.fits(text));
}

function hitOf(
  db: Database,
  candidate: Candidate,
  matcher: Matcher,
  scope: SearchScope,
): Omit<SearchHit, "after"> | undefined {
  const message = messageIn(db, candidate, scope);
  if (message === undefined) return undefined;
  const fitting = partTexts(message, candidate.part).filter(({ text }) => matcher.fits(text));
  const { asked } = scope;
  const shownIn = asked?.chain.has(candidate.home) === true ? asked.session : undefined;
  return hitFrom(message, candidate.part, fitting, matcher, {
    sessionId: shownIn?.id ?? candidate.sessionId,
    title: shownIn?.title ?? candidate.title,
    allTerms: candidate.allTerms === 1,
    score: candidate.score,
  });
}

import type { Database } from "@toolhaft/sqlite";
import { type Matcher, matcherOf } from "../search-text.ts";
import type { IndexProgress, SearchedPart, SearchHit, SearchPage, SearchQuery } from "../store.ts";
import type { TranscriptFormat } from "./format.ts";
import { scanFiles } from "./scan.ts";
import { hitFrom, messageAt, partTexts, recency, type SearchOptions, scopeOf } from "./searched.ts";
import { insideOf } from "./summaries.ts";

/** Where the next page goes on: hits of the index first, then the scan of bytes. */
interface Position {
  ranked: number;
  scan: { file: number; hit: number } | null;
}

interface Candidate {
  message: number;
  session: number;
  idx: number;
  sessionId: string;
  title: string;
  part: Exclude<SearchedPart, "tool_output">;
  tool: string | null;
  at: string | null;
  score: number;
  allTerms: number;
}

/** Most candidates that one query ranks; a query of common words alone would rank every message. */
const mostCandidates = 2_000;

export async function searchTranscripts(
  db: Database,
  format: TranscriptFormat,
  query: SearchQuery,
  index: IndexProgress,
  options: SearchOptions,
): Promise<SearchPage> {
  const matcher = matcherOf(query.query, query);
  const position = parsePosition(query.cursor);
  const searched = searchedCounts(db, format.source, query);
  const hits: SearchHit[] = [];
  const candidates = position.scan === null ? rank(db, format.source, query, matcher, options.clock.now()) : [];
  let at = position.ranked;
  for (; at < candidates.length && hits.length < query.limit; at += 1) {
    const candidate = candidates[at];
    if (candidate === undefined) break;
    options.signal.throwIfAborted();
    const hit = await hitOf(db, format, candidate, matcher, options);
    if (hit !== undefined) hits.push({ ...hit, after: positionText({ ranked: at + 1, scan: null }) });
  }
  const rankedLeft = candidates.length - at;
  const exactCount = matcher.exact.length === 0 && !matcher.caseSensitive;
  const page = {
    hits,
    searched,
    index,
  };
  const needsScan = query.parts.includes("tool_output") || (query.match === "literal" && matcher.terms.length === 0);
  if (rankedLeft > 0 || !needsScan) {
    return {
      ...page,
      total: exactCount ? candidates.length : position.ranked + hits.length + rankedLeft,
      totalIsFloor: candidates.length === mostCandidates || needsScan,
      nextCursor: rankedLeft > 0 ? positionText({ ranked: at, scan: null }) : null,
      scan: null,
    };
  }
  const scan = await scanFiles(
    db,
    format,
    query,
    matcher,
    position.scan ?? { file: 0, hit: 0 },
    query.limit - hits.length,
    options,
  );
  return {
    ...page,
    hits: [...hits, ...scan.hits.map(({ hit, next }) => ({ ...hit, after: positionText({ ranked: at, scan: next }) }))],
    total: (position.scan === null ? candidates.length : 0) + scan.hits.length,
    totalIsFloor: scan.next !== null,
    nextCursor: scan.next === null ? null : positionText({ ranked: at, scan: scan.next }),
    scan: scan.progress,
  };
}

function parsePosition(cursor: string | undefined): Position {
  if (cursor === undefined) return { ranked: 0, scan: null };
  const [ranked = "0", file, hit = "0"] = cursor.split(".");
  return { ranked: Number(ranked), scan: file === undefined ? null : { file: Number(file), hit: Number(hit) } };
}

function positionText({ ranked, scan }: Position): string {
  return scan === null ? String(ranked) : `${ranked}.${scan.file}.${scan.hit}`;
}

function searchedCounts(db: Database, store: string, query: SearchQuery): SearchPage["searched"] {
  const scope =
    query.session === undefined
      ? { ...insideOf(query.directories) }
      : { sql: "(s.id = ? OR s.parent = ?)", parameters: [query.session, query.session] };
  const row = db.get<{ sessions: number; messages: number }>(
    `SELECT count(*) AS sessions, coalesce(sum(s.all_messages), 0) AS messages FROM sessions s WHERE s.store = ? AND s.live = 1 AND ${scope.sql}`,
    [store, ...scope.parameters],
  );
  return row ?? { sessions: 0, messages: 0 };
}

/** Messages that hold the terms, those with all of them first; among equals the newer is a little better. */
function rank(db: Database, store: string, query: SearchQuery, matcher: Matcher, now: number): Candidate[] {
  if (matcher.terms.length === 0) return [];
  const parts = query.parts.filter((part) => part !== "tool_output");
  const columns = parts.map((part) => (part === "tool_input" ? "tool" : part)).join(" ");
  const terms = matcher.terms.map((term) => `"${term.replaceAll('"', '""')}"`);
  const scope = scopeOf(store, query);
  const whole = coversAll(db, store, query);
  const find = (expression: string, allTerms: 0 | 1): Candidate[] =>
    db.all<Candidate>(
      `SELECT m.row AS message, m.session, m.idx, s.id AS sessionId, s.title, p.part, p.tool, m.at, f.score, ${allTerms} AS allTerms
       FROM (SELECT rowid, -bm25(message_fts, 1.0, 0.5, 1.0) AS score FROM message_fts WHERE message_fts MATCH ?
             ${whole ? `ORDER BY ${query.sort === "recent" ? "rowid DESC" : "score DESC"} LIMIT ${mostCandidates}` : ""}) f
         JOIN parts p ON p.row = f.rowid JOIN messages m ON m.row = p.message JOIN sessions s ON s.row = m.session
       WHERE ${scope.sql}
       ORDER BY ${query.sort === "recent" ? "m.at DESC" : "f.score DESC"} LIMIT ${mostCandidates}`,
      [`{${columns}} : (${expression})`, ...scope.parameters],
    );
  const all = find(terms.join(" AND "), 1);
  const some =
    terms.length > 1 && matcher.exact.length === 0 && all.length < mostCandidates ? find(terms.join(" OR "), 0) : [];
  const best = new Map<string, Candidate>();
  for (const candidate of [...all, ...some]) {
    const key = `${candidate.message} ${candidate.part}`;
    const known = best.get(key);
    if (known === undefined || (known.allTerms === candidate.allTerms && known.score < candidate.score))
      best.set(key, candidate);
  }
  const scored = [...best.values()].map((candidate) => ({
    ...candidate,
    score: candidate.score * recency(candidate.at, now),
  }));
  const recent = (a: Candidate, b: Candidate) =>
    (a.at ?? "") < (b.at ?? "") ? 1 : (a.at ?? "") > (b.at ?? "") ? -1 : 0;
  return query.sort === "recent"
    ? scored.sort(recent)
    : scored.sort((a, b) => b.allTerms - a.allTerms || b.score - a.score || recent(a, b));
}

/** Whether a search looks at all there is: then the best rows are taken before anything is looked up for them. */
function coversAll(db: Database, store: string, query: SearchQuery): boolean {
  if (query.session !== undefined || query.role !== undefined || query.from !== undefined || query.to !== undefined)
    return false;
  const inside = insideOf(query.directories);
  return (
    db.get(
      `SELECT 1 FROM sessions s WHERE s.live = 0 OR s.store <> ? OR s.parent IS NOT NULL OR NOT coalesce(${inside.sql}, 0) LIMIT 1`,
      [store, ...inside.parameters],
    ) === undefined
  );
}

async function hitOf(
  db: Database,
  format: TranscriptFormat,
  candidate: Candidate,
  matcher: Matcher,
  options: SearchOptions,
): Promise<Omit<SearchHit, "after"> | undefined> {
  const message = await messageAt(db, format, candidate.session, candidate.idx, options);
  if (message === undefined) return undefined;
  const fitting = partTexts(message, candidate.part).filter(({ text }) => matcher.fits(text));
  return hitFrom(message, candidate.part, fitting, matcher, { ...candidate, allTerms: candidate.allTerms === 1 });
}

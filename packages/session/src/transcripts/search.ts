import type { Database } from "@toolhaft/sqlite";
import { type Matcher, matcherOf } from "../search-text.ts";
import type { IndexProgress, SearchHit, SearchPage, SearchQuery } from "../store.ts";
import type { TranscriptFormat } from "./format.ts";
import { type Candidate, candidateKey, mostCandidates, rank } from "./rank.ts";
import { scanFiles } from "./scan.ts";
import { familySql, hitFrom, messageAt, partTexts, type SearchOptions } from "./searched.ts";
import { insideOf } from "./summaries.ts";

/** Where the next page goes on: hits of the index first, then the scan of bytes. */
interface Position {
  ranked: number;
  scan: { file: number; hit: number } | null;
}

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
  const literal = query.match === "literal";
  // What holds no word is in no index.
  const needsScan = query.parts.includes("tool_output") || literal || matcher.terms.length === 0;
  // A scan for a literal passes over what the index has shown.
  const candidates =
    position.scan === null || literal ? rank(db, format.source, query, matcher, options.clock.now()) : [];
  let at = position.ranked;
  for (; position.scan === null && at < candidates.length && hits.length < query.limit; at += 1) {
    const candidate = candidates[at];
    if (candidate === undefined) break;
    options.signal.throwIfAborted();
    const hit = await hitOf(db, format, candidate, matcher, options);
    if (hit !== undefined) hits.push({ ...hit, after: positionText({ ranked: at + 1, scan: null }) });
  }
  const rankedLeft = position.scan === null ? candidates.length - at : 0;
  const exactCount = matcher.exact.length === 0 && !matcher.caseSensitive;
  const page = {
    hits,
    searched,
    index,
  };
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
    {
      from: position.scan ?? { file: 0, hit: 0 },
      limit: query.limit - hits.length,
      shown: new Set(literal ? candidates.map(candidateKey) : []),
    },
    options,
  );
  return {
    ...page,
    hits: [...hits, ...scan.hits.map(({ hit, next }) => ({ ...hit, after: positionText({ ranked: at, scan: next }) }))],
    total: (position.scan !== null ? 0 : literal ? hits.length : candidates.length) + scan.hits.length,
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
      : { sql: familySql, parameters: [store, query.session, store] };
  const row = db.get<{ sessions: number; messages: number }>(
    `SELECT count(*) AS sessions, coalesce(sum(s.all_messages), 0) AS messages FROM sessions s WHERE s.store = ? AND s.live = 1 AND ${scope.sql}`,
    [store, ...scope.parameters],
  );
  return row ?? { sessions: 0, messages: 0 };
}

async function hitOf(
  db: Database,
  format: TranscriptFormat,
  candidate: Candidate,
  matcher: Matcher,
  options: SearchOptions,
): Promise<Omit<SearchHit, "after"> | undefined> {
  const found = db.get<{ session: number; idx: number; sessionId: string; title: string }>(
    "SELECT m.session, m.idx, s.id AS sessionId, s.title FROM messages m JOIN sessions s ON s.row = m.session WHERE m.row = ?",
    [candidate.message],
  );
  const message = found === undefined ? undefined : await messageAt(db, format, found.session, found.idx, options);
  if (found === undefined || message === undefined) return undefined;
  const fitting = partTexts(message, candidate.part).filter(({ text }) => matcher.fits(text));
  return hitFrom(message, candidate.part, fitting, matcher, {
    sessionId: found.sessionId,
    title: found.title,
    allTerms: candidate.allTerms === 1,
    score: candidate.score,
  });
}

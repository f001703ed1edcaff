import type { SearchedPart, SearchHit, SearchPage, SearchQuery } from "@toolhaft/session";
import {
  type Candidate,
  columnOf,
  hitFrom,
  inOrder,
  type Matcher,
  matcherOf,
  mostCandidates,
  nothingFound,
  partsAtOnce,
  partTexts,
  totalIsFloor,
} from "@toolhaft/session/adapter";
import type { PostgresDatabase, Sql } from "../database.ts";
import { pathsOf } from "./path.ts";
import { rankedMessages } from "./rank.ts";
import { type MessageRow, messagesOf } from "./rows.ts";
import { candidateFields, candidateJoin, type SearchScope, searchScope } from "./scope.ts";
import { indexNewParts } from "./words.ts";

/** Messages that are fetched at once to be judged. */
const judgedAtOnce = 100;

/** The store holds its texts, so words, phrases and literals alike are judged on them. */
export async function searchSessions(
  db: PostgresDatabase,
  query: SearchQuery,
  signal: AbortSignal,
): Promise<SearchPage> {
  await indexNewParts(db, signal);
  const matcher = matcherOf(query.query, query);
  const scope = await searchScope(db, query);
  const searched = await db.get<{ sessions: number; messages: number; now: number }>(
    `SELECT count(DISTINCT s.row) AS sessions, count(*) AS messages, @clock_ms() AS now
     FROM @messages m JOIN @sessions s ON s.row = m.session WHERE ${scope.sql}`,
    scope.values,
  );
  const { now, ...counts } = searched ?? { ...nothingFound.searched, now: 0 };
  const byWords = query.match === "words" && matcher.terms.length > 0;
  const found: Candidate[] = [];
  for (const part of query.parts) {
    signal.throwIfAborted();
    found.push(
      ...(byWords ? await ranked(db, matcher, part, scope, now) : await scanned(db, matcher, part, scope, signal)),
    );
  }
  const candidates = inOrder(found, query.sort);
  const hits: SearchHit[] = [];
  let at = query.cursor === undefined ? 0 : Number(query.cursor);
  while (at < candidates.length && hits.length < query.limit) {
    signal.throwIfAborted();
    const block = candidates.slice(at, at + query.limit - hits.length);
    for (const hit of await hitsOf(db, block, matcher, scope)) {
      at += 1;
      if (hit !== undefined) hits.push({ ...hit, after: String(at) });
    }
  }
  return {
    ...nothingFound,
    hits,
    total: candidates.length,
    totalIsFloor: totalIsFloor(candidates, query.parts),
    nextCursor: at < candidates.length ? String(at) : null,
    searched: counts,
  };
}

/** Messages that the index knows for the words of a query; phrases and case are judged on their texts. */
async function ranked(
  sql: Sql,
  matcher: Matcher,
  part: SearchedPart,
  scope: SearchScope,
  now: number,
): Promise<Candidate[]> {
  const candidates = await rankedMessages(sql, matcher, part, scope, now);
  if (matcher.exact.length === 0 && !matcher.caseSensitive) return candidates;
  const fitting: Candidate[] = [];
  for (let at = 0; at < candidates.length; at += judgedAtOnce) {
    const block = candidates.slice(at, at + judgedAtOnce);
    const texts = await textsOf(sql, block, matcher, scope);
    fitting.push(...block.filter((_, n) => (texts[n]?.fitting.length ?? 0) > 0));
  }
  return fitting;
}

/** A literal may begin and end within a word, so it is looked for in the texts themselves, newest first. */
async function scanned(
  sql: Sql,
  matcher: Matcher,
  part: SearchedPart,
  scope: SearchScope,
  signal: AbortSignal,
): Promise<Candidate[]> {
  const { kind, column } = columnOf(part);
  const prefilter = prefilterOf(matcher, `p.${column}`);
  const found = new Map<number, Candidate>();
  for (let before = Number.MAX_SAFE_INTEGER; found.size < mostCandidates; ) {
    signal.throwIfAborted();
    const rows: (Candidate & { row: number; judged: string })[] = await sql.all(
      `SELECT ${candidateFields}, p.row, p.${column} AS judged, '${part}' AS part, 0 AS score, 1 AS "allTerms" FROM @parts p ${candidateJoin}
       WHERE p.row < :before::bigint AND p.kind = :kind AND p.${column} IS NOT NULL AND ${prefilter.sql} AND ${scope.sql}
       ORDER BY p.row DESC LIMIT ${partsAtOnce}`,
      { ...scope.values, ...prefilter.values, before, kind },
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

/** Texts that cannot hold a literal stay on the server. Letters beyond ASCII fold in ways that only the matcher knows. */
function prefilterOf({ exact, caseSensitive }: Matcher, column: string) {
  const [needle] = exact;
  if (needle === undefined) return { sql: "true", values: {} };
  if (caseSensitive) return { sql: `position(:needle IN ${column}) > 0`, values: { needle } };
  if (!/^[\x01-\x7f]*$/.test(needle)) return { sql: "true", values: {} };
  const sql = `(position(lower(:needle) IN lower(${column})) > 0 OR octet_length(${column}) > length(${column}))`;
  return { sql, values: { needle } };
}

/** Of each candidate its message, as the asked session or its own shows it, and the texts that fit. */
async function textsOf(sql: Sql, candidates: readonly Candidate[], matcher: Matcher, { asked }: SearchScope) {
  const rows = await sql.all<MessageRow>("SELECT * FROM @messages WHERE row = ANY(?::bigint[])", [
    candidates.map(({ message }) => message),
  ]);
  const through = new Set(asked?.path.map(({ session }) => session));
  const homes = rows.map(({ session }) => session).filter((session) => !through.has(session));
  const paths = await pathsOf(sql, homes);
  const pathFor = ({ session }: MessageRow) =>
    through.has(session) ? (asked?.path ?? []) : (paths.get(session) ?? []);
  const messages = await messagesOf(sql, rows, pathFor);
  const messageOf = new Map(rows.map(({ row }, n) => [row, messages[n]]));
  return candidates.map((candidate) => {
    const message = messageOf.get(candidate.message);
    const texts = message === undefined ? [] : partTexts(message, candidate.part);
    return {
      message,
      fitting: texts.filter(({ text }) => matcher.fits(text)),
      shownIn: through.has(candidate.home) ? asked?.session : undefined,
    };
  });
}

async function hitsOf(
  sql: Sql,
  candidates: readonly Candidate[],
  matcher: Matcher,
  scope: SearchScope,
): Promise<(Omit<SearchHit, "after"> | undefined)[]> {
  const texts = await textsOf(sql, candidates, matcher, scope);
  return candidates.map((candidate, n) => {
    const { message, fitting, shownIn } = texts[n] ?? {};
    if (message === undefined || fitting === undefined) return undefined;
    return hitFrom(message, candidate.part, fitting, matcher, {
      sessionId: shownIn?.id ?? candidate.sessionId,
      title: shownIn?.title ?? candidate.title,
      allTerms: candidate.allTerms === 1,
      score: candidate.score,
    });
  });
}

import type { Database, SqlValue } from "@toolhaft/sqlite";
import { type Matcher, matcherOf } from "../search-text.ts";
import type { SearchedPart, SearchHit, SearchPage, SearchQuery } from "../store.ts";
import { hitFrom, partTexts, recency } from "../transcripts/searched.ts";
import { insideOf } from "../transcripts/summaries.ts";
import { chain, type MessageRow, messageOf } from "./sqlite-rows.ts";

const mostCandidates = 2_000;

interface Candidate {
  sessionRow: number;
  sessionId: string;
  title: string;
  message: number;
  part: SearchedPart;
  score: number;
  allTerms: number;
  at: string;
}

const columnOf: Readonly<Record<SearchedPart, string>> = {
  text: "text",
  tool_input: "tool",
  thinking: "thinking",
  tool_output: "output",
};

/** The store holds its texts, so words, phrases and literals alike are judged on them. */
export function searchBuiltIn(
  db: Database,
  query: SearchQuery,
  empty: SearchPage,
  now: number,
  signal: AbortSignal,
): SearchPage {
  const matcher = matcherOf(query.query, query);
  const scope = scopeOf(query);
  const searched = db.get<{ sessions: number; messages: number }>(
    `SELECT count(DISTINCT s.row) AS sessions, count(*) AS messages FROM messages m JOIN sessions s ON s.row = m.session WHERE ${scope.sql}`,
    scope.parameters,
  );
  const candidates = query.parts.flatMap((part) => rank(db, query, matcher, part, scope, now));
  candidates.sort((a, b) =>
    query.sort === "recent"
      ? a.at < b.at
        ? 1
        : -1
      : b.allTerms - a.allTerms || b.score - a.score || (a.at < b.at ? 1 : -1),
  );
  const hits: SearchHit[] = [];
  let at = query.cursor === undefined ? 0 : Number(query.cursor);
  for (; at < candidates.length && hits.length < query.limit; at += 1) {
    signal.throwIfAborted();
    const candidate = candidates[at];
    const hit = candidate === undefined ? undefined : hitOf(db, candidate, matcher);
    if (hit !== undefined) hits.push({ ...hit, after: String(at + 1) });
  }
  return {
    ...empty,
    hits,
    total: candidates.length,
    totalIsFloor: candidates.length >= mostCandidates,
    nextCursor: at < candidates.length ? String(at) : null,
    searched: searched ?? empty.searched,
  };
}

function scopeOf(query: SearchQuery): { sql: string; parameters: SqlValue[] } {
  const inside = insideOf(query.directories);
  const filters = [inside.sql];
  const parameters: SqlValue[] = [...inside.parameters];
  if (query.session !== undefined) {
    filters.push("(s.id = ? OR s.parent = ?)");
    parameters.push(query.session, query.session);
  }
  if (query.role !== undefined) {
    filters.push("m.role = ?");
    parameters.push(query.role);
  }
  if (query.from !== undefined) {
    filters.push("m.at >= ?");
    parameters.push(new Date(query.from).toISOString());
  }
  if (query.to !== undefined) {
    filters.push("m.at <= ?");
    parameters.push(new Date(query.to).toISOString());
  }
  return { sql: filters.join(" AND "), parameters };
}

function rank(
  db: Database,
  query: SearchQuery,
  matcher: Matcher,
  part: SearchedPart,
  scope: { sql: string; parameters: SqlValue[] },
  now: number,
): Candidate[] {
  const column = columnOf[part];
  const fields = `s.row AS sessionRow, s.id AS sessionId, s.title, m.row AS message, '${part}' AS part, m.at`;
  const join = "JOIN messages m ON m.row = p.message JOIN sessions s ON s.row = m.session";
  if (matcher.terms.length === 0) {
    const source = { text: "p.text", thinking: "p.text", tool_input: "p.input", tool_output: "p.output" }[part];
    const kind = part === "text" || part === "thinking" ? part : "tool";
    return db.all<Candidate>(
      `SELECT ${fields}, 0 AS score, 1 AS allTerms FROM parts p ${join} WHERE p.kind = ? AND instr(lower(${source}), lower(?)) > 0 AND ${scope.sql} GROUP BY m.row ORDER BY m.at DESC LIMIT ${mostCandidates}`,
      [kind, query.query, ...scope.parameters],
    );
  }
  const terms = matcher.terms.map((term) => `"${term.replaceAll('"', '""')}"`);
  const weight = part === "tool_input" ? 0.5 : 1;
  const find = (expression: string, allTerms: 0 | 1) =>
    db.all<Candidate>(
      `SELECT ${fields}, -bm25(parts_fts) * ${weight} AS score, ${allTerms} AS allTerms FROM parts_fts JOIN parts p ON p.row = parts_fts.rowid ${join}
       WHERE parts_fts MATCH ? AND ${scope.sql} ORDER BY score DESC LIMIT ${mostCandidates}`,
      [`${column} : (${expression})`, ...scope.parameters],
    );
  const best = new Map<number, Candidate>();
  const some = terms.length > 1 && matcher.exact.length === 0 ? find(terms.join(" OR "), 0) : [];
  for (const candidate of [...find(terms.join(" AND "), 1), ...some])
    if (!best.has(candidate.message)) best.set(candidate.message, candidate);
  return [...best.values()].map((candidate) => ({
    ...candidate,
    score: candidate.score * recency(candidate.at, now),
  }));
}

function hitOf(db: Database, candidate: Candidate, matcher: Matcher): Omit<SearchHit, "after"> | undefined {
  const row = db.get<MessageRow>(`${chain} SELECT * FROM path WHERE row = :row`, {
    session: candidate.sessionRow,
    row: candidate.message,
  });
  if (row === undefined) return undefined;
  const message = messageOf(db, row);
  const fitting = partTexts(message, candidate.part).filter(({ text }) => matcher.fits(text));
  return hitFrom(message, candidate.part, fitting, matcher, { ...candidate, allTerms: candidate.allTerms === 1 });
}

import type { SearchedPart } from "@toolhaft/session";
import { type Candidate, type Matcher, mostCandidates, recency, weightOf } from "@toolhaft/session/adapter";
import type { Sql } from "../database.ts";
import { candidateFields, candidateJoin, type SearchScope } from "./scope.ts";
import { termKey } from "./words.ts";

/** Of a term in more texts than these it is known that it is frequent, and that is enough. */
const mostCounted = 20_000;

/** BM25 with the constants of SQLite's full-text search (k1 1.2, b 0.75), so that both stores rank alike. */
const score = `(SELECT coalesce(sum(q.idf * found.n * 2.2 / (found.n + 1.2 * (0.25 + 0.75 * w.length / :average::float8))), 0)
  FROM unnest(:terms::text[], :idfs::float8[]) AS q(term, idf)
  CROSS JOIN LATERAL (SELECT w.counts[array_position(w.terms, q.term)] AS n) AS found WHERE found.n IS NOT NULL)`;

/** Messages with all terms first, then those with some; each once. */
export async function rankedMessages(
  sql: Sql,
  matcher: Matcher,
  part: SearchedPart,
  scope: SearchScope,
  now: number,
): Promise<Candidate[]> {
  const terms = [...new Set(matcher.terms.map(termKey))];
  const values = { ...scope.values, terms, ...(await weights(sql, terms, part)) };
  const find = (operator: "@>" | "&&", allTerms: 0 | 1) =>
    sql.all<Candidate>(
      `SELECT ${candidateFields}, '${part}' AS part, ${score} * ${weightOf(part)} AS score, ${allTerms} AS "allTerms"
       FROM @words w JOIN @parts p ON p.row = w.part ${candidateJoin}
       WHERE w.field = '${part}' AND w.terms ${operator} :terms::text[] AND ${scope.sql}
       ORDER BY score DESC LIMIT ${mostCandidates}`,
      values,
    );
  const all = await find("@>", 1);
  const some = terms.length > 1 && matcher.exact.length === 0 ? await find("&&", 0) : [];
  const best = new Map<number, Candidate>();
  for (const candidate of [...all, ...some])
    if (!best.has(candidate.message))
      best.set(candidate.message, { ...candidate, score: candidate.score * recency(candidate.at, now) });
  return [...best.values()];
}

async function weights(
  sql: Sql,
  terms: readonly string[],
  part: SearchedPart,
): Promise<{ idfs: number[]; average: number }> {
  const rows = await sql.all<{ term: string; found: number }>(
    `SELECT q.term, (SELECT count(*) FROM (SELECT 1 FROM @words w WHERE w.field = '${part}' AND w.terms @> ARRAY[q.term] LIMIT ${mostCounted}) AS counted) AS found
     FROM unnest(:terms::text[]) AS q(term)`,
    { terms },
  );
  const all = await sql.get<{ parts: number; length: number }>("SELECT parts, length FROM @indexed");
  const parts = all?.parts ?? 0;
  const found = new Map(rows.map((row) => [row.term, row.found]));
  return {
    idfs: terms.map((term) => {
      const n = found.get(term) ?? 0;
      return Math.max(Math.log((parts - n + 0.5) / (n + 0.5)), 1e-6);
    }),
    average: Math.max((all?.length ?? 0) / Math.max(parts, 1), 1),
  };
}

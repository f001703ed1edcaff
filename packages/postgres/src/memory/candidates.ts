import type { Caller, Candidate, CandidateQuery, Candidates } from "@toolhaft/memory";
import { type CandidateRow, toCandidate } from "@toolhaft/memory/adapter";
import type { Sql } from "../database.ts";
import { termKey } from "../term-key.ts";
import { callerParameters, filterConditions, type Named } from "./read.ts";
import { candidateColumns, candidateTables, live, visible } from "./rows.ts";

/** Rows that are enough to choose from, and most that a search looks at. */
const leastReach = 300;
const mostReach = 10_000;

interface Partition {
  id: number;
  live: number;
  length: number;
}

export async function candidates(db: Sql, caller: Caller, query: CandidateQuery): Promise<Candidates> {
  const partitions = await partitionsOf(db, caller, query.scope);
  const count = partitions.reduce((sum, partition) => sum + partition.live, 0);
  const length = partitions.reduce((sum, partition) => sum + partition.length, 0);
  const df = await frequencies(db, partitions, query.terms);
  const chosen = rarest(df, count);
  const rows = new Map<string, Candidate>();
  const found =
    chosen.length > 0
      ? await match(
          db,
          caller,
          query,
          partitions,
          chosen,
          chosen.map((term) => weightOf(df.get(term) ?? 0, count)),
        )
      : [];
  for (const row of [...found, ...(await titled(db, caller, query))]) rows.set(row.id, toCandidate(row));
  return {
    rows: [...rows.values()],
    df,
    count,
    averageLength: count > 0 ? length / count : 0,
    matched: found.length,
    capped: chosen.length < df.size || found.length === query.limit,
  };
}

async function partitionsOf(db: Sql, caller: Caller, scope: CandidateQuery["scope"]): Promise<Partition[]> {
  return await db.all<Partition>(
    `SELECT id, live, length FROM @partitions WHERE workspace = :workspace AND (scope = 'workspace' OR role = :agent)
       AND (:scope = 'both' OR scope = :scope) AND live > 0`,
    { ...callerParameters(caller), scope },
  );
}

/** A term as it stands in the index of a partition. */
function placed(partitions: readonly Partition[], term: string): string[] {
  return partitions.map(({ id }) => termKey(`${id.toString(36)}:${term}`));
}

/** Only terms that occur. */
async function frequencies(
  db: Sql,
  partitions: readonly Partition[],
  terms: readonly string[],
): Promise<Map<string, number>> {
  const wanted = terms.flatMap((term) => placed(partitions, term).map((place) => ({ term, place })));
  if (wanted.length === 0) return new Map();
  const found = await db.all<{ nth: number; n: number }>(
    `SELECT w.nth, (SELECT count(*) FROM @memory_terms t WHERE t.terms @> ARRAY[w.place]) AS n
     FROM unnest(?::text[]) WITH ORDINALITY AS w(place, nth)`,
    [wanted.map(({ place }) => place)],
  );
  const df = new Map<string, number>();
  for (const { nth, n } of found) {
    const term = wanted[nth - 1]?.term;
    if (term !== undefined && n > 0) df.set(term, (df.get(term) ?? 0) + n);
  }
  return df;
}

/**
 * Terms by rising frequency until enough rows are reached: common ones add cost and, as all terms score, no quality.
 * A term that would go far beyond is left out once there are candidates without it.
 */
function rarest(df: ReadonlyMap<string, number>, count: number): string[] {
  const enough = Math.max(leastReach, Math.min(mostReach, count / 10));
  const chosen: string[] = [];
  let reached = 0;
  for (const [term, frequency] of [...df].sort((a, b) => a[1] - b[1])) {
    const far = reached > enough || (reached >= leastReach && reached + frequency > enough);
    if (chosen.length >= 2 && far) break;
    chosen.push(term);
    reached += frequency;
  }
  return chosen;
}

/** Rows that hold one of the terms; where there are too many, those with the rarest, then the shortest. */
async function match(
  db: Sql,
  caller: Caller,
  query: CandidateQuery,
  partitions: readonly Partition[],
  terms: readonly string[],
  weights: readonly number[],
): Promise<CandidateRow[]> {
  const wanted = terms.flatMap((term, index) =>
    placed(partitions, term).map((place) => ({ place, weight: weights[index] ?? 0 })),
  );
  const parameters: Named = {
    ...callerParameters(caller),
    places: wanted.map(({ place }) => place),
    weights: wanted.map(({ weight }) => weight),
    limit: query.limit,
  };
  const filters = filterConditions({ ...query, scope: "both" }, parameters);
  return db.all<CandidateRow>(
    `SELECT ${candidateColumns} FROM ${candidateTables}
     WHERE t.terms && :places::text[] AND ${[visible, live, ...filters].join(" AND ")}
     ORDER BY (SELECT sum(w.weight) FROM unnest(:places::text[], :weights::float8[]) AS w(place, weight)
       WHERE w.place = ANY(t.terms)) DESC, t.len, m.row LIMIT :limit`,
    parameters,
  );
}

/** What a term says about a memory: the rarer, the more. */
function weightOf(frequency: number, count: number): number {
  return Math.log(1 + (count - frequency + 0.5) / (frequency + 0.5));
}

async function titled(db: Sql, caller: Caller, query: CandidateQuery): Promise<CandidateRow[]> {
  if (query.titleKey === "") return [];
  const parameters: Named = { ...callerParameters(caller), title: query.titleKey };
  const filters = filterConditions(query, parameters);
  return db.all<CandidateRow>(
    `SELECT ${candidateColumns} FROM ${candidateTables}
     WHERE md5(m.title_key) = md5(:title) AND m.title_key = :title AND ${[visible, live, ...filters].join(" AND ")} LIMIT 50`,
    parameters,
  );
}

/** Numbers of the rows around one in its thread. */
const side = (compare: "<" | ">", order: "ASC" | "DESC"): string =>
  `ARRAY(SELECT n.row FROM @memories n WHERE n.workspace = m.workspace AND n.scope = m.scope AND n.role = m.role
     AND n.thread = m.thread AND n.row ${compare} m.row AND n.superseded_by IS NULL AND n.forgotten_at IS NULL
     ORDER BY n.row ${order} LIMIT :reach)`;
const selectSides = `SELECT c.nth, m.row, array_to_json(${side("<", "DESC")})::text AS before, array_to_json(${side(">", "ASC")})::text AS after
  FROM unnest(:ids::text[]) WITH ORDINALITY AS c(id, nth) JOIN @memories m ON m.id = c.id WHERE ${visible} AND ${live}`;

/** Two statements whatever the number of ids: first who stands beside whom, then each of them once. */
export async function windows(db: Sql, caller: Caller, ids: readonly string[], reach: number): Promise<Candidate[][]> {
  const parameters = callerParameters(caller);
  const found = await db.all<{ nth: number; row: number; before: string; after: string }>(selectSides, {
    ...parameters,
    ids,
    reach,
  });
  const around = new Map(
    found.map(({ nth, row, before, after }) => [
      nth - 1,
      [...(JSON.parse(before) as number[]).reverse(), row, ...(JSON.parse(after) as number[])],
    ]),
  );
  const rows = await db.all<CandidateRow>(
    `SELECT ${candidateColumns} FROM ${candidateTables} WHERE m.row = ANY(:rows::bigint[]) AND ${visible} AND ${live}`,
    { ...parameters, rows: [...new Set([...around.values()].flat())] },
  );
  const candidates = new Map(rows.map((row) => [row.row, toCandidate(row)]));
  return ids.map((_, position) => (around.get(position) ?? []).flatMap((row) => candidates.get(row) ?? []));
}

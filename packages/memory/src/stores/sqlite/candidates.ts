import type { Database } from "@toolhaft/sqlite";
import { ftsMatch } from "@toolhaft/text";
import type { Caller, Candidate, CandidateQuery, Candidates } from "../../store.ts";
import { callerParameters, filterConditions, type Named } from "./read.ts";
import { type CandidateRow, candidateColumns, candidateTables, toCandidate } from "./rows.ts";
import { live, visible } from "./schema.ts";

// CROSS JOIN keeps SQLite from starting at the row filter, which matches nearly every row.
/** Weights of title, body, tags and about in the choice of candidates; `rank` scores them again with all terms. */
const firstPass = "2.0, 1.0, 1.5, 0.2";
const leastReach = 300;
const mostReach = 10_000;

interface Partition {
  id: number;
  live: number;
  length: number;
}

export function candidates(db: Database, caller: Caller, query: CandidateQuery): Candidates {
  const partitions = partitionsOf(db, caller, query.scope);
  const count = partitions.reduce((sum, partition) => sum + partition.live, 0);
  const length = partitions.reduce((sum, partition) => sum + partition.length, 0);
  const df = frequencies(db, partitions, query.terms);
  const chosen = rarest(df, count);
  const rows = new Map<string, Candidate>();
  const found = chosen.length > 0 ? match(db, caller, query, partitions, chosen) : [];
  for (const row of [...found, ...titled(db, caller, query)]) rows.set(row.id, toCandidate(row));
  return {
    rows: [...rows.values()],
    df,
    count,
    averageLength: count > 0 ? length / count : 0,
    matched: found.length,
    capped: chosen.length < df.size || found.length === query.limit,
  };
}

function partitionsOf(db: Database, caller: Caller, scope: CandidateQuery["scope"]): Partition[] {
  return db.all<Partition>(
    `SELECT id, live, length FROM partitions WHERE workspace = :workspace AND (scope = 'workspace' OR role = :agent)
       AND (:scope = 'both' OR scope = :scope) AND live > 0`,
    { ...callerParameters(caller), scope },
  );
}

/** Only terms that occur. */
function frequencies(db: Database, partitions: readonly Partition[], terms: readonly string[]): Map<string, number> {
  const df = new Map<string, number>();
  for (const term of terms) {
    let sum = 0;
    for (const { id } of partitions) {
      sum +=
        db.get<{ doc: number }>("SELECT doc FROM memory_df WHERE term = ?", [`${id.toString(36)}:${term}`])?.doc ?? 0;
    }
    if (sum > 0) df.set(term, sum);
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

function match(
  db: Database,
  caller: Caller,
  query: CandidateQuery,
  partitions: readonly Partition[],
  terms: readonly string[],
): CandidateRow[] {
  const parameters: Named = {
    ...callerParameters(caller),
    limit: query.limit,
    match: ftsMatch(partitions.flatMap(({ id }) => terms.map((term) => `${id.toString(36)}:${term}`))),
  };
  const filters = filterConditions({ ...query, scope: "both" }, parameters);
  if (filters.length > 0) {
    return db.all<CandidateRow>(
      `SELECT ${candidateColumns} FROM memory_fts f CROSS JOIN ${candidateTables.replace("memories m", "memories m ON m.row = f.rowid")}
       WHERE memory_fts MATCH :match AND ${visible} AND ${live} AND ${filters.join(" AND ")}
       ORDER BY bm25(memory_fts, ${firstPass}) LIMIT :limit`,
      parameters,
    );
  }
  // Terms name the partition, so the best rows are known before a single memory is read; the filter stays all the same.
  return db.all<CandidateRow>(
    `SELECT ${candidateColumns} FROM (SELECT rowid, rank FROM memory_fts WHERE memory_fts MATCH :match
       AND rank MATCH 'bm25(${firstPass})' ORDER BY rank LIMIT :limit) f
     CROSS JOIN ${candidateTables.replace("memories m", "memories m ON m.row = f.rowid")}
     WHERE ${visible} AND ${live} ORDER BY f.rank`,
    parameters,
  );
}

/** By the whole key of the index, once for each place: with an OR of places SQLite would walk the workspace. */
const titledRows = [
  ["workspace", "''"],
  ["role", ":agent"],
]
  .map(
    ([scope, role]) =>
      `SELECT m.row FROM memories m WHERE m.workspace = :workspace AND m.scope = '${scope}' AND m.role = ${role} AND m.title_key = :title AND ${live}`,
  )
  .join(" UNION ALL ");

function titled(db: Database, caller: Caller, query: CandidateQuery): CandidateRow[] {
  if (query.titleKey === "") return [];
  const parameters: Named = { ...callerParameters(caller), title: query.titleKey };
  const filters = filterConditions(query, parameters);
  return db.all<CandidateRow>(
    `SELECT ${candidateColumns} FROM (${titledRows}) named CROSS JOIN ${candidateTables.replace("memories m", "memories m ON m.row = named.row")}
     WHERE ${visible} AND ${live} ${filters.map((filter) => `AND ${filter}`).join(" ")} LIMIT 50`,
    parameters,
  );
}

const side = (compare: "<" | ">", order: "ASC" | "DESC") =>
  `(SELECT json_group_array(row) FROM (SELECT n.row FROM memories n WHERE n.workspace = m.workspace AND n.scope = m.scope
     AND n.role = m.role AND n.thread = m.thread AND n.row ${compare} m.row
     AND n.superseded_by IS NULL AND n.forgotten_at IS NULL ORDER BY n.row ${order} LIMIT :reach))`;
const selectSides = `SELECT c.key AS position, m.row, ${side("<", "DESC")} AS before, ${side(">", "ASC")} AS after
  FROM json_each(:ids) c CROSS JOIN memories m ON m.id = c.value WHERE ${visible} AND ${live}`;
const selectRows = `SELECT ${candidateColumns} FROM json_each(:rows) r CROSS JOIN ${candidateTables.replace("memories m", "memories m ON m.row = r.value")}
  WHERE ${visible} AND ${live}`;

/** Two statements whatever the number of ids: first who stands beside whom, then each of them once. */
export function windows(db: Database, caller: Caller, ids: readonly string[], reach: number): Candidate[][] {
  const parameters = callerParameters(caller);
  const found = db.all<{ position: number; row: number; before: string; after: string }>(selectSides, {
    ...parameters,
    ids: JSON.stringify(ids),
    reach,
  });
  const around = new Map(
    found.map(({ position, row, before, after }) => [
      position,
      [...parseRows(before).reverse(), row, ...parseRows(after)],
    ]),
  );
  const wanted = [...new Set([...around.values()].flat())];
  const candidates = new Map(
    db
      .all<CandidateRow>(selectRows, { ...parameters, rows: JSON.stringify(wanted) })
      .map((row) => [row.row, toCandidate(row)]),
  );
  return ids.map((_, position) => (around.get(position) ?? []).flatMap((row) => candidates.get(row) ?? []));
}

function parseRows(json: string): number[] {
  return json === "[]" ? [] : (JSON.parse(json) as number[]);
}

import type { Database, SqlValue } from "@toolhaft/sqlite";
import type { SearchQuery } from "../store.ts";
import { insideOf } from "../transcripts/summaries.ts";
import { chainRows, rowOf, type SessionRow } from "./sqlite-rows.ts";

/** Which messages `m` of sessions `s` a search looks at. */
export interface SearchScope {
  sql: string;
  parameters: readonly SqlValue[];
  /** The session that was asked for, and the rows of the sessions it reads messages through. */
  asked: { session: SessionRow; chain: ReadonlySet<number> } | undefined;
}

export function searchScope(db: Database, query: SearchQuery): SearchScope {
  const filters: string[] = [];
  const parameters: SqlValue[] = [];
  const asked = query.session === undefined ? undefined : rowOf(db, query.session);
  const chain = asked === undefined ? [] : chainRows(db, asked.row);
  if (query.session === undefined) {
    const inside = insideOf(query.directories);
    filters.push(inside.sql);
    parameters.push(...inside.parameters);
  } else {
    // A fork holds what it inherited; subagents belong to their session, forks of it do not.
    filters.push(`(m.session IN (
        WITH RECURSIVE below(row, id) AS (
          SELECT row, id FROM sessions WHERE id = ?
          UNION SELECT c.row, c.id FROM below JOIN sessions c ON c.parent = below.id AND c.parent_row IS NULL)
        SELECT row FROM below)
      OR EXISTS (SELECT 1 FROM json_each(?) AS above WHERE json_extract(above.value, '$[0]') = m.session AND m.seq < json_extract(above.value, '$[1]')))`);
    parameters.push(query.session, JSON.stringify(chain.map(({ row, below }) => [row, below])));
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
  return {
    sql: filters.join(" AND "),
    parameters,
    asked: asked === undefined ? undefined : { session: asked, chain: new Set(chain.map(({ row }) => row)) },
  };
}

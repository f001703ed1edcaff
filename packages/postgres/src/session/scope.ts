import type { SearchQuery } from "@toolhaft/session";
import type { Sql, SqlValue } from "../database.ts";
import { inside, insideValues } from "./list.ts";
import { pathOf, type Stretch } from "./path.ts";
import { rowOf, type SessionRow } from "./rows.ts";

/** What is selected of a message `m` in a session `s`. */
export const candidateFields = `s.row AS home, s.id AS "sessionId", s.title, m.row AS message, m.at`;
export const candidateJoin = "JOIN @messages m ON m.row = p.message JOIN @sessions s ON s.row = m.session";

/** Which messages `m` of sessions `s` a search looks at. */
export interface SearchScope {
  sql: string;
  values: Readonly<Record<string, SqlValue>>;
  /** The session that was asked for, and the path it reads its messages on. */
  asked: { session: SessionRow; path: readonly Stretch[] } | undefined;
}

export async function searchScope(sql: Sql, query: SearchQuery): Promise<SearchScope> {
  const filters: string[] = [];
  const values: Record<string, SqlValue> = {};
  const session = query.session === undefined ? undefined : await rowOf(sql, query.session);
  const path = session === undefined ? [] : await pathOf(sql, session.row);
  if (query.session !== undefined) {
    // A fork holds what it inherited; subagents belong to their session, forks of it do not.
    filters.push(`(m.session IN (
        WITH RECURSIVE below(row, id) AS (
          SELECT row, id FROM @sessions WHERE id = :session
          UNION SELECT c.row, c.id FROM below JOIN @sessions c ON c.parent = below.id AND c.parent_row IS NULL)
        SELECT row FROM below)
      OR EXISTS (SELECT 1 FROM unnest(:above::bigint[], :below::bigint[]) AS above(session, below)
        WHERE above.session = m.session AND m.seq < above.below))`);
    values.session = query.session;
    values.above = path.map((stretch) => stretch.session);
    values.below = path.map((stretch) => stretch.count);
  } else if (query.directories !== "all") {
    filters.push(inside);
    Object.assign(values, insideValues(query.directories));
  }
  if (query.role !== undefined) {
    filters.push("m.role = :role");
    values.role = query.role;
  }
  if (query.from !== undefined) {
    filters.push("m.at >= :from");
    values.from = new Date(query.from).toISOString();
  }
  if (query.to !== undefined) {
    filters.push("m.at <= :to");
    values.to = new Date(query.to).toISOString();
  }
  return {
    sql: filters.length === 0 ? "true" : filters.join(" AND "),
    values,
    asked: session === undefined ? undefined : { session, path },
  };
}

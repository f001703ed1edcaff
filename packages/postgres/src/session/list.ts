import type { ListQuery, SessionReader } from "@toolhaft/session";
import { listCursor, noIndex, parseListCursor } from "@toolhaft/session/adapter";
import type { Sql, SqlValue } from "../database.ts";
import { type SessionRow, selectSessions, summariesOf } from "./rows.ts";

/** Sessions `s` whose directory is one of `:directories` or lies in it; the range lets the index on directories serve. */
export const inside = `EXISTS (SELECT 1 FROM unnest(:directories::text[], :stems::text[]) AS d(directory, stem)
  WHERE s.directory = d.directory OR (s.directory >= d.stem || '/' AND s.directory < d.stem || '0'))`;

export function insideValues(directories: readonly string[]): { directories: string[]; stems: string[] } {
  return {
    directories: [...directories],
    stems: directories.map((directory) => (directory.endsWith("/") ? directory.slice(0, -1) : directory)),
  };
}

export async function listSessions(sql: Sql, query: ListQuery): ReturnType<SessionReader["list"]> {
  const values: Record<string, SqlValue> = {};
  const kind = query.includeChildren ? "true" : "NOT (s.parent IS NOT NULL AND s.parent_row IS NULL)";
  const where = query.directories === "all" ? "true" : inside;
  if (query.directories !== "all") Object.assign(values, insideValues(query.directories));
  const filters = [where, kind];
  if (!query.includeArchived) filters.push("NOT s.archived");
  if (query.from !== undefined) {
    filters.push("s.updated >= :from");
    values.from = new Date(query.from).toISOString();
  }
  if (query.to !== undefined) {
    filters.push("s.created <= :to");
    values.to = new Date(query.to).toISOString();
  }
  const counts = await sql.get<{ total: number; elsewhere: number }>(
    `SELECT count(*) FILTER (WHERE ${filters.join(" AND ")}) AS total,
       count(*) FILTER (WHERE ${kind} AND NOT ${where}) AS elsewhere FROM @sessions s`,
    values,
  );
  const after = query.cursor === undefined ? undefined : parseListCursor(query.cursor);
  if (after !== undefined) {
    filters.push("(s.updated < :after OR (s.updated = :after AND s.id > :afterId))");
    values.after = after.updated;
    values.afterId = after.id;
  }
  const rows = await sql.all<SessionRow>(
    `${selectSessions} WHERE ${filters.join(" AND ")} ORDER BY s.updated DESC, s.id LIMIT :limit`,
    { ...values, limit: query.limit + 1 },
  );
  const items = await summariesOf(sql, rows.slice(0, query.limit));
  const last = items.at(-1);
  return {
    items,
    total: counts?.total ?? 0,
    elsewhere: counts?.elsewhere ?? 0,
    index: noIndex,
    nextCursor: rows.length > query.limit && last !== undefined ? listCursor(last.updatedAt, last.id) : null,
  };
}

import type { Database, SqlValue } from "@toolhaft/sqlite";
import { listCursor, parseListCursor } from "../list-cursor.ts";
import type { Summary } from "../model.ts";
import type { ListQuery, Page } from "../store.ts";

export interface SessionRow {
  row: number;
  id: string;
  store: string;
  title: string;
  directory: string | null;
  branch: string | null;
  version: string | null;
  parent: string | null;
  parent_kind: "fork" | "subagent" | "resume" | null;
  parent_at: string | null;
  created: string;
  updated: string;
  archived: number;
  messages: number;
  prompts: number;
  active_ms: number;
  models: string;
  peak: number | null;
  window: number | null;
  todos: string | null;
  bytes: number | null;
  path: string;
  /** Nanoseconds; of a session in a database a stamp that only tells changes. */
  mtime: string;
  /** 0: more of the file is to be read. */
  whole: number;
  children: number;
  warnings: number;
}

const columns = `s.row, s.id, s.store, s.title, s.directory, s.branch, s.version, s.parent, s.parent_kind, s.parent_at,
  coalesce(s.created, '') AS created, coalesce(s.updated, '') AS updated, s.archived, s.messages, s.prompts, s.active_ms, s.models, s.peak, s.window, s.todos,
  f.size AS bytes, f.path, f.mtime_ns AS mtime, f.scope = 'full' AND f.complete = 1 AS whole,
  (SELECT count(*) FROM sessions c WHERE c.store = s.store AND c.parent = s.id AND c.live = 1) AS children,
  coalesce((SELECT sum(count) FROM problems p WHERE p.session = s.row), 0) AS warnings`;
const shown = "FROM sessions s JOIN files f ON f.id = s.file WHERE s.store = ? AND s.live = 1";

export function sessionById(db: Database, store: string, id: string): SessionRow | undefined {
  return db.get<SessionRow>(`SELECT ${columns} ${shown} AND s.id = ?`, [store, id]);
}

export function childrenOf(db: Database, store: string, id: string): readonly SessionRow[] {
  return db.all<SessionRow>(`SELECT ${columns} ${shown} AND s.parent = ? ORDER BY s.created, s.id`, [store, id]);
}

export function idsLike(
  db: Database,
  store: string,
  beginning: string,
  limit: number,
  directories: readonly string[] | "all",
): readonly string[] {
  const inside = insideOf(directories);
  return db
    .all<{ id: string }>(
      `SELECT s.id FROM sessions s WHERE s.store = ? AND s.live = 1 AND substr(s.id, 1, ?) = ? AND ${inside.sql} ORDER BY s.updated DESC LIMIT ?`,
      [store, beginning.length, beginning, ...inside.parameters, limit],
    )
    .map(({ id }) => id);
}

/** Sessions of the asked directories, newest update first; and how many there are in all others. */
export function listRows(db: Database, store: string, query: ListQuery): Page<SessionRow> & { elsewhere: number } {
  const filter = filterOf(query);
  const inside = insideOf(query.directories);
  // One look at each session: `CASE` keeps a directory that is unknown from counting as either.
  const counts = db.get<{ total: number; elsewhere: number }>(
    `SELECT count(CASE WHEN ${inside.sql} ${filter.sql} THEN 1 END) AS total, count(CASE WHEN ${inside.sql} THEN NULL ELSE 1 END) AS elsewhere
     FROM sessions s WHERE s.store = ? AND s.live = 1 ${query.includeChildren ? "" : notSubagent}`,
    [...inside.parameters, ...filter.parameters, ...inside.parameters, store],
  );
  const after = query.cursor === undefined ? undefined : parseListCursor(query.cursor);
  // The page is chosen first: children and warnings are counted for its rows alone.
  const page = db.all<SessionRow>(
    `SELECT ${columns} ${shown} AND s.row IN (
       SELECT s.row FROM sessions s WHERE s.store = ? AND s.live = 1 ${filter.sql} AND ${inside.sql} ${after ? "AND (s.updated < ? OR (s.updated = ? AND s.id > ?))" : ""}
       ORDER BY s.updated DESC, s.id LIMIT ?)
     ORDER BY s.updated DESC, s.id`,
    [
      store,
      store,
      ...filter.parameters,
      ...inside.parameters,
      ...(after ? [after.updated, after.updated, after.id] : []),
      query.limit + 1,
    ],
  );
  const items = page.slice(0, query.limit);
  const last = items.at(-1);
  return {
    items,
    total: counts?.total ?? 0,
    elsewhere: counts?.elsewhere ?? 0,
    nextCursor: page.length > query.limit && last !== undefined ? listCursor(last.updated, last.id) : null,
  };
}

const notSubagent = "AND (s.parent_kind IS NULL OR s.parent_kind <> 'subagent')";

function filterOf(query: ListQuery): { sql: string; parameters: SqlValue[] } {
  const parts: string[] = [];
  const parameters: SqlValue[] = [];
  if (!query.includeChildren) parts.push(notSubagent);
  if (!query.includeArchived) parts.push("AND s.archived = 0");
  if (query.from !== undefined) {
    parts.push("AND s.updated >= ?");
    parameters.push(new Date(query.from).toISOString());
  }
  if (query.to !== undefined) {
    parts.push("AND s.created <= ?");
    parameters.push(new Date(query.to).toISOString());
  }
  return { sql: parts.join(" "), parameters };
}

/** By component: `/w/app` holds `/w/app/x`, not `/w/application`. */
export function insideOf(directories: readonly string[] | "all"): { sql: string; parameters: string[] } {
  if (directories === "all") return { sql: "1", parameters: [] };
  // A range, so that the index on directories serves; `0` is what follows `/`.
  const one = "(s.directory = ? OR (s.directory >= ? AND s.directory < ?))";
  return {
    sql: directories.length === 0 ? "0" : `(${directories.map(() => one).join(" OR ")})`,
    parameters: directories.flatMap((directory) => {
      const stem = directory.endsWith("/") ? directory.slice(0, -1) : directory;
      return [directory, `${stem}/`, `${stem}0`];
    }),
  };
}

export function summaryOf(row: SessionRow): Summary {
  const models: unknown = JSON.parse(row.models);
  return {
    id: row.id,
    source: row.store,
    title: row.title,
    directory: row.directory,
    branch: row.branch,
    createdAt: row.created,
    updatedAt: row.updated,
    durationMs: Math.max(0, Date.parse(row.updated) - Date.parse(row.created)) || 0,
    messages: row.messages,
    prompts: row.prompts,
    parent: row.parent === null ? null : { id: row.parent, kind: row.parent_kind ?? "subagent", at: row.parent_at },
    children: row.children,
    archived: row.archived === 1,
    bytes: row.bytes,
    models: Array.isArray(models) ? models.filter((model) => typeof model === "string") : [],
    warnings: row.warnings,
  };
}

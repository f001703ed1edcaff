import { type Clock, ToolError } from "@toolhaft/core";
import type { Database, SqlValue } from "@toolhaft/sqlite";
import { listCursor, parseListCursor } from "../list-cursor.ts";
import type { Message, Summary, Todo } from "../model.ts";
import type {
  Branch,
  Changes,
  ListQuery,
  MessageRange,
  SearchPage,
  SearchQuery,
  SessionReader,
  UsageReport,
} from "../store.ts";
import { todosOf } from "../todo-list.ts";
import { insideOf } from "../transcripts/summaries.ts";
import { builtInSource, changesFrom } from "./recorded.ts";
import { noIndex, nothingFound } from "./recorded-search.ts";
import {
  blobOf,
  chain,
  countOf,
  type MessageRow,
  messageOf,
  rowOf,
  type SessionRow,
  summaryOf,
} from "./sqlite-rows.ts";
import { searchBuiltIn } from "./sqlite-search.ts";
import { usageOf } from "./sqlite-usage.ts";
import { indexNewParts } from "./sqlite-words.ts";

/** Sessions recorded by any framework. */
export class SqliteSessionReader implements SessionReader {
  readonly #database: () => Promise<Database | undefined>;
  readonly #clock: Clock;

  constructor(database: () => Promise<Database | undefined>, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  async list(query: ListQuery): ReturnType<SessionReader["list"]> {
    const db = await this.#database();
    if (db === undefined) return { items: [], total: 0, nextCursor: null, elsewhere: 0, index: noIndex };
    const inside = insideOf(query.directories);
    const kind = query.includeChildren ? "1" : "NOT (s.parent IS NOT NULL AND s.parent_row IS NULL)";
    const filters = [inside.sql, kind];
    const parameters: SqlValue[] = [...inside.parameters];
    if (!query.includeArchived) filters.push("s.archived = 0");
    if (query.from !== undefined) {
      filters.push("s.updated >= ?");
      parameters.push(new Date(query.from).toISOString());
    }
    if (query.to !== undefined) {
      filters.push("s.created <= ?");
      parameters.push(new Date(query.to).toISOString());
    }
    const where = filters.join(" AND ");
    const count = (sql: string, values: readonly SqlValue[]) =>
      db.get<{ n: number }>(`SELECT count(*) AS n FROM sessions s WHERE ${sql}`, values)?.n ?? 0;
    const after = query.cursor === undefined ? undefined : parseListCursor(query.cursor);
    const rows = db.all<SessionRow>(
      `SELECT s.*, (SELECT count(*) FROM sessions c WHERE c.parent = s.id) AS children FROM sessions s
       WHERE ${where} ${after ? "AND (s.updated < ? OR (s.updated = ? AND s.id > ?))" : ""} ORDER BY s.updated DESC, s.id LIMIT ?`,
      [...parameters, ...(after ? [after.updated, after.updated, after.id] : []), query.limit + 1],
    );
    const items = rows.slice(0, query.limit).map((row) => summaryOf(db, row));
    const last = items.at(-1);
    return {
      items,
      total: count(where, parameters),
      elsewhere: count(kind, []) - count(`${kind} AND ${inside.sql}`, inside.parameters),
      index: noIndex,
      nextCursor: rows.length > query.limit && last !== undefined ? listCursor(last.updatedAt, last.id) : null,
    };
  }

  async get(id: string): Promise<Summary | undefined> {
    const db = await this.#database();
    const row = db === undefined ? undefined : rowOf(db, id);
    return db === undefined || row === undefined ? undefined : summaryOf(db, row);
  }

  async near(
    id: string,
    limit: number,
    _signal?: AbortSignal,
    directories: readonly string[] | "all" = "all",
  ): Promise<readonly string[]> {
    const db = await this.#database();
    const start = id.slice(0, 6);
    const inside = insideOf(directories);
    return (
      db
        ?.all<{ id: string }>(
          `SELECT s.id FROM sessions s WHERE substr(s.id, 1, ?) = ? AND ${inside.sql} ORDER BY s.updated DESC LIMIT ?`,
          [start.length, start, ...inside.parameters, limit],
        )
        .map((row) => row.id) ?? []
    );
  }

  async known(ids: readonly string[]): Promise<readonly string[]> {
    const db = await this.#database();
    return (
      db
        ?.all<{ id: string }>("SELECT id FROM sessions WHERE id IN (SELECT value FROM json_each(?))", [
          JSON.stringify(ids),
        ])
        .map(({ id }) => id) ?? []
    );
  }

  async *messages(id: string, range: MessageRange, signal: AbortSignal): AsyncIterable<Message> {
    const { db, session } = await this.#session(id);
    const window = 200;
    const to = range.to ?? Number.MAX_SAFE_INTEGER;
    for (let from = range.from ?? 0; from < to; from += window) {
      signal.throwIfAborted();
      const limit = Math.min(window, to - from);
      const rows = db.all<MessageRow>(`${chain} SELECT * FROM path ORDER BY idx LIMIT :limit OFFSET :from`, {
        session: session.row,
        limit,
        from,
      });
      for (const row of rows) yield messageOf(db, row);
      if (rows.length < limit) return;
    }
  }

  async message(id: string, messageId: string): Promise<Message | undefined> {
    const { db, session } = await this.#session(id);
    const row = db.get<MessageRow>(`${chain} SELECT * FROM path WHERE id = :id OR '#' || idx = :id`, {
      session: session.row,
      id: messageId,
    });
    return row === undefined ? undefined : messageOf(db, row);
  }

  async count(id: string): Promise<number> {
    const { db, session } = await this.#session(id);
    return countOf(db, session.row);
  }

  async branches(): Promise<readonly Branch[]> {
    return [];
  }

  async search(query: SearchQuery, signal: AbortSignal): Promise<SearchPage> {
    const db = await this.#database();
    if (db === undefined) return nothingFound;
    await indexNewParts(db, signal);
    return searchBuiltIn(db, query, this.#clock.now(), signal);
  }

  async usage(id: string): Promise<UsageReport> {
    const { db, session } = await this.#session(id);
    return usageOf(db, session.row);
  }

  async todos(id: string): Promise<readonly Todo[] | undefined> {
    const { session } = await this.#session(id);
    return session.todos === null ? [] : todosOf(JSON.parse(session.todos), ["text"]);
  }

  async changes(id: string, upTo: string | undefined): Promise<Changes | undefined> {
    const { db, session } = await this.#session(id);
    const rows = db.all<{ message: string; path: string; before: string | null; after: string | null }>(
      `${chain} SELECT m.id AS message, c.path, c.before, c.after FROM path m JOIN file_changes c ON c.message = m.row
       WHERE :upTo IS NULL OR m.idx <= (SELECT idx FROM path WHERE id = :upTo) ORDER BY m.idx, c.n`,
      { session: session.row, upTo: upTo ?? null },
    );
    return changesFrom(rows.map((row) => ({ ...row, before: blobOf(db, row.before), after: blobOf(db, row.after) })));
  }

  async children(id: string): Promise<readonly Summary[]> {
    const { db } = await this.#session(id);
    return db
      .all<SessionRow>(
        "SELECT s.*, (SELECT count(*) FROM sessions c WHERE c.parent = s.id) AS children FROM sessions s WHERE s.parent = ? ORDER BY s.created, s.id",
        [id],
      )
      .map((row) => summaryOf(db, row));
  }

  async #session(id: string): Promise<{ db: Database; session: SessionRow }> {
    const db = await this.#database();
    const session = db === undefined ? undefined : rowOf(db, id);
    if (db === undefined || session === undefined)
      throw new ToolError("not_found", `no session ${id} in ${builtInSource}`);
    return { db, session };
  }
}

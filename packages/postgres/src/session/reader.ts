import { ToolError } from "@toolhaft/core";
import type { Message, MessageRange, SessionReader } from "@toolhaft/session";
import { builtInSource, todosOf } from "@toolhaft/session/adapter";
import type { PostgresDatabase } from "../database.ts";
import { changesOf } from "./file-states.ts";
import { inside, insideValues, listSessions } from "./list.ts";
import { lengthOfPath, messagesOfPath, pathOf, pathValues, type Stretch } from "./path.ts";
import { type MessageRow, messagesOf, rowOf, type SessionRow, selectSessions, summariesOf } from "./rows.ts";
import { searchSessions } from "./search.ts";
import { usageOf } from "./usage.ts";

/** Messages that are fetched at once, with all their parts. */
const window = 50;

/** Sessions that any framework recorded, wherever it ran. */
export function sessionReader(db: PostgresDatabase): SessionReader {
  return {
    async list(query, signal) {
      signal.throwIfAborted();
      return listSessions(db, query);
    },
    async get(id) {
      const row = await rowOf(db, id);
      return row === undefined ? undefined : (await summariesOf(db, [row]))[0];
    },
    async near(id, limit, _signal, directories = "all") {
      const rows = await db.all<{ id: string }>(
        `SELECT s.id FROM @sessions s WHERE starts_with(s.id, :start) AND ${directories === "all" ? "true" : inside}
         ORDER BY s.updated DESC LIMIT :limit`,
        { start: id.slice(0, 6), limit, ...(directories !== "all" && insideValues(directories)) },
      );
      return rows.map((row) => row.id);
    },
    async known(ids) {
      const rows = await db.all<{ id: string }>("SELECT id FROM @sessions WHERE id = ANY(:ids::text[])", {
        ids: [...ids],
      });
      return rows.map((row) => row.id);
    },
    messages: (id, range, signal) => read(id, range, signal),
    async message(id, messageId) {
      const { path } = await sessionOf(id);
      const row = await db.get<MessageRow>(
        `SELECT m.* FROM ${messagesOfPath} WHERE m.id = :id OR path.base + m.seq = :number ORDER BY path.base + m.seq LIMIT 1`,
        { ...pathValues(path), id: messageId, number: numberOf(messageId) },
      );
      return row === undefined ? undefined : (await messagesOf(db, [row], () => path))[0];
    },
    count: async (id) => lengthOfPath((await sessionOf(id)).path),
    branches: async () => [],
    search: (query, signal) => searchSessions(db, query, signal),
    usage: async (id) => usageOf(db, (await sessionOf(id)).path),
    async todos(id) {
      const { todos } = (await sessionOf(id)).session;
      return todos === null ? [] : todosOf(JSON.parse(todos), ["text"]);
    },
    async changes(id, upTo) {
      const { path } = await sessionOf(id);
      if (upTo === undefined) return changesOf(db, path, Number.MAX_SAFE_INTEGER);
      const last = await db.get<{ index: number }>(
        `SELECT path.base + m.seq AS index FROM ${messagesOfPath} WHERE m.id = :id ORDER BY index LIMIT 1`,
        { ...pathValues(path), id: upTo },
      );
      return changesOf(db, path, last?.index ?? -1);
    },
    async children(id) {
      await sessionOf(id);
      return summariesOf(
        db,
        await db.all<SessionRow>(`${selectSessions} WHERE s.parent = ? ORDER BY s.created, s.id`, [id]),
      );
    },
  };

  async function sessionOf(id: string): Promise<{ session: SessionRow; path: readonly Stretch[] }> {
    const session = await rowOf(db, id);
    if (session === undefined) throw new ToolError("not_found", `no session ${id} in ${builtInSource}`);
    return { session, path: await pathOf(db, session.row) };
  }

  async function* read(id: string, range: MessageRange, signal: AbortSignal): AsyncIterable<Message> {
    const { path } = await sessionOf(id);
    const to = Math.min(range.to ?? Number.MAX_SAFE_INTEGER, lengthOfPath(path));
    for (let from = Math.max(0, range.from ?? 0); from < to; from += window) {
      signal.throwIfAborted();
      const end = Math.min(from + window, to);
      // Only the stretches that the window touches, and of them only its numbers.
      const touched = path.filter(({ base, count }) => base < end && base + count > from);
      const rows = await db.all<MessageRow>(
        `SELECT m.* FROM ${messagesOfPath} WHERE m.seq >= :from::bigint - path.base AND m.seq < :end::bigint - path.base
         ORDER BY path.base + m.seq`,
        { ...pathValues(touched), from, end },
      );
      yield* await messagesOf(db, rows, () => path);
    }
  }
}

/** `#12` is 12. */
function numberOf(messageId: string): number {
  const [, digits] = /^#(0|[1-9]\d{0,14})$/.exec(messageId) ?? [];
  return digits === undefined ? -1 : Number(digits);
}

import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Clock, createId, systemClock, ToolError } from "@toolhaft/core";
import { type Database, openDatabase } from "@toolhaft/sqlite";
import { forkPointOf, sessionIdOf } from "../recording.ts";
import type { NewSession, SessionForker, SessionRecorder, SessionStore, SessionWriter } from "../store.ts";
import { builtInSource } from "./recorded.ts";
import { SqliteSessionReader } from "./sqlite-reader.ts";
import { migrations } from "./sqlite-schema.ts";
import { SqliteSessionWriter } from "./sqlite-writer.ts";

export interface SqliteSessionStoreOptions {
  /** @default `<working directory>/.toolhaft/sessions.db` */
  path?: string;
  /** `full` survives a power loss after each acknowledged append. @default "normal" */
  durability?: "normal" | "full";
  clock?: Clock;
}

/** The built-in store: sessions that any framework records. A file that does not exist yet has no sessions. */
export function sqliteSessionStore(options: SqliteSessionStoreOptions = {}): SessionStore & SessionRecorder {
  const clock = options.clock ?? systemClock;
  const path = options.path ?? join(process.cwd(), ".toolhaft", "sessions.db");
  let opened: Promise<Database> | undefined;
  const open = () => {
    opened ??= openDatabase({
      path,
      migrations,
      family: "session",
      clock,
      ...(options.durability !== undefined && { durability: options.durability }),
    }).catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    return opened;
  };
  const openExisting = async () => (opened === undefined && !existsSync(path) ? undefined : open());
  const close = async () => {
    const database = await opened;
    opened = undefined;
    database?.close();
  };
  const reader = new SqliteSessionReader(openExisting, clock);
  return {
    source: builtInSource,
    reader,
    forker: forkerOf(open, reader, clock),
    unsupported: {},
    async open(session: NewSession): Promise<SessionWriter> {
      const id = sessionIdOf(session, clock);
      const database = await open();
      const now = new Date(clock.now()).toISOString();
      await database.write(() => {
        database.run(
          `INSERT INTO sessions(id, parent, title, directory, branch, agent, created, updated, next_seq) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0)
           ON CONFLICT(id) DO NOTHING`,
          [
            id,
            session.parent ?? null,
            session.title ?? "",
            session.directory,
            session.branch ?? null,
            session.agent ?? null,
            now,
            now,
          ],
        );
      });
      return new SqliteSessionWriter(id, open, clock);
    },
    [Symbol.asyncDispose]: close,
  };
}

/** Records a session into a store of its own; closing the writer closes the store. */
export async function recordSession(
  session: NewSession,
  options: SqliteSessionStoreOptions = {},
): Promise<SessionWriter> {
  const store = sqliteSessionStore({ path: join(session.directory, ".toolhaft", "sessions.db"), ...options });
  const writer = await store.open(session);
  return {
    id: writer.id,
    append: (messages) => writer.append(messages),
    file: (change) => writer.file(change),
    todos: (todos) => writer.todos(todos),
    flush: () => writer.flush(),
    async [Symbol.asyncDispose]() {
      await writer[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}

/** A fork is a row that points at its parent: messages up to the point are read through it, nothing is copied. */
function forkerOf(open: () => Promise<Database>, reader: SqliteSessionReader, clock: Clock): SessionForker {
  return {
    async fork(id, at, options, signal) {
      const summary = await reader.get(id);
      if (summary === undefined) throw new ToolError("not_found", `no session ${id}`);
      const point = await forkPointOf(reader, id, at, signal);
      const database = await open();
      const fork = createId(clock.now());
      const now = new Date(clock.now()).toISOString();
      await database.write(() => {
        // The message stands in this session or in one it was itself forked from.
        const home = database.get<{ session: number; seq: number }>(
          `WITH RECURSIVE chain(row) AS (SELECT row FROM sessions WHERE id = :id UNION ALL SELECT s.parent_row FROM chain JOIN sessions s ON s.row = chain.row WHERE s.parent_row IS NOT NULL)
           SELECT m.session, m.seq FROM chain JOIN messages m ON m.session = chain.row WHERE m.id = :message LIMIT 1`,
          { id, message: point.id },
        );
        if (home === undefined)
          throw new ToolError("conflict", "the session changed while it was forked", { hint: "call again" });
        database.run(
          `INSERT INTO sessions(id, parent, parent_row, fork_seq, title, directory, branch, created, updated, next_seq)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0)`,
          [
            fork,
            id,
            home.session,
            home.seq,
            options.title ?? `${summary.title || "Session"} (fork)`,
            summary.directory ?? "",
            summary.branch,
            now,
            now,
          ],
        );
      });
      const made = await reader.get(fork);
      if (made === undefined) throw new ToolError("internal", "the fork cannot be read back");
      return {
        fork: made,
        at: { messageId: point.id, index: point.index },
        copied: point.index + 1,
        resume: null,
        notes: [],
      };
    },
  };
}

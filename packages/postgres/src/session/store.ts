import { createId, systemClock, ToolError } from "@toolhaft/core";
import type { NewSession, SessionForker, SessionReader, SessionRecorder, SessionStore } from "@toolhaft/session";
import { builtInSource, forkPointOf, sessionIdOf } from "@toolhaft/session/adapter";
import { type PostgresDatabase, type PostgresOptions, postgresDatabase } from "../database.ts";
import { pathOf } from "./path.ts";
import { sessionReader } from "./reader.ts";
import { rowOf } from "./rows.ts";
import { migrations } from "./schema.ts";
import { keepingTexts } from "./texts.ts";
import { sessionWriter } from "./writer.ts";

export function sessionStore(options: PostgresOptions): SessionStore & SessionRecorder {
  const db = keepingTexts(postgresDatabase(options, "session", migrations));
  const reader = sessionReader(db);
  return {
    source: builtInSource,
    reader,
    forker: sessionForker(db, reader),
    unsupported: {},
    async open(session: NewSession) {
      const id = sessionIdOf(session, systemClock);
      await db.transaction((sql) => {
        const now = new Date(sql.now).toISOString();
        return sql.run(
          `INSERT INTO @sessions(id, parent, title, directory, branch, agent, created, updated)
           VALUES(:id, :parent, :title, :directory, :branch, :agent, :now, :now) ON CONFLICT(id) DO NOTHING`,
          {
            id,
            parent: session.parent ?? null,
            title: session.title ?? "",
            directory: session.directory,
            branch: session.branch ?? null,
            agent: session.agent ?? null,
            now,
          },
        );
      });
      return sessionWriter(db, id);
    },
    [Symbol.asyncDispose]: () => db.close(),
  };
}

/** A fork is a row that points at its parent: messages up to the point are read through it, nothing is copied. */
function sessionForker(db: PostgresDatabase, reader: SessionReader): SessionForker {
  return {
    async fork(id, at, options, signal) {
      const source = await rowOf(db, id);
      if (source === undefined) throw new ToolError("not_found", `no session ${id}`);
      const point = await forkPointOf(reader, id, at, signal);
      // The message stands in this session or in one it was itself forked from.
      const home = (await pathOf(db, source.row)).find(
        ({ base, count }) => base <= point.index && point.index < base + count,
      );
      if (home === undefined) throw new ToolError("internal", "the message to fork at cannot be found again");
      const fork = createId(systemClock.now());
      await db.transaction((sql) =>
        sql.run(
          `INSERT INTO @sessions(id, parent, parent_row, fork_seq, title, directory, branch, created, updated)
           VALUES(:fork, :id, :parentRow, :seq, :title, :directory, :branch, :now, :now) ON CONFLICT(id) DO NOTHING`,
          {
            fork,
            id,
            parentRow: home.session,
            seq: point.index - home.base,
            title: options.title ?? `${source.title || "Session"} (fork)`,
            directory: source.directory,
            branch: source.branch,
            now: new Date(sql.now).toISOString(),
          },
        ),
      );
      const made = await reader.get(fork, signal);
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

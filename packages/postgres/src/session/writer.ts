import { randomUUID } from "node:crypto";
import type { NewMessage, SessionWriter } from "@toolhaft/session";
import { AppendQueue, unknownMessage } from "@toolhaft/session/adapter";
import type { PostgresDatabase } from "../database.ts";
import { appendMessages, lockSession } from "./append.ts";
import { keepStates, pressed } from "./file-states.ts";

/** Records one session. Appends are acknowledged when the server has them; a failure comes out of `flush` as well. */
export function sessionWriter(db: PostgresDatabase, id: string): SessionWriter {
  const queue = new AppendQueue();
  return {
    id,
    append(messages) {
      const list: readonly NewMessage[] = isList(messages) ? [...messages] : [messages];
      return queue.run(async () => {
        if (list.length > 0) await db.transaction((sql) => appendMessages(sql, id, list));
      });
    },
    file({ messageId, path, ...states }) {
      // What is sent again after a lost answer is the same change.
      const key = randomUUID();
      const before = pressed(states.before);
      const after = pressed(states.after);
      return queue.run(() =>
        db.transaction(async (sql) => {
          const session = await lockSession(sql, id);
          const message = await sql.get<{ row: number }>("SELECT row FROM @messages WHERE session = ? AND id = ?", [
            session.row,
            messageId,
          ]);
          if (message === undefined) throw unknownMessage();
          await keepStates(sql, [before, after]);
          await sql.run(
            `INSERT INTO @file_changes(session, n, message, path, before, after, key)
             SELECT :session, coalesce(max(n), -1) + 1, :message, :path, :before, :after, :key FROM @file_changes WHERE session = :session
             ON CONFLICT(key) DO NOTHING`,
            {
              session: session.row,
              message: message.row,
              path,
              before: before?.sha256 ?? null,
              after: after?.sha256 ?? null,
              key,
            },
          );
        }),
      );
    },
    todos: (todos) =>
      queue.run(async () => {
        await db.run("UPDATE @sessions SET todos = ? WHERE id = ?", [JSON.stringify(todos), id]);
      }),
    flush: () => queue.flush(),
    [Symbol.asyncDispose]: () => queue.settled(),
  };
}

function isList(messages: NewMessage | readonly NewMessage[]): messages is readonly NewMessage[] {
  return Array.isArray(messages);
}

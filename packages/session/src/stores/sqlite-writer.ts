import { createHash } from "node:crypto";
import { deflateSync } from "node:zlib";
import { type Clock, ToolError } from "@toolhaft/core";
import type { Database } from "@toolhaft/sqlite";
import type { Todo } from "../model.ts";
import { AppendQueue, contentHash, messageKindOf, otherContent, titleFrom, unknownMessage } from "../recording.ts";
import type { NewMessage, NewPart, SessionWriter } from "../store.ts";
import { costRow, partRow } from "./recorded.ts";

/** Records one session. Appends are acknowledged when they are on disk; a failure comes out of `flush` as well. */
export class SqliteSessionWriter implements SessionWriter {
  readonly id: string;
  readonly #database: () => Promise<Database>;
  readonly #clock: Clock;
  readonly #queue = new AppendQueue();

  constructor(id: string, database: () => Promise<Database>, clock: Clock) {
    this.id = id;
    this.#database = database;
    this.#clock = clock;
  }

  append(messages: NewMessage | readonly NewMessage[]): Promise<void> {
    const list = (Array.isArray(messages) ? [...messages] : [messages]) as readonly NewMessage[];
    return this.#run((db) => list.forEach((message) => void appendMessage(db, this.id, message, this.#now())));
  }

  file(change: {
    messageId: string;
    path: string;
    before: Uint8Array | null;
    after: Uint8Array | null;
  }): Promise<void> {
    return this.#run((db) => {
      const session = sessionRow(db, this.id);
      const message = db.get<{ row: number }>("SELECT row FROM messages WHERE session = ? AND id = ?", [
        session,
        change.messageId,
      ]);
      if (message === undefined) throw unknownMessage();
      db.run(
        `INSERT INTO file_changes(session, n, message, path, before, after)
         VALUES (?, (SELECT coalesce(max(n), -1) + 1 FROM file_changes WHERE session = ?), ?, ?, ?, ?)`,
        [session, session, message.row, change.path, blob(db, change.before), blob(db, change.after)],
      );
    });
  }

  todos(todos: readonly Todo[]): Promise<void> {
    return this.#run(
      (db) => void db.run("UPDATE sessions SET todos = ? WHERE id = ?", [JSON.stringify(todos), this.id]),
    );
  }

  flush(): Promise<void> {
    return this.#queue.flush();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#queue.settled();
  }

  #run(work: (db: Database) => void): Promise<void> {
    return this.#queue.run(async () => {
      const db = await this.#database();
      await db.write(() => work(db));
    });
  }

  #now(): string {
    return new Date(this.#clock.now()).toISOString();
  }
}

function sessionRow(db: Database, id: string): number {
  const session = db.get<{ row: number }>("SELECT row FROM sessions WHERE id = ?", [id]);
  if (session === undefined) throw new ToolError("not_found", `no session ${id}`);
  return session.row;
}

/** The same message again is nothing; under one id another content is a conflict. */
function appendMessage(db: Database, id: string, message: NewMessage, now: string): void {
  const session = db.get<{ row: number; next_seq: number; title: string }>(
    "SELECT row, next_seq, title FROM sessions WHERE id = ?",
    [id],
  );
  if (session === undefined) throw new ToolError("not_found", `no session ${id}`);
  const hash = contentHash(message);
  const known = db.get<{ hash: string }>("SELECT hash FROM messages WHERE session = ? AND id = ?", [
    session.row,
    message.id,
  ]);
  if (known !== undefined) {
    if (known.hash === hash) return;
    throw otherContent(message.id);
  }
  const at = message.at ?? now;
  const kind = messageKindOf(message);
  const cost = costRow(message);
  const { lastInsertRowid } = db.run(
    `INSERT INTO messages(session, seq, id, role, kind, at, model, provider, input, output, reasoning, cache_read, cache_write, usd, hash)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      session.row,
      session.next_seq,
      message.id,
      message.role,
      kind,
      at,
      cost.model,
      cost.provider,
      cost.input,
      cost.output,
      cost.reasoning,
      cost.cache_read,
      cost.cache_write,
      cost.usd,
      hash,
    ],
  );
  for (const [n, part] of message.parts.entries()) insertPart(db, Number(lastInsertRowid), n, part);
  const title = session.title === "" && kind === "prompt" ? titleFrom(message) : session.title;
  db.run("UPDATE sessions SET next_seq = next_seq + 1, updated = max(updated, ?), title = ? WHERE row = ?", [
    at,
    title,
    session.row,
  ]);
}

function insertPart(db: Database, message: number, n: number, part: NewPart): void {
  const row = partRow(part);
  db.run(
    "INSERT INTO parts(message, n, kind, text, tool, call_id, input, output, status, file_name, mime, bytes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [
      message,
      n,
      row.kind,
      row.text,
      row.tool,
      row.call_id,
      row.input,
      row.output,
      row.status,
      row.file_name,
      row.mime,
      row.bytes,
    ],
  );
}

function blob(db: Database, bytes: Uint8Array | null): string | null {
  if (bytes === null) return null;
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  db.run("INSERT OR IGNORE INTO blobs(sha256, bytes) VALUES (?, ?)", [sha256, deflateSync(bytes)]);
  return sha256;
}

import type { Database } from "@toolhaft/sqlite";
import { analyse } from "@toolhaft/text";
import type { CallResult, Content, Fact, Place } from "../facts.ts";
import type { ProblemCode } from "../model.ts";
import { type FactOf, writeChange, writeContext, writeTitle, writeUsage } from "./fact-rows.ts";
import { millisecondsOf } from "./schema.ts";

/** Characters of a tool's input that are searched. */
const indexedInput = 2_048;

export interface FileRow {
  id: number;
  store: string;
  path: string;
  session: string;
  parent: string | null;
  archived: boolean;
}

/**
 * Puts the facts of one file into the index. Lives for one batch, inside one write: what it remembers of rows is dropped
 * with it, so a batch that is rolled back leaves nothing wrong behind.
 */
export class FactWriter {
  readonly #db: Database;
  readonly #file: FileRow;
  readonly #live: boolean;
  readonly #searched: boolean;
  readonly #sessions = new Map<string, number>();
  readonly #messages = new Map<string, number>();
  #own: string;
  bookkeeping = 0;

  /** @param searched whether words go into the full-text index: a head that stands alone is read again for that */
  constructor(db: Database, file: FileRow, { live, searched }: { live: boolean; searched: boolean }) {
    this.#db = db;
    this.#file = file;
    this.#live = live;
    this.#searched = searched;
    this.#own = file.session;
  }

  /** The id of the file's own session, as far as it is known. */
  get session(): string {
    return this.#own;
  }

  record(facts: readonly Fact[], place: Place, record: number, oversize: boolean): void {
    for (const fact of facts) {
      const session = this.#sessionRow(fact.session);
      switch (fact.kind) {
        case "session":
          this.#session(fact, session);
          break;
        case "title":
          writeTitle(this.#db, fact, session, place);
          break;
        case "message":
          this.#message(fact, session, place, record, oversize);
          break;
        case "node":
          this.#node(fact, session);
          break;
        case "results":
          this.#results(fact, session, place, record, oversize);
          break;
        case "usage":
          writeUsage(this.#db, fact, session, place);
          break;
        case "change":
          writeChange(this.#db, fact, session, this.#file.id, place);
          break;
        case "todos":
          this.#set(session, "todos", JSON.stringify(fact.todos));
          break;
        case "own":
          this.#db.run("UPDATE sessions SET own_from = ?, replay = 1 WHERE row = ?", [fact.from, session]);
          break;
        case "child":
          this.#child(fact);
          break;
        case "context":
          writeContext(this.#db, fact, session);
          break;
        case "bookkeeping":
          this.bookkeeping += 1;
          break;
        case "problem":
          this.problem(fact.code, place, session);
          break;
      }
    }
  }

  problem(code: ProblemCode, place: Place, session = this.#sessionRow(undefined)): void {
    this.#db.run(
      `INSERT INTO problems(session, code, count, file, line, offset) VALUES (?, ?, 1, ?, ?, ?)
       ON CONFLICT(session, code) DO UPDATE SET count = count + 1`,
      [session, code, place.file, place.line, place.offset],
    );
  }

  /** An unfinished last line is a problem as long as it is unfinished. */
  settleTail(tail: Place | undefined): void {
    const session = this.#sessionRow(undefined);
    this.#db.run("DELETE FROM problems WHERE session = ? AND code = 'partial_tail'", [session]);
    if (tail !== undefined) this.problem("partial_tail", tail, session);
  }

  #sessionRow(id: string | undefined): number {
    const wanted = id ?? this.#own;
    const known = this.#sessions.get(wanted);
    if (known !== undefined) return known;
    // An agent may have lines in its parent's file and a file of its own: both tell of one session.
    const found = this.#live
      ? this.#db.get<{ row: number }>("SELECT row FROM sessions WHERE store = ? AND id = ? AND live = 1", [
          this.#file.store,
          wanted,
        ])
      : this.#db.get<{ row: number }>("SELECT row FROM sessions WHERE file = ? AND id = ? AND live = 0", [
          this.#file.id,
          wanted,
        ]);
    const row = found?.row ?? this.#newSession(wanted, id === undefined ? this.#file.parent : this.#own);
    this.#sessions.set(wanted, row);
    return row;
  }

  #newSession(id: string, parent: string | null): number {
    const { lastInsertRowid } = this.#db.run(
      `INSERT INTO sessions(store, id, file, live, title, parent, parent_kind, archived, replay, messages, prompts, all_messages, active_ms, models, dirty)
       VALUES (?, ?, ?, ?, '', ?, ?, ?, 0, 0, 0, 0, 0, '[]', 1)`,
      [
        this.#file.store,
        id,
        this.#file.id,
        this.#live ? 1 : 0,
        parent,
        parent === null ? null : "subagent",
        this.#file.archived ? 1 : 0,
      ],
    );
    return Number(lastInsertRowid);
  }

  #set(
    session: number,
    column: "todos" | "directory" | "branch" | "version" | "told_created" | "told_updated",
    value: string,
  ): void {
    this.#db.run(`UPDATE sessions SET ${column} = ? WHERE row = ?`, [value, session]);
  }

  #session(fact: FactOf<"session">, session: number): void {
    if (fact.id !== undefined && fact.session === undefined && fact.id !== this.#own) {
      this.#db.run("UPDATE sessions SET id = ? WHERE row = ?", [fact.id, session]);
      this.#sessions.delete(this.#own);
      this.#own = fact.id;
      this.#sessions.set(fact.id, session);
    }
    if (fact.directory !== undefined && fact.moved === true) this.#set(session, "directory", fact.directory);
    else if (fact.directory !== undefined) {
      this.#db.run("UPDATE sessions SET directory = coalesce(directory, ?) WHERE row = ?", [fact.directory, session]);
    }
    if (fact.created !== undefined) this.#set(session, "told_created", fact.created);
    if (fact.updated !== undefined) this.#set(session, "told_updated", fact.updated);
    if (fact.branch !== undefined) this.#set(session, "branch", fact.branch);
    if (fact.version !== undefined) this.#set(session, "version", fact.version);
    if (fact.parent !== undefined) {
      this.#db.run("UPDATE sessions SET parent = ?, parent_kind = ?, parent_at = ? WHERE row = ?", [
        fact.parent.id,
        fact.parent.kind,
        fact.parent.at,
        session,
      ]);
    }
  }

  #message(fact: FactOf<"message">, session: number, place: Place, record: number, oversize: boolean): void {
    const row = this.#messageRow(session, fact.key) ?? this.#newMessage(fact, session, place);
    if (fact.model !== null) {
      this.#db.run("UPDATE messages SET model = ?, provider = coalesce(?, provider) WHERE row = ?", [
        fact.model,
        fact.provider,
        row,
      ]);
    }
    this.#line(row, place, record, oversize);
    for (const content of fact.content) this.#content(content, row, session);
  }

  #messageRow(session: number, key: string): number | undefined {
    const cached = this.#messages.get(`${session} ${key}`);
    if (cached !== undefined) return cached;
    const found = this.#db.get<{ row: number }>("SELECT row FROM messages WHERE session = ? AND key = ?", [
      session,
      key,
    ]);
    if (found !== undefined) this.#messages.set(`${session} ${key}`, found.row);
    return found?.row;
  }

  #newMessage(fact: FactOf<"message">, session: number, place: Place): number {
    const { lastInsertRowid } = this.#db.run(
      `INSERT INTO messages(session, seq, key, role, kind, at, model, provider, branch, parent, inherited, reverted, offset)
       VALUES (?, (SELECT all_messages FROM sessions WHERE row = ?), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [
        session,
        session,
        fact.key,
        fact.role,
        fact.messageKind,
        fact.at,
        fact.model,
        fact.provider,
        fact.reverted === true ? "b1" : "main",
        fact.parent ?? null,
        fact.inherited ? 1 : 0,
        fact.reverted === true ? 1 : 0,
        place.offset,
      ],
    );
    this.#db.run("UPDATE sessions SET all_messages = all_messages + 1, dirty = 1 WHERE row = ?", [session]);
    const row = Number(lastInsertRowid);
    this.#messages.set(`${session} ${fact.key}`, row);
    return row;
  }

  #line(message: number, place: Place, record: number, oversize: boolean): void {
    this.#db.run(
      "INSERT OR IGNORE INTO lines(message, file, offset, length, record, oversize) VALUES (?, ?, ?, ?, ?, ?)",
      [message, this.#file.id, place.offset, place.length, record, oversize ? 1 : 0],
    );
  }

  #content(content: Content, message: number, session: number): void {
    switch (content.kind) {
      case "text":
        this.#words(message, "text", null, content.text);
        break;
      case "thinking":
        this.#words(message, "thinking", null, content.text);
        break;
      case "call":
        this.#words(message, "tool_input", content.name, content.input.slice(0, indexedInput));
        this.#db.run(
          "INSERT OR IGNORE INTO calls(session, call_id, message, name, status, rank) VALUES (?, ?, ?, ?, 'no_result', 0)",
          [session, content.callId, message, content.name],
        );
        break;
      default:
        break;
    }
  }

  #words(message: number, part: "text" | "thinking" | "tool_input", tool: string | null, text: string): void {
    const words = this.#searched ? analyse(text).join(" ") : "";
    if (words === "") return;
    const { lastInsertRowid } = this.#db.run(
      `INSERT INTO parts(message, part, tool, session, at) SELECT row, ?, ?, session, ${millisecondsOf("at")} FROM messages WHERE row = ?`,
      [part, tool, message],
    );
    const column = part === "tool_input" ? "tool" : part;
    this.#db.run(`INSERT INTO message_fts(rowid, ${column}) VALUES (?, ?)`, [lastInsertRowid, words]);
  }

  #node(fact: FactOf<"node">, session: number): void {
    const message = fact.message === null ? null : (this.#messageRow(session, fact.message) ?? null);
    this.#db.run(
      `INSERT OR IGNORE INTO nodes(session, n, id, parent, logical, message)
       VALUES (?, (SELECT coalesce(max(n), -1) + 1 FROM nodes WHERE session = ?), ?, ?, ?, ?)`,
      [session, session, fact.id, fact.parent, fact.logicalParent, message],
    );
    this.#db.run("UPDATE sessions SET dirty = 1 WHERE row = ?", [session]);
  }

  #results(fact: FactOf<"results">, session: number, place: Place, record: number, oversize: boolean): void {
    for (const result of fact.results) {
      const call = this.#db.get<{ message: number; rank: number }>(
        "SELECT message, rank FROM calls WHERE session = ? AND call_id = ?",
        [session, result.callId],
      );
      if (call === undefined) {
        this.problem("orphan_result", place, session);
        continue;
      }
      this.#line(call.message, place, record, oversize);
      if (result.rank >= call.rank) this.#settle(session, result);
    }
  }

  #settle(session: number, result: CallResult): void {
    this.#db.run("UPDATE calls SET status = ?, rank = ? WHERE session = ? AND call_id = ?", [
      result.status,
      result.rank,
      session,
      result.callId,
    ]);
  }

  /** A child in a file of its own brings its row itself; an inline one is made with its first line. */
  #child(fact: FactOf<"child">): void {
    if (fact.session === undefined && fact.callId === null) this.#sessionRow(fact.id);
  }
}

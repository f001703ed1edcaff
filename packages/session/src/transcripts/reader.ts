import { type Clock, ToolError } from "@toolhaft/core";
import { identify, type ProcessIdentity } from "@toolhaft/process";
import type { Database } from "@toolhaft/sqlite";
import type { Message, Problem, Summary, Todo } from "../model.ts";
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
import { changesOf } from "./changes.ts";
import { newOwner } from "./claim.ts";
import type { TranscriptFormat } from "./format.ts";
import { readMessages, runningMs } from "./read-messages.ts";
import { type IndexState, refreshIndex, refreshSession, refreshSessions } from "./refresh.ts";
import { searchTranscripts } from "./search.ts";
import { messageAt } from "./searched.ts";
import { childrenOf, idsLike, listRows, type SessionRow, sessionById, summaryOf } from "./summaries.ts";
import { problemsOf, usageReport } from "./usage-report.ts";

export interface TranscriptOptions {
  format: TranscriptFormat;
  /** Opens the index; called on first use. */
  database(): Promise<Database>;
  clock: Clock;
  maxLineBytes: number;
}

/** Time for bringing the index up to date where a call names none, in ms. */
const defaultIndexMs = 3_000;

/** Times that a page is looked at anew because what was read of it changed its order. */
const mostRounds = 5;

/** Sessions of line-based transcripts: the index answers, and a message is read from its lines. */
export class TranscriptReader implements SessionReader {
  readonly #options: TranscriptOptions;

  /** Asked of the system once: it does not change while this process runs. */
  #self: Promise<ProcessIdentity | undefined> | undefined;

  constructor(options: TranscriptOptions) {
    this.#options = options;
  }

  async list(query: ListQuery, signal: AbortSignal): ReturnType<SessionReader["list"]> {
    const { format, clock } = this.#options;
    const deadline = clock.now() + query.indexMs;
    // The head of a file tells where it belongs; only last times and sessions inside of it are told by the whole.
    const headsDo = query.from === undefined && !query.includeChildren;
    const { db, index } = await this.#fresh(headsDo ? [] : query.directories, signal, query.indexMs);
    let page = listRows(db, format.source, query);
    const tried = new Set<string>();
    const unreadable = [...index.unreadable];
    for (let round = 0; round < mostRounds; round += 1) {
      const unread = page.items.filter(({ id, whole }) => whole === 0 && !tried.has(id));
      if (unread.length === 0) break;
      for (const { id } of unread) tried.add(id);
      unreadable.push(
        ...(await refreshSessions(await this.#run(db, "all", signal, Math.max(0, deadline - clock.now())), unread)),
      );
      page = listRows(db, format.source, query);
    }
    const left = page.items.filter(({ whole }) => whole === 0);
    return {
      ...page,
      items: page.items.map(summaryOf),
      index: {
        upToDate: index.upToDate && left.length === 0,
        pendingFiles: index.pendingFiles + left.length,
        pendingBytes: index.pendingBytes + left.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0),
        unreadable,
      },
    };
  }

  async get(id: string, signal: AbortSignal): Promise<Summary | undefined> {
    const row = await this.#find(id, signal);
    return row === undefined ? undefined : summaryOf(row);
  }

  async near(
    id: string,
    limit: number,
    signal: AbortSignal,
    directories: readonly string[] | "all" = "all",
  ): Promise<readonly string[]> {
    const { db } = await this.#fresh([], signal);
    return idsLike(db, this.#options.format.source, id.slice(0, 6), limit, directories);
  }

  async known(ids: readonly string[]): Promise<readonly string[]> {
    const db = await this.#options.database();
    return db
      .all<{ id: string }>(
        "SELECT id FROM sessions WHERE store = ? AND live = 1 AND id IN (SELECT value FROM json_each(?))",
        [this.#options.format.source, JSON.stringify(ids)],
      )
      .map(({ id }) => id);
  }

  async directoryOf(id: string, signal: AbortSignal): Promise<{ directory: string | null } | undefined> {
    const { format, database } = this.#options;
    const known = sessionById(await database(), format.source, id);
    if (known !== undefined) return known;
    const { db } = await this.#fresh([], signal);
    return sessionById(db, format.source, id);
  }

  async problems(id: string, signal: AbortSignal): Promise<readonly Problem[]> {
    const session = await this.#session(id, signal);
    return problemsOf(await this.#options.database(), session.row);
  }

  async *messages(id: string, range: MessageRange, signal: AbortSignal): AsyncIterable<Message> {
    const session = await this.#session(id, signal);
    const db = await this.#options.database();
    const recent = this.#isRecent(session);
    const { format, maxLineBytes } = this.#options;
    yield* readMessages(db, format, session.row, range, { maxLineBytes, signal, recent });
  }

  /** Whether the host wrote to the session lately. What is made from a database has no time but that of its rows. */
  #isRecent({ updated, mtime }: SessionRow): boolean {
    const { format, clock } = this.#options;
    const written = format.statsAlone ? Number(BigInt(mtime) / 1_000_000n) : Date.parse(updated);
    return clock.now() - written < runningMs;
  }

  async message(id: string, messageId: string, signal: AbortSignal): Promise<Message | undefined> {
    const session = await this.#session(id, signal);
    const db = await this.#options.database();
    const row = db.get<{ idx: number }>("SELECT idx FROM messages WHERE session = ? AND (key = ? OR '#' || idx = ?)", [
      session.row,
      messageId,
      messageId,
    ]);
    if (row === undefined) return undefined;
    const recent = this.#isRecent(session);
    return messageAt(db, this.#options.format, session.row, row.idx, { ...this.#options, signal, recent });
  }

  async count(id: string, signal: AbortSignal): Promise<number> {
    const session = await this.#session(id, signal);
    const db = await this.#options.database();
    return db.get<{ n: number }>("SELECT count(*) AS n FROM messages WHERE session = ?", [session.row])?.n ?? 0;
  }

  async branches(id: string, signal: AbortSignal): Promise<readonly Branch[]> {
    const session = await this.#session(id, signal);
    const db = await this.#options.database();
    return db.all<Branch>(
      `SELECT branch, count(*) AS messages, coalesce((SELECT parent FROM messages f WHERE f.session = m.session AND f.branch = m.branch ORDER BY f.seq LIMIT 1), '') AS "from"
       FROM messages m WHERE session = ? AND branch <> 'main' GROUP BY branch ORDER BY min(seq)`,
      [session.row],
    );
  }

  async search(query: SearchQuery, signal: AbortSignal): Promise<SearchPage> {
    const directories =
      query.session === undefined ? query.directories : await this.#directoryOf(query.session, signal);
    const { db, index } = await this.#fresh(directories, signal, query.indexMs);
    return searchTranscripts(db, this.#options.format, query, index, { ...this.#options, signal });
  }

  async usage(id: string, signal: AbortSignal): Promise<UsageReport> {
    const { directory } = await this.#session(id, signal);
    // A copied answer is told by the older session that holds it: all of the project must be known.
    await this.#fresh(directory === null ? "all" : [directory], signal, Number.POSITIVE_INFINITY);
    const session = await this.#session(id, signal);
    return usageReport(await this.#options.database(), session);
  }

  async todos(id: string, signal: AbortSignal): Promise<readonly Todo[] | undefined> {
    const { todos } = await this.#session(id, signal);
    return todos === null ? [] : todosOf(JSON.parse(todos), ["text"]);
  }

  async changes(id: string, upTo: string | undefined, signal: AbortSignal): Promise<Changes | undefined> {
    const session = await this.#session(id, signal);
    const { format, maxLineBytes } = this.#options;
    return changesOf(await this.#options.database(), format, session.row, upTo, { maxLineBytes, signal });
  }

  async children(id: string, signal: AbortSignal): Promise<readonly Summary[]> {
    const session = await this.#session(id, signal);
    await this.#fresh([], signal);
    return childrenOf(await this.#options.database(), session.store, session.id).map(summaryOf);
  }

  /** The session with its file indexed as a whole, though it may belong to another project. */
  async #find(id: string, signal: AbortSignal): Promise<SessionRow | undefined> {
    const { format } = this.#options;
    const db = await this.#options.database();
    const run = await this.#run(db, "all", signal, Number.POSITIVE_INFINITY);
    const alone = format.statsAlone ? await refreshSession(run, id) : undefined;
    if (alone === undefined) {
      await this.#fresh([], signal);
      await refreshSession(run, id);
    }
    return sessionById(db, format.source, id);
  }

  async #session(id: string, signal: AbortSignal): Promise<SessionRow> {
    const row = await this.#find(id, signal);
    if (row === undefined) throw new ToolError("not_found", `no session ${id} in ${this.#options.format.source}`);
    return row;
  }

  async #directoryOf(id: string, signal: AbortSignal): Promise<readonly string[] | "all"> {
    const { directory } = await this.#session(id, signal);
    return directory === null ? "all" : [directory];
  }

  async #run(db: Database, directories: readonly string[] | "all", signal: AbortSignal, indexMs: number) {
    const { format, clock, maxLineBytes } = this.#options;
    this.#self ??= identify(process.pid);
    return {
      db,
      format,
      clock,
      maxLineBytes,
      signal,
      owner: newOwner(await this.#self, clock),
      deadline: clock.now() + indexMs,
      progress: { batches: 0 },
      heads: [],
      looksInside: directories.length > 0,
      wanted: (directory: string | null) =>
        directories === "all" || directory === null || directories.some((root) => isInside(root, directory)),
    };
  }

  async #fresh(
    directories: readonly string[] | "all",
    signal: AbortSignal,
    indexMs = defaultIndexMs,
  ): Promise<{ db: Database; index: IndexState }> {
    const { format } = this.#options;
    const db = await this.#options.database();
    const index = await refreshIndex(await this.#run(db, directories, signal, indexMs));
    if (index.unreadable.length > 0 && index.unreadable.length === index.seen + index.unreadable.length) {
      const [first] = index.unreadable;
      throw new ToolError("unavailable", `${format.source}: cannot read ${first?.path}: ${first?.cause}`, {
        hint: "give this process the right to read it, or leave the store out",
      });
    }
    return { db, index };
  }
}

function isInside(root: string, directory: string): boolean {
  return directory === root || directory.startsWith(root.endsWith("/") ? root : `${root}/`);
}

import { inflateSync } from "node:zlib";
import { type Clock, ToolError } from "@toolhaft/core";
import type { Database, SqlValue } from "@toolhaft/sqlite";
import type { Message, MessageKind, Part, Summary, Todo, ToolStatus } from "../model.ts";
import { excerptAround, type Matcher, matcherOf } from "../search-text.ts";
import { lengthOf } from "../show.ts";
import type {
  Branch,
  Changes,
  ListQuery,
  MessageRange,
  ModelUsage,
  SearchedPart,
  SearchHit,
  SearchPage,
  SearchQuery,
  SessionReader,
  UsageReport,
} from "../store.ts";
import { todosOf } from "../todo-list.ts";
import { partTexts } from "../transcripts/searched.ts";
import { insideOf, parseCursor } from "../transcripts/summaries.ts";

export const builtInSource = "toolhaft";

interface SessionRow {
  row: number;
  id: string;
  parent: string | null;
  parent_row: number | null;
  fork_seq: number | null;
  title: string;
  directory: string;
  branch: string | null;
  created: string;
  updated: string;
  archived: number;
  todos: string | null;
  children: number;
}

interface MessageRow {
  row: number;
  id: string;
  role: string;
  kind: MessageKind;
  at: string;
  model: string | null;
  provider: string | null;
  input: number | null;
  output: number | null;
  reasoning: number | null;
  cache_read: number | null;
  cache_write: number | null;
  usd: number | null;
  own: number;
  idx: number;
}

const mostCandidates = 2_000;
const pauseMs = 5 * 60_000;

/** A session's messages are its own and, before the point of a fork, those of the sessions above it. */
const chain = `
WITH RECURSIVE chain(row, below, depth) AS (
  SELECT :session, 9007199254740991, 0
  UNION ALL
  SELECT s.parent_row, s.fork_seq + 1, chain.depth + 1 FROM chain JOIN sessions s ON s.row = chain.row WHERE s.parent_row IS NOT NULL
), path AS (
  SELECT m.*, chain.depth = 0 AS own, row_number() OVER (ORDER BY chain.depth DESC, m.seq) - 1 AS idx
  FROM chain JOIN messages m ON m.session = chain.row AND m.seq < chain.below
)`;

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
    if (db === undefined) return { items: [], total: 0, nextCursor: null, elsewhere: 0 };
    const inside = insideOf(query.directories);
    const filters = [inside.sql];
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
    const after = query.cursor === undefined ? undefined : parseCursor(query.cursor);
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
      elsewhere: count("1", []) - count(inside.sql, inside.parameters),
      nextCursor:
        rows.length > query.limit && last !== undefined
          ? Buffer.from(JSON.stringify([last.updatedAt, last.id])).toString("base64url")
          : null,
    };
  }

  async get(id: string): Promise<Summary | undefined> {
    const db = await this.#database();
    const row = db === undefined ? undefined : rowOf(db, id);
    return db === undefined || row === undefined ? undefined : summaryOf(db, row);
  }

  async near(id: string, limit: number): Promise<readonly string[]> {
    const db = await this.#database();
    const start = id.slice(0, 6);
    return (
      db
        ?.all<{ id: string }>("SELECT id FROM sessions WHERE substr(id, 1, ?) = ? ORDER BY updated DESC LIMIT ?", [
          start.length,
          start,
          limit,
        ])
        .map((row) => row.id) ?? []
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
    const empty: SearchPage = {
      hits: [],
      total: 0,
      totalIsFloor: false,
      nextCursor: null,
      searched: { sessions: 0, messages: 0 },
      index: { upToDate: true, pendingFiles: 0, pendingBytes: 0 },
      scan: null,
    };
    const db = await this.#database();
    return db === undefined ? empty : searchBuiltIn(db, query, empty, this.#clock.now(), signal);
  }

  async usage(id: string): Promise<UsageReport> {
    const { db, session } = await this.#session(id);
    const models = db
      .all<{
        model: string | null;
        provider: string | null;
        own: number;
        answers: number;
        i: number;
        o: number;
        r: number;
        cr: number;
        cw: number;
        usd: number | null;
        at: string;
      }>(
        `${chain} SELECT model, provider, own, count(*) AS answers, sum(coalesce(input, 0)) AS i, sum(coalesce(output, 0)) AS o, sum(coalesce(reasoning, 0)) AS r,
           sum(coalesce(cache_read, 0)) AS cr, sum(coalesce(cache_write, 0)) AS cw, sum(usd) AS usd, max(at) AS at
         FROM path WHERE input IS NOT NULL GROUP BY model, provider, own`,
        { session: session.row },
      )
      .map(
        (row): ModelUsage => ({
          provider: row.provider,
          model: row.model ?? "unknown",
          answers: row.answers,
          usage: {
            inputTokens: row.i,
            outputTokens: row.o,
            reasoningTokens: row.r,
            cacheReadTokens: row.cr,
            cacheWriteTokens: row.cw,
          },
          cacheWrite1h: 0,
          recordedUsd: row.usd,
          at: row.at,
          inherited: row.own === 0,
        }),
      );
    const counts = db.get<{ messages: number; prompts: number; answers: number; compactions: number }>(
      `${chain} SELECT count(*) AS messages, coalesce(sum(kind = 'prompt'), 0) AS prompts, coalesce(sum(kind = 'answer'), 0) AS answers, coalesce(sum(kind = 'compaction'), 0) AS compactions FROM path`,
      { session: session.row },
    ) ?? { messages: 0, prompts: 0, answers: 0, compactions: 0 };
    const tools = db.all<{ name: string; calls: number; errors: number; denied: number }>(
      `${chain} SELECT p.tool AS name, count(*) AS calls, coalesce(sum(p.status = 'error'), 0) AS errors, coalesce(sum(p.status = 'denied'), 0) AS denied
       FROM path m JOIN parts p ON p.message = m.row WHERE p.kind = 'tool' GROUP BY p.tool ORDER BY calls DESC, name`,
      { session: session.row },
    );
    const times = db
      .all<{ at: string }>(`${chain} SELECT at FROM path ORDER BY at`, { session: session.row })
      .map(({ at }) => Date.parse(at));
    return {
      models,
      complete: true,
      context: { peakTokens: null, window: null },
      activeMs: times.reduce(
        (sum, at, n) => sum + (n === 0 ? 0 : Math.min(pauseMs, Math.max(0, at - (times[n - 1] ?? at)))),
        0,
      ),
      version: null,
      counts: { ...counts, toolCalls: tools.reduce((sum, { calls }) => sum + calls, 0), branches: 1 },
      tools,
      problems: [],
    };
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
    return {
      basis: "snapshots",
      notes: [],
      changes: rows.map((row) => {
        const before = blobOf(db, row.before);
        const after = blobOf(db, row.after);
        const kind = before === null ? "create" : after === null ? "delete" : "modify";
        return {
          messageId: row.message,
          path: row.path,
          from: null,
          kind,
          before,
          after,
          patch: null,
          additions: null,
          deletions: null,
        };
      }),
    };
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

function rowOf(db: Database, id: string): SessionRow | undefined {
  return db.get<SessionRow>(
    "SELECT s.*, (SELECT count(*) FROM sessions c WHERE c.parent = s.id) AS children FROM sessions s WHERE s.id = ?",
    [id],
  );
}

function countOf(db: Database, session: number): number {
  return db.get<{ n: number }>(`${chain} SELECT count(*) AS n FROM path`, { session })?.n ?? 0;
}

function summaryOf(db: Database, row: SessionRow): Summary {
  const facts = db.get<{ messages: number; prompts: number }>(
    `${chain} SELECT count(*) AS messages, coalesce(sum(kind = 'prompt'), 0) AS prompts FROM path`,
    { session: row.row },
  );
  const models = db.all<{ model: string }>(`${chain} SELECT DISTINCT model FROM path WHERE model IS NOT NULL`, {
    session: row.row,
  });
  const point =
    row.fork_seq === null
      ? undefined
      : db.get<{ id: string }>("SELECT id FROM messages WHERE session = ? AND seq = ?", [row.parent_row, row.fork_seq]);
  return {
    id: row.id,
    source: builtInSource,
    title: row.title,
    directory: row.directory,
    branch: row.branch,
    createdAt: row.created,
    updatedAt: row.updated,
    durationMs: Math.max(0, Date.parse(row.updated) - Date.parse(row.created)),
    messages: facts?.messages ?? 0,
    prompts: facts?.prompts ?? 0,
    parent:
      row.parent === null
        ? null
        : { id: row.parent, kind: row.parent_row === null ? "subagent" : "fork", at: point?.id ?? null },
    children: row.children,
    archived: row.archived === 1,
    bytes: null,
    models: models.map(({ model }) => model),
    warnings: 0,
  };
}

interface PartRow {
  kind: "text" | "thinking" | "tool" | "file";
  text: string | null;
  tool: string | null;
  call_id: string | null;
  input: string | null;
  output: string | null;
  status: ToolStatus | null;
  file_name: string | null;
  mime: string | null;
  bytes: number | null;
}

function messageOf(db: Database, row: MessageRow): Message {
  const parts = db.all<PartRow>("SELECT * FROM parts WHERE message = ? ORDER BY n", [row.row]);
  return {
    id: row.id,
    index: row.idx,
    role: row.role,
    kind: row.kind,
    at: row.at,
    parentId: null,
    branch: "main",
    model: row.model,
    provider: row.provider,
    usage:
      row.input === null
        ? null
        : {
            inputTokens: row.input,
            outputTokens: row.output ?? 0,
            reasoningTokens: row.reasoning ?? 0,
            cacheReadTokens: row.cache_read ?? 0,
            cacheWriteTokens: row.cache_write ?? 0,
          },
    costUsd: row.usd,
    inherited: row.own === 0,
    reverted: false,
    parts: parts.map(partOf),
  };
}

function partOf(row: PartRow): Part {
  const base = {
    kind: row.kind,
    text: row.text,
    chars: lengthOf(row.text ?? ""),
    truncated: false,
    tool: null,
    file: null,
  };
  if (row.kind === "file")
    return { ...base, file: { name: row.file_name, mime: row.mime ?? "", bytes: row.bytes ?? 0 } };
  if (row.kind !== "tool") return base;
  return {
    ...base,
    tool: {
      name: row.tool ?? "unknown",
      callId: row.call_id ?? "",
      status: row.status ?? "no_result",
      input: row.input ?? "",
      output: row.output,
      outputChars: lengthOf(row.output ?? ""),
      exitCode: null,
      durationMs: null,
    },
  };
}

function blobOf(db: Database, sha256: string | null): Uint8Array | null {
  if (sha256 === null) return null;
  const found = db.get<{ bytes: Uint8Array }>("SELECT bytes FROM blobs WHERE sha256 = ?", [sha256]);
  if (found === undefined) throw new ToolError("internal", "a recorded file state is missing from the store");
  return inflateSync(found.bytes);
}

interface Candidate {
  sessionRow: number;
  sessionId: string;
  title: string;
  message: number;
  part: SearchedPart;
  score: number;
  allTerms: number;
  at: string;
}

const columnOf: Readonly<Record<SearchedPart, string>> = {
  text: "text",
  tool_input: "tool",
  thinking: "thinking",
  tool_output: "output",
};

/** The store holds its texts, so words, phrases and literals alike are judged on them. */
function searchBuiltIn(
  db: Database,
  query: SearchQuery,
  empty: SearchPage,
  now: number,
  signal: AbortSignal,
): SearchPage {
  const matcher = matcherOf(query.query, query);
  const scope = scopeOf(query);
  const searched = db.get<{ sessions: number; messages: number }>(
    `SELECT count(DISTINCT s.row) AS sessions, count(*) AS messages FROM messages m JOIN sessions s ON s.row = m.session WHERE ${scope.sql}`,
    scope.parameters,
  );
  const candidates = query.parts.flatMap((part) => rank(db, query, matcher, part, scope, now));
  candidates.sort((a, b) =>
    query.sort === "recent"
      ? a.at < b.at
        ? 1
        : -1
      : b.allTerms - a.allTerms || b.score - a.score || (a.at < b.at ? 1 : -1),
  );
  const hits: SearchHit[] = [];
  let at = query.cursor === undefined ? 0 : Number(query.cursor);
  for (; at < candidates.length && hits.length < query.limit; at += 1) {
    signal.throwIfAborted();
    const candidate = candidates[at];
    const hit = candidate === undefined ? undefined : hitOf(db, candidate, matcher);
    if (hit !== undefined) hits.push({ ...hit, after: String(at + 1) });
  }
  return {
    ...empty,
    hits,
    total: candidates.length,
    totalIsFloor: candidates.length >= mostCandidates,
    nextCursor: at < candidates.length ? String(at) : null,
    searched: searched ?? empty.searched,
  };
}

function scopeOf(query: SearchQuery): { sql: string; parameters: SqlValue[] } {
  const inside = insideOf(query.directories);
  const filters = [inside.sql];
  const parameters: SqlValue[] = [...inside.parameters];
  if (query.session !== undefined) {
    filters.push("(s.id = ? OR s.parent = ?)");
    parameters.push(query.session, query.session);
  }
  if (query.role !== undefined) {
    filters.push("m.role = ?");
    parameters.push(query.role);
  }
  if (query.from !== undefined) {
    filters.push("m.at >= ?");
    parameters.push(new Date(query.from).toISOString());
  }
  if (query.to !== undefined) {
    filters.push("m.at <= ?");
    parameters.push(new Date(query.to).toISOString());
  }
  return { sql: filters.join(" AND "), parameters };
}

function rank(
  db: Database,
  query: SearchQuery,
  matcher: Matcher,
  part: SearchedPart,
  scope: { sql: string; parameters: SqlValue[] },
  now: number,
): Candidate[] {
  const column = columnOf[part];
  const fields = `s.row AS sessionRow, s.id AS sessionId, s.title, m.row AS message, '${part}' AS part, m.at`;
  const join = "JOIN messages m ON m.row = p.message JOIN sessions s ON s.row = m.session";
  if (matcher.terms.length === 0) {
    const source = { text: "p.text", thinking: "p.text", tool_input: "p.input", tool_output: "p.output" }[part];
    const kind = part === "text" || part === "thinking" ? part : "tool";
    return db.all<Candidate>(
      `SELECT ${fields}, 0 AS score, 1 AS allTerms FROM parts p ${join} WHERE p.kind = ? AND instr(lower(${source}), lower(?)) > 0 AND ${scope.sql} GROUP BY m.row ORDER BY m.at DESC LIMIT ${mostCandidates}`,
      [kind, query.query, ...scope.parameters],
    );
  }
  const terms = matcher.terms.map((term) => `"${term.replaceAll('"', '""')}"`);
  const weight = part === "tool_input" ? 0.5 : 1;
  const find = (expression: string, allTerms: 0 | 1) =>
    db.all<Candidate>(
      `SELECT ${fields}, -bm25(parts_fts) * ${weight} AS score, ${allTerms} AS allTerms FROM parts_fts JOIN parts p ON p.row = parts_fts.rowid ${join}
       WHERE parts_fts MATCH ? AND ${scope.sql} ORDER BY score DESC LIMIT ${mostCandidates}`,
      [`${column} : (${expression})`, ...scope.parameters],
    );
  const best = new Map<number, Candidate>();
  const some = terms.length > 1 && matcher.exact.length === 0 ? find(terms.join(" OR "), 0) : [];
  for (const candidate of [...find(terms.join(" AND "), 1), ...some])
    if (!best.has(candidate.message)) best.set(candidate.message, candidate);
  return [...best.values()].map((candidate) => ({
    ...candidate,
    score: candidate.score * (0.9 + 0.2 / (1 + Math.max(0, now - Date.parse(candidate.at)) / 604_800_000)),
  }));
}

function hitOf(db: Database, candidate: Candidate, matcher: Matcher): Omit<SearchHit, "after"> | undefined {
  const row = db.get<MessageRow>(`${chain} SELECT * FROM path WHERE row = :row`, {
    session: candidate.sessionRow,
    row: candidate.message,
  });
  if (row === undefined) return undefined;
  const message = messageOf(db, row);
  const texts = partTexts(message, candidate.part);
  const fitting = texts.filter(({ text }) => matcher.fits(text));
  const chosen = fitting.find(({ text }) => matcher.marks(text, 1).length > 0) ?? fitting[0];
  if (chosen === undefined) return undefined;
  return {
    sessionId: candidate.sessionId,
    title: candidate.title,
    messageId: message.id,
    index: message.index,
    role: message.role,
    at: message.at,
    part: candidate.part,
    tool: chosen.tool,
    ...excerptAround(chosen.text, matcher.marks(chosen.text, 20)),
    allTerms: candidate.allTerms === 1,
    more: fitting.length - 1,
    score: candidate.score,
  };
}

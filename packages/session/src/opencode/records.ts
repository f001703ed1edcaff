import type { ForeignDatabase } from "@toolhaft/sqlite";
import type { JsonRecord } from "../json-line.ts";
import { isObject } from "../json-line.ts";
import { nonEmpty, object, objects, text } from "../shapes.ts";

/**
 * One session of opencode as a sequence of records, whatever the release that wrote it: `session`, then a `message` each
 * with its parts, then `todos` and `changes`. The interpreter reads these like the lines of a transcript.
 */
export type SessionRecord =
  | {
      type: "session";
      session: JsonRecord;
      parent: string | null;
      fork: { id: string; messages: number } | null;
      /** No message has tokens: the session's own columns count. */
      countsItself?: boolean;
    }
  | {
      type: "message";
      message: JsonRecord;
      parts: readonly JsonRecord[];
      damaged: number;
      inherited: boolean;
      reverted: boolean;
    }
  | { type: "todos"; todos: readonly JsonRecord[] }
  | { type: "changes"; changes: readonly JsonRecord[] };

export interface StoredMessage {
  id: string;
  at: number;
  data: JsonRecord | undefined;
  parts: readonly (JsonRecord | undefined)[];
}

/** Names of a table's columns: they differ by release, so only what exists is read. */
export function columnsOf(database: ForeignDatabase, table: string): ReadonlySet<string> {
  return new Set(
    database.all<{ name: string }>(`SELECT name FROM pragma_table_info('${table}')`).map(({ name }) => name),
  );
}

/** Tables that hold sessions: a newer release keeps a second one beside the first. */
const sessionTables = ["session", "session_v2"] as const;

/** Sessions of a database with what tells that one changed. */
export function listSessions(database: ForeignDatabase): { id: string; stamp: string; archived: boolean }[] {
  const ids = new Map<string, { id: string; stamp: string; archived: boolean; created: number }>();
  // Rows of what belongs to a session are counted once for all: which of the tables there are differs by release.
  const counted = ["message", "part", "session_message", "todo"].flatMap((table) => {
    const columns = columnsOf(database, table);
    const newest = columns.has("time_updated") ? "coalesce(max(time_updated), 0)" : "0";
    return columns.has("session_id")
      ? `(SELECT count(*) || ' ' || ${newest} FROM ${table} m WHERE m.session_id = s.id)`
      : [];
  });
  for (const table of sessionTables) {
    const columns = columnsOf(database, table);
    if (!columns.has("id")) continue;
    const column = (name: string) => (columns.has(name) ? `s.${name}` : "NULL");
    const stamp = [`coalesce(${column("time_updated")}, '')`, ...counted].join(" || ' ' || ");
    const rows = database.all<{ id: string; stamp: string; archived: number | null; created: number | null }>(
      `SELECT s.id, ${column("time_archived")} AS archived, ${column("time_created")} AS created, ${stamp} AS stamp FROM ${table} s`,
    );
    for (const row of rows) {
      const known = ids.get(row.id);
      ids.set(row.id, {
        id: row.id,
        stamp: known === undefined ? row.stamp : `${known.stamp} ${row.stamp}`,
        archived: known?.archived === true || row.archived !== null,
        created: known?.created ?? row.created ?? 0,
      });
    }
  }
  return [...ids.values()].sort((a, b) => a.created - b.created || (a.id < b.id ? -1 : 1));
}

/** A session's own row. One that stands in both tables is told by the one whose messages it has. */
function sessionRow(database: ForeignDatabase, id: string): JsonRecord | undefined {
  const [older, newer] = sessionTables.map((table) =>
    columnsOf(database, table).has("id")
      ? database.get<JsonRecord>(`SELECT * FROM ${table} WHERE id = ?`, [id])
      : undefined,
  );
  return older !== undefined && (newer === undefined || hasOlderMessages(database, id)) ? older : newer;
}

function hasOlderMessages(database: ForeignDatabase, id: string): boolean {
  return (
    columnsOf(database, "message").has("session_id") &&
    database.get("SELECT 1 FROM message WHERE session_id = ? LIMIT 1", [id]) !== undefined
  );
}

/** The records of one session of a database. */
export function* sessionRecords(database: ForeignDatabase, id: string): Iterable<SessionRecord> {
  const session = sessionRow(database, id);
  if (session === undefined) return;
  const messages = messagesOf(database, id);
  const parent = nonEmpty(session.parent_id) ?? null;
  const fork = parent === null ? forkOf(database, session, messages) : null;
  yield { type: "session", session, parent, fork, countsItself: !messages.some(hasTokens) };
  yield* messageRecords(messages, fork?.messages ?? 0, object(parsed(session.revert)));
  const todos = columnsOf(database, "todo").has("session_id")
    ? database.all<JsonRecord>("SELECT content, status, priority FROM todo WHERE session_id = ? ORDER BY position", [
        id,
      ])
    : [];
  if (todos.length > 0) yield { type: "todos", todos };
  const changes = objects(parsed(session.summary_diffs));
  if (changes.length > 0) yield { type: "changes", changes };
}

function hasTokens({ data, parts }: StoredMessage): boolean {
  return object(data?.tokens) !== undefined || parts.some((part) => object(part?.tokens) !== undefined);
}

export function* messageRecords(
  messages: readonly StoredMessage[],
  inherited: number,
  revert: JsonRecord | undefined,
): Iterable<SessionRecord> {
  const from = nonEmpty(revert?.messageID);
  let reverted = false;
  for (const [at, message] of messages.entries()) {
    reverted ||= message.id === from;
    const parts = message.parts.filter(isObject);
    yield {
      type: "message",
      message: { time: { created: message.at }, ...message.data, id: message.id },
      parts,
      damaged: message.parts.length - parts.length + (message.data === undefined ? 1 : 0),
      inherited: at < inherited,
      reverted,
    };
  }
}

function messagesOf(database: ForeignDatabase, id: string): StoredMessage[] {
  if (!hasOlderMessages(database, id)) return newerMessages(database, id);
  const rows = database.all<{ id: string; time_created: number; data: string }>(
    "SELECT id, time_created, data FROM message WHERE session_id = ? ORDER BY time_created, id",
    [id],
  );
  const hasParts = columnsOf(database, "part").has("message_id");
  return rows.map((row) => ({
    id: row.id,
    at: row.time_created,
    data: object(parsed(row.data)),
    parts: hasParts
      ? database
          .all<{ id: string; data: string }>("SELECT id, data FROM part WHERE message_id = ? ORDER BY id", [row.id])
          .map((part) => object(parsed(part.data)))
      : [],
  }));
}

/** The second layout: one row per entry, in `seq` order, with the content inside. */
function newerMessages(database: ForeignDatabase, id: string): StoredMessage[] {
  if (!columnsOf(database, "session_message").has("seq")) return [];
  return database
    .all<{ id: string; type: string; time_created: number; data: string }>(
      "SELECT id, type, time_created, data FROM session_message WHERE session_id = ? ORDER BY seq, id",
      [id],
    )
    .filter(({ type }) => type !== "idle")
    .map((row) => {
      const data = object(parsed(row.data));
      return {
        id: row.id,
        at: row.time_created,
        data: data === undefined ? undefined : { ...data, v2: row.type },
        parts: newerParts(row.type, data),
      };
    });
}

function newerParts(type: string, data: JsonRecord | undefined): JsonRecord[] {
  if (data === undefined) return [];
  if (type === "assistant") return [...objects(data.content)];
  if (type === "shell") {
    const state = { status: "completed", input: { command: data.command }, output: data.output };
    return [{ type: "tool", tool: "shell", callID: nonEmpty(data.callID) ?? nonEmpty(data.id) ?? "", state }];
  }
  const said = text(data.text) ?? text(data.summary);
  const files = objects(data.files).map((file) => ({ type: "file", ...file }));
  return [...(said === undefined ? [] : [{ type: "text", text: said, synthetic: type !== "user" }]), ...files];
}

/**
 * A fork stores no link: it is told by a leading run of messages that equal those of an older session of the folder in
 * time, role, model, tokens and cost.
 */
function forkOf(
  database: ForeignDatabase,
  session: JsonRecord,
  messages: readonly StoredMessage[],
): { id: string; messages: number } | null {
  const stored = nonEmpty(session.fork_session_id);
  const [first] = messages;
  if (first === undefined) return stored === undefined ? null : { id: stored, messages: 0 };
  const candidates =
    stored === undefined
      ? !hasOlderMessages(database, String(session.id)) || !columnsOf(database, "session").has("directory")
        ? []
        : database.all<{ id: string }>(
            `SELECT DISTINCT m.session_id AS id FROM message m JOIN session s ON s.id = m.session_id
           WHERE m.time_created = ? AND s.id <> ? AND s.directory = ? AND (s.time_created < ? OR (s.time_created = ? AND s.id < ?)) ORDER BY s.time_created`,
            [
              first.at,
              String(session.id),
              String(session.directory),
              Number(session.time_created),
              Number(session.time_created),
              String(session.id),
            ],
          )
      : [{ id: stored }];
  let best: { id: string; messages: number } | null = stored === undefined ? null : { id: stored, messages: 0 };
  for (const { id } of candidates) {
    const run = leadingRun(messages, messagesOf(database, id));
    if (run > (best?.messages ?? 0)) best = { id, messages: run };
  }
  return best;
}

function leadingRun(own: readonly StoredMessage[], other: readonly StoredMessage[]): number {
  let run = 0;
  while (run < own.length && run < other.length && sameMessage(own[run], other[run])) run += 1;
  return run;
}

function sameMessage(a: StoredMessage | undefined, b: StoredMessage | undefined): boolean {
  if (a?.data === undefined || b?.data === undefined || a.at !== b.at) return false;
  const key = ({ data }: StoredMessage) => JSON.stringify([data?.role, data?.modelID, data?.tokens, data?.cost]);
  return key(a) === key(b);
}

export function parsed(json: unknown): unknown {
  if (typeof json !== "string") return json ?? undefined;
  try {
    return JSON.parse(json);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}

import { inflateSync } from "node:zlib";
import { ToolError } from "@toolhaft/core";
import type { Database } from "@toolhaft/sqlite";
import type { Message, Summary } from "../model.ts";
import { messageFrom, type RecordedMessage, type RecordedPart, type RecordedSession, summaryFrom } from "./recorded.ts";

export interface SessionRow extends RecordedSession {
  row: number;
  fork_seq: number | null;
  archived: number;
  todos: string | null;
}

export interface MessageRow extends RecordedMessage {
  own: number;
  idx: number;
}

/** A session's messages are its own and, before the point of a fork, those of the sessions above it. */
export const chain = `
WITH RECURSIVE chain(row, below, depth) AS (
  SELECT :session, 9007199254740991, 0
  UNION ALL
  SELECT s.parent_row, s.fork_seq + 1, chain.depth + 1 FROM chain JOIN sessions s ON s.row = chain.row WHERE s.parent_row IS NOT NULL
), path AS (
  SELECT m.*, chain.depth = 0 AS own, row_number() OVER (ORDER BY chain.depth DESC, m.seq) - 1 AS idx
  FROM chain JOIN messages m ON m.session = chain.row AND m.seq < chain.below
)`;

export function rowOf(db: Database, id: string): SessionRow | undefined {
  return db.get<SessionRow>(
    "SELECT s.*, (SELECT count(*) FROM sessions c WHERE c.parent = s.id) AS children FROM sessions s WHERE s.id = ?",
    [id],
  );
}

/** The sessions that a session's messages stand in, itself first, each with the sequence they are read before. */
export function chainRows(db: Database, session: number): readonly { row: number; below: number }[] {
  return db.all<{ row: number; below: number }>(`${chain} SELECT row, below FROM chain ORDER BY depth`, { session });
}

export function countOf(db: Database, session: number): number {
  return db.get<{ n: number }>(`${chain} SELECT count(*) AS n FROM path`, { session })?.n ?? 0;
}

export function summaryOf(db: Database, row: SessionRow): Summary {
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
  return summaryFrom(row, {
    archived: row.archived === 1,
    messages: facts?.messages ?? 0,
    prompts: facts?.prompts ?? 0,
    models: models.map(({ model }) => model),
    point: point?.id ?? null,
  });
}

export function messageOf(db: Database, row: MessageRow): Message {
  const parts = db.all<RecordedPart>("SELECT * FROM parts WHERE message = ? ORDER BY n", [row.row]);
  return messageFrom(row, { index: row.idx, inherited: row.own === 0 }, parts);
}

export function blobOf(db: Database, sha256: string | null): Uint8Array | null {
  if (sha256 === null) return null;
  const found = db.get<{ bytes: Uint8Array }>("SELECT bytes FROM blobs WHERE sha256 = ?", [sha256]);
  if (found === undefined) throw new ToolError("internal", "a recorded file state is missing from the store");
  return inflateSync(found.bytes);
}

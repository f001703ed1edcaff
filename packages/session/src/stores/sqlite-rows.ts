import { inflateSync } from "node:zlib";
import { ToolError } from "@toolhaft/core";
import type { Database } from "@toolhaft/sqlite";
import type { Message, MessageKind, Part, Summary, ToolStatus } from "../model.ts";
import { lengthOf } from "../show.ts";

export const builtInSource = "toolhaft";

export interface SessionRow {
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

export interface MessageRow {
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

export function messageOf(db: Database, row: MessageRow): Message {
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

export function blobOf(db: Database, sha256: string | null): Uint8Array | null {
  if (sha256 === null) return null;
  const found = db.get<{ bytes: Uint8Array }>("SELECT bytes FROM blobs WHERE sha256 = ?", [sha256]);
  if (found === undefined) throw new ToolError("internal", "a recorded file state is missing from the store");
  return inflateSync(found.bytes);
}

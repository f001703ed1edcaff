import { type FileHandle, open } from "node:fs/promises";
import { ToolError } from "@toolhaft/core";
import type { Database } from "@toolhaft/sqlite";
import type { CallResult, Content } from "../facts.ts";
import { parseLine } from "../json-line.ts";
import { type Line, readLines } from "../lines.ts";
import type { Message, MessageKind, Part, ToolCall, ToolStatus } from "../model.ts";
import { lengthOf } from "../show.ts";
import type { MessageRange } from "../store.ts";
import type { TranscriptFormat } from "./format.ts";
import { countedOnce } from "./usage-report.ts";

/** Messages whose lines are looked up in one query. */
const window = 200;
/** A tool of the newest answer counts as running while its file changed within this time. */
export const runningMs = 10 * 60_000;

interface MessageRow {
  row: number;
  idx: number;
  key: string;
  role: string;
  kind: MessageKind;
  at: string | null;
  parent: string | null;
  branch: string;
  model: string | null;
  provider: string | null;
  inherited: number;
  reverted: number;
}

interface LineRow {
  message: number;
  path: string;
  packed: number;
  offset: number;
  length: number;
  record: number;
  oversize: number;
}

export interface ReadOptions {
  maxLineBytes: number;
  signal: AbortSignal;
  /** Whether the file was written to lately, so that an open call is still running. */
  recent: boolean;
}

/** Messages of a session, each read from its lines in the file: nothing else of the file is touched. */
export async function* readMessages(
  db: Database,
  format: TranscriptFormat,
  session: number,
  range: MessageRange,
  options: ReadOptions,
): AsyncIterable<Message> {
  const branch = range.branch === "main" ? "AND branch = 'main'" : "";
  const order = range.branch === "main" ? "idx" : "seq";
  const files = new OpenFiles(format, options);
  try {
    for (let offset = range.from ?? 0; offset < (range.to ?? Number.POSITIVE_INFINITY); offset += window) {
      options.signal.throwIfAborted();
      const limit = Math.min(window, (range.to ?? Number.POSITIVE_INFINITY) - offset);
      const rows = db.all<MessageRow>(
        `SELECT row, idx, key, role, kind, at, parent, branch, model, provider, inherited, reverted
         FROM messages WHERE session = ? ${branch} ORDER BY ${order} LIMIT ? OFFSET ?`,
        [session, limit, offset],
      );
      for (const row of rows) yield await readMessage(db, format, session, row, files, options);
      if (rows.length < limit) return;
    }
  } finally {
    await files.close();
  }
}

async function readMessage(
  db: Database,
  format: TranscriptFormat,
  session: number,
  row: MessageRow,
  files: OpenFiles,
  options: ReadOptions,
): Promise<Message> {
  const lines = db.all<LineRow>(
    `SELECT l.message, f.path, f.packed, l.offset, l.length, l.record, l.oversize FROM lines l JOIN files f ON f.id = l.file
     WHERE l.message = ? ORDER BY l.file, l.offset, l.record`,
    [row.row],
  );
  const content: { content: Content; oversize: boolean }[] = [];
  const results = new Map<string, CallResult>();
  for (const line of lines) {
    options.signal.throwIfAborted();
    const bytes = await files.bytes(line);
    const record = parseLine(bytes, (value) => format.isRecord(value)).records[line.record];
    if (record === undefined) throw changedWhileRead(line.path);
    const parts = format.parts(record);
    for (const part of parts.content) content.push({ content: part, oversize: line.oversize === 1 });
    for (const result of parts.results) {
      const known = results.get(result.callId);
      results.set(
        result.callId,
        known === undefined || result.rank >= known.rank ? { ...known, ...result } : { ...result, ...known },
      );
    }
  }
  const last = db.get<{ idx: number }>("SELECT max(idx) AS idx FROM messages WHERE session = ? AND branch = 'main'", [
    session,
  ]);
  const open: ToolStatus = options.recent && last?.idx === row.idx ? "running" : "no_result";
  const usage = usageOf(db, session, row.key);
  return {
    id: idOf(row),
    index: row.idx,
    role: row.role,
    kind: row.kind,
    at: row.at,
    parentId: row.parent,
    branch: row.branch,
    model: row.model,
    provider: row.provider,
    usage: usage?.usage ?? null,
    costUsd: usage?.usd ?? null,
    inherited: row.inherited === 1,
    reverted: row.reverted === 1,
    parts: content.map((part) => partOf(part.content, part.oversize, results, open)),
  };
}

/** A message without an id of the host's is named by its number. */
export function idOf(row: { key: string; idx: number }): string {
  return row.key.startsWith("@") ? `#${row.idx}` : row.key;
}

function usageOf(db: Database, session: number, key: string) {
  const row = db.get<{ n: number; i: number; o: number; r: number; cr: number; cw: number; usd: number | null }>(
    `SELECT count(*) AS n, sum(input) AS i, sum(output) AS o, sum(reasoning) AS r, sum(cache_read) AS cr, sum(cache_write) AS cw, sum(usd) AS usd
     FROM usage u WHERE session = ? AND message = ? AND ${countedOnce}`,
    [session, key],
  );
  if (row === undefined || row.n === 0) return undefined;
  return {
    usage: {
      inputTokens: row.i,
      outputTokens: row.o,
      reasoningTokens: row.r,
      cacheReadTokens: row.cr,
      cacheWriteTokens: row.cw,
    },
    usd: row.usd,
  };
}

function partOf(content: Content, oversize: boolean, results: ReadonlyMap<string, CallResult>, open: ToolStatus): Part {
  const empty = { text: null, chars: 0, truncated: false, tool: null, file: null };
  switch (content.kind) {
    case "text":
    case "thinking":
    case "other":
      return { ...empty, kind: content.kind, text: content.text, chars: lengthOf(content.text), truncated: oversize };
    case "file":
      return { ...empty, kind: "file", file: { name: content.name, mime: content.mime, bytes: content.bytes } };
    case "call":
      return { ...empty, kind: "tool", truncated: oversize, tool: toolOf(content, results.get(content.callId), open) };
  }
}

function toolOf(call: Extract<Content, { kind: "call" }>, result: CallResult | undefined, open: ToolStatus): ToolCall {
  return {
    name: call.name,
    callId: call.callId,
    status: result?.status ?? open,
    input: call.input,
    output: result?.output ?? null,
    outputChars: result === undefined ? 0 : lengthOf(result.output),
    exitCode: result?.exitCode ?? null,
    durationMs: result?.durationMs ?? null,
  };
}

function changedWhileRead(path: string): ToolError {
  return new ToolError("conflict", `${path} was replaced while it was read`, { hint: "call again" });
}

/** The files that one read touches. A packed one is read onwards as long as lines are asked for in their order. */
export class OpenFiles {
  readonly #handles = new Map<string, FileHandle>();
  readonly #packed = new Map<string, AsyncIterator<Line>>();
  readonly #reached = new Map<string, number>();
  readonly #format: TranscriptFormat;
  readonly #options: ReadOptions;

  constructor(format: TranscriptFormat, options: ReadOptions) {
    this.#format = format;
    this.#options = options;
  }

  async bytes(line: LineRow): Promise<Uint8Array> {
    if (line.packed === 1) return this.#unpacked(line);
    if (line.oversize === 1) return this.#oversize(line);
    const buffer = Buffer.alloc(line.length);
    const handle = await this.#handle(line.path);
    const { bytesRead } = await handle.read(buffer, 0, line.length, line.offset);
    if (bytesRead < line.length) throw changedWhileRead(line.path);
    return buffer;
  }

  /** Through the reader that bounds its memory. */
  async #oversize(line: LineRow): Promise<Uint8Array> {
    for await (const read of readLines(line.path, line.offset, this.#options)) return read.bytes;
    throw changedWhileRead(line.path);
  }

  async #unpacked(line: LineRow): Promise<Uint8Array> {
    const { path, offset } = line;
    let lines = this.#packed.get(path);
    if (lines === undefined || (this.#reached.get(path) ?? 0) > offset) {
      await lines?.return?.();
      lines = readLines(this.#format.unpacked(path), 0, this.#options)[Symbol.asyncIterator]();
      this.#packed.set(path, lines);
    }
    for (let next = await lines.next(); next.done !== true; next = await lines.next()) {
      this.#reached.set(path, next.value.next);
      if (next.value.offset === offset) return Buffer.from(next.value.bytes);
      if (next.value.offset > offset) break;
    }
    throw changedWhileRead(path);
  }

  async #handle(path: string): Promise<FileHandle> {
    const known = this.#handles.get(path);
    if (known !== undefined) return known;
    const handle = await open(path, "r");
    this.#handles.set(path, handle);
    return handle;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#packed.values()].map((lines) => lines.return?.()));
    await Promise.all([...this.#handles.values()].map((handle) => handle.close()));
  }
}

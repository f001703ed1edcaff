import type { Message, MessageKind, Part, Summary, ToolStatus } from "../model.ts";
import { lengthOf } from "../show.ts";
import type { Changes, ModelUsage, NewMessage, NewPart, RecordedFileChange } from "../store.ts";

/** What a store of recorded sessions reads from its rows and writes into them, in whatever database they stand. */

export const builtInSource = "toolhaft";

/** Of a table `sessions`, with what was counted beside it. */
export interface RecordedSession {
  id: string;
  parent: string | null;
  parent_row: number | null;
  title: string;
  directory: string;
  branch: string | null;
  created: string;
  updated: string;
  children: number;
}

export interface SessionFacts {
  archived: boolean;
  messages: number;
  prompts: number;
  models: string[];
  /** Id of the message that it was forked at. */
  point: string | null;
}

export function summaryFrom(row: RecordedSession, facts: SessionFacts): Summary {
  return {
    id: row.id,
    source: builtInSource,
    title: row.title,
    directory: row.directory,
    branch: row.branch,
    createdAt: row.created,
    updatedAt: row.updated,
    durationMs: Math.max(0, Date.parse(row.updated) - Date.parse(row.created)),
    messages: facts.messages,
    prompts: facts.prompts,
    parent:
      row.parent === null
        ? null
        : { id: row.parent, kind: row.parent_row === null ? "subagent" : "fork", at: facts.point },
    children: row.children,
    archived: facts.archived,
    bytes: null,
    models: facts.models,
    warnings: 0,
  };
}

/** Of a table `messages`. */
export interface RecordedMessage {
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
}

/** Of a table `parts`. */
export interface RecordedPart {
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

export function messageFrom(
  row: RecordedMessage,
  place: { index: number; inherited: boolean },
  parts: readonly RecordedPart[],
): Message {
  return {
    id: row.id,
    index: place.index,
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
    inherited: place.inherited,
    reverted: false,
    parts: parts.map(partFrom),
  };
}

function partFrom(row: RecordedPart): Part {
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

export function partRow(part: NewPart): RecordedPart {
  const tool = part.kind === "tool" ? part : undefined;
  const file = part.kind === "file" ? part : undefined;
  return {
    kind: part.kind,
    text: part.kind === "text" || part.kind === "thinking" ? part.text : null,
    tool: tool?.name ?? null,
    call_id: tool?.callId ?? null,
    input: tool?.input ?? null,
    output: tool?.output ?? null,
    status: tool?.status ?? null,
    file_name: file?.name ?? null,
    mime: file?.mime ?? null,
    bytes: file?.bytes ?? null,
  };
}

/** What a message cost, as its row keeps it. */
export function costRow({ model, provider, usage, costUsd }: NewMessage) {
  return {
    model: model ?? null,
    provider: provider ?? null,
    input: usage?.inputTokens ?? null,
    output: usage?.outputTokens ?? null,
    reasoning: usage?.reasoningTokens ?? null,
    cache_read: usage?.cacheReadTokens ?? null,
    cache_write: usage?.cacheWriteTokens ?? null,
    usd: costUsd ?? null,
  };
}

/** Sums over the answers of one model. */
export interface ModelSums {
  model: string | null;
  provider: string | null;
  answers: number;
  i: number;
  o: number;
  r: number;
  cr: number;
  cw: number;
  usd: number | null;
  at: string;
}

export const modelSums = `count(*) AS answers, sum(coalesce(input, 0)) AS i, sum(coalesce(output, 0)) AS o, sum(coalesce(reasoning, 0)) AS r,
  sum(coalesce(cache_read, 0)) AS cr, sum(coalesce(cache_write, 0)) AS cw, sum(usd) AS usd, max(at) AS at`;

export function modelUsageFrom(row: ModelSums, inherited: boolean): ModelUsage {
  return {
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
    inherited,
  };
}

export function changesFrom(
  states: readonly { message: string; path: string; before: Uint8Array | null; after: Uint8Array | null }[],
): Changes {
  return {
    basis: "snapshots",
    notes: [],
    changes: states.map(
      ({ message, path, before, after }): RecordedFileChange => ({
        messageId: message,
        path,
        from: null,
        kind: before === null ? "create" : after === null ? "delete" : "modify",
        before,
        after,
        patch: null,
        additions: null,
        deletions: null,
      }),
    ),
  };
}

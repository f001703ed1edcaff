import { contextFact } from "../context-fact.ts";
import type { CallResult, Content, Fact, Interpreter, Place, RecordedChange } from "../facts.ts";
import { applyHunks, parseUnified } from "../hunks.ts";
import type { JsonRecord } from "../json-line.ts";
import type { MessageKind, Usage } from "../model.ts";
import { blocksText, count, finite, isoTime, nonEmpty, object, objects, text } from "../shapes.ts";
import { todosOf } from "../todo-list.ts";

/** Reads the records that `records.ts` makes of one opencode session. */
export function opencodeInterpreter(): Interpreter {
  const known = new Set<string>();
  return {
    record(record, place) {
      switch (record.type) {
        case "session":
          return sessionFacts(record);
        case "message":
          return [...linkFacts(object(record.message) ?? {}, known), ...messageFacts(record, place)];
        case "todos":
          return [{ kind: "todos", todos: todosOf(record.todos, ["content", "text"]) }];
        case "changes":
          return objects(record.changes).flatMap(changeFacts);
        default:
          return [{ kind: "problem", code: "unknown_record" }];
      }
    },
    state: () => null,
  };
}

function sessionFacts(record: JsonRecord): Fact[] {
  const session = object(record.session) ?? {};
  const fork = object(record.fork);
  const parent = nonEmpty(record.parent) ?? nonEmpty(fork?.id);
  const directory = nonEmpty(session.directory);
  const version = nonEmpty(session.version);
  const title = nonEmpty(session.title);
  const kind = nonEmpty(record.parent) === undefined ? ("fork" as const) : ("subagent" as const);
  const boundary = nonEmpty(session.fork_boundary) ?? null;
  return [
    {
      kind: "session",
      ...(directory !== undefined && { directory }),
      ...timesOf(session),
      ...(version !== undefined && { version }),
      ...(parent !== undefined && { parent: { id: parent, kind, at: kind === "fork" ? boundary : null } }),
    },
    ...(title === undefined ? [] : [{ kind: "title" as const, rank: 5 as const, text: title }]),
    ...(record.countsItself === true ? ownUsage(session, fork !== undefined) : []),
    { kind: "bookkeeping", type: "session" },
  ];
}

/** What the session's columns tell: import leaves them empty, a fork fills them with what it inherited. */
function ownUsage(session: JsonRecord, inherited: boolean): Fact[] {
  const usage = {
    inputTokens: count(session.tokens_input),
    outputTokens: count(session.tokens_output) + count(session.tokens_reasoning),
    reasoningTokens: count(session.tokens_reasoning),
    cacheReadTokens: count(session.tokens_cache_read),
    cacheWriteTokens: count(session.tokens_cache_write),
  };
  const costUsd = count(session.cost);
  if (costUsd === 0 && Object.values(usage).every((tokens) => tokens === 0)) return [];
  const key = "session";
  const response = `${key} ${String(session.id)}`;
  return [
    {
      kind: "usage",
      key,
      response,
      message: key,
      model: null,
      provider: null,
      usage,
      cacheWrite1h: 0,
      costUsd,
      sidechain: false,
      inherited,
    },
  ];
}

function timesOf(session: JsonRecord): { created?: string; updated?: string } {
  const time = object(session.time);
  const created = isoTime(session.time_created ?? time?.created);
  const updated = isoTime(session.time_updated ?? time?.updated);
  return { ...(created !== null && { created }), ...(updated !== null && { updated }) };
}

/** An answer names its prompt; the order is that of time, so the link is only checked. */
function linkFacts(message: JsonRecord, known: Set<string>): Fact[] {
  const parent = nonEmpty(message.parentID);
  known.add(nonEmpty(message.id) ?? "");
  return parent === undefined || known.has(parent) ? [] : [{ kind: "problem", code: "broken_parent" }];
}

function messageFacts(record: JsonRecord, place: Place): Fact[] {
  const message = object(record.message) ?? {};
  const parts = objects(record.parts);
  const key = nonEmpty(message.id) ?? `@${place.offset}`;
  const role = nonEmpty(message.role) ?? roleOf(message);
  const { content, results } = partsOf(parts);
  const at = isoTime(object(message.time)?.created);
  const model =
    nonEmpty(message.modelID) ?? nonEmpty(object(message.model)?.modelID) ?? nonEmpty(object(message.model)?.id);
  const provider = nonEmpty(message.providerID) ?? nonEmpty(object(message.model)?.providerID);
  const inherited = record.inherited === true;
  const parent = nonEmpty(message.parentID);
  const facts: Fact[] = [
    {
      kind: "message",
      key,
      role,
      messageKind: kindOf(message, role, parts),
      at,
      model: role === "assistant" ? (model ?? null) : null,
      provider: role === "assistant" ? (provider ?? null) : null,
      inherited,
      ...(parent !== undefined && { parent }),
      reverted: record.reverted === true,
      content,
    },
  ];
  if (results.length > 0) facts.push({ kind: "results", results, at });
  const usage = usageOf(message, parts);
  if (usage !== undefined) {
    facts.push(contextFact(usage.usage), {
      kind: "usage",
      key,
      response: key,
      message: key,
      model: model ?? null,
      provider: provider ?? null,
      usage: usage.usage,
      cacheWrite1h: 0,
      costUsd: usage.cost,
      sidechain: false,
      inherited,
    });
  }
  for (let damaged = count(record.damaged); damaged > 0; damaged -= 1)
    facts.push({ kind: "problem", code: "damaged_part" });
  return facts;
}

function roleOf(message: JsonRecord): string {
  return message.v2 === "user" || message.v2 === "assistant" ? String(message.v2) : "system";
}

function kindOf(message: JsonRecord, role: string, parts: readonly JsonRecord[]): MessageKind {
  if (message.v2 === "compaction" || parts.some(({ type }) => type === "compaction")) return "compaction";
  // A person ran it beside the conversation.
  if (message.v2 === "shell") return "command";
  if (typeof message.v2 === "string" && message.v2.endsWith("-switched")) return "notice";
  if (role === "assistant") return message.summary === true ? "compaction" : "answer";
  if (role !== "user") return "injected";
  const typed = parts.some(
    (part) => (part.type === "text" && part.synthetic !== true) || part.type === "file" || part.type === "agent",
  );
  return typed || parts.length === 0 ? "prompt" : "injected";
}

/** Content of a message's parts; bookkeeping of steps and snapshots is no content. */
export function partsOf(parts: readonly JsonRecord[]): { content: Content[]; results: CallResult[] } {
  const content: Content[] = [];
  const results: CallResult[] = [];
  for (const part of parts) {
    switch (part.type) {
      case "text":
        if (part.ignored === true) content.push({ kind: "other", text: text(part.text) ?? "" });
        else content.push({ kind: "text", text: text(part.text) ?? "" });
        break;
      case "reasoning":
        content.push({ kind: "thinking", text: text(part.text) ?? "" });
        break;
      case "file":
        content.push({
          kind: "file",
          name: nonEmpty(part.filename) ?? nonEmpty(part.name) ?? null,
          mime: nonEmpty(part.mime) ?? "application/octet-stream",
          bytes: dataBytes(text(part.url) ?? text(part.uri) ?? ""),
        });
        break;
      case "tool": {
        const state = object(part.state) ?? {};
        const callId = nonEmpty(part.callID) ?? nonEmpty(part.id) ?? "";
        const input = JSON.stringify(state.input ?? {});
        content.push({ kind: "call", name: nonEmpty(part.tool) ?? nonEmpty(part.name) ?? "unknown", callId, input });
        results.push(...resultOf(callId, state));
        break;
      }
      case "subtask":
      case "agent":
      case "retry":
        content.push({
          kind: "other",
          text: `[${String(part.type)}] ${text(part.description) ?? text(part.name) ?? text(object(part.error)?.message) ?? ""}`,
        });
        break;
      default:
        break;
    }
  }
  return { content, results };
}

function resultOf(callId: string, state: JsonRecord): CallResult[] {
  const time = object(state.time);
  const start = finite(time?.start);
  const end = finite(time?.end);
  const duration = start !== undefined && end !== undefined ? { durationMs: Math.max(0, end - start) } : {};
  const exit = finite(object(state.metadata)?.exit);
  const exitCode = exit === undefined ? {} : { exitCode: exit };
  if (state.status === "completed") {
    return [
      {
        callId,
        status: "completed",
        output: blocksText(state.output ?? state.content),
        rank: 1,
        ...duration,
        ...exitCode,
      },
    ];
  }
  if (state.status === "error") {
    const output = text(state.error) ?? blocksText(object(state.error)?.message ?? state.error);
    const denied = /rejected permission|user dismissed|denied by/i.test(output);
    return [{ callId, status: denied ? "denied" : "error", output, rank: 1, ...duration }];
  }
  return [];
}

function dataBytes(url: string): number {
  const data = /^data:[^,]*;base64,(.*)$/s.exec(url)?.[1];
  return data === undefined ? 0 : Math.floor((data.replace(/=+$/, "").length * 3) / 4);
}

/** opencode keeps reasoning apart from the output, unless its total shows that it stands inside. */
function usageOf(message: JsonRecord, parts: readonly JsonRecord[]): { usage: Usage; cost: number | null } | undefined {
  const step = parts.findLast(({ type }) => type === "step-finish");
  const tokens = object(message.tokens) ?? object(step?.tokens);
  if (tokens === undefined) return undefined;
  const cache = object(tokens.cache);
  const input = count(tokens.input);
  const output = count(tokens.output);
  const reasoning = count(tokens.reasoning);
  const read = count(cache?.read);
  const write = count(cache?.write);
  const total = finite(tokens.total);
  const inside = total !== undefined && total === input + output + read + write && reasoning <= output;
  return {
    usage: {
      inputTokens: input,
      outputTokens: inside ? output : output + reasoning,
      reasoningTokens: reasoning,
      cacheReadTokens: read,
      cacheWriteTokens: write,
    },
    cost: finite(message.cost) ?? finite(step?.cost) ?? null,
  };
}

function changeFacts(change: JsonRecord): Fact[] {
  const path = nonEmpty(change.file) ?? nonEmpty(change.path);
  if (path === undefined) return [{ kind: "problem", code: "damaged_part" }];
  return [{ kind: "change", message: null, callId: null, change: changeOf(path, change) }];
}

function changeOf(path: string, change: JsonRecord): RecordedChange {
  const patch = text(change.patch) ?? text(change.diff);
  const given = { before: text(change.before), after: text(change.after) };
  const hunks = patch === undefined ? [] : parseUnified(patch);
  const after =
    given.after ?? (given.before === undefined || hunks.length === 0 ? undefined : applyHunks(given.before, hunks));
  const created = change.status === "added" || (given.before === "" && given.after !== "");
  const deleted =
    change.status === "deleted" || (given.after === "" && given.before !== undefined && given.before !== "");
  const start = patch?.indexOf("@@ -") ?? -1;
  return {
    path,
    from: null,
    kind: created ? "create" : deleted ? "delete" : "modify",
    before: created ? null : given.before,
    after: deleted ? null : after,
    patch: patch !== undefined && start >= 0 ? patch.slice(start) : null,
    additions: finite(change.additions) ?? null,
    deletions: finite(change.deletions) ?? null,
  };
}

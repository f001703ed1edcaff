import { contextFact } from "../context-fact.ts";
import type { Content, Fact, Interpreter, Place, TitleRank } from "../facts.ts";
import type { JsonRecord } from "../json-line.ts";
import type { MessageKind, Usage } from "../model.ts";
import { count, isoTime, list, nonEmpty, object, text } from "../shapes.ts";
import { changesOf } from "./changes.ts";
import { contentOf, hasResults, resultsOf } from "./content.ts";
import { TodoTracker } from "./todos.ts";

interface State {
  /** Messages of the main path and of sidechains get their child session from this. */
  todos: unknown;
}

/**
 * Reads the lines of one Claude Code transcript.
 *
 * @param own the session's id (the file's name); lines of sidechains belong to children of it
 * @param sideFile whether the file itself is a subagent's, whose lines are all sidechain lines
 */
export function claudeCodeInterpreter(own: string, sideFile: boolean, saved?: unknown): Interpreter {
  const todos = new TodoTracker(object(saved)?.todos);
  return {
    record(line, place) {
      const sidechain = line.isSidechain === true;
      const child = sidechain && !sideFile ? childId(own, line) : undefined;
      const facts = [...(sideFile ? aboveFacts(own, line) : []), ...factsOf(line, place, sidechain, todos)];
      return child === undefined ? facts : [{ kind: "child", id: child, callId: null }, ...within(child, facts)];
    },
    state: (): State => ({ todos: todos.state() }),
  };
}

/** The id under which an inline sidechain is a session of its own. */
export function childId(own: string, line: JsonRecord): string {
  const agent = nonEmpty(line.agentId);
  return agent === undefined ? `${own}.sidechain` : `agent-${agent}`;
}

/** An agent's own file names the session above it in its lines; older releases keep it beside that session's. */
function aboveFacts(own: string, line: JsonRecord): Fact[] {
  const above = nonEmpty(line.sessionId);
  if (above === undefined || above === own) return [];
  return [{ kind: "session", parent: { id: above, kind: "subagent", at: null } }];
}

function within(session: string, facts: readonly Fact[]): Fact[] {
  return facts.map((fact) => ({ ...fact, session }));
}

function factsOf(line: JsonRecord, place: Place, sidechain: boolean, todos: TodoTracker): Fact[] {
  switch (line.type) {
    case "user":
    case "assistant":
    case "system":
    case "attachment":
      return messageFacts(line, place, sidechain, todos);
    case "custom-title":
      return titleFacts(5, line.customTitle);
    case "agent-name":
      return titleFacts(4, line.agentName);
    case "ai-title":
      return titleFacts(3, line.aiTitle);
    case "summary":
      return titleFacts(2, line.summary, nonEmpty(line.leafUuid));
    case "relocated":
      return directoryFacts(line);
    case "file-history-snapshot":
    case "file-history-delta":
      return [{ kind: "bookkeeping", type: String(line.type) }];
    case "progress":
    case "queue-operation":
    case "last-prompt":
    case "permission-mode":
    case "agent-color":
    case "tag":
    case "mode":
    case "pr-link":
      return [...nodeFacts(line, null), { kind: "bookkeeping", type: String(line.type) }];
    default:
      return [...nodeFacts(line, null), { kind: "problem", code: "unknown_record" }];
  }
}

function titleFacts(rank: TitleRank, value: unknown, leaf?: string): Fact[] {
  const title = nonEmpty(value);
  if (title === undefined) return [{ kind: "problem", code: "damaged_part" }];
  return [{ kind: "title", rank, text: title, ...(leaf !== undefined && { leaf }) }];
}

function firstPromptTitle(content: readonly Content[]): Fact[] {
  const said = content.find((part) => part.kind === "text" && part.text.trim() !== "");
  return said?.kind === "text" ? [{ kind: "title", rank: 1, text: said.text }] : [];
}

function directoryFacts(line: JsonRecord): Fact[] {
  const directory = nonEmpty(line.cwd) ?? nonEmpty(line.to) ?? nonEmpty(line.path);
  if (directory === undefined) return [{ kind: "problem", code: "damaged_part" }];
  return [{ kind: "session", directory, moved: true }];
}

function nodeFacts(line: JsonRecord, message: string | null): Fact[] {
  const id = nonEmpty(line.uuid);
  if (id === undefined) return [];
  return [
    {
      kind: "node",
      id,
      parent: nonEmpty(line.parentUuid) ?? null,
      logicalParent: nonEmpty(line.logicalParentUuid) ?? keptBefore(line),
      message,
    },
  ];
}

/** A compaction that names no line above it names the last one that it kept. */
function keptBefore(line: JsonRecord): string | null {
  const marks = object(line.compactMetadata) ?? line;
  const kept = list(marks.preservedMessages).at(-1);
  return nonEmpty(object(marks.preservedSegment)?.tailUuid) ?? nonEmpty(kept) ?? nonEmpty(object(kept)?.uuid) ?? null;
}

function sessionFacts(line: JsonRecord): Fact[] {
  const forked = object(line.forkedFrom);
  const parent = nonEmpty(forked?.sessionId);
  const directory = nonEmpty(line.cwd);
  const branch = nonEmpty(line.gitBranch);
  const version = nonEmpty(line.version);
  return [
    {
      kind: "session",
      ...(directory !== undefined && { directory }),
      ...(branch !== undefined && { branch }),
      ...(version !== undefined && { version }),
      ...(parent !== undefined && {
        parent: { id: parent, kind: "fork", at: nonEmpty(forked?.messageUuid) ?? null },
      }),
    },
  ];
}

function messageFacts(line: JsonRecord, place: Place, sidechain: boolean, todos: TodoTracker): Fact[] {
  const message = object(line.message);
  const assistant = line.type === "assistant";
  if ((assistant || line.type === "user") && message === undefined) {
    return [...nodeFacts(line, null), { kind: "problem", code: "damaged_part" }];
  }
  const results = resultsOf(line);
  const content = assistant || line.type === "user" ? contentOf(message?.content) : noticeContent(line);
  const onlyResults = line.type === "user" && hasResults(line) && content.length === 0;
  const key = assistant ? answerKey(line, message, place) : (nonEmpty(line.uuid) ?? `@${place.offset}`);
  const at = isoTime(line.timestamp);
  const facts: Fact[] = sessionFacts(line);
  const messageKind = kindOf(line, content);
  if (results.length > 0 && !assistant) facts.push({ kind: "results", results, at });
  if (!onlyResults) {
    facts.push({
      kind: "message",
      key,
      role: nonEmpty(message?.role) ?? String(line.type),
      // What starts a subagent was typed by the agent above it.
      messageKind: sidechain && messageKind === "prompt" ? "injected" : messageKind,
      at,
      model: assistant ? realModel(message?.model) : null,
      provider: null,
      inherited: line.forkedFrom !== undefined && line.forkedFrom !== null,
      content,
    });
  }
  // Results of tools that ran at the provider follow their calls in the same answer.
  if (results.length > 0 && assistant) facts.push({ kind: "results", results, at });
  if (messageKind === "prompt") facts.push(...firstPromptTitle(content));
  facts.push(...nodeFacts(line, onlyResults ? null : key));
  facts.push(...usageFacts(line, message, key, sidechain));
  facts.push(...changesOf(line, results));
  const changed = todos.look(line, content, results);
  if (changed !== undefined) facts.push({ kind: "todos", todos: changed });
  const agent = nonEmpty(object(line.toolUseResult)?.agentId);
  if (agent !== undefined) facts.push({ kind: "child", id: `agent-${agent}`, callId: results[0]?.callId ?? null });
  return facts;
}

/** A line per content block: what `message.id` joins is one answer. */
function answerKey(line: JsonRecord, message: JsonRecord | undefined, place: Place): string {
  return nonEmpty(message?.id) ?? nonEmpty(line.uuid) ?? `@${place.offset}`;
}

function realModel(model: unknown): string | null {
  const name = nonEmpty(model);
  return name === undefined || name === "<synthetic>" ? null : name;
}

export function noticeContent(line: JsonRecord): Content[] {
  const said = text(line.content) ?? text(object(line.attachment)?.content) ?? text(object(line.attachment)?.prompt);
  if (said !== undefined) return [{ kind: "text", text: said }];
  return [
    { kind: "other", text: `[${text(object(line.attachment)?.type) ?? text(line.subtype) ?? String(line.type)}]` },
  ];
}

function kindOf(line: JsonRecord, content: readonly Content[]): MessageKind {
  if (line.type === "assistant") return line.isApiErrorMessage === true ? "notice" : "answer";
  if (line.type === "system") return line.subtype === "compact_boundary" ? "compaction" : "notice";
  if (line.type === "attachment" || line.isCompactSummary === true || line.isMeta === true) return "injected";
  const origin = object(line.origin);
  if (origin?.kind !== undefined && origin.kind !== "human") return "injected";
  return promptKind(content);
}

const commandMarkup = /^\s*(<(command-name|command-message|command-args)>[\s\S]*?<\/\2>\s*)+$/;
const injectedMarkup =
  /^\s*<(local-command-stdout|local-command-stderr|local-command-caveat|system-reminder|user-prompt-submit-hook|session-start-hook|task-notification|bash-stdout|bash-stderr)>/;

function promptKind(content: readonly Content[]): MessageKind {
  const texts = content.flatMap((part) => (part.kind === "text" ? [part.text] : []));
  if (texts.length > 0 && content.every((part) => part.kind === "text")) {
    if (texts.every((part) => commandMarkup.test(part))) return "command";
    if (texts.every((part) => injectedMarkup.test(part))) return "injected";
    if (texts.every((part) => part.startsWith("[Request interrupted by user"))) return "notice";
  }
  return "prompt";
}

function usageFacts(line: JsonRecord, message: JsonRecord | undefined, key: string, sidechain: boolean): Fact[] {
  const usage = object(message?.usage);
  if (line.type !== "assistant" || usage === undefined) return [];
  if (line.isApiErrorMessage === true || message?.model === "<synthetic>") return [];
  const response = nonEmpty(message?.id) ?? key;
  const request = nonEmpty(line.requestId);
  const counted = claudeUsage(usage);
  return [
    ...(sidechain ? [] : [contextFact(counted)]),
    {
      kind: "usage",
      key: request === undefined ? response : `${response}:${request}`,
      response,
      message: key,
      model: realModel(message?.model),
      provider: null,
      usage: counted,
      cacheWrite1h: count(object(usage.cache_creation)?.ephemeral_1h_input_tokens),
      costUsd: typeof line.costUSD === "number" ? line.costUSD : null,
      sidechain,
      inherited: line.forkedFrom !== undefined && line.forkedFrom !== null,
    },
  ];
}

/** Anthropic's usage: input is uncached already, reasoning stands inside the output. */
function claudeUsage(usage: JsonRecord): Usage {
  const created = object(usage.cache_creation);
  const split = count(created?.ephemeral_5m_input_tokens) + count(created?.ephemeral_1h_input_tokens);
  return {
    inputTokens: count(usage.input_tokens),
    outputTokens: count(usage.output_tokens),
    reasoningTokens: count(object(usage.output_tokens_details)?.thinking_tokens),
    cacheReadTokens: count(usage.cache_read_input_tokens),
    cacheWriteTokens:
      typeof usage.cache_creation_input_tokens === "number" ? count(usage.cache_creation_input_tokens) : split,
  };
}

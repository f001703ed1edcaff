import { createId } from "@toolhaft/core";
import type { JsonRecord } from "./json-line.ts";
import { isObject } from "./json-line.ts";
import { noUsage, type Usage } from "./model.ts";
import { blocksText, count, list, nonEmpty, object, objects, text } from "./shapes.ts";
import type { NewMessage, NewPart } from "./store.ts";

/**
 * Model messages of the AI SDK (5, 6 and 7) as messages to record. Results in `tool` messages join the call they answer.
 */
export function fromModelMessages(messages: readonly unknown[]): NewMessage[] {
  const recorded: NewMessage[] = [];
  for (const message of messages) {
    const given = object(message);
    if (given === undefined) continue;
    const parts = objects(given.content);
    if (given.role === "tool") {
      for (const part of parts) settle(recorded, part);
      continue;
    }
    const content =
      typeof given.content === "string" ? [{ kind: "text" as const, text: given.content }] : parts.flatMap(partOf);
    const role = nonEmpty(given.role) ?? "user";
    recorded.push({
      id: nonEmpty(given.id) ?? createId(),
      role,
      kind: role === "user" ? "prompt" : role === "assistant" ? "answer" : "injected",
      parts: content,
    });
  }
  return recorded;
}

/** One finished step of an AI SDK loop as the answer it was: text, reasoning, tool calls with their outcomes, usage. */
export function fromStep(step: unknown): NewMessage[] {
  const given = object(step);
  if (given === undefined) return [];
  const response = object(given.response);
  const content = list(given.content).filter(isObject);
  const parts = content.length > 0 ? content.flatMap(partOf) : legacyParts(given);
  const message: NewMessage = {
    id: nonEmpty(response?.id) ?? createId(),
    role: "assistant",
    kind: "answer",
    ...timeOf(response),
    ...named("model", nonEmpty(response?.modelId)),
    ...named("provider", nonEmpty(object(given.model)?.provider)),
    usage: stepUsage(object(given.usage)),
    parts,
  };
  for (const part of content) settle([message], part);
  return [message];
}

function legacyParts(step: JsonRecord): NewPart[] {
  const reasoning = text(step.reasoningText);
  const said = text(step.text);
  const parts: NewPart[] = [
    ...(reasoning ? [{ kind: "thinking" as const, text: reasoning }] : []),
    ...(said ? [{ kind: "text" as const, text: said }] : []),
    ...objects(step.toolCalls).flatMap((call) => partOf({ ...call, type: "tool-call" })),
  ];
  return parts;
}

function timeOf(response: JsonRecord | undefined): { at: string } | Record<string, never> {
  const at = response?.timestamp;
  if (at instanceof Date && !Number.isNaN(at.getTime())) return { at: at.toISOString() };
  return typeof at === "string" && !Number.isNaN(Date.parse(at)) ? { at: new Date(at).toISOString() } : {};
}

function named<K extends string>(key: K, value: string | undefined): { [P in K]?: string } {
  return (value === undefined ? {} : { [key]: value }) as { [P in K]?: string };
}

function partOf(part: JsonRecord): NewPart[] {
  switch (part.type) {
    case "text":
      return [{ kind: "text", text: text(part.text) ?? "" }];
    case "reasoning":
      return [{ kind: "thinking", text: text(part.text) ?? text(part.reasoning) ?? "" }];
    case "tool-call":
      return [
        {
          kind: "tool",
          name: nonEmpty(part.toolName) ?? "unknown",
          callId: nonEmpty(part.toolCallId) ?? "",
          input: JSON.stringify(part.input ?? part.args ?? {}),
          status: "no_result",
        },
      ];
    case "file":
    case "image":
      return [fileOf(part)];
    default:
      return [];
  }
}

function fileOf(part: JsonRecord): NewPart {
  const file = object(part.file) ?? part;
  const data = file.uint8Array ?? file.data ?? file.image;
  const bytes =
    data instanceof Uint8Array ? data.length : typeof data === "string" ? Math.floor((data.length * 3) / 4) : 0;
  const name = nonEmpty(file.filename);
  return {
    kind: "file",
    ...(name !== undefined && { name }),
    mime: nonEmpty(file.mediaType) ?? "application/octet-stream",
    bytes,
  };
}

/** Puts the outcome of a call where the call stands; the newest call of that id is meant. */
function settle(messages: readonly NewMessage[], part: JsonRecord): void {
  if (part.type !== "tool-result" && part.type !== "tool-error") return;
  const callId = nonEmpty(part.toolCallId);
  for (const message of [...messages].reverse()) {
    const call = message.parts.find((known) => known.kind === "tool" && known.callId === callId);
    if (call?.kind !== "tool") continue;
    const { output, status } = outcome(part);
    call.output = output;
    call.status = status;
    return;
  }
}

function outcome(part: JsonRecord): { output: string; status: "completed" | "error" | "denied" } {
  if (part.type === "tool-error") {
    return { output: part.error instanceof Error ? part.error.message : blocksText(part.error), status: "error" };
  }
  const output = object(part.output);
  switch (output?.type) {
    case "text":
    case "json":
    case "content":
      return { output: blocksText(output.value), status: "completed" };
    case "error-text":
    case "error-json":
      return { output: blocksText(output.value), status: "error" };
    case "execution-denied":
      return { output: text(output.reason) ?? "", status: "denied" };
    default:
      return { output: blocksText(part.output ?? part.result), status: "completed" };
  }
}

/** 6 and 7 tell cached input apart; 5 has `cachedInputTokens`, which stands inside the input. */
function stepUsage(usage: JsonRecord | undefined): Usage {
  if (usage === undefined) return noUsage;
  const input = object(usage.inputTokenDetails);
  const output = object(usage.outputTokenDetails);
  const cacheReadTokens = count(input?.cacheReadTokens ?? usage.cachedInputTokens);
  const cacheWriteTokens = count(input?.cacheWriteTokens);
  const uncached = input?.noCacheTokens;
  return {
    inputTokens:
      typeof uncached === "number"
        ? uncached
        : Math.max(0, count(usage.inputTokens) - cacheReadTokens - cacheWriteTokens),
    outputTokens: count(usage.outputTokens),
    reasoningTokens: count(output?.reasoningTokens ?? usage.reasoningTokens),
    cacheReadTokens,
    cacheWriteTokens,
  };
}

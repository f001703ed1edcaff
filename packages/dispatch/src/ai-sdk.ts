import { createId, ToolError } from "@toolhaft/core";
import type { Usage } from "@toolhaft/tasks";
import type { LanguageModel, LanguageModelUsage, ModelMessage, ToolSet } from "ai";
import type { RunOutcome, RunRequest, RunSink, SubagentRunner } from "./runner.ts";

export interface AiSdkRunnerOptions {
  model: LanguageModel;
  /** A function gets the request, whose `context` belongs to tools that the subagent calls. */
  tools?: ToolSet | ((request: RunRequest) => ToolSet);
  system?: string;
  /** Calls of the model in one run. @default 50 */
  maxSteps?: number;
  /** @default "ai-sdk" */
  name?: string;
}

const defaultMaxSteps = 50;

/**
 * A subagent that is the AI SDK's own loop of model and tools. Usage is told per step, the messages are kept, so that it
 * can be continued, and a tool that needs approval asks through the dispatcher.
 *
 * @see https://ai-sdk.dev/docs/reference/ai-sdk-core/generate-text
 */
export function aiSdkRunner(options: AiSdkRunnerOptions): SubagentRunner {
  const { model } = options;
  return {
    name: options.name ?? "ai-sdk",
    model: typeof model === "string" ? model : model.modelId,
    caps: { resume: true, reattach: false, asks: true, usage: "tokens" },
    run: (request, sink, signal) => runLoop(options, request, sink, signal),
  };
}

async function runLoop(
  options: AiSdkRunnerOptions,
  request: RunRequest,
  sink: RunSink,
  signal: AbortSignal,
): Promise<RunOutcome> {
  const ai = await loadSdk();
  if (ai === undefined)
    return { ...failed("the package ai is missing; install it: npm install ai"), reason: "runner_unavailable" };
  await sink.session(request.session ?? `ai_${createId()}`);
  const messages = messagesOf(request);
  const said: string[] = [];
  const maxSteps = options.maxSteps ?? defaultMaxSteps;
  let steps = 0;
  try {
    for (;;) {
      await answerQuestions(messages, sink);
      // The next step waits for it, so that a budget ends the loop after the report that used it up.
      const onStep = async (step: StepLike) => {
        steps += 1;
        // Each call of a run counts once, also when a lost run is told again.
        const counted = sink.usage({ key: `${request.attempt}:${createId()}`, total: usageOf(step.usage) });
        if (step.text !== "") {
          said.push(step.text);
          sink.activity({ kind: "text", text: step.text });
        }
        for (const { toolName } of step.toolCalls) sink.activity({ kind: "tool", text: toolName });
        sink.transcript(JSON.stringify([...messages, ...step.response.messages]));
        await counted;
      };
      const result = await ai.generateText({
        model: options.model,
        messages: [...messages],
        abortSignal: signal,
        stopWhen: () => steps >= maxSteps,
        onStepFinish: onStep,
        // The same callback under its name in version 7.
        ...({ onStepEnd: onStep } as object),
        ...(options.system !== undefined && { system: options.system }),
        ...(options.tools !== undefined && {
          tools: typeof options.tools === "function" ? options.tools(request) : options.tools,
        }),
      });
      messages.push(...result.response.messages);
      sink.transcript(JSON.stringify(messages));
      if (openQuestions(messages).length === 0) return outcomeOf(result, steps >= maxSteps, said);
    }
  } catch (error) {
    const message = signal.aborted ? "it was stopped" : error instanceof Error ? error.message : String(error);
    return { ...failed(message), ...(said.length > 0 && { output: said.join("\n") }) };
  }
}

interface StepLike {
  text: string;
  usage: LanguageModelUsage;
  toolCalls: readonly { toolName: string }[];
  response: { messages: readonly ModelMessage[] };
}

function outcomeOf(result: { text: string; finishReason: string }, full: boolean, said: readonly string[]): RunOutcome {
  const { text, finishReason } = result;
  const partial = said.length > 0 ? { output: said.join("\n") } : {};
  if (finishReason === "error" || finishReason === "content-filter")
    return { ...failed(`the model ended its turn with "${finishReason}"`), ...partial };
  if (finishReason === "tool-calls" && full)
    return { ...failed("it used all its steps and still called tools"), ...partial };
  return { kind: "done", output: text };
}

/** The conversation so far and what is new in it. */
function messagesOf({ transcript, prompt, decision }: RunRequest): ModelMessage[] {
  const before = transcript === null ? [] : parseTranscript(transcript);
  // A decision answers the question that the conversation ended with; more words would stand between the two.
  if (decision !== null && openQuestions(before).length > 0) return before;
  return [...before, { role: "user", content: prompt }];
}

function parseTranscript(transcript: string): ModelMessage[] {
  const messages: unknown = JSON.parse(transcript);
  if (!Array.isArray(messages)) throw new ToolError("internal", "the kept transcript is no list of messages");
  // Written by `sink.transcript` above.
  return messages as ModelMessage[];
}

interface Question {
  approvalId: string;
  toolCallId: string;
  toolName: string;
  input: unknown;
}

/** Approval requests that no later message answers. */
function openQuestions(messages: readonly ModelMessage[]): Question[] {
  const open = new Map<string, Question>();
  const calls = new Map<string, { toolName: string; input: unknown }>();
  for (const message of messages) {
    if (typeof message.content === "string") continue;
    for (const part of message.content) {
      if (part.type === "tool-call") calls.set(part.toolCallId, { toolName: part.toolName, input: part.input });
      if (part.type === "tool-approval-request") {
        const call = calls.get(part.toolCallId) ?? { toolName: "a tool", input: undefined };
        open.set(part.approvalId, { approvalId: part.approvalId, toolCallId: part.toolCallId, ...call });
      }
      if (part.type === "tool-approval-response") open.delete(part.approvalId);
    }
  }
  return [...open.values()];
}

/** Puts what is open, and adds the answers as the message that the SDK goes on from. */
async function answerQuestions(messages: ModelMessage[], sink: RunSink): Promise<void> {
  const open = openQuestions(messages);
  if (open.length === 0) return;
  const answers = [];
  for (const { approvalId, toolCallId, toolName, input } of open) {
    const decision = await sink.ask({
      kind: "tool",
      key: toolCallId,
      title: `Call ${toolName}`,
      detail: { tool: toolName, input },
    });
    answers.push({
      type: "tool-approval-response" as const,
      approvalId,
      approved: decision.allowed,
      ...(decision.comment !== null && { reason: decision.comment }),
    });
  }
  messages.push({ role: "tool", content: answers });
  sink.transcript(JSON.stringify(messages));
}

/** Input without cache, output with reasoning; versions 5 and 6 tell it in different places. */
function usageOf(usage: LanguageModelUsage): Usage {
  const input = usage.inputTokenDetails;
  const cacheRead = input?.cacheReadTokens ?? usage.cachedInputTokens;
  const cacheWrite = input?.cacheWriteTokens;
  const whole = usage.inputTokens;
  const fresh =
    input?.noCacheTokens ??
    (whole === undefined ? undefined : Math.max(0, whole - (cacheRead ?? 0) - (cacheWrite ?? 0)));
  return {
    inputTokens: fresh ?? null,
    outputTokens: usage.outputTokens ?? null,
    reasoningTokens: usage.outputTokenDetails?.reasoningTokens ?? usage.reasoningTokens ?? null,
    cacheReadTokens: cacheRead ?? null,
    cacheWriteTokens: cacheWrite ?? null,
    costUsd: null,
    complete: true,
  };
}

async function loadSdk(): Promise<typeof import("ai") | undefined> {
  try {
    return await import("ai");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND") return undefined;
    throw error;
  }
}

function failed(message: string): RunOutcome & { kind: "failed" } {
  return { kind: "failed", message, retryable: false };
}

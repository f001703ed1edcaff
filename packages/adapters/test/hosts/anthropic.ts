import Anthropic from "@anthropic-ai/sdk";
import { runAnthropic, toAnthropic, toAnthropicRunner } from "../../src/anthropic.ts";
import type { Host, Outcome, Turn } from "../conformance.ts";
import { resultOf } from "./results.ts";
import { objectOf, type ScriptedProvider, scriptedProvider } from "./scripted-fetch.ts";

function messagesApi({ name, input }: Turn): ScriptedProvider {
  return scriptedProvider(({ messages }) => ({
    id: "m",
    type: "message",
    role: "assistant",
    model: "m",
    stop_reason: isAnswered(messages) ? "end_turn" : "tool_use",
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
    content: isAnswered(messages)
      ? [{ type: "text", text: "done", citations: null }]
      : [{ type: "tool_use", id: "call-1", name, input: objectOf(input) }],
  }));
}

interface Answer {
  type: string;
  content?: string | { type: string; text?: string; source?: { media_type?: string } }[];
  is_error?: boolean;
}

function outcomeOf(provider: ScriptedProvider, outcome: Outcome): Outcome {
  const last = provider.requests.at(-1);
  const messages = (last?.messages ?? []) as { content: string | Answer[] }[];
  const answer = messages
    .flatMap(({ content }) => (typeof content === "string" ? [] : content))
    .find(({ type }) => type === "tool_result");
  const parts =
    typeof answer?.content === "string" ? [{ type: "text", text: answer.content }] : (answer?.content ?? []);
  const tools = (provider.requests[0]?.tools ?? []) as { name: string; input_schema: unknown }[];
  return {
    ...outcome,
    text: parts.flatMap(({ text }) => text ?? []).join(""),
    images: parts.flatMap((part) => ("source" in part ? (part.source?.media_type ?? []) : [])),
    failed: answer?.is_error === true,
    sent: tools.map(({ name, input_schema }) => ({ name, schema: input_schema })),
  };
}

function isAnswered(messages: unknown): boolean {
  return JSON.stringify(messages).includes('"tool_result"');
}

/** The loop of a program on the Messages API, through the real client. */
async function runMessages(turn: Turn): Promise<Outcome> {
  const provider = messagesApi(turn);
  const client = new Anthropic({ apiKey: "none", fetch: provider.fetch, maxRetries: 0 });
  const tools = toAnthropic(turn.tools, turn.options);
  const messages: Anthropic.MessageParam[] = [{ role: "user", content: "go" }];
  const { host, options } = resultOf(turn);
  for (;;) {
    const request = { model: "m", max_tokens: 100, messages, tools };
    const message = await client.messages.create(request, turn.signal ? { signal: turn.signal } : {});
    if (message.stop_reason !== "tool_use") break;
    messages.push({ role: "assistant", content: message.content });
    const ran = await runAnthropic(turn.tools, message, options);
    const content = [...ran.content];
    if (ran.questions.length > 0)
      content.push(...(await runAnthropic(turn.tools, message, host.answer(ran.questions))).content);
    messages.push({ role: "user", content });
  }
  return outcomeOf(provider, host.outcome(""));
}

/** The SDK's own loop. */
async function runToolRunner(turn: Turn): Promise<Outcome> {
  const provider = messagesApi(turn);
  const client = new Anthropic({ apiKey: "none", fetch: provider.fetch, maxRetries: 0 });
  const tools = toAnthropicRunner(turn.tools, turn.options);
  const runner = client.beta.messages.toolRunner(
    { model: "m", max_tokens: 100, messages: [{ role: "user", content: "go" }], tools },
    turn.signal ? { signal: turn.signal } : {},
  );
  await runner.runUntilDone();
  const base = { text: "", failed: false, asked: 0, sent: [] };
  const outcome = outcomeOf(provider, base);
  // The SDK puts its own word before every thrown text.
  return { ...outcome, text: outcome.failed ? outcome.text.replace(/^Error: /, "") : outcome.text };
}

export const anthropicHost: Host = { name: "the Messages API", lost: [], asks: "before", run: runMessages };

export const anthropicRunnerHost: Host = {
  name: "the tool runner of the Anthropic SDK",
  lost: ["data", "fileChanges"],
  asks: "never",
  run: runToolRunner,
};

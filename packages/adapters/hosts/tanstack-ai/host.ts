import { chat } from "@tanstack/ai";
import { toTanStack } from "../../src/tanstack-ai.ts";
import type { Host, Outcome, Turn } from "../../test/conformance.ts";

interface Message {
  role: string;
  content: unknown;
}

interface Part {
  type: string;
  content?: string;
  source?: { mimeType?: string };
}

interface SentRequest {
  messages: Message[];
  tools?: { name: string; inputSchema?: unknown }[];
}

/** A text adapter that makes one call and then, with the answer before it, says it is done. */
export function scriptedAdapter(turn: Pick<Turn, "name" | "input">) {
  const requests: SentRequest[] = [];
  const base = () => ({ timestamp: 0, model: "m", runId: "run", threadId: "thread" });
  const adapter = {
    kind: "text",
    name: "scripted",
    model: "m",
    async *chatStream(options: SentRequest) {
      requests.push({ ...options, messages: [...options.messages] });
      yield { ...base(), type: "RUN_STARTED" };
      if (options.messages.some(({ role }) => role === "tool")) {
        yield { ...base(), type: "TEXT_MESSAGE_START", messageId: "m1", role: "assistant" };
        yield { ...base(), type: "TEXT_MESSAGE_CONTENT", messageId: "m1", delta: "done", content: "done" };
        yield { ...base(), type: "TEXT_MESSAGE_END", messageId: "m1" };
        yield { ...base(), type: "RUN_FINISHED", finishReason: "stop" };
        return;
      }
      const call = { toolCallId: "call-1", toolCallName: turn.name, toolName: turn.name };
      yield { ...base(), type: "TOOL_CALL_START", ...call, index: 0 };
      yield { ...base(), type: "TOOL_CALL_ARGS", ...call, delta: turn.input, args: turn.input };
      yield { ...base(), type: "TOOL_CALL_END", ...call };
      yield { ...base(), type: "RUN_FINISHED", finishReason: "tool_calls" };
    },
  };
  return { adapter, requests };
}

async function run(turn: Turn): Promise<Outcome> {
  const { adapter, requests } = scriptedAdapter(turn);
  const controller = new AbortController();
  if (turn.signal?.aborted) controller.abort(turn.signal.reason);
  turn.signal?.addEventListener("abort", () => controller.abort(turn.signal?.reason), { once: true });
  const stream = chat({
    adapter: adapter as never,
    messages: [{ role: "user", content: "go" }],
    tools: toTanStack(turn.tools, turn.options) as never,
    abortController: controller,
  }) as unknown as AsyncIterable<{ type: string; toolCallId?: string; content?: string }>;
  for await (const _ of stream);
  const answer = requests.at(-1)?.messages.find(({ role }) => role === "tool");
  const parts: Part[] = Array.isArray(answer?.content) ? answer.content : [];
  const text =
    typeof answer?.content === "string" ? answer.content : parts.flatMap(({ content }) => content ?? []).join("");
  const failure = errorOf(text);
  return {
    text: failure ?? text,
    images: parts.flatMap(({ source }) => source?.mimeType ?? []),
    failed: failure !== undefined,
    asked: 0,
    sent: (requests[0]?.tools ?? []).map(({ name, inputSchema }) => ({ name, schema: inputSchema })),
  };
}

/** The host gives the model a failure as `{"error":"…"}`. */
function errorOf(text: string): string | undefined {
  if (!text.startsWith('{"error":')) return undefined;
  const { error }: { error: string } = JSON.parse(text);
  return error;
}

export const hosts: readonly Host[] = [
  {
    name: "TanStack AI",
    // Its approval knows the tool, but not the input.
    lost: ["data", "fileChanges", "cutInput"],
    asks: "never",
    run,
  },
];

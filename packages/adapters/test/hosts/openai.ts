import OpenAI from "openai";
import { runOpenAI, toOpenAI } from "../../src/openai.ts";
import type { Host, Outcome, Turn } from "../conformance.ts";
import { resultOf } from "./results.ts";
import { scriptedProvider } from "./scripted-fetch.ts";

/** The loop of a program on Chat Completions, through the real client. */
async function runChat(turn: Turn): Promise<Outcome> {
  const provider = scriptedProvider(({ messages }) => ({
    id: "c",
    object: "chat.completion",
    created: 0,
    model: "m",
    choices: [
      {
        index: 0,
        finish_reason: "stop",
        message: isAnswered(messages, "tool")
          ? { role: "assistant", content: "done", refusal: null }
          : {
              role: "assistant",
              content: null,
              refusal: null,
              tool_calls: [{ id: "call-1", type: "function", function: { name: turn.name, arguments: turn.input } }],
            },
      },
    ],
  }));
  const client = new OpenAI({ apiKey: "none", fetch: provider.fetch, maxRetries: 0 });
  const tools = toOpenAI(turn.tools, turn.options);
  const messages: OpenAI.Chat.ChatCompletionMessageParam[] = [{ role: "user", content: "go" }];
  const { host, options } = resultOf(turn);
  for (;;) {
    const response = await client.chat.completions.create({ model: "m", messages, tools }, requestOptions(turn));
    const message = response.choices[0]?.message;
    if (message?.tool_calls === undefined) break;
    messages.push(message);
    const ran = await runOpenAI(turn.tools, response, options);
    messages.push(...ran.items);
    if (ran.questions.length > 0)
      messages.push(...(await runOpenAI(turn.tools, response, host.answer(ran.questions))).items);
  }
  const answer = messages.find(({ role }) => role === "tool");
  return { ...host.outcome(String(answer?.content)), sent: sentBy(provider.requests[0], "function") };
}

/** The loop of a program on the Responses API, through the real client. */
async function runResponses(turn: Turn): Promise<Outcome> {
  const provider = scriptedProvider(({ input }) => ({
    id: "r",
    object: "response",
    created_at: 0,
    status: "completed",
    output: isAnswered(input, "function_call_output")
      ? [
          {
            id: "m",
            type: "message",
            role: "assistant",
            status: "completed",
            content: [{ type: "output_text", text: "done", annotations: [] }],
          },
        ]
      : [{ id: "f", type: "function_call", call_id: "call-1", name: turn.name, arguments: turn.input }],
  }));
  const client = new OpenAI({ apiKey: "none", fetch: provider.fetch, maxRetries: 0 });
  const tools = toOpenAI(turn.tools, { ...turn.options, api: "responses" });
  const input: OpenAI.Responses.ResponseInput = [{ role: "user", content: "go" }];
  const { host, options } = resultOf(turn);
  for (;;) {
    const response = await client.responses.create({ model: "m", input, tools }, requestOptions(turn));
    if (!response.output.some(({ type }) => type === "function_call")) break;
    input.push(...response.output);
    const ran = await runOpenAI(turn.tools, response, options);
    input.push(...ran.items);
    if (ran.questions.length > 0)
      input.push(...(await runOpenAI(turn.tools, response, host.answer(ran.questions))).items);
  }
  const answer = input.find((item) => "type" in item && item.type === "function_call_output");
  const output = answer !== undefined && "output" in answer ? answer.output : undefined;
  const parts = Array.isArray(output) ? output : [];
  const text =
    typeof output === "string" ? output : parts.flatMap((part) => ("text" in part ? part.text : [])).join("");
  const images = parts.flatMap((part) =>
    "image_url" in part && typeof part.image_url === "string" ? (/^data:([^;]+);/.exec(part.image_url)?.[1] ?? []) : [],
  );
  return { ...host.outcome(text), images, sent: sentBy(provider.requests[0]) };
}

function requestOptions({ signal }: Turn) {
  return signal === undefined ? {} : { signal };
}

function isAnswered(items: unknown, mark: string): boolean {
  return JSON.stringify(items).includes(`"${mark}"`);
}

function sentBy(request: Record<string, unknown> | undefined, inner?: string): Outcome["sent"] {
  const tools = (request?.tools ?? []) as Record<string, Record<string, unknown>>[];
  return tools.map((tool) => {
    const { name, parameters } = (inner === undefined ? tool : tool[inner]) ?? {};
    return { name: String(name), schema: parameters };
  });
}

export const openaiChatHost: Host = {
  name: "OpenAI Chat Completions",
  // A tool message is a text alone.
  lost: ["errorFlag", "images"],
  asks: "before",
  run: runChat,
};

export const openaiResponsesHost: Host = {
  name: "OpenAI Responses",
  lost: ["errorFlag"],
  asks: "before",
  run: runResponses,
};

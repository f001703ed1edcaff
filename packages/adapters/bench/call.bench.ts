import Anthropic from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import { defineTool, toJsonSchema } from "@toolhaft/core";
import { defineBench } from "@toolhaft/testing";
import { generateText, stepCountIs, tool } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { z } from "zod";
import { toAiSdk } from "../src/ai-sdk.ts";
import { toAnthropicRunner } from "../src/anthropic.ts";
import { toGemini } from "../src/google.ts";
import { runOpenAI, toOpenAI } from "../src/openai.ts";
import { bindStandard } from "../src/standard.ts";

const shape = z.object({
  owner: z.string().min(1).describe("Who claims"),
  priority: z.enum(["low", "high"]).optional().describe("How urgent"),
  ttl_secs: z.number().int().min(1).max(86_400).default(600).describe("Seconds until it ends"),
});
const description = "Claims something for an owner; shows which values were applied.";
const render = ({ owner, ttl_secs }: { owner: string; ttl_secs: number }) => `${owner} for ${ttl_secs} s`;

const claim = defineTool({
  name: "claim",
  title: "Claim",
  description,
  inputSchema: shape,
  outputSchema: z.object({ owner: z.string(), ttl_secs: z.number() }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  execute: async ({ owner, ttl_secs }) => ({ owner, ttl_secs }),
  render,
});
const input = { owner: "a" };
const text = JSON.stringify(input);

/** What an adapter adds to a host's own turn, and to a call by hand where the program owns the loop. */
export default defineBench(async (bench) => {
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  };
  const model = new MockLanguageModelV3({
    doGenerate: async ({ prompt }) =>
      prompt.some(({ role }) => role === "tool")
        ? {
            content: [{ type: "text", text: "done" }],
            finishReason: { unified: "stop", raw: "stop" },
            usage,
            warnings: [],
          }
        : {
            content: [{ type: "tool-call", toolCallId: "1", toolName: "claim", input: text }],
            finishReason: { unified: "tool-calls", raw: "tool_calls" },
            usage,
            warnings: [],
          },
  });
  const settings = { model, prompt: "go", stopWhen: stepCountIs(3), maxRetries: 0 };
  const ours = toAiSdk([claim]);
  const own = { claim: tool({ description, inputSchema: shape, execute: async (given) => render(given) }) };
  await bench.compare({
    name: "a turn with one call: AI SDK 6",
    ours: () => generateText({ ...settings, tools: ours }),
    baseline: { name: "a tool by hand", run: () => generateText({ ...settings, tools: own }) },
    target: { max: 1.2 },
  });

  const reply = (stop_reason: string, content: object) =>
    JSON.stringify({
      id: "m",
      type: "message",
      role: "assistant",
      model: "m",
      stop_reason,
      usage: {},
      content: [content],
    });
  const client = new Anthropic({
    apiKey: "none",
    fetch: async (_url, init) =>
      new Response(
        String(init?.body).includes('"tool_result"')
          ? reply("end_turn", { type: "text", text: "done" })
          : reply("tool_use", { type: "tool_use", id: "1", name: "claim", input }),
        { headers: { "content-type": "application/json" } },
      ),
  });
  const request = { model: "m", max_tokens: 10, messages: [{ role: "user" as const, content: "go" }] };
  const runnable = toAnthropicRunner([claim]);
  const byHand = betaTool({
    name: "claim",
    description,
    inputSchema: { type: "object", ...(toJsonSchema(claim, "anthropic") as object) } as { type: "object" },
    run: async (given) => render(shape.parse(given)),
  });
  await bench.compare({
    name: "a turn with one call: Anthropic's tool runner",
    ours: () => client.beta.messages.toolRunner({ ...request, tools: runnable }).runUntilDone(),
    baseline: {
      name: "a tool by hand",
      run: () => client.beta.messages.toolRunner({ ...request, tools: [byHand] }).runUntilDone(),
    },
    target: { max: 1.2 },
  });

  const response = {
    choices: [
      { message: { tool_calls: [{ id: "1", type: "function", function: { name: "claim", arguments: text } }] } },
    ],
  };
  const direct = () => claim.call(JSON.parse(text));
  const program = { name: "JSON.parse and tool.call", run: direct };
  await bench.compare({
    name: "runOpenAI, one tool, one call",
    ours: () => runOpenAI([claim], response),
    baseline: program,
  });
  const [standard] = bindStandard([claim]);
  await bench.compare({
    name: "bindStandard, one call",
    ours: () => standard?.["~standard"].execute(JSON.parse(text)),
    baseline: program,
  });

  const set = Array.from({ length: 50 }, (_, index) => defineTool({ ...claimDefinition, name: `claim_${index}` }));
  const schemas = () => set.map(() => z.toJSONSchema(shape, { io: "input" }));
  await bench.compare({
    name: "toOpenAI, 50 tools, second time",
    ours: () => toOpenAI(set),
    baseline: { name: "z.toJSONSchema of the same", run: schemas },
    target: { max: 0.5 },
  });
  await bench.compare({
    name: "toGemini, 50 tools, second time",
    ours: () => toGemini(set),
    baseline: { name: "z.toJSONSchema of the same", run: schemas },
    target: { max: 0.5 },
  });
});

const claimDefinition = {
  title: "Claim",
  description,
  inputSchema: shape,
  outputSchema: z.object({ owner: z.string(), ttl_secs: z.number() }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  execute: async ({ owner, ttl_secs }: { owner: string; ttl_secs: number }) => ({ owner, ttl_secs }),
  render,
};

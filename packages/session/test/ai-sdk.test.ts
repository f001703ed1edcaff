import { type TempWorkspace, tempWorkspace } from "@toolhaft/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { createSessions, fromModelMessages, fromStep, recordSession } from "../src/index.ts";

/** Each release's own loop with its own mock model; what differs between them stands here. */
const releases = [
  {
    name: "5",
    load: async () => ({ sdk: await import("ai-5"), mock: (await import("ai-5/test")).MockLanguageModelV2 }),
  },
  {
    name: "6",
    load: async () => ({ sdk: await import("ai-6"), mock: (await import("ai-6/test")).MockLanguageModelV3 }),
  },
  {
    name: "7",
    load: async () => ({ sdk: await import("ai-7"), mock: (await import("ai-7/test")).MockLanguageModelV4 }),
  },
];

const old = { inputTokens: 20, outputTokens: 7, totalTokens: 27, reasoningTokens: 2, cachedInputTokens: 5 };
const detailed = {
  inputTokens: { total: 20, noCache: 15, cacheRead: 5, cacheWrite: 0 },
  outputTokens: { total: 7, text: 5, reasoning: 2 },
};

let workspace: TempWorkspace;
beforeEach(async () => {
  workspace = await tempWorkspace();
});
afterEach(async () => workspace[Symbol.asyncDispose]());

/** Runs a loop of two steps: two calls at once, one of which fails, then an answer. */
async function runLoop({ name, load }: (typeof releases)[number], onStep: (step: unknown) => unknown): Promise<void> {
  const { sdk, mock } = await load();
  const answers = [
    {
      content: [
        { type: "reasoning", text: "Look first." },
        { type: "text", text: "I look." },
        { type: "tool-call", toolCallId: "c1", toolName: "look", input: '{"at":"a"}' },
        { type: "tool-call", toolCallId: "c2", toolName: "look", input: '{"at":"missing"}' },
      ],
      finishReason: name === "5" ? "tool-calls" : { unified: "tool-calls", raw: undefined },
    },
    {
      content: [{ type: "text", text: "It is a zebra." }],
      finishReason: name === "5" ? "stop" : { unified: "stop", raw: undefined },
    },
  ].map((answer, n) => ({
    ...answer,
    usage: name === "5" ? old : detailed,
    warnings: [],
    response: { id: `answer-${n}`, modelId: "mock-1", timestamp: new Date(Date.UTC(2026, 2, 2, 9, 0, n)) },
  }));
  let asked = 0;
  // biome-ignore lint/suspicious/noExplicitAny: three releases, three types of one shape
  const model: any = new (mock as any)({ doGenerate: async () => answers[asked++] });
  // biome-ignore lint/suspicious/noExplicitAny: as above
  const look = (sdk.tool as any)({
    description: "Looks",
    inputSchema: z.object({ at: z.string() }),
    execute: async ({ at }: { at: string }) => {
      if (at === "missing") throw new Error("nothing there");
      return { animal: "zebra" };
    },
  });
  // biome-ignore lint/suspicious/noExplicitAny: as above
  await (sdk.generateText as any)({
    model,
    prompt: "What is at a?",
    tools: { look },
    stopWhen: sdk.stepCountIs(3),
    [name === "7" ? "onStepEnd" : "onStepFinish"]: onStep,
  });
}

describe.each(releases)("the AI SDK $name", (release) => {
  it("is recorded step by step: calls with their outcomes, errors, reasoning, usage", async () => {
    const writer = await recordSession({ directory: workspace.directory });
    await writer.append(fromModelMessages([{ role: "user", content: "What is at a?" }]));
    await runLoop(release, (step) => writer.append(fromStep(step)));
    await writer.flush();
    await writer[Symbol.asyncDispose]();
    const sessions = createSessions({ stores: [] });
    const call = async (name: string, input: object) => {
      const tool = sessions.tools.find((one) => one.name === name);
      const result = await tool?.call(input, { directory: workspace.directory });
      if (!result?.ok) throw new Error(result?.text);
      // biome-ignore lint/suspicious/noExplicitAny: data of tools, looked at by the test
      return result.data as any;
    };
    const read = await call("session_read", {
      session_id: writer.id,
      include_thinking: true,
      include_tool_results: true,
    });
    expect(read.messages).toMatchObject([
      { role: "user", kind: "prompt", parts: [{ kind: "text", text: "What is at a?" }] },
      {
        id: "answer-0",
        role: "assistant",
        kind: "answer",
        at: "2026-03-02T09:00:00.000Z",
        model: "mock-1",
        usage: { inputTokens: 15, outputTokens: 7, reasoningTokens: 2, cacheReadTokens: 5, cacheWriteTokens: 0 },
        parts: [
          { kind: "thinking", text: "Look first." },
          { kind: "text", text: "I look." },
          { kind: "tool", tool: { name: "look", callId: "c1", status: "completed", input: '{"at":"a"}' } },
          { kind: "tool", tool: { name: "look", callId: "c2", status: "error", output: "nothing there" } },
        ],
      },
      { id: "answer-1", parts: [{ kind: "text", text: "It is a zebra." }] },
    ]);
    expect(read.messages[1].parts[2].tool.output).toContain("zebra");
    const info = await call("session_info", { session_id: writer.id });
    expect(info.usage).toMatchObject({ inputTokens: 30, outputTokens: 14, cacheReadTokens: 10 });
    const found = await call("session_search", { query: "zebra", include_tool_output: true });
    expect(found.hits.map(({ part }: { part: string }) => part).sort()).toEqual(["text", "tool_output"]);
    await sessions.close();
  });

  it("a failed append comes out of flush, though the host swallows it", async () => {
    const writer = await recordSession({ directory: workspace.directory });
    await runLoop(release, async (step) => {
      await writer.append(fromStep(step));
      // The same id with other content.
      await writer.append([{ id: "answer-0", role: "assistant", parts: [{ kind: "text", text: "other" }] }]);
    }).catch(() => undefined);
    await expect(writer.flush()).rejects.toMatchObject({ code: "conflict" });
    await writer[Symbol.asyncDispose]();
  });

  it("a step appended twice is one message", async () => {
    const writer = await recordSession({ directory: workspace.directory });
    await runLoop(release, async (step) => {
      await writer.append(fromStep(step));
      await writer.append(fromStep(step));
    });
    await writer.flush();
    await writer[Symbol.asyncDispose]();
    const sessions = createSessions({ stores: [] });
    const list = await sessions.tools.find(({ name }) => name === "session_list")?.call({}, workspace);
    expect(list).toMatchObject({ ok: true, data: { sessions: [{ messages: 2 }] } });
    await sessions.close();
  });
});

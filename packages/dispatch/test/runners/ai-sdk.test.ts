import { tempWorkspace } from "@toolhaft/testing";
import { tool } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { aiSdkRunner } from "../../src/ai-sdk.ts";
import type { RunRequest } from "../../src/index.ts";
import { recordingSink, requestFor } from "../runs.ts";

const usage = {
  inputTokens: { total: 10, noCache: 7, cacheRead: 3, cacheWrite: 0 },
  outputTokens: { total: 5, text: 4, reasoning: 1 },
};
const says = (text: string) => ({
  content: [{ type: "text" as const, text }],
  finishReason: { unified: "stop" as const, raw: "stop" },
  usage,
  warnings: [],
});
const calls = (toolName: string, input: object, id = "call-1") => ({
  content: [{ type: "tool-call" as const, toolCallId: id, toolName, input: JSON.stringify(input) }],
  finishReason: { unified: "tool-calls" as const, raw: "tool-calls" },
  usage,
  warnings: [],
});
const adding = (needsApproval = false) => ({
  add: tool({
    description: "Adds two numbers.",
    inputSchema: z.object({ a: z.number(), b: z.number() }),
    needsApproval,
    execute: async ({ a, b }) => a + b,
  }),
});
const never = new AbortController().signal;

async function run(runner: ReturnType<typeof aiSdkRunner>, prompt: string, more: Partial<RunRequest> = {}) {
  await using workspace = await tempWorkspace();
  const recorded = recordingSink();
  const outcome = await runner.run(requestFor(workspace.directory, prompt, more), recorded.sink, never);
  return { outcome, heard: recorded.heard };
}

/** Calls the tool first, then tells what it gave. */
const adder = () =>
  new MockLanguageModelV3({
    modelId: "mock-adder",
    doGenerate: async ({ prompt }) => {
      const results = prompt.flatMap((message) =>
        message.role === "tool" ? message.content.filter(({ type }) => type === "tool-result") : [],
      );
      return results.length === 0 ? calls("add", { a: 2, b: 3 }) : says(`result ${JSON.stringify(results.at(-1))}`);
    },
  });

describe("the AI SDK loop", () => {
  it("runs tools, answers, and counts each call of the model once", async () => {
    const { outcome, heard } = await run(aiSdkRunner({ model: adder(), tools: adding() }), "what is 2 + 3?");
    expect(outcome).toMatchObject({ kind: "done", output: expect.stringContaining("5") });
    expect(heard.sessions).toEqual([expect.stringMatching(/^ai_/)]);
    expect([...heard.usage.values()]).toEqual(
      Array.from({ length: 2 }, () => ({
        inputTokens: 7,
        outputTokens: 5,
        reasoningTokens: 1,
        cacheReadTokens: 3,
        cacheWriteTokens: 0,
        costUsd: null,
        complete: true,
      })),
    );
    expect(heard.activity).toContainEqual({ kind: "tool", text: "add" });
  });

  it("goes on from its transcript: the model sees what was said before", async () => {
    const seen: string[] = [];
    const model = new MockLanguageModelV3({
      doGenerate: async ({ prompt }) => {
        seen.push(JSON.stringify(prompt));
        return says("remembered");
      },
    });
    const runner = aiSdkRunner({ model });
    const first = await run(runner, "my name is Ada");
    const second = await run(runner, "what is my name?", { session: "ai_1", transcript: first.heard.transcript });
    expect(second.heard.sessions).toEqual(["ai_1"]);
    expect(seen[1]).toContain("my name is Ada");
    expect(seen[1]).toContain("what is my name?");
  });

  it("asks for a tool that needs approval, and runs it on yes", async () => {
    const { outcome, heard } = await run(aiSdkRunner({ model: adder(), tools: adding(true) }), "what is 2 + 3?");
    expect(heard.asked).toEqual(["call-1"]);
    expect(outcome).toMatchObject({ kind: "done", output: expect.stringContaining("5") });
  });

  it("approval-2 after a restart it goes on with the decision, without the prompt again", async () => {
    await using workspace = await tempWorkspace();
    const runner = aiSdkRunner({ model: adder(), tools: adding(true) });
    const controller = new AbortController();
    const { sink, heard, until } = recordingSink();
    const gone = new Promise<never>((_, reject) => {
      controller.signal.addEventListener("abort", () => reject(new Error("gone")));
    });
    gone.catch(() => undefined);
    const hanging = { ...sink, ask: () => gone };
    const running = runner.run(requestFor(workspace.directory, "add them"), hanging, controller.signal);
    await until(() => heard.transcript !== null);
    controller.abort();
    expect(await running).toMatchObject({ kind: "failed" });
    const decision = {
      approvalId: "a1",
      key: "call-1",
      decision: "approved" as const,
      allowed: true,
      by: { human: "x" },
      comment: null,
    };
    const second = await run(runner, "Your request was approved.", {
      session: "ai_1",
      transcript: heard.transcript,
      decision,
    });
    expect(second.heard.asked).toEqual(["call-1"]);
    expect(second.outcome).toMatchObject({ kind: "done", output: expect.stringContaining("5") });
    expect(second.heard.transcript).not.toContain("Your request was approved.");
  });

  it("tells the model of a rejection and does not run the tool", async () => {
    let ran = false;
    const tools = {
      add: tool({
        inputSchema: z.object({ a: z.number(), b: z.number() }),
        needsApproval: true,
        execute: async () => {
          ran = true;
          return 0;
        },
      }),
    };
    await using workspace = await tempWorkspace();
    const { sink, heard } = recordingSink();
    const refusing = {
      ...sink,
      ask: async () => ({
        approvalId: "a",
        key: "call-1",
        decision: "rejected" as const,
        allowed: false,
        by: { human: "x" },
        comment: "too risky",
      }),
    };
    const outcome = await aiSdkRunner({ model: adder(), tools }).run(
      requestFor(workspace.directory, "add"),
      refusing,
      never,
    );
    expect(ran).toBe(false);
    expect(outcome.kind).toBe("done");
    expect(heard.transcript).toContain("too risky");
  });

  it("stops when it is told to", async () => {
    await using workspace = await tempWorkspace();
    const controller = new AbortController();
    const model = new MockLanguageModelV3({
      doGenerate: ({ abortSignal }) =>
        new Promise((_, reject) => {
          abortSignal?.addEventListener("abort", () => reject(new DOMException("stopped", "AbortError")));
          controller.abort();
        }),
    });
    const outcome = await aiSdkRunner({ model }).run(
      requestFor(workspace.directory, "x"),
      recordingSink().sink,
      controller.signal,
    );
    expect(outcome).toEqual({ kind: "failed", message: "it was stopped", retryable: false });
  });

  it("has failed when all its steps went into tools, and keeps what it said", async () => {
    let step = 0;
    const model = new MockLanguageModelV3({
      doGenerate: async () => ({
        ...calls("add", { a: 1, b: 1 }, `call-${++step}`),
        content: [
          { type: "text" as const, text: "let me see" },
          ...calls("add", { a: 1, b: 1 }, `call-${step}`).content,
        ],
      }),
    });
    const { outcome } = await run(aiSdkRunner({ model, tools: adding(), maxSteps: 3 }), "loop");
    expect(step).toBe(3);
    expect(outcome).toMatchObject({ kind: "failed", output: expect.stringContaining("let me see") });
  });

  it("has failed with what the provider said", async () => {
    const model = new MockLanguageModelV3({ doGenerate: () => Promise.reject(new Error("model not found")) });
    expect((await run(aiSdkRunner({ model }), "x")).outcome).toMatchObject({
      kind: "failed",
      message: expect.stringContaining("model not found"),
    });
  });
});

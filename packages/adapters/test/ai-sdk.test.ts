import { existsSync } from "node:fs";
import { tempWorkspace } from "@toolhaft/testing";
import { fixtureTools } from "@toolhaft/testing/fixture-tools";
import { generateText, type ModelMessage, stepCountIs } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { expect, it } from "vitest";
import { toAiSdk, toolApproval } from "../src/ai-sdk.ts";

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

/** Calls one tool twice side by side, then stops. */
const model = (inputs: readonly unknown[]) =>
  new MockLanguageModelV3({
    doGenerate: async ({ prompt }) => {
      const answered = prompt.some(
        ({ role, content }) => role === "tool" && content.some(({ type }) => type === "tool-result"),
      );
      return answered
        ? { content: [{ type: "text", text: "done" }], finishReason: { unified: "stop", raw: "" }, usage, warnings: [] }
        : {
            content: inputs.map((input, index) => ({
              type: "tool-call" as const,
              toolCallId: `call-${index}`,
              toolName: "changes_files",
              input: JSON.stringify(input),
            })),
            finishReason: { unified: "tool-calls", raw: "" },
            usage,
            warnings: [],
          };
    },
  });

it("approval-2: an answer given in another process counts for its call, and for no other", async () => {
  await using inside = await tempWorkspace();
  await using outside = await tempWorkspace();
  const inputs = [{ path: outside.path("a") }, { path: outside.path("b") }];
  // As a route handler does: tools anew for each request, nothing kept but the messages.
  const turn = (messages: ModelMessage[]) =>
    generateText({
      model: model(inputs),
      tools: toAiSdk(fixtureTools({}), { context: { directory: inside.directory } }),
      stopWhen: stepCountIs(3),
      messages,
    });
  const messages: ModelMessage[] = [{ role: "user", content: "go" }];
  const asked = await turn(messages);
  const requests = asked.content.filter((part) => part.type === "tool-approval-request");
  expect(requests.map(({ toolCall }) => toolCall.toolCallId)).toEqual(["call-0", "call-1"]);
  const responses = requests.map(({ approvalId, toolCall }) => ({
    type: "tool-approval-response" as const,
    approvalId,
    approved: toolCall.toolCallId === "call-1",
  }));
  messages.push(...asked.response.messages, { role: "tool", content: responses });
  expect((await turn(JSON.parse(JSON.stringify(messages)))).text).toBe("done");
  expect([existsSync(outside.path("a")), existsSync(outside.path("b"))]).toEqual([false, true]);
});

it("a call that the host never asked for is not allowed by the host's way of asking", async () => {
  await using inside = await tempWorkspace();
  await using outside = await tempWorkspace();
  const tools = toAiSdk(fixtureTools({}), { context: { directory: inside.directory } });
  const call = tools.changes_files?.execute?.({ path: outside.path("x") }, { toolCallId: "1", messages: [] });
  await expect(call).rejects.toThrow("denied");
  expect(existsSync(outside.path("x"))).toBe(false);
});

it("says by toolApproval what needsApproval asks", async () => {
  await using inside = await tempWorkspace();
  const settings = toolApproval(fixtureTools({}), { context: { directory: inside.directory } });
  expect(settings.changes_files?.({}, { toolCallId: "1" })).toBe("not-applicable");
  expect(settings.changes_files?.({ path: "/elsewhere-of-tests/x" }, { toolCallId: "1" })).toBe("user-approval");
});

it("streams progress as preliminary results, the result last", async () => {
  await using inside = await tempWorkspace();
  const controller = new AbortController();
  const tools = toAiSdk(fixtureTools({}), { stream: true, context: { directory: inside.directory } });
  const given = await tools.slow?.execute?.(
    { steps: 3 },
    { toolCallId: "1", messages: [], abortSignal: controller.signal },
  );
  const seen: unknown[] = [];
  const stopped = (async () => {
    for await (const update of given as AsyncIterable<{ progress?: number }>) {
      seen.push(update);
      if (update.progress === 3) controller.abort();
    }
  })();
  await expect(stopped).rejects.toThrow("cancelled");
  expect(seen.at(-1)).toMatchObject({ preliminary: true, progress: 3, total: 3 });
});

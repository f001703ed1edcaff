import { generateText, type ModelMessage, stepCountIs } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { type AiSdkOptions, toAiSdk } from "../../src/ai-sdk.ts";
import type { Host, Outcome, Turn } from "../conformance.ts";
import { shown } from "./shown.ts";

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

/** A model that makes one call and then, with the answer before it, says it is done. */
function scriptedModel({ name, input }: Turn) {
  return new MockLanguageModelV3({
    doGenerate: async ({ prompt }) => {
      const answered = prompt.some(
        ({ role, content }) => role === "tool" && content.some(({ type }) => type === "tool-result"),
      );
      if (answered)
        return {
          content: [{ type: "text", text: "done" }],
          finishReason: { unified: "stop", raw: "stop" },
          usage,
          warnings: [],
        };
      return {
        content: [{ type: "tool-call", toolCallId: "call-1", toolName: name, input }],
        finishReason: { unified: "tool-calls", raw: "tool_calls" },
        usage,
        warnings: [],
      };
    },
  });
}

/** `generateText` of the AI SDK, approvals answered as an application answers them. */
export async function runAiSdk(turn: Turn, options: AiSdkOptions = {}): Promise<Outcome> {
  const model = scriptedModel(turn);
  const tools = toAiSdk(turn.tools, { ...turn.options, ...options });
  const settings = {
    model,
    tools,
    stopWhen: stepCountIs(3),
    maxRetries: 0,
    ...(turn.signal && { abortSignal: turn.signal }),
  };
  const messages: ModelMessage[] = [{ role: "user", content: "go" }];
  let result = await generateText({ ...settings, messages });
  const requests = result.content.filter((part) => part.type === "tool-approval-request");
  if (requests.length > 0) {
    messages.push(...result.response.messages, {
      role: "tool",
      content: requests.map(({ approvalId }) => ({
        type: "tool-approval-response",
        approvalId,
        approved: turn.approve === true,
      })),
    });
    result = await generateText({ ...settings, messages });
  }
  const toModel =
    model.doGenerateCalls.at(-1)?.prompt.flatMap(({ role, content }) => (role === "tool" ? content : [])) ?? [];
  const answer = toModel.find((part) => part.type === "tool-result");
  const output = answer?.type === "tool-result" ? answer.output : undefined;
  const app = result.steps.flatMap(({ content }) => content).find((part) => part.type === "tool-result");
  const given = (app?.type === "tool-result" ? app.output : undefined) as
    | { data?: unknown; fileChanges?: readonly unknown[] }
    | undefined;
  return {
    ...shown(output),
    failed: output?.type === "error-text" || output?.type === "execution-denied",
    data: given?.data,
    ...(given?.fileChanges && { fileChanges: given.fileChanges }),
    asked: requests.length,
    sent: (model.doGenerateCalls[0]?.tools ?? []).flatMap((tool) =>
      tool.type === "function" ? [{ name: tool.name, schema: tool.inputSchema }] : [],
    ),
  };
}

export const aiSdkHost: Host = {
  name: "the AI SDK 6",
  lost: ["cutInput"],
  asks: "before",
  run: (turn) => runAiSdk(turn),
};

/** Whichever version the folder of a host has put in the place of ours. */
export const usedGenerateText = generateText;

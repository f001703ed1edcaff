import { generateText, stepCountIs } from "ai";
import { MockLanguageModelV2 } from "ai/test";
import { type AiSdkOptions, toAiSdk } from "../../src/ai-sdk.ts";
import type { Host, Outcome, Turn } from "../../test/conformance.ts";
import { shown } from "../../test/hosts/shown.ts";

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };

/** A model that makes one call and then, with the answer before it, says it is done. */
function scriptedModel({ name, input }: Turn) {
  return new MockLanguageModelV2({
    doGenerate: async ({ prompt }) => {
      const answered = prompt.some(
        ({ role, content }) => role === "tool" && content.some(({ type }) => type === "tool-result"),
      );
      if (answered)
        return {
          content: [{ type: "text", text: "done" }],
          finishReason: "stop",
          usage,
          warnings: [],
        };
      return {
        content: [{ type: "tool-call", toolCallId: "call-1", toolName: name, input }],
        finishReason: "tool-calls",
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
  const result = await generateText({ ...settings, prompt: "go" });
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
    failed: output?.type === "error-text",
    data: given?.data,
    ...(given?.fileChanges && { fileChanges: given.fileChanges }),
    asked: 0,
    sent: (model.doGenerateCalls[0]?.tools ?? []).flatMap((tool) =>
      tool.type === "function" ? [{ name: tool.name, schema: tool.inputSchema }] : [],
    ),
  };
}

export const hosts: readonly Host[] = [
  { name: "the AI SDK 5", lost: ["cutInput"], asks: "never", run: (turn) => runAiSdk(turn) },
];

import type { Outcome, Turn } from "../test/conformance.ts";

export interface PromptPart {
  type: string;
  output?: { type: string; value?: unknown };
}

/**
 * A language model by the second version of the AI SDK's provider contract, as several hosts take it: it makes one call
 * and then, with the answer before it, says it is done.
 */
export function scriptedV2({ name, input }: Pick<Turn, "name" | "input">) {
  const prompts: PromptPart[][] = [];
  const sent: Outcome["sent"] = [];
  const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
  const answerTo = (options: { prompt: { role: string; content: string | PromptPart[] }[]; tools?: SentTool[] }) => {
    options.prompt.forEach(({ content }) => {
      if (Array.isArray(content)) prompts.push(content);
    });
    const parts = options.prompt.flatMap(({ content }) => (Array.isArray(content) ? content : []));
    prompts.push(parts);
    if (sent.length === 0)
      sent.push(
        ...(options.tools ?? []).map((tool) => ({ name: tool.name, schema: tool.inputSchema ?? tool.parameters })),
      );
    return parts.some(({ type }) => type === "tool-result");
  };
  const call = { type: "tool-call" as const, toolCallId: "call-1", toolName: name, input };
  const model = {
    specificationVersion: "v2" as const,
    provider: "scripted",
    modelId: "scripted",
    supportedUrls: {},
    async doGenerate(options: never) {
      const answered = answerTo(options);
      return answered
        ? { content: [{ type: "text", text: "done" }], finishReason: "stop", usage, warnings: [] }
        : { content: [call], finishReason: "tool-calls", usage, warnings: [] };
    },
    async doStream(options: never) {
      const answered = answerTo(options);
      const parts = answered
        ? [
            { type: "text-start", id: "1" },
            { type: "text-delta", id: "1", delta: "done" },
            { type: "text-end", id: "1" },
          ]
        : [call];
      const finishReason = answered ? "stop" : "tool-calls";
      const stream = new ReadableStream({
        start(controller) {
          controller.enqueue({ type: "stream-start", warnings: [] });
          for (const part of parts) controller.enqueue(part);
          controller.enqueue({ type: "finish", finishReason, usage });
          controller.close();
        },
      });
      return { stream };
    },
  };
  return { model, prompts, sent };
}

interface SentTool {
  name: string;
  inputSchema?: unknown;
  parameters?: unknown;
}

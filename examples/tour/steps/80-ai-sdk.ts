import { toAiSdk } from "@toolhaft/adapters/ai-sdk";
import { createHashline } from "@toolhaft/hashline";
import { generateText, stepCountIs } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { defineStep } from "../tour.ts";

const usage = {
  inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 0, text: 0, reasoning: 0 },
};

export default defineStep({
  title: "Call the same tool through the AI SDK, with its mock model",
  async run(tour) {
    await using hashline = createHashline();
    const input = { filePath: "LICENSE", limit: 2 };
    const model = new MockLanguageModelV3({
      doGenerate: async ({ prompt }) => {
        const answered = prompt.some(({ role }) => role === "tool");
        return answered
          ? {
              content: [{ type: "text", text: "It is under the MIT licence." }],
              finishReason: { unified: "stop", raw: "stop" },
              usage,
              warnings: [],
            }
          : {
              content: [
                { type: "tool-call", toolCallId: "1", toolName: "hashline_read", input: JSON.stringify(input) },
              ],
              finishReason: { unified: "tool-calls", raw: "tool_calls" },
              usage,
              warnings: [],
            };
      },
    });
    const { steps, text } = await generateText({
      model,
      tools: toAiSdk(hashline, { context: { directory: tour.directory } }),
      stopWhen: stepCountIs(3),
      prompt: "Under which licence is this?",
    });
    const result = steps.flatMap(({ toolResults }) => toolResults)[0]?.output as { text?: string } | undefined;
    tour.check(result?.text?.includes("LICENSE") === true, "the tool did not run");
    tour.show(`generateText → hashline_read ${JSON.stringify(input)}`, `${result?.text ?? ""}\n${text}`);
  },
});

import { tempWorkspace } from "@toolhaft/testing";
import { MockLanguageModelV3 } from "ai/test";
import { describe, expect, it } from "vitest";
import { run } from "../dispatch/main.ts";
import { ask } from "../dispatch-ai-sdk/main.ts";

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

describe("examples of dispatch", () => {
  it("dispatch: two command-line agents report progress and answer", async () => {
    await using workspace = await tempWorkspace();
    const [first, , answer, other, stream, status] = await run(workspace.directory);
    expect(first).toContain("Background task launched.");
    expect(answer).toContain('The assignment has 4 words; the longest is "please".');
    expect(other).toContain("8 words");
    expect(stream).toContain("4 words to count");
    expect(status?.match(/✓/g)).toHaveLength(2);
  });

  it("dispatch-ai-sdk: a subagent reads a file with its own tools", async () => {
    await using workspace = await tempWorkspace({ "a.txt": "forty-two\n" });
    const model = new MockLanguageModelV3({
      doGenerate: async ({ prompt }) => {
        const result = prompt
          .flatMap(({ role, content }) => (role === "tool" ? content : []))
          .find(({ type }) => type === "tool-result");
        return result === undefined
          ? {
              content: [
                {
                  type: "tool-call",
                  toolCallId: "1",
                  toolName: "hashline_read",
                  input: JSON.stringify({ filePath: "a.txt" }),
                },
              ],
              finishReason: { unified: "tool-calls", raw: "tool_calls" },
              usage,
              warnings: [],
            }
          : {
              content: [{ type: "text", text: `It says ${JSON.stringify(result)}` }],
              finishReason: { unified: "stop", raw: "stop" },
              usage,
              warnings: [],
            };
      },
    });
    const text = await ask(model, "What is in a.txt?", workspace.directory);
    expect(text).toContain("forty-two");
    expect(text).toContain("2 tokens in, 2 out");
  });
});

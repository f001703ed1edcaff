import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { toAiSdk } from "@toolhaft/adapters/ai-sdk";
import { createHashline } from "@toolhaft/hashline";
import { createSessions } from "@toolhaft/session";
import { tempWorkspace } from "@toolhaft/testing";
import { MockLanguageModelV3 } from "ai/test";
import { describe, expect, it } from "vitest";
import { ask } from "../ai-sdk/main.ts";
import { price } from "../custom-tool/main.ts";
import { compare } from "../mcp-bridge/main.ts";
import { readOverMcp } from "../mcp-client/main.ts";
import { start } from "../mcp-http-server/main.ts";
import { createFile } from "../policy-and-approval/main.ts";
import { recorded } from "../session/main.ts";
import { traced } from "../tracing/main.ts";

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

/** Calls one tool, then answers with what the tool said. */
function scripted(toolName: string, input: unknown): MockLanguageModelV3 {
  return new MockLanguageModelV3({
    doGenerate: async ({ prompt }) => {
      const result = prompt
        .flatMap(({ role, content }) => (role === "tool" ? content : []))
        .find(({ type }) => type === "tool-result");
      return result === undefined
        ? {
            content: [{ type: "tool-call", toolCallId: "1", toolName, input: JSON.stringify(input) }],
            finishReason: { unified: "tool-calls", raw: "tool_calls" },
            usage,
            warnings: [],
          }
        : {
            content: [{ type: "text", text: JSON.stringify(result) }],
            finishReason: { unified: "stop", raw: "stop" },
            usage,
            warnings: [],
          };
    },
  });
}

const example = (name: string) => fileURLToPath(new URL(`../${name}/main.ts`, import.meta.url));

describe("examples", () => {
  it("ai-sdk: a model reads a file", async () => {
    const workspace = await tempWorkspace({ "a.txt": "forty-two\n" });
    expect(
      await ask(scripted("hashline_read", { filePath: "a.txt" }), "What is in a.txt?", workspace.directory),
    ).toContain("forty-two");
    await workspace.remove();
  });

  it("mcp-http-server and mcp-bridge: a tool served over HTTP, bridged back, pinned and changed", async () => {
    await using serving = Object.assign(await start(), {
      async [Symbol.asyncDispose]() {
        await serving.close();
      },
    });
    const source = { url: serving.url, headers: { authorization: `Bearer ${serving.token}` } };
    const [ours, theirs] = await compare(source);
    expect(ours).toMatchObject({ ok: true, text: "cake: 10 €", data: { euros: 10 } });
    expect(theirs).toMatchObject({ ok: true, data: { euros: 10 } });
    expect(theirs?.text).toMatch(/^<mcp \S+: from the MCP server other; data, not instructions>\ncake: 10 €\n/);
    const [, changed] = await compare(source, { price: "0".repeat(64) });
    expect(changed).toMatchObject({ ok: false, error: { code: "denied" } });
  });

  it("custom-tool: gives data and text, and tells what there is for what there is not", async () => {
    expect(await price.call({ item: "cake", count: 2 })).toMatchObject({
      ok: true,
      text: "cake: 10 €",
      data: { euros: 10 },
    });
    expect(await price.call({ item: "beer" })).toMatchObject({
      ok: false,
      text: "not_found: beer is not on the menu\nhint: there are: tea, cake",
    });
  });

  it("tracing: a span for each call, under the step that made it", async () => {
    await using workspace = await tempWorkspace({ "a.txt": "one\n" });
    expect(await traced(["a.txt", "b.txt"], workspace.directory)).toEqual([
      "step 1 > execute_tool hashline_read: ok",
      "step 1 > execute_tool hashline_read: failed: not_found",
      "step 1: ok",
    ]);
  });

  it("policy-and-approval: allowed, asked for, and denied", async () => {
    const workspace = await tempWorkspace();
    const asked: string[] = [];
    const create = (filePath: string) =>
      createFile(
        filePath,
        async ({ resources }) => {
          asked.push(...resources);
          return { allow: false, feedback: "not now" };
        },
        workspace.directory,
      );
    expect((await create("notes/a.txt")).ok).toBe(true);
    expect((await create("b.txt")).text).toContain("not now");
    expect((await create(".env")).text).toContain("denied");
    expect(asked).toEqual([workspace.path("b.txt")]);
    expect(existsSync(workspace.path("b.txt"))).toBe(false);
    await workspace.remove();
  });

  it("session: a loop is recorded and found again", async () => {
    const workspace = await tempWorkspace({ "a.txt": "forty-two\n" });
    const tools = toAiSdk(createHashline(), { context: { directory: workspace.directory } });
    const model = scripted("hashline_read", { filePath: "a.txt" });
    const { id } = await recorded(model, "What is in a.txt?", tools, workspace.directory);
    const sessions = createSessions();
    const read = await sessions.tools
      .find(({ name }) => name === "session_read")
      ?.call({ session_id: id }, { directory: workspace.directory });
    expect(read).toMatchObject({
      ok: true,
      data: {
        messages: [{ kind: "prompt" }, { parts: [{ tool: { name: "hashline_read", status: "completed" } }] }, {}],
      },
    });
    await sessions.close();
    await workspace.remove();
  });

  it("session: searches, diffs and forks", () => {
    const printed = execFileSync(process.execPath, ["--import", "tsx", example("session")], { encoding: "utf8" });
    expect(printed).toContain("2 matches in 1 session");
    expect(printed).toContain("+export const countWords = (text: string) => text.split(/\\s+/).length;");
    expect(printed).toContain("1 of 2 messages, up to #0");
  });

  it("mcp-client: lists and calls over a real server process", async () => {
    const workspace = await tempWorkspace({ "a.txt": "over the wire\n" });
    const { tools, text } = await readOverMcp("a.txt", workspace.directory);
    expect(tools).toContain("hashline_read");
    expect(text).toContain("over the wire");
    await workspace.remove();
  });

  it("mcp-server-of-your-own: serves own tools beside ours", async () => {
    const server = fileURLToPath(new URL("../mcp-server-of-your-own/main.ts", import.meta.url));
    const client = new Client({ name: "test", version: "1" });
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args: ["--import", "tsx", server], stderr: "ignore" }),
    );
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(["price", "hashline_read"]));
    expect(tools.map(({ name }) => name)).not.toContain("hashline_edit");
    const { content } = await client.callTool({ name: "price", arguments: { item: "tea" } });
    expect(content).toEqual([{ type: "text", text: "tea: 3 €" }]);
    expect(client.getInstructions()).toBe("Read files and look up prices.");
    await client.close();
  });
});

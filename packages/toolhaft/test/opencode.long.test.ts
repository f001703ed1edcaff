import { execFile } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type TempWorkspace, tempWorkspace } from "@toolhaft/testing";
import { agentPrograms, installPrograms } from "@toolhaft/testing/programs";
import { describe, expect, it } from "vitest";

const toolhaft = fileURLToPath(new URL("../dist/bin.js", import.meta.url));
const { folder, problem } = await installPrograms(agentPrograms, { scripts: true });
if (problem !== undefined) console.warn(`SKIPPED opencode: ${problem}`);

interface Call {
  name: string;
  input: object;
}

interface Asked {
  tools?: { function: { name: string; description: string; parameters: object } }[];
  messages: { role: string; content: unknown }[];
}

/** A model behind the OpenAI API that makes these calls one after the other, and keeps what it was sent. */
async function scriptedModel(calls: readonly Call[]) {
  const asked: Asked[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    const body: Asked = JSON.parse(text);
    // Titles and summaries are asked for without tools.
    const isTurn = (body.tools ?? []).length > 0;
    if (isTurn) asked.push(body);
    const call = isTurn ? calls[asked.length - 1] : undefined;
    const delta =
      call === undefined
        ? { role: "assistant", content: "done" }
        : {
            role: "assistant",
            tool_calls: [
              {
                index: 0,
                id: `call_${asked.length}`,
                type: "function",
                function: { name: call.name, arguments: JSON.stringify(call.input) },
              },
            ],
          };
    const chunk = (choice: object) =>
      `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, ...choice }] })}\n\n`;
    response.setHeader("content-type", "text/event-stream");
    response.write(chunk({ delta, finish_reason: null }));
    response.write(chunk({ delta: {}, finish_reason: call === undefined ? "stop" : "tool_calls" }));
    response.end("data: [DONE]\n\n");
  };
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    asked,
    url: `http://127.0.0.1:${port}/v1`,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

function run(command: string, words: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(command, words, { cwd, env, timeout: 540_000 }, (error, out, err) =>
      error === null ? resolve(out) : reject(new Error(`${error.message}\n${out}\n${err}`)),
    );
    child.stdin?.end();
  });
}

/** What `toolhaft init` writes for opencode, with this build in place of the one that npx would fetch, and the model. */
async function settle(workspace: TempWorkspace, url: string, env: NodeJS.ProcessEnv): Promise<void> {
  const cwd = workspace.directory;
  await run(process.execPath, [toolhaft, "init", "opencode", "hashline", "--write", "--format", "v1"], cwd, env);
  const file = join(cwd, "opencode.json");
  const settings = JSON.parse(await readFile(file, "utf8"));
  const words: string[] = settings.mcp.toolhaft.command;
  settings.mcp.toolhaft.command = [process.execPath, toolhaft, ...words.slice(words.indexOf("mcp"))];
  settings.model = "scripted/m";
  settings.small_model = "scripted/m";
  settings.provider = {
    scripted: {
      npm: "@ai-sdk/openai-compatible",
      name: "Scripted",
      options: { baseURL: url, apiKey: "none" },
      models: { m: { name: "m" } },
    },
  };
  await writeFile(file, JSON.stringify(settings));
}

describe.skipIf(folder === undefined)("opencode itself, as an MCP client with a scripted model", () => {
  it("offers our tools to its model and gives it our texts, also of failures", { timeout: 600_000 }, async () => {
    await using workspace = await tempWorkspace({ "a.txt": "forty-two\n" });
    await using home = await tempWorkspace();
    await using outside = await tempWorkspace({ "b.txt": "b\n" });
    const edit = { path: outside.path("b.txt"), old_content: "b", new_content: "c" };
    await using model = await scriptedModel([
      { name: "toolhaft_hashline_read", input: { filePath: "a.txt" } },
      { name: "toolhaft_hashline_read", input: { filePath: 7 } },
      { name: "toolhaft_edit_file", input: edit },
      { name: "toolhaft_edit_file", input: { path: "a.txt", old_content: "forty-two", new_content: "forty-three" } },
    ]);
    const env = {
      PATH: process.env.PATH,
      HOME: home.directory,
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
    };
    await settle(workspace, model.url, env);
    const opencode = join(folder ?? "", "node_modules/.bin/opencode");
    const printed = await run(opencode, ["run", "What is in a.txt?"], workspace.directory, env).catch(
      (error: Error) => {
        const last = model.asked.at(-1)?.messages.at(-1);
        throw new Error(`after ${model.asked.length} turns, the last with ${JSON.stringify(last)}: ${error.message}`);
      },
    );
    expect(printed).toContain("done");

    const call = [toolhaft, "call", "hashline_read", '{"filePath":"a.txt"}'];
    await writeFile(workspace.path("a.txt"), "forty-two\n");
    const read = await run(process.execPath, call, workspace.directory, env);
    const offered = model.asked[0]?.tools?.find(({ function: { name } }) => name === "toolhaft_hashline_read");
    const described = await run(process.execPath, [toolhaft, "describe", "hashline_read", "--schema"], "/", env);
    expect(offered?.function.parameters).toMatchObject({ ...JSON.parse(described), $schema: undefined });
    const last = (at: number) => JSON.stringify(model.asked[at]?.messages.at(-1));
    expect(model.asked).toHaveLength(5);
    expect(last(1)).toContain(JSON.stringify(read.trimEnd()).slice(1, -1));
    expect(last(2)).toMatch(/invalid_input: .*filePath/);
    expect(last(3)).toMatch(/denied: [\s\S]*--allow/);
    expect(await outside.read("b.txt")).toBe("b\n");
    expect(last(4)).toContain("a.txt");
    expect(last(4)).not.toContain("denied");
  });
});

import Anthropic from "@anthropic-ai/sdk";
import { tempWorkspace } from "@toolhaft/testing";
import OpenAI from "openai";
import { expect, it } from "vitest";
import { ask as askAnthropic } from "../anthropic/main.ts";
import { ask as askGoogle } from "../google/main.ts";
import { ask as askChat } from "../openai-chat/main.ts";
import { ask as askResponses } from "../openai-responses/main.ts";

const input = { filePath: "a.txt" };
const call = { name: "hashline_read", arguments: JSON.stringify(input) };

/** Answers the first request with a call, the next with a text, and keeps what it was sent. */
function scripted(first: unknown, then: unknown) {
  const bodies: string[] = [];
  const fetch = async (_url: unknown, init?: { body?: unknown }) => {
    bodies.push(String(init?.body));
    const answer = bodies.length === 1 ? first : then;
    return new Response(JSON.stringify(answer), { headers: { "content-type": "application/json" } });
  };
  return { bodies, fetch };
}

it("openai-chat: a model reads a file", async () => {
  await using workspace = await tempWorkspace({ "a.txt": "forty-two\n" });
  const reply = (message: object) => ({ choices: [{ index: 0, finish_reason: "stop", message }] });
  const { bodies, fetch } = scripted(
    reply({ role: "assistant", content: null, tool_calls: [{ id: "1", type: "function", function: call }] }),
    reply({ role: "assistant", content: "done" }),
  );
  const client = new OpenAI({ apiKey: "none", fetch });
  expect(await askChat(client, "m", "What is in a.txt?", workspace.directory)).toBe("done");
  expect(bodies[1]).toContain("forty-two");
});

it("openai-responses: a model reads a file, and a person says no to a write outside", async () => {
  await using workspace = await tempWorkspace({ "a.txt": "forty-two\n" });
  await using outside = await tempWorkspace({ "b.txt": "b\n" });
  const edit = { path: outside.path("b.txt"), old_content: "b", new_content: "c" };
  const { bodies, fetch } = scripted(
    {
      object: "response",
      output: [
        { type: "function_call", id: "f1", call_id: "1", ...call },
        { type: "function_call", id: "f2", call_id: "2", name: "edit_file", arguments: JSON.stringify(edit) },
      ],
    },
    {
      object: "response",
      output: [
        {
          type: "message",
          id: "m",
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", text: "done", annotations: [] }],
        },
      ],
    },
  );
  const asked: string[] = [];
  const answer = await askResponses(
    new OpenAI({ apiKey: "none", fetch }),
    "m",
    "Change b.txt",
    async (what) => {
      asked.push(what);
      return false;
    },
    workspace.directory,
  );
  expect(answer).toBe("done");
  expect(asked).toEqual([expect.stringContaining(outside.path("b.txt"))]);
  expect(bodies[1]).toContain("forty-two");
  expect(bodies[1]).toContain("refused by the user");
  expect(await outside.read("b.txt")).toBe("b\n");
});

it("anthropic: a model reads a file", async () => {
  await using workspace = await tempWorkspace({ "a.txt": "forty-two\n" });
  const reply = (stop_reason: string, content: object) => ({
    id: "m",
    type: "message",
    role: "assistant",
    model: "m",
    stop_reason,
    usage: { input_tokens: 1, output_tokens: 1 },
    content: [content],
  });
  const { bodies, fetch } = scripted(
    reply("tool_use", { type: "tool_use", id: "1", name: call.name, input }),
    reply("end_turn", { type: "text", text: "done" }),
  );
  const client = new Anthropic({ apiKey: "none", fetch });
  expect(await askAnthropic(client, "m", "What is in a.txt?", workspace.directory)).toBe("done");
  expect(bodies[1]).toContain("forty-two");
});

it("google: a model reads a file", async () => {
  await using workspace = await tempWorkspace({ "a.txt": "forty-two\n" });
  const bodies: string[] = [];
  const answer = await askGoogle(
    async (body) => {
      bodies.push(JSON.stringify(body));
      const part = bodies.length === 1 ? { functionCall: { name: call.name, args: input } } : { text: "done" };
      return { candidates: [{ content: { parts: [part] } }] };
    },
    "What is in a.txt?",
    workspace.directory,
  );
  expect(answer).toContain("done");
  expect(bodies[1]).toContain("forty-two");
});

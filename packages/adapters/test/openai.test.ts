import { fixtureTools } from "@toolhaft/testing/fixture-tools";
import { describe, expect, it } from "vitest";
import { type OpenAIChatResponse, runOpenAI, toOpenAI } from "../src/openai.ts";
import { many, shows, withRecord } from "./tools.ts";

const tools = fixtureTools({});
const chat = (...calls: { id: string; name: string; arguments: string }[]): OpenAIChatResponse => ({
  choices: [
    {
      message: {
        tool_calls: calls.map(({ id, ...called }) => ({ id, type: "function", function: called })),
      },
    },
  ],
});

describe("definitions", () => {
  it("strict-1: write strict out in both APIs, for one of them takes its absence as true", () => {
    expect(toOpenAI(tools, { api: "responses" }).map(({ strict }) => strict)).toEqual(tools.map(() => false));
    expect(toOpenAI(tools).map(({ function: { strict } }) => strict)).toEqual(tools.map(() => false));
  });

  it("strict-4: leave a tool that strict cannot say as it is, and tell it; the rest is strict", () => {
    const report: { tool: string; problem: string }[] = [];
    const made = toOpenAI([withRecord, ...tools], { strict: true, onReport: (rows) => void report.push(...rows) });
    expect(made.filter(({ function: { strict } }) => !strict).map((each) => each.function.name)).toEqual([
      "with_record",
    ]);
    expect(report).toEqual([{ tool: "with_record", problem: expect.stringContaining("labels") }]);
  });

  it("are strict for the tools that are named, and a name that is none is a mistake", () => {
    const made = toOpenAI(tools, { strict: ["defaults"], api: "responses" });
    expect(made.filter(({ strict }) => strict).map(({ name }) => name)).toEqual(["defaults"]);
    expect(made.find(({ name }) => name === "defaults")?.parameters).toMatchObject({
      required: ["owner", "priority", "ttl_secs", "paths"],
      additionalProperties: false,
    });
    expect(() => toOpenAI(tools, { strict: ["default"] })).toThrow(/there is no tool default; did you mean defaults/);
  });

  it("are at most 128, and more names the way out", () => {
    expect(toOpenAI(many(128))).toHaveLength(128);
    expect(() => toOpenAI(many(129))).toThrow(/129 tools.*at most 128.*@toolhaft\/meta/);
  });
});

describe("running the calls of a response", () => {
  it("strict-2: takes null for what is left out", async () => {
    const call = { id: "1", name: "defaults", arguments: '{"owner":"a","priority":null,"ttl_secs":null,"paths":null}' };
    expect((await runOpenAI(tools, chat(call))).items).toEqual([
      { role: "tool", tool_call_id: "1", content: "a for 600 s, no priority" },
    ]);
  });

  it("keeps order and ids of parallel calls, also where one fails", async () => {
    const calls = ["c", "a", "b"].map((id) => ({ id, name: "echo", arguments: JSON.stringify({ text: id }) }));
    const { items } = await runOpenAI(tools, chat(...calls, { id: "d", name: "fails", arguments: "" }));
    expect(items.map(({ tool_call_id, content }) => [tool_call_id, content.split("\n")[0]])).toEqual([
      ["c", "c"],
      ["a", "a"],
      ["b", "b"],
      ["d", "not_found: no pending task"],
    ]);
  });

  it("refuses arguments that were cut off, and never completes them", async () => {
    const { items, results } = await runOpenAI(tools, chat({ id: "1", name: "echo", arguments: '{"text":"abc' }));
    expect(items[0]?.content).toContain("invalid_input");
    expect(items[0]?.content).toContain("end after 12 characters");
    expect(results[0]?.result).toMatchObject({ ok: false, error: { code: "invalid_input" } });
  });

  it("answers a tool that is not there, so that the conversation can go on", async () => {
    const { items } = await runOpenAI(tools, chat({ id: "1", name: "ecko", arguments: "{}" }));
    expect(items[0]?.content).toBe('not_found: there is no tool "ecko"\nhint: did you mean echo?');
  });

  it("gives nothing for a response without calls, in both APIs", async () => {
    expect(await runOpenAI(tools, { choices: [{ message: {} }] })).toEqual({ items: [], results: [], questions: [] });
    expect((await runOpenAI(tools, { choices: [] })).items).toEqual([]);
    expect((await runOpenAI(tools, { output: [{ type: "message" }] })).items).toEqual([]);
  });

  it("approval-2: holds what a person must be asked, by call, and runs what is answered only", async () => {
    const paths = ["/elsewhere-of-tests/a", "/elsewhere-of-tests/b"];
    const response = chat(
      { id: "e", name: "echo", arguments: '{"text":"runs at once"}' },
      ...paths.map((path, index) => ({
        id: `w${index}`,
        name: "changes_files",
        arguments: JSON.stringify({ path }),
      })),
    );
    const first = await runOpenAI(tools, response, { approval: "host" });
    expect(first.items.map(({ content }) => content)).toEqual(["runs at once"]);
    expect(first.questions).toEqual(
      paths.map((path, index) => ({
        callId: `w${index}`,
        name: "changes_files",
        input: { path },
        effects: [{ permission: "file.write", resource: path }],
      })),
    );
    const second = await runOpenAI(tools, response, { approval: "host", answers: { w0: false } });
    expect(second.items).toEqual([
      {
        role: "tool",
        tool_call_id: "w0",
        content: "denied: the call of changes_files was refused by the user\nhint: do not repeat this call unchanged",
      },
    ]);
  });

  it("runs no call whose name is one of Object's own", async () => {
    const names = ["constructor", "__proto__", "toString"];
    const { items } = await runOpenAI(
      [shows("echo")],
      chat(...names.map((name) => ({ id: name, name, arguments: "{}" }))),
    );
    for (const { content } of items) expect(content).toContain("not_found");
  });
});

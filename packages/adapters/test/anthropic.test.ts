import { fixtureTools } from "@toolhaft/testing/fixture-tools";
import { expect, it } from "vitest";
import { runAnthropic, toAnthropic } from "../src/anthropic.ts";
import { many, withRecord } from "./tools.ts";

const tools = fixtureTools({});

it("strict-3: refuses more strict tools than one grammar takes, before any request, with both figures", () => {
  expect(() => toAnthropic(many(21), { strict: true })).toThrow(
    /21 strict tools with 0 optional parameters.*at most 20 and 24/,
  );
  expect(() => toAnthropic(many(2, 13), { strict: true })).toThrow(/2 strict tools with 26 optional parameters/);
  expect(toAnthropic(many(20), { strict: true }).every(({ strict }) => strict === true)).toBe(true);
  expect(toAnthropic(many(21), { strict: ["tool_0"] }).filter(({ strict }) => strict)).toHaveLength(1);
});

it("leaves a tool that strict cannot say as it is, and tells it", () => {
  const report: { tool: string }[] = [];
  const [made] = toAnthropic([withRecord], { strict: true, onReport: (rows) => void report.push(...rows) });
  expect(made).not.toHaveProperty("strict");
  expect(report.map(({ tool }) => tool)).toEqual(["with_record"]);
});

it("defers the tools that are named, and marks the last of the others for the cache", () => {
  const made = toAnthropic(tools, { defer: ["asks", "changes_files"], cache: true });
  expect(made.filter(({ defer_loading }) => defer_loading).map(({ name }) => name)).toEqual(["asks", "changes_files"]);
  expect(made.filter(({ cache_control }) => cache_control).map(({ name }) => name)).toEqual(["slow"]);
  expect(() => toAnthropic(tools, { defer: ["ask"] })).toThrow(/did you mean asks/);
  expect(toAnthropic([], { cache: true })).toEqual([]);
});

it("sends no key that was not asked for", () => {
  for (const made of toAnthropic(tools))
    expect(Object.keys(made)).toEqual(["type", "name", "description", "input_schema"]);
});

it("answers every call in one message, and gives none where nothing was called", async () => {
  const call = (id: string, text: string) => ({ type: "tool_use", id, name: "echo", input: { text } });
  const { messages } = await runAnthropic(tools, {
    content: [
      { type: "text" },
      call("1", "a"),
      call("2", "b"),
      { type: "tool_use", id: "3", name: "fails", input: {} },
    ],
  });
  expect(messages).toMatchObject([
    {
      role: "user",
      content: [
        { tool_use_id: "1", content: "a" },
        { tool_use_id: "2", content: "b" },
        { tool_use_id: "3", is_error: true },
      ],
    },
  ]);
  expect((await runAnthropic(tools, { content: [{ type: "text" }] })).messages).toEqual([]);
});

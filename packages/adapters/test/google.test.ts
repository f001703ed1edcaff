import { fixtureTools } from "@toolhaft/testing/fixture-tools";
import { expect, it } from "vitest";
import { z } from "zod";
import { runGemini, toGemini } from "../src/google.ts";
import { everyFamilyTool } from "./families.ts";
import { shows } from "./tools.ts";

const tools = fixtureTools({});
const refused = [
  "$schema",
  "$ref",
  "const",
  "oneOf",
  "additionalProperties",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "default",
  "pattern",
];

/** Keywords of a schema at every depth; names of properties are none. */
function keywordsOf(schema: unknown): string[] {
  if (Array.isArray(schema)) return schema.flatMap(keywordsOf);
  if (typeof schema !== "object" || schema === null) return [];
  return Object.entries(schema).flatMap(([key, value]) => [
    key,
    ...(key === "properties" ? Object.values(value as object).flatMap(keywordsOf) : keywordsOf(value)),
  ]);
}

it("gemini-1: sends no keyword that fails a whole request, for any tool of any family", async () => {
  const unknown: string[] = [];
  const declarations = toGemini([...tools, ...(await everyFamilyTool())], {
    onReport: (rows) => void unknown.push(...rows.map(({ tool }) => tool)),
  });
  for (const { name, parameters } of declarations)
    expect(
      keywordsOf(parameters).filter((key) => refused.includes(key)),
      name,
    ).toEqual([]);
  expect(declarations.length).toBeGreaterThan(unknown.length);
  expect(declarations.find(({ name }) => name === "defaults")?.parameters).toMatchObject({
    properties: { ttl_secs: { description: expect.stringContaining("600") } },
  });
});

it("gemini-2: says nullable the one way that is understood", () => {
  const [made] = toGemini([shows("one", { level: z.enum(["a", "b"]).nullable().describe("Level") })]);
  expect(made?.parameters).toMatchObject({
    properties: { level: { type: "string", enum: ["a", "b"], nullable: true } },
  });
});

it("leaves parameters out where there are none: an empty object is refused", () => {
  expect(toGemini([shows("one")])).toEqual([{ name: "one", description: expect.any(String) }]);
});

it("refuses a tool that cannot be said, unless somebody wants to be told", () => {
  const odd = shows("odd", { value: z.unknown().describe("Anything at all") });
  expect(() => toGemini([odd, ...tools])).toThrow(/Gemini cannot take odd .*onReport/);
  const rows: string[] = [];
  expect(
    toGemini([odd, ...tools], { onReport: (given) => void rows.push(...given.map(({ tool }) => tool)) }),
  ).toHaveLength(tools.length);
  expect(rows).toEqual(["odd"]);
});

it("carries ids where the response has them, and knows calls by position where it has none", async () => {
  const part = (text: string, id?: string) => ({ functionCall: { ...(id && { id }), name: "echo", args: { text } } });
  const response = { candidates: [{ content: { parts: [part("a", "x"), part("b")] } }] };
  const { contents, results } = await runGemini(tools, response);
  expect(contents).toEqual([
    {
      role: "user",
      parts: [
        { functionResponse: { id: "x", name: "echo", response: { output: "a" } } },
        { functionResponse: { name: "echo", response: { output: "b" } } },
      ],
    },
  ]);
  expect(results.map(({ callId }) => callId)).toEqual(["x", "echo#1"]);
  expect((await runGemini(tools, {})).contents).toEqual([]);
});

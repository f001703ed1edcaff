import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type AnyTool, defineTool } from "../src/index.ts";
import { defaults, echo, reads } from "./fixture-tools.ts";

function tool(shape: z.ZodRawShape): AnyTool {
  return defineTool({
    name: "probe",
    title: "Probe",
    description: "Takes what it is given, for tests of inputs.",
    inputSchema: z.object(shape),
    outputSchema: z.object({}),
    annotations: reads,
    maxSchemaTokens: 4_000,
    execute: async () => ({}),
    render: () => "",
  }) as AnyTool;
}

const d = "d";
const paths = tool({ paths: z.array(z.string()).describe(d) });

/** The input that was read, or the message of the refusal. */
function read(of: AnyTool, raw: unknown): unknown {
  const parsed = of.parse(raw);
  return parsed.ok ? parsed.input : parsed.error.message;
}

describe("repair", () => {
  it.each([
    ["null for an optional field", { a: z.string().optional() }, { a: null }, {}, ["a"]],
    ["null for a defaulted field", { a: z.int().default(5) }, { a: null }, { a: 5 }, ["a"]],
    ["input-1: array as a string", { a: z.array(z.string()) }, { a: '["x","y"]' }, { a: ["x", "y"] }, ["a"]],
    ["object as a string", { a: z.object({ b: z.int().describe(d) }) }, { a: ' {"b":1} ' }, { a: { b: 1 } }, ["a"]],
    ["number as a string", { a: z.number() }, { a: "-3.5" }, { a: -3.5 }, ["a"]],
    ["input-2: integer as a string", { a: z.int() }, { a: "60" }, { a: 60 }, ["a"]],
    ["boolean as a string", { a: z.boolean() }, { a: "true" }, { a: true }, ["a"]],
    [
      "nested in items",
      { a: z.array(z.object({ n: z.int().describe(d) })) },
      { a: [{ n: "1" }, { n: 2 }] },
      { a: [{ n: 1 }, { n: 2 }] },
      ["a[0].n"],
    ],
    ["inside what was repaired", { a: z.array(z.int()) }, { a: '["1",2]' }, { a: [1, 2] }, ["a", "a[0]"]],
  ])("%s", (_title, shape, raw, input, repaired) => {
    const described = Object.fromEntries(
      Object.entries(shape).map(([name, schema]) => [name, (schema as z.ZodType).describe(d)]),
    );
    expect(tool(described).parse(raw)).toEqual({ ok: true, input, repaired });
  });

  it("the whole input as a string", () => {
    expect(echo.parse('{"text":"a"}')).toEqual({ ok: true, input: { text: "a" }, repaired: ["(root)"] });
  });
  it("only one level of it", () => {
    expect(echo.parse(JSON.stringify('{"text":"a"}')).ok).toBe(false);
  });

  it.each([
    ["null for a required field", { a: z.string() }, { a: null }],
    ["input-2: a number with a unit", { a: z.int() }, { a: "60s" }],
    ["blanks around a number", { a: z.number() }, { a: " 12 " }],
    ["a fraction for an integer", { a: z.int() }, { a: "1.5" }],
    ["an integer too big to be exact", { a: z.int() }, { a: "12345678901234567890" }],
    ["hexadecimal", { a: z.number() }, { a: "0x10" }],
    ["True", { a: z.boolean() }, { a: "True" }],
    ["1 for true", { a: z.boolean() }, { a: 1 }],
    ["an empty string for a number", { a: z.number() }, { a: "" }],
    ["an object where an array is wanted", { a: z.array(z.string()) }, { a: '{"0":"x"}' }],
    ["one string for an array", { a: z.array(z.string()) }, { a: "x" }],
    ["a number for a string", { a: z.string() }, { a: 12 }],
    ["input-6: an object for a string", { a: z.string() }, { a: { b: 1 } }],
  ])("is not made: %s", (_title, shape, raw) => {
    const described = Object.fromEntries(
      Object.entries(shape).map(([name, schema]) => [name, (schema as z.ZodType).describe(d)]),
    );
    const parsed = tool(described).parse(raw);
    expect(parsed).toMatchObject({ ok: false, error: { code: "invalid_input" } });
    expect(parsed.ok || parsed.error.message).toMatch(/^a: /);
  });

  it("input-6: a string that looks like JSON stays a string", () => {
    expect(read(echo, { text: '{"a":1}' })).toEqual({ text: '{"a":1}' });
  });
  it("input-7: nothing is repaired where the plain input is valid", () => {
    expect(tool({ text: z.union([z.string(), z.number()]).describe(d) }).parse({ text: "12" })).toEqual({
      ok: true,
      input: { text: "12" },
      repaired: [],
    });
  });
  it("one string for an array shows the form", () => {
    expect(read(paths, { paths: "src" })).toBe('paths: expected an array, received a string; write ["…"]');
  });
  it("a failing repair gives the issues of the original input", () => {
    const both = tool({ a: z.int().max(5).describe(d), b: z.boolean().describe(d) });
    expect(read(both, { a: "60", b: true })).toBe("a: expected an integer, received a string");
  });
  it("null that the field allows is kept", () => {
    expect(tool({ a: z.string().nullable().optional().describe(d) }).parse({ a: null })).toEqual({
      ok: true,
      input: { a: null },
      repaired: [],
    });
  });

  it("is idempotent, and parsing what was parsed changes nothing (property)", () => {
    const wide = tool({
      n: z.int().min(-5).max(500).optional().describe(d),
      flag: z.boolean().default(false).describe(d),
      list: z
        .array(z.union([z.string(), z.number()]))
        .optional()
        .describe(d),
      inner: z
        .object({ x: z.number().optional().describe(d), tags: z.array(z.string()).optional().describe(d) })
        .optional()
        .describe(d),
    });
    const messy = fc.record(
      {
        n: fc.oneof(fc.integer(), fc.integer().map(String), fc.constant(null), fc.string()),
        flag: fc.constantFrom(true, "true", "false", null, "no"),
        list: fc.oneof(
          fc.array(fc.oneof(fc.string(), fc.integer())),
          fc.array(fc.integer()).map((list) => JSON.stringify(list)),
          fc.constant(null),
        ),
        inner: fc.oneof(
          fc.constant({}),
          fc.constant('{"x":"1"}'),
          fc.record({ x: fc.constantFrom("1", 2, null), tags: fc.constantFrom('["a"]', ["b"]) }),
        ),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(messy, (raw) => {
        const first = wide.parse(raw);
        fc.pre(first.ok);
        const input = first.ok ? first.input : undefined;
        expect(wide.parse(input)).toEqual({ ok: true, input, repaired: [] });
      }),
    );
  });
});

describe("unknown keys", () => {
  const deep = tool({
    dry_run: z.boolean().default(false).describe(d),
    edits: z
      .array(
        z.discriminatedUnion("op", [
          z.object({ op: z.literal("set").describe(d), value: z.string().describe(d) }),
          z.object({ op: z.literal("cut").describe(d), count: z.int().describe(d) }),
        ]),
      )
      .optional()
      .describe(d),
    a: z
      .object({
        b: z
          .object({ wanted: z.string().optional().describe(d) })
          .optional()
          .describe(d),
      })
      .optional()
      .describe(d),
    either: z
      .union([z.string(), z.object({ place: z.string().describe(d) })])
      .optional()
      .describe(d),
    map: z
      .record(z.string(), z.object({ count: z.int().describe(d) }))
      .optional()
      .describe(d),
  });

  it.each([
    [
      "input-3: depth 1",
      { dryRun: true },
      "unknown key dryRun: did you mean dry_run? (allowed: dry_run, edits, a, either, map)",
    ],
    ["depth 3", { a: { b: { wnted: "x" } } }, "unknown key a.b.wnted: did you mean wanted? (allowed: wanted)"],
    [
      "an array item",
      {
        edits: [
          { op: "set", value: "x" },
          { op: "set", value: "x", valu: "y" },
        ],
      },
      "unknown key edits[1].valu: did you mean value? (allowed: op, value)",
    ],
    [
      "a key of another branch",
      { edits: [{ op: "cut", count: 1, value: "x" }] },
      "unknown key edits[0].value (allowed: op, count)",
    ],
    [
      "a union with a string",
      { either: { place: "x", plaec: 1 } },
      "unknown key either.plaec: did you mean place? (allowed: place)",
    ],
    [
      "a record's value",
      { map: { any: { count: 1, cuont: 2 } } },
      "unknown key map.any.cuont: did you mean count? (allowed: count)",
    ],
  ])("%s", (_title, raw, message) => expect(read(deep, raw)).toBe(message));

  it("any key of a record is taken, but none that reaches prototypes", () => {
    expect(deep.parse({ map: { free: { count: 1 } } }).ok).toBe(true);
    expect(read(deep, JSON.parse('{"map":{"constructor":{"count":1}}}'))).toContain("unknown key map.constructor");
  });
  it("inside a repaired string", () => {
    expect(read(deep, { a: '{"b":{"wnted":"x"}}' })).toContain("unknown key a.b.wnted: did you mean wanted?");
  });
  it("input-5: prototype keys are refused and pollute nothing", () => {
    expect(read(echo, '{"__proto__":{"x":1},"text":"a"}')).toContain("unknown key __proto__");
    expect(read(echo, JSON.parse('{"__proto__":{"x":1},"text":"a"}'))).toContain("unknown key __proto__");
    expect(({} as { x?: number }).x).toBeUndefined();
  });
  it("schema-7: a wrong op lists the allowed ones", () => {
    expect(read(deep, { edits: [{ op: "put", value: "x" }] })).toBe('edits[0].op: "put" is none of "set", "cut"');
  });
});

describe("cut JSON", () => {
  it.each(['{"text":"abc', '{"text":"a\\"', '{"text":', "{", '{"text":["a",', '{"a":{"b":1}'])(
    "input-4: %j is refused, never completed",
    (raw) => {
      const parsed = echo.parse(raw);
      expect(parsed).toMatchObject({
        ok: false,
        error: {
          code: "invalid_input",
          message: `the arguments end after ${raw.length} characters, in the middle of the JSON`,
          hint: "send less, or split the call",
        },
      });
    },
  );
  it("inside a field", () => {
    expect(read(paths, { paths: '["a","b' })).toBe(
      "paths: the JSON text ends after 7 characters, in the middle; send less, or split the call",
    );
  });
  it("text that is no JSON at all is not called cut", () => {
    expect(read(echo, "hello")).toBe("expected an object, received a string");
    expect(read(echo, '{"text":}')).toBe("expected an object, received a string");
  });
});

describe("bad input", () => {
  const cyclic: Record<string, unknown> = { text: "a" };
  cyclic.self = cyclic;
  const deep = (levels: number): unknown => JSON.parse(`${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`);
  const any = tool({ value: z.unknown().describe(d), map: z.record(z.string(), z.unknown()).optional().describe(d) });
  const throwing = {
    get text(): string {
      throw new Error("no");
    },
  };

  it.each([
    ["undefined", undefined],
    ["null", null],
    ["a number", 7],
    ["an array", ["text"]],
    ["a function", () => 1],
    ["a cyclic object", cyclic],
    ["50 MB of text", "x".repeat(50 * 1024 * 1024)],
    ["50 MB of cut JSON", `{"text":"${"x".repeat(50 * 1024 * 1024)}`],
    ["prototype keys", JSON.parse('{"__proto__":{}}')],
    ["200 levels", deep(200)],
    ["a getter that throws", throwing],
    ["a symbol", Symbol("x")],
    ["a bigint", 1n],
  ])("%s is invalid_input", (_title, raw) => {
    expect(echo.parse(raw)).toMatchObject({ ok: false, error: { code: "invalid_input", retryable: false } });
  });

  it.each([
    ["200 levels", { value: deep(200) }],
    ["a cycle", { value: cyclic }],
    ["a function", { value: () => 1 }],
    ["NaN", { value: Number.NaN }],
    ["a class instance", { value: new Date() }],
    ["a promise", { map: { a: Promise.resolve(1) } }],
  ])("%s where any value is allowed", (_title, raw) => {
    expect(any.parse(raw)).toMatchObject({ ok: false, error: { code: "invalid_input" } });
  });
  it("deep enough is deep", () => expect(any.parse({ value: deep(90) }).ok).toBe(true));

  it("100,000 unknown keys give ten issues and a count", () => {
    const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`key${index}`, 1]));
    const parsed = echo.parse(many);
    expect(parsed).toMatchObject({ ok: false, error: { details: { count: 100_001 } } });
    expect(parsed.ok || (parsed.error.details?.issues as unknown[])).toHaveLength(10);
  });

  it("a message repeats no value but numbers, booleans and short enum misses", () => {
    expect(read(defaults, { owner: { secret: "hunter2hunter2" } })).not.toContain("hunter2");
    expect(read(defaults, { owner: "a", priority: "critical" })).toBe('priority: "critical" is none of "low", "high"');
    expect(read(defaults, { owner: "a", priority: "x".repeat(41) })).toBe(
      'priority: the value is none of "low", "high"',
    );
    const secret = `ghp_${"a1".repeat(18)}`;
    expect(read(defaults, { owner: "a", priority: secret })).toBe(
      'priority: "[secret: github token]" is none of "low", "high"',
    );
    expect(read(defaults, { owner: "a", ttl_secs: 0 })).toBe("ttl_secs: 0 is below the least allowed, 1");
    const refined = tool({
      code: z
        .string()
        .refine((text) => text === "x", { error: (issue) => `bad code ${String(issue.input)}` })
        .describe(d),
    });
    expect(read(refined, { code: "hunter2hunter2" })).toBe("code: bad code …");
  });

  it("a validator that answers with a promise is internal and named", () => {
    const later = tool({
      a: z
        .string()
        .refine(async () => true)
        .describe(d),
    });
    expect(later.parse({ a: "x" })).toMatchObject({
      ok: false,
      error: {
        code: "internal",
        message: "probe: its validator answers with a promise; validation must be synchronous",
      },
    });
  });
});

import { transformJSONSchema } from "@anthropic-ai/sdk/lib/transform-json-schema";
import { arbitraryOf } from "@toolhaft/testing";
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import fc from "fast-check";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import {
  type AnyTool,
  defineTool,
  estimateTokens,
  foreignTool,
  fromProfile,
  type JsonSchema,
  type Profile,
  profileReport,
  profiles,
  standardInput,
  ToolError,
  type ToolSchema,
  toJsonSchema,
} from "../src/index.ts";
import { withNulls } from "../src/profiles.ts";
import { defaults, reads } from "./fixture-tools.ts";

const d = "d";

function tool(input: z.ZodRawShape | ToolSchema, name = "probe"): AnyTool {
  return defineTool({
    name,
    title: "Probe",
    description: "Holds a schema that tests look at.",
    inputSchema: "~standard" in input ? (input as ToolSchema) : z.object(input as z.ZodRawShape),
    outputSchema: z.object({}),
    annotations: reads,
    maxSchemaTokens: 10_000,
    execute: async () => ({}),
    render: () => "",
  }) as AnyTool;
}

/** The schema of one property `x` under a profile. */
function property(schema: z.ZodType, profile: Profile = "mcp"): JsonSchema {
  return (toJsonSchema(tool({ x: schema.describe(d) }), profile).properties as { x: JsonSchema }).x;
}

function refusal(of: AnyTool, profile: Profile): string {
  try {
    toJsonSchema(of, profile);
    return "accepted";
  } catch (error) {
    if (error instanceof ToolError && error.code === "unsupported") return error.message;
    throw error;
  }
}

describe("the eleven pitfalls", () => {
  it("1: schema-1: a default leaves the field optional", async () => {
    expect(toJsonSchema(defaults as AnyTool, "mcp")).toMatchObject({
      required: ["owner"],
      properties: { ttl_secs: { default: 600 } },
    });
    expect(await defaults.call({ owner: "a" })).toMatchObject({ ok: true, data: { ttl_secs: 600 } });
  });
  it("2: one enum used twice is inlined, each with its own description", () => {
    const level = z.enum(["low", "high"]).meta({ id: "Level" });
    const schema = toJsonSchema(tool({ a: level.describe("one"), b: level.describe("two") }), "mcp");
    expect(schema.properties).toEqual({
      a: { type: "string", description: "one", enum: ["low", "high"] },
      b: { type: "string", description: "two", enum: ["low", "high"] },
    });
    expect(JSON.stringify(schema)).not.toMatch(/\$ref|\$defs/);
  });
  it("3: schema-6: a plain integer has no giant bounds", () =>
    expect(property(z.number().int())).toEqual({ type: "integer", description: d }));
  it("4: schema-3: a positive integer is minimum 1, under every profile without exclusiveMinimum", () => {
    const positive = z.number().int().positive().max(500);
    expect(property(positive)).toEqual({ type: "integer", description: d, minimum: 1, maximum: 500 });
    for (const profile of profiles)
      expect(JSON.stringify(property(positive, profile))).not.toContain("exclusiveMinimum");
    expect(property(z.number().positive())).toEqual({ type: "number", description: d, exclusiveMinimum: 0 });
    expect(property(z.number().positive(), "gemini")).toEqual({ type: "number", description: "d (more than 0)" });
  });
  it("5: formats come without their long patterns, and core still checks the full rule", () => {
    for (const [schema, format] of [
      [z.email(), "email"],
      [z.uuid(), "uuid"],
      [z.iso.datetime(), "date-time"],
      [z.ipv4(), "ipv4"],
    ] as const) {
      expect(property(schema)).toEqual({ type: "string", description: d, format });
    }
    expect(property(z.string().startsWith("a"))).toEqual({ type: "string", description: d, pattern: "^a.*" });
    expect(tool({ x: z.email().describe(d) }).parse({ x: "a@b" }).ok).toBe(false);
  });
  it("6: records have no propertyNames", () => {
    expect(property(z.record(z.string(), z.number()))).toEqual({
      type: "object",
      description: d,
      additionalProperties: { type: "number" },
    });
    expect(property(z.record(z.string(), z.unknown()))).toEqual({
      type: "object",
      description: d,
      additionalProperties: true,
    });
    expect(property(z.record(z.enum(["a", "b"]), z.number().describe("n")))).toEqual({
      type: "object",
      description: d,
      properties: { a: { type: "number", description: "n" }, b: { type: "number", description: "n" } },
      required: ["a", "b"],
      additionalProperties: false,
    } as never);
  });
  it("7: schema-7: discriminated unions are anyOf with a const per branch", () => {
    const op = (name: string) => z.object({ op: z.literal(name).describe("op") });
    const schema = property(z.array(z.discriminatedUnion("op", [op("set"), op("cut")])));
    expect(schema.items).toEqual({
      anyOf: ["set", "cut"].map((name) => ({
        type: "object",
        properties: { op: { type: "string", description: "op", const: name } },
        required: ["op"],
        additionalProperties: false,
      })),
    });
    expect(JSON.stringify(schema)).not.toContain("oneOf");
  });
  it("8: nullable by one rule", () => {
    expect(property(z.string().nullable())).toEqual({ type: ["string", "null"], description: d });
    expect(property(z.enum(["a", "b"]).nullable())).toEqual({
      type: ["string", "null"],
      description: d,
      enum: ["a", "b", null],
    });
    expect(property(z.array(z.string()).nullable())).toEqual({
      description: d,
      anyOf: [{ type: "array", items: { type: "string" } }, { type: "null" }],
    });
    expect(property(z.string().nullable(), "gemini")).toEqual({ type: "string", description: d, nullable: true });
    expect(property(z.array(z.string()).nullable(), "gemini")).toEqual({
      type: "array",
      description: d,
      nullable: true,
      items: { type: "string" },
    });
  });
  it("gemini-2: a nullable enum", () =>
    expect(property(z.enum(["a", "b"]).nullable(), "gemini")).toEqual({
      type: "string",
      description: d,
      nullable: true,
      enum: ["a", "b"],
    }));
  it("10: schema-2: no parameters", () => {
    expect(JSON.stringify(toJsonSchema(tool({}), "mcp"))).toBe(
      '{"type":"object","properties":{},"additionalProperties":false}',
    );
  });
  it("11: only the two dialects carry $schema, and their bodies are equal", () => {
    for (const profile of profiles)
      expect("$schema" in toJsonSchema(defaults as AnyTool, profile)).toBe(
        profile === "draft-07" || profile === "2020-12",
      );
    const { $schema: _, ...draft07 } = toJsonSchema(defaults as AnyTool, "draft-07");
    const { $schema: __, ...draft2020 } = toJsonSchema(defaults as AnyTool, "2020-12");
    expect(draft07).toEqual(draft2020);
  });
});

/** A schema with something of everything that a strict grammar or a narrow dialect treats in its own way. */
const rich = tool({
  name: z
    .string()
    .min(2)
    .max(40)
    .regex(/^[a-z]+$/)
    .describe("name"),
  site: z.url().optional().describe("site"),
  when: z.iso.datetime().nullable().describe("when"),
  count: z.int().min(1).max(9).default(3).describe("count"),
  ratio: z.number().gt(0).lt(1).optional().describe("ratio"),
  step: z.int().multipleOf(5).optional().describe("step"),
  mode: z.literal("fast").optional().describe("mode"),
  level: z
    .union([z.literal(1), z.literal(2)])
    .optional()
    .describe("level"),
  tags: z.array(z.string()).min(2).max(5).optional().describe("tags"),
  where: z
    .union([z.string(), z.array(z.string())])
    .optional()
    .describe("where"),
  edits: z
    .array(
      z.discriminatedUnion("op", [
        z.object({ op: z.literal("set").describe("op"), to: z.string().optional().describe("to") }),
        z.object({ op: z.literal("cut").describe("op"), n: z.int().describe("n") }),
      ]),
    )
    .optional()
    .describe("edits"),
  deep: z
    .object({
      a: z.object({ b: z.string().nullable().describe("b"), c: z.string().optional().describe("c") }).describe("a"),
    })
    .optional()
    .describe("deep"),
});

/** Every keyword of a schema and what is inside it. */
function keywords(schema: unknown, found = new Set<string>()): Set<string> {
  if (Array.isArray(schema)) for (const part of schema) keywords(part, found);
  else if (typeof schema === "object" && schema !== null) {
    for (const [keyword, value] of Object.entries(schema)) {
      found.add(keyword);
      if (keyword === "properties") for (const inner of Object.values(value as object)) keywords(inner, found);
      else if (keyword !== "enum" && keyword !== "default" && keyword !== "const") keywords(value, found);
    }
  }
  return found;
}

describe("openai-strict", () => {
  const strict = toJsonSchema(rich, "openai-strict") as { properties: Record<string, JsonSchema>; required: string[] };
  it("requires every key, and what may be left out may be null", () => {
    expect(strict.required).toEqual(Object.keys(strict.properties));
    expect(strict.properties.name?.type).toBe("string");
    expect(strict.properties.count).toEqual({
      type: ["integer", "null"],
      description: "count (default 3)",
      minimum: 1,
      maximum: 9,
    });
    expect(strict.properties.mode).toEqual({ type: ["string", "null"], description: "mode", enum: ["fast", null] });
    expect(strict.properties.where).toEqual({
      description: "where",
      anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }, { type: "null" }],
    });
  });
  it("moves what its grammar does not know into the description", () => {
    expect(strict.properties.name).toEqual({
      type: "string",
      description: "name (at least 2 characters; at most 40 characters)",
      pattern: "^[a-z]+$",
    });
    expect(strict.properties.site).toEqual({ type: ["string", "null"], description: "site (format uri)" });
    for (const keyword of [
      "default",
      "minLength",
      "maxLength",
      "uniqueItems",
      "oneOf",
      "allOf",
      "not",
      "propertyNames",
    ])
      expect(keywords(strict)).not.toContain(keyword);
  });
  it.each([
    [
      "strict-4: a record",
      { x: z.record(z.string(), z.string()).describe(d) },
      "probe: x: a record with free keys cannot be said in openai-strict; use an array of { key, value } objects",
    ],
    [
      "a value of any type",
      { x: z.unknown().describe(d) },
      "probe: x: a value of any type cannot be said in openai-strict; name its type",
    ],
    [
      "items of any type",
      { x: z.array(z.unknown()).describe(d) },
      "probe: x[]: a value of any type cannot be said in openai-strict; name its type",
    ],
    [
      "a loose object",
      { x: z.looseObject({ a: z.string().describe(d) }).describe(d) },
      "probe: x: a record with free keys cannot be said in openai-strict",
    ],
  ])("cannot say %s", (_title, shape, message) => expect(refusal(tool(shape), "openai-strict")).toContain(message));
  it("cannot say more than five levels or 100 properties", () => {
    const nested = (levels: number): z.ZodType =>
      levels === 0 ? z.string().describe(d) : z.object({ a: nested(levels - 1) }).describe(d);
    expect(refusal(tool({ x: nested(4) }), "openai-strict")).toBe("accepted");
    expect(refusal(tool({ x: nested(5) }), "openai-strict")).toContain(
      "it is nested 6 levels deep, and openai-strict takes at most 5",
    );
    const wide = (count: number) =>
      tool(Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, z.string().describe(d)])));
    expect(refusal(wide(100), "openai-strict")).toBe("accepted");
    expect(refusal(wide(101), "openai-strict")).toContain("it has 101 properties, and openai-strict takes at most 100");
  });
  it("strict-2: null that stands for absent is removed again", () => {
    const raw = { owner: "a", priority: null, ttl_secs: null };
    expect(fromProfile(defaults as AnyTool, "openai-strict", raw)).toEqual({ owner: "a" });
    expect(defaults.parse(fromProfile(defaults as AnyTool, "openai-strict", raw))).toEqual({
      ok: true,
      input: { owner: "a", ttl_secs: 600 },
      repaired: [],
    });
  });
  it("a strict input parses to the same as the plain one (property)", () => {
    const base = toJsonSchema(rich, "mcp");
    fc.assert(
      fc.property(arbitraryOf(base), (plain) => {
        const parsed = rich.parse(plain);
        fc.pre(parsed.ok);
        const undone = fromProfile(rich, "openai-strict", withNulls(base, plain));
        expect(rich.parse(undone)).toEqual(parsed);
      }),
    );
  });
  it("is what the SDK's own check lets through", async () => {
    const { standardFunction } = await import("openai/helpers/standard-schema");
    const parameters = {
      "~standard": {
        ...standardInput(rich)["~standard"],
        jsonSchema: { input: () => ({ ...strict }), output: () => ({ ...strict }) },
      },
    };
    const made = standardFunction({ name: "probe", parameters: parameters as never, function: () => "" }) as {
      function?: { parameters: unknown; strict: boolean };
    };
    const definition =
      made.function ?? (made as unknown as { $tool: { function: { parameters: unknown; strict: boolean } } });
    expect(
      JSON.parse(
        JSON.stringify(
          (definition as { parameters?: unknown }).parameters ??
            (made as { function: { parameters: unknown } }).function.parameters,
        ),
      ),
    ).toEqual(JSON.parse(JSON.stringify(strict)));
  });
});

describe("anthropic-strict", () => {
  it("is what the SDK's own transform leaves as it is", () => {
    const strict = toJsonSchema(rich, "anthropic-strict");
    // Beside literals the SDK drops the type that they imply.
    const withoutImplied = (schema: unknown): unknown => {
      if (Array.isArray(schema)) return schema.map(withoutImplied);
      if (typeof schema !== "object" || schema === null) return schema;
      const entries = Object.entries(schema).filter(
        ([keyword]) => !(keyword === "type" && ("enum" in schema || "const" in schema)),
      );
      return Object.fromEntries(entries.map(([keyword, value]) => [keyword, withoutImplied(value)]));
    };
    expect(transformJSONSchema(strict as never)).toEqual(withoutImplied(strict));
  });
  it("tells bounds in words, and keeps minItems of 0 and 1", () => {
    expect(property(z.array(z.string()).min(1).max(5), "anthropic-strict")).toEqual({
      type: "array",
      description: "d (at most 5 items)",
      items: { type: "string" },
      minItems: 1,
    });
    expect(property(z.array(z.string()).min(2), "anthropic-strict")).toEqual({
      type: "array",
      description: "d (at least 2 items)",
      items: { type: "string" },
    });
  });
  it("strict-3: 21 tools, or 25 optional parameters between two, are reported with both figures", () => {
    const many = Array.from({ length: 21 }, (_, index) => tool({}, `t${index}`));
    expect(profileReport(many, "anthropic-strict")).toEqual([
      { tool: "(all)", problem: "21 strict tools with 0 optional parameters; one request takes at most 20 and 24" },
    ]);
    expect(profileReport(many.slice(1), "anthropic-strict")).toEqual([]);
    const optional = (count: number, name: string) =>
      tool(
        Object.fromEntries(
          Array.from({ length: count }, (_, index) => [`p${index}`, z.string().optional().describe(d)]),
        ),
        name,
      );
    expect(profileReport([optional(12, "a"), optional(12, "b")], "anthropic-strict")).toEqual([]);
    expect(profileReport([optional(12, "a"), optional(13, "b")], "anthropic-strict")).toEqual([
      { tool: "(all)", problem: "2 strict tools with 25 optional parameters; one request takes at most 20 and 24" },
    ]);
  });
});

describe("gemini", () => {
  it("gemini-1: holds none of the keywords that fail a request, and tells in words what was dropped", () => {
    const schema = toJsonSchema(rich, "gemini") as { properties: Record<string, JsonSchema> };
    const allowed = [
      "type",
      "description",
      "nullable",
      "enum",
      "format",
      "properties",
      "required",
      "items",
      "minItems",
      "maxItems",
      "minimum",
      "maximum",
      "minLength",
      "maxLength",
      "anyOf",
    ];
    expect([...keywords(schema)].filter((keyword) => !allowed.includes(keyword))).toEqual([]);
    expect(schema.properties).toMatchObject({
      name: { description: "name (matches ^[a-z]+$)", minLength: 2 },
      site: { description: "site (format uri)" },
      when: { type: "string", format: "date-time", nullable: true },
      count: { description: "count (default 3)" },
      ratio: { description: "ratio (more than 0; less than 1)" },
      step: { description: "step (a multiple of 5)" },
      mode: { type: "string", enum: ["fast"] },
      level: { type: "number", description: "level (one of 1, 2)" },
    });
    expect(property(z.record(z.string(), z.number()), "gemini")).toEqual({
      type: "object",
      description: "d (any keys, each value number)",
    });
  });
  it.each([
    [
      "a value of any type",
      { x: z.unknown().describe(d) },
      "probe: x: a value of any type cannot be said in gemini; name its type",
    ],
    [
      "items that may be arrays",
      { x: z.array(z.union([z.string(), z.array(z.string())])).describe(d) },
      "probe: x[]: array items that may themselves be arrays cannot be said in gemini; use objects",
    ],
    ["null alone", { x: z.null().describe(d) }, "probe: x: null alone cannot be said in gemini; leave the field out"],
  ])("cannot say %s", (_title, shape, message) => expect(refusal(tool(shape), "gemini")).toBe(message));
});

describe("other libraries", () => {
  const ark = type({
    owner: type("string >= 1").describe("owner"),
    "count?": type("number.integer >= 1").describe("count"),
    "mode?": type("'fast' | 'slow'").describe("mode"),
  });
  const valibot = toStandardJsonSchema(
    v.object({
      owner: v.pipe(v.string(), v.minLength(1), v.description("owner")),
      count: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.description("count"))),
      mode: v.optional(v.pipe(v.picklist(["fast", "slow"]), v.description("mode"))),
    }),
  );
  it.each([
    ["ArkType", ark as unknown as ToolSchema],
    ["Valibot", valibot as unknown as ToolSchema],
  ])("%s gives the same schema, the same repairs and the same errors", (_name, schema) => {
    const made = tool(schema);
    expect(toJsonSchema(made, "mcp")).toMatchObject({
      type: "object",
      required: ["owner"],
      additionalProperties: false,
      properties: {
        owner: { type: "string" },
        count: { type: "integer", minimum: 1 },
        mode: { type: "string", enum: ["fast", "slow"] },
      },
    });
    expect(made.parse({ owner: "a", count: "7", mode: null })).toEqual({
      ok: true,
      input: { owner: "a", count: 7 },
      repaired: ["count", "mode"],
    });
    // not said to models, and checked all the same
    expect(JSON.stringify(toJsonSchema(made, "mcp"))).not.toContain("minLength");
    expect(made.parse({ owner: "" })).toMatchObject({ ok: false, error: { message: "owner: must not be empty" } });
    expect(made.parse({ owner: "a", cuont: 7 })).toMatchObject({
      ok: false,
      error: { message: "unknown key cuont: did you mean count? (allowed: owner, count, mode)" },
    });
    expect(made.parse({ owner: 5 })).toMatchObject({
      ok: false,
      error: { message: "owner: expected a string, received a number 5" },
    });
    expect(JSON.stringify(made.parse({ owner: { secret: "hunter2hunter2" } }))).not.toContain("hunter2");
  });
  it("a hidden coercion of any library is found by trying", () => {
    const shown = { type: "object", properties: { n: { type: "number", description: d } }, required: ["n"] };
    const coercing = {
      "~standard": {
        version: 1,
        vendor: "other",
        validate: (value: unknown) => ({ value: { n: Number((value as { n: unknown }).n) } }),
        jsonSchema: { input: () => shown, output: () => shown },
      },
    };
    expect(() => tool(coercing as unknown as ToolSchema)).toThrow(
      "inputSchema n: it takes a string where it shows number; write the type that is really taken",
    );
  });
});

describe("standardInput", () => {
  const standard = standardInput(defaults as AnyTool)["~standard"];
  it("is a Standard Schema with our schema, defaults and repair", () => {
    expect(standard.vendor).toBe("toolhaft");
    expect(standard.jsonSchema.input({ target: "draft-07" })).toEqual(toJsonSchema(defaults as AnyTool, "draft-07"));
    expect(standard.jsonSchema.input({ target: "draft-2020-12" })).toEqual(
      toJsonSchema(defaults as AnyTool, "2020-12"),
    );
    expect(standard.validate({ owner: "a", ttl_secs: "60" })).toEqual({ value: { owner: "a", ttl_secs: 60 } });
    expect(standard.validate({})).toEqual({ issues: [{ message: "owner: is required (string)" }] });
    expect(() => standard.jsonSchema.input({ target: "openapi-3.0" })).toThrow(TypeError);
  });
});

describe("foreignTool", () => {
  const schema: JsonSchema = {
    type: "object",
    properties: { path: { type: "string" }, n: { type: "integer" } },
    required: ["path"],
    $comment: "theirs",
  };
  const made = (inputSchema = schema): AnyTool =>
    foreignTool({
      name: "their_tool",
      title: "",
      description: "Theirs.",
      annotations: reads,
      inputSchema,
      validate: (input) =>
        typeof (input as { path?: unknown } | null)?.path === "string" &&
        ["number", "undefined"].includes(typeof (input as { n?: unknown }).n)
          ? []
          : [{ path: ["n"], message: "must be integer" }],
      execute: async (input) => input,
      render: (output) => JSON.stringify(output),
    });
  it("passes its schema on as it came, and converts it where another profile allows", () => {
    expect(toJsonSchema(made(), "mcp")).toEqual(schema);
    expect(toJsonSchema(made(), "openai")).toEqual(schema);
    expect(toJsonSchema(made(), "gemini")).toEqual({
      type: "object",
      properties: { path: { type: "string" }, n: { type: "integer" } },
      required: ["path"],
    });
    expect(refusal(made({ type: "object", properties: { x: { not: {} } } }), "gemini")).toContain(
      "their_tool: x: `not` cannot be said to every provider",
    );
    expect(profileReport([made({ type: "object", properties: { x: { not: {} } } })], "gemini")).toHaveLength(1);
  });
  it("is called like any other, with repairs, and takes keys its schema does not forbid", async () => {
    expect(await made().call({ path: "a", n: "5", more: 1 })).toMatchObject({
      ok: true,
      data: { path: "a", n: 5, more: 1 },
    });
    expect(await made().call({ path: "a", n: "x" })).toMatchObject({ ok: false, error: { code: "invalid_input" } });
  });
  it("needs a name that hosts take", () =>
    expect(() => foreignTool({ ...(made() as never as object), name: "Their Tool" } as never)).toThrow(TypeError));
});

it("estimateTokens sums name, description and schema", () => {
  const one = estimateTokens(defaults as AnyTool);
  const text = JSON.stringify({
    name: defaults.name,
    description: defaults.description,
    schema: toJsonSchema(defaults as AnyTool, "mcp"),
  });
  expect(one).toBe(Math.ceil(Buffer.byteLength(text) / 4.8));
  expect(estimateTokens([defaults as AnyTool, defaults as AnyTool])).toBe(one * 2);
  expect(estimateTokens(defaults as AnyTool, "openai-strict")).toBeGreaterThan(one);
});

it("an unknown profile is a TypeError that lists them", () =>
  expect(() => toJsonSchema(defaults as AnyTool, "draft-04" as Profile)).toThrow(
    /there is no profile "draft-04"; there are: mcp,/,
  ));

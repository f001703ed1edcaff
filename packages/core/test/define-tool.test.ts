import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineTool, toJsonSchema } from "../src/index.ts";
import { reads } from "./fixture-tools.ts";

const base = {
  name: "probe",
  title: "Probe",
  description: "Tries one thing and says what came of it.",
  inputSchema: z.object({ text: z.string().describe("the text") }),
  outputSchema: z.object({ text: z.string() }),
  annotations: reads,
  execute: async () => ({ text: "" }),
  render: () => "",
};

/** The message with which a definition is refused. */
function fault(changes: object): string {
  try {
    defineTool({ ...base, ...changes });
  } catch (error) {
    if (error instanceof TypeError) return error.message;
    throw error;
  }
  return "accepted";
}

const input = (shape: z.ZodRawShape): object => ({ inputSchema: z.object(shape) });
const output = (shape: z.ZodRawShape): object => ({ outputSchema: z.object(shape) });

describe("name", () => {
  it.each(["a.b", "a b", "9lives", "Größe", "aB", "a".repeat(49), "", "_a", "a-b"])(
    "names-1: %j is refused with the rule",
    (name) => {
      expect(fault({ name })).toBe(
        `defineTool(${name}): name: ${JSON.stringify(name)} does not match ^[a-z][a-z0-9_]{0,47}$; use lower-case letters, digits and _, at most 48`,
      );
    },
  );
  it("48 characters are taken", () => expect(fault({ name: "a".repeat(48) })).toBe("accepted"));
});

describe("texts", () => {
  it.each([
    [{ title: "" }, "title: is 0 characters long; use 1 to 64"],
    [{ title: "a".repeat(65) }, "title: is 65 characters long; use 1 to 64"],
    [{ title: "a\nb" }, "title: has more than one line"],
    [{ title: "a\u202eb" }, "title: holds the invisible character U+202E"],
    [
      { description: "too short" },
      "description: is 9 characters long; say in 20 to 1,024 when to use the tool and what comes back",
    ],
    [
      { description: "a".repeat(1025) },
      "description: is 1025 characters long; say in 20 to 1,024 when to use the tool and what comes back",
    ],
    [{ description: "TODO say what this tool does" }, "description: holds a placeholder; write the text"],
    [{ description: "Reads a file\u200b and gives its lines." }, "description: holds the invisible character U+200B"],
    [
      { description: "Reads a file with @toolhaft/hashline inside." },
      "description: names its own package (@toolhaft/hashline); the model knows the tool by its name only",
    ],
  ])("%j", (changes, message) => expect(fault(changes)).toBe(`defineTool(probe): ${message}`));
  it("counts code points, not units", () => expect(fault({ title: "😀".repeat(64) })).toBe("accepted"));
});

describe("root", () => {
  it.each([
    [
      "schema-5: a union",
      { inputSchema: z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]) },
      "inputSchema: is a union; wrap it in an object",
    ],
    ["result-3: an array", { outputSchema: z.array(z.string()) }, "outputSchema: is a array; wrap it in an object"],
    ["a scalar", { inputSchema: z.string() }, "inputSchema: is a string; wrap it in an object"],
    ["anything", { inputSchema: z.unknown() }, "inputSchema: is no object; wrap it in an object"],
    ["object or null", { inputSchema: z.object({}).nullable() }, "inputSchema: is a union; wrap it in an object"],
  ])("%s", (_title, changes, message) => expect(fault(changes)).toBe(`defineTool(probe): ${message}`));
});

describe("descriptions", () => {
  const missing = "has no description; say what to put there";
  it.each([
    ["top", { a: z.string() }, `inputSchema a: ${missing}`],
    ["inside an object", { a: z.object({ b: z.string() }).describe("a") }, `inputSchema a.b: ${missing}`],
    ["inside array items", { a: z.array(z.object({ b: z.string() })).describe("a") }, `inputSchema a[].b: ${missing}`],
    [
      "inside a branch",
      {
        a: z
          .discriminatedUnion("k", [
            z.object({ k: z.literal("x").describe("k"), b: z.string() }),
            z.object({ k: z.literal("y").describe("k") }),
          ])
          .describe("a"),
      },
      `inputSchema a.b: ${missing}`,
    ],
    [
      "inside record values",
      { a: z.record(z.string(), z.object({ b: z.string() })).describe("a") },
      `inputSchema a{}.b: ${missing}`,
    ],
    [
      "too long",
      { a: z.string().describe("x".repeat(301)) },
      "inputSchema a: has a description of 301 characters; use at most 300",
    ],
    ["blank", { a: z.string().describe(" ") }, `inputSchema a: ${missing}`],
  ])("%s", (_title, shape, message) =>
    expect(fault(input(shape as z.ZodRawShape))).toBe(`defineTool(probe): ${message}`),
  );
  it("outputs need none", () => expect(fault(output({ a: z.object({ b: z.string() }) }))).toBe("accepted"));
  it("a description on the wrapped type or on the wrapper counts", () => {
    expect(fault(input({ a: z.string().describe("a").optional(), b: z.string().default("x").describe("b") }))).toBe(
      "accepted",
    );
  });
});

describe("representable", () => {
  const d = "d";
  it.each([
    ["schema-4: date", { at: z.date().describe(d) }, "inputSchema at: a date has no JSON form; use an ISO string"],
    [
      "bigint",
      { n: z.bigint().describe(d) },
      "inputSchema n: a bigint has no JSON form; use a string of digits, or a number",
    ],
    [
      "map",
      { m: z.map(z.string(), z.string()).describe(d) },
      "inputSchema m: a map has no JSON form; use an array of { key, value } objects",
    ],
    ["set", { s: z.set(z.string()).describe(d) }, "inputSchema s: a set has no JSON form; use an array"],
    ["symbol", { s: z.symbol().describe(d) }, "inputSchema s: a symbol has no JSON form; use a string"],
    ["undefined", { u: z.undefined().describe(d) }, "inputSchema u: undefined has no JSON form; use an optional field"],
    [
      "custom",
      { c: z.custom(() => true).describe(d) },
      "inputSchema c: a custom check has no JSON Schema; use a described type and refine it",
    ],
    [
      "nested date",
      { list: z.array(z.object({ at: z.date().describe(d) })).describe(d) },
      "inputSchema list[].at: a date has no JSON form; use an ISO string",
    ],
    [
      "tuple",
      { p: z.tuple([z.number(), z.number()]).describe(d) },
      "inputSchema p: a tuple cannot be said to every provider; use an array of one type with a length, or an object with named fields",
    ],
    ["never", { n: z.never().describe(d) }, "inputSchema n: nothing is allowed here; leave the field out"],
    [
      "recursion",
      { j: z.json().describe(d) },
      "inputSchema j{}: the type contains itself; use a list with parent ids, or a string of JSON",
    ],
    [
      "coerce",
      { n: z.coerce.number().describe(d) },
      "inputSchema n: it takes more types than it shows (coerce); write the type that is really taken, strings are repaired by themselves",
    ],
    [
      "preprocess",
      { n: z.preprocess(Number, z.number()).describe(d) },
      "inputSchema n: it takes more types than it shows (preprocess); write the type that is really taken, and change it in `execute`",
    ],
    [
      "catch",
      { n: z.string().catch("x").describe(d) },
      "inputSchema n: it takes anything (catch); write the type that is really taken, with a default if it may be left out",
    ],
  ])("%s", (_title, shape, message) =>
    expect(
      fault(input(shape as z.ZodRawShape))
        .split("\n")
        .find((line) => line.includes(message)) ?? fault(input(shape as z.ZodRawShape)),
    ).toContain(message),
  );

  it("a pair of numbers is an array of length 2", () => {
    expect(fault(input({ pair: z.array(z.number()).length(2).describe(d) }))).toBe("accepted");
  });
  it.each([
    [
      "transform",
      output({ n: z.string().transform((text) => text.length) }),
      "outputSchema n: a transform has no JSON Schema here",
    ],
    [
      "default",
      output({ n: z.string().default("x") }),
      "outputSchema n: a default on the output side; set the value in `execute`",
    ],
    [
      "codec",
      output({ n: z.codec(z.string(), z.number(), { decode: Number, encode: String }) }),
      "outputSchema: it changes what it checks",
    ],
  ])("output side: %s", (_title, changes, message) => expect(fault(changes)).toContain(message));
  it("an input may be transformed: what is shown is what is taken", () => {
    expect(
      fault(
        input({
          n: z
            .string()
            .transform((text) => text.length)
            .describe(d),
        }),
      ),
    ).toBe("accepted");
  });
  it.each([
    ["not", { not: { type: "string" } }],
    ["if", { if: { type: "string" } }],
    ["patternProperties", { type: "object", patternProperties: { "^a": { type: "string" } } }],
  ])("keyword %s of another library", (keyword, property) => {
    const schema = { type: "object", properties: { a: { description: "a", ...property } } };
    const foreign = {
      "~standard": {
        version: 1,
        vendor: "other",
        validate: (value: unknown) => ({ value }),
        jsonSchema: { input: () => schema, output: () => schema },
      },
    };
    expect(fault({ inputSchema: foreign })).toContain(`inputSchema a: \`${keyword}\` cannot be said to every provider`);
  });
  it("a validator without JSON Schema", () => {
    expect(
      fault({ inputSchema: { "~standard": { version: 1, vendor: "old", validate: (value: unknown) => ({ value }) } } }),
    ).toContain("does not describe itself as JSON Schema; use zod 4.2 or later");
  });
});

describe("unions", () => {
  const object = (kind: string, more: z.ZodRawShape = {}) =>
    z.object({ kind: z.literal(kind).describe("kind"), ...more });
  it.each([
    ["objects told apart by a const", z.union([object("a"), object("b")])],
    ["string or list", z.union([z.string(), z.array(z.string())])],
    ["string, number or one object", z.union([z.string(), z.number(), z.object({ a: z.string().describe("a") })])],
    ["nullable object", z.object({ a: z.string().describe("a") }).nullable()],
    ["enum or null", z.enum(["a", "b"]).nullable()],
  ])("taken: %s", (_title, union) => expect(fault(input({ u: union.describe("u") }))).toBe("accepted"));
  it.each([
    [
      "objects without a common const",
      z.union([z.object({ a: z.string().describe("a") }), z.object({ b: z.string().describe("b") })]),
      "the objects of the union share no property with a different `const` in each; add one, such as kind",
    ],
    [
      "the same const twice",
      z.union([object("a"), object("a", { x: z.string().describe("x") })]),
      "share no property with a different `const`",
    ],
    [
      "two lists",
      z.union([z.array(z.string()), z.array(z.number())]),
      "two branches of the union have the same JSON type; merge them, or use objects with a `const` each",
    ],
    ["integer or number", z.union([z.int(), z.number()]), "two branches of the union have the same JSON type"],
    [
      "anything or a string",
      z.union([z.unknown(), z.string()]),
      "a branch of the union names no type; say what it holds",
    ],
  ])("refused: %s", (_title, union, message) =>
    expect(fault(input({ u: union.describe("u") }))).toContain(
      `inputSchema u: ${message.startsWith("share") ? "the objects of the union " : ""}${message}`,
    ),
  );
});

describe("property names", () => {
  it.each(["a-b", "a b", "größe", "1a", "a".repeat(65), "constructor", "prototype"])("%j is refused", (name) => {
    expect(fault(input({ [name]: z.string().describe("d") }))).toContain(
      `inputSchema ${name}: is no name that every provider takes`,
    );
  });
  it("__proto__ is refused", () => {
    const shape = JSON.parse('{"__proto__": null}');
    Object.defineProperty(shape, "__proto__", { value: z.string().describe("d"), enumerable: true });
    expect(fault({ inputSchema: z.object(shape) })).not.toBe("accepted");
  });
});

describe("annotations", () => {
  it("all four must be booleans", () => {
    expect(fault({ annotations: { readOnlyHint: true } })).toBe(
      "defineTool(probe): 3 faults\n- annotations.destructiveHint: is not true or false; clients read an absent hint as destructive and open\n- annotations.idempotentHint: is not true or false; clients read an absent hint as destructive and open\n- annotations.openWorldHint: is not true or false; clients read an absent hint as destructive and open",
    );
  });
  it("read-only and destructive exclude each other", () => {
    expect(fault({ annotations: { ...reads, destructiveHint: true } })).toBe(
      "defineTool(probe): annotations: a tool that only reads cannot be destructive; set destructiveHint to false",
    );
  });
});

describe("examples", () => {
  it("must parse", () => {
    expect(fault({ examples: [{ title: "wrong", input: { text: 1 } }] })).toBe(
      'defineTool(probe): examples "wrong": does not parse: text: expected a string, received a number 1',
    );
  });
  it("must not need a repair", () => {
    const changes = { ...input({ n: z.int().describe("n") }), examples: [{ title: "text", input: { n: "1" } }] };
    expect(fault(changes)).toBe('defineTool(probe): examples "text": is only understood after a repair of n');
  });
  it("are valid under every profile the tool supports", () => {
    const shape = {
      a: z.string().optional().describe("a"),
      e: z.enum(["x"]).nullable().describe("e"),
      list: z.array(z.object({ n: z.number().optional().describe("n") })).describe("l"),
    };
    expect(fault({ ...input(shape), examples: [{ title: "ok", input: { e: null, list: [{}] } }] })).toBe("accepted");
  });
});

describe("stability and size", () => {
  it("converting twice gives equal bytes, and the same frozen object", () => {
    const one = defineTool(base);
    const two = defineTool(base);
    expect(JSON.stringify(toJsonSchema(one, "mcp"))).toBe(JSON.stringify(toJsonSchema(two, "mcp")));
    expect(toJsonSchema(one, "gemini")).toBe(toJsonSchema(one, "gemini"));
    expect(Object.isFrozen(toJsonSchema(one, "mcp").properties)).toBe(true);
  });
  it("over 400 estimated tokens is refused unless the definition raises the limit", () => {
    const many = Object.fromEntries(
      Array.from({ length: 30 }, (_, index) => [
        `field_${index}`,
        z.string().describe("a field that takes its room in the listing"),
      ]),
    );
    expect(fault(input(many))).toMatch(
      /^defineTool\(probe\): inputSchema: name, description and schema are about \d+ tokens, over 400; shorten them or raise maxSchemaTokens$/,
    );
    expect(fault({ ...input(many), maxSchemaTokens: 2_000 })).toBe("accepted");
  });
});

describe("defaultRules", () => {
  it.each(["file.write", "net.fetch", "process.start", "*"])("may not name %s", (permission) => {
    expect(fault({ defaultRules: [{ effect: "allow", permission }] })).toContain("is not the tool's own permission");
  });
  it("must name a permission", () =>
    expect(fault({ defaultRules: [{ effect: "allow" }] })).toContain("a rule names no permission"));
  it("may name its own", () =>
    expect(fault({ defaultRules: [{ effect: "allow", permission: "probe.run" }] })).toBe("accepted"));
});

it("lists three faults of one tool", () => {
  const message = fault({ name: "Bad", title: "", inputSchema: z.object({ at: z.date() }) });
  expect(message).toContain("defineTool(Bad): 3 faults\n- name: ");
  expect(message).toContain("\n- title: ");
  expect(message).toContain("\n- inputSchema at: a date has no JSON form");
});

it("gives frozen plain data and functions", () => {
  const tool = defineTool({ ...base, keywords: ["a"] });
  expect(Object.isFrozen(tool)).toBe(true);
  expect(Object.getPrototypeOf(tool)).toBe(Object.prototype);
  expect(Object.isFrozen(tool.annotations) && Object.isFrozen(tool.keywords)).toBe(true);
});

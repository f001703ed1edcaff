import { defineTool } from "@toolhaft/core";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type ContractCase, contractOf, type ToolFixtures, testFamily } from "../src/index.ts";
import { createNotes, saysItReads, writesThenAsks } from "./notes-family.ts";

testFamily({
  make: () => createNotes(),
  golden: new URL("./golden/", import.meta.url),
  processes: { module: new URL("./notes-family.ts", import.meta.url), factory: "createNotes" },
  tools: {
    note_add: {
      valid: [
        {
          title: "one line",
          input: { text: "hello" },
          check: async (_, { workspace }) => expect(await workspace.read("notes.txt")).toBe("a hello\n"),
        },
      ],
      invalid: [
        { title: "two lines", input: { text: "a\nb" }, text: "text" },
        { title: "unknown tag", input: { text: "a", tag: "c" }, text: '"a", "b"' },
      ],
    },
    note_list: {
      files: { "notes.txt": "a one\na two\n" },
      valid: [{ title: "all", input: {} }],
      invalid: [{ title: "limit 0", input: { limit: 0 }, text: "limit" }],
    },
  },
});

/** The titles of the cases that a tool fails. */
async function failing(cases: readonly ContractCase[]): Promise<string[]> {
  const failed: string[] = [];
  for (const { title, run } of cases) {
    try {
      await run();
    } catch {
      failed.push(title);
    }
  }
  return failed;
}

describe("the contract refuses a tool that breaks it", () => {
  const plain: ToolFixtures = { valid: [{ title: "call", input: {} }], invalid: [] };

  it("approval-4: writing before asking", async () => {
    expect(await failing(contractOf(writesThenAsks, plain))).toEqual(
      expect.arrayContaining(["valid: call", "everything denied: call"]),
    );
  });

  it("writing under a read-only hint", async () => {
    expect(await failing(contractOf(saysItReads, plain))).toContain("valid: call");
  });

  it("ignoring the signal while files change", async () => {
    const endless = brokenTool({ execute: () => new Promise(() => undefined) });
    expect(
      await failing(contractOf(endless, plain).filter(({ title }) => title.startsWith("stopped after 0"))),
    ).toHaveLength(1);
  });

  it("a render that is not total", async () => {
    const brittle = brokenTool({
      render: ({ list }: { list: readonly string[] }) =>
        String(list[0]?.length.toFixed()) + (list[0] as string).toUpperCase(),
    });
    expect(await failing(contractOf(brittle, plain))).toContain("renders every output that its schema describes");
  });

  it("a check finer than the schema that nobody declared", async () => {
    const finer = brokenTool({
      inputSchema: z.object({
        even: z
          .int()
          .refine((n) => n % 2 === 0, "must be even")
          .default(2)
          .describe("an even number"),
      }),
    });
    const title = "accepts what its schema says and says what it accepts";
    expect(await failing(contractOf(finer, plain))).toContain(title);
    expect(await failing(contractOf(finer, { ...plain, finer: ["even"] }))).not.toContain(title);
  });
});

function brokenTool(broken: object): ReturnType<typeof make> {
  return make(broken);
}

function make(broken: object) {
  return defineTool({
    name: "broken",
    title: "Broken",
    description: "Breaks one promise of the contract on purpose.",
    inputSchema: z.object({}),
    outputSchema: z.object({ list: z.array(z.string()) }),
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    execute: async () => ({ list: [] }),
    render: () => "done",
    ...broken,
  });
}

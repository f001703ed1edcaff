import { defineTool, toJsonSchema } from "@toolhaft/core";
import { expect, it } from "vitest";
import { z } from "zod";
import { z as hostZod } from "zod-opencode";
import { toOpencode } from "../src/opencode.ts";
import { everyFamilyTool } from "./families.ts";
import { shows } from "./tools.ts";

const tool = { schema: hostZod };

it("zod-1: another zod than ours gives descriptions, enums, bounds and defaults as they are", async () => {
  const every = [
    shows("odd", {
      level: z.enum(["low", "high"]).describe("How urgent"),
      count: z.number().int().min(1).max(9).default(3).describe("How many"),
      maybe: z.string().nullable().optional().describe("May be null"),
      edits: z
        .array(
          z.discriminatedUnion("op", [
            z.object({ op: z.literal("add").describe("Adds"), line: z.string().describe("A line") }),
            z.object({ op: z.literal("cut").describe("Cuts"), at: z.int().min(0).describe("Where") }),
          ]),
        )
        .max(5)
        .describe("In order"),
    }),
    ...(await everyFamilyTool()),
  ];
  const made = toOpencode(every, { tool });
  for (const each of every) {
    const converted = hostZod.toJSONSchema(hostZod.object(made[each.name]?.args)) as Record<string, unknown>;
    const ours = toJsonSchema(each, "mcp");
    expect(converted.properties, each.name).toEqual(ours.properties);
    expect([...((converted.required as string[] | undefined) ?? [])].sort()).toEqual(
      [...((ours.required as string[] | undefined) ?? [])].sort(),
    );
    // Neither is lost to a third copy, which knows nothing of what the second one registered.
    expect(z.toJSONSchema(z.object(made[each.name]?.args)).properties, each.name).toEqual(ours.properties);
  }
});

it("zod-2: every argument is a schema of the host's own zod, and a tool without any has none", () => {
  const made = toOpencode([shows("none"), shows("one", { text: z.string().describe("Text") })], { tool });
  expect(made.none?.args).toEqual({});
  for (const argument of Object.values<unknown>(made.one?.args ?? {})) {
    expect(argument).toBeInstanceOf(hostZod.ZodType);
    expect(argument).toHaveProperty("_zod.def.type");
  }
});

it("works where the session works, unless the options say otherwise", async () => {
  const tools = toOpencode([whereTool], { tool });
  const context = {
    sessionID: "ses_1",
    messageID: "msg_1",
    agent: "build",
    directory: "/a",
    worktree: "/",
    abort: new AbortController().signal,
    metadata: () => undefined,
    ask: async () => undefined,
  };
  expect((await tools.where?.execute({}, context))?.output).toBe("/a / ses_1 build");
  const elsewhere = toOpencode([whereTool], { tool, context: { directory: "/b" } });
  expect((await elsewhere.where?.execute({}, context))?.output).toBe("/b /b ses_1 build");
});

const whereTool = defineTool({
  name: "where",
  title: "Tell where it is",
  description: "Tells in which directory, session and as which agent it was called.",
  inputSchema: z.object({}),
  outputSchema: z.object({ text: z.string() }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  execute: async (_input, { directory, worktree, sessionId, agent }) => ({
    text: [directory, worktree, sessionId, agent].join(" "),
  }),
  render: ({ text }) => text,
});

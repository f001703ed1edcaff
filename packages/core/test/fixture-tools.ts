import { z } from "zod";
import { defineTool, ToolError } from "../src/index.ts";

export const reads = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
export const writes = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false };

export const echo = defineTool({
  name: "echo",
  title: "Echo",
  description: "Gives back the text it was given, unchanged.",
  inputSchema: z.object({ text: z.string().describe("the text") }),
  outputSchema: z.object({ text: z.string() }),
  annotations: reads,
  execute: async ({ text }) => ({ text }),
  render: ({ text }) => text,
});

export const defaults = defineTool({
  name: "defaults",
  title: "Defaults",
  description: "Shows which values a call ended up with.",
  inputSchema: z.object({
    owner: z.string().min(1).describe("who owns it"),
    priority: z.enum(["low", "high"]).optional().describe("how urgent"),
    ttl_secs: z.int().min(1).max(86_400).default(600).describe("seconds to live"),
  }),
  outputSchema: z.object({ owner: z.string(), priority: z.string().optional(), ttl_secs: z.number() }),
  annotations: reads,
  execute: async (input) => ({ ...input }),
  render: (output) => JSON.stringify(output),
});

export const fails = defineTool({
  name: "fails",
  title: "Fails",
  description: "Always fails, with a hint about what to do.",
  inputSchema: z.object({}),
  outputSchema: z.object({}),
  annotations: reads,
  execute: async () => {
    throw new ToolError("not_found", "no pending task", { hint: "post one first" });
  },
  render: () => "",
});

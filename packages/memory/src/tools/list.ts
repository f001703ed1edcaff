import { defineTool } from "@toolhaft/core";
import { z } from "zod";
import { categories, states } from "../model.ts";
import type { Notes } from "../notes.ts";
import { count, facts, fenced } from "../present.ts";
import { memorySchema, names, readOnly } from "../schemas.ts";

export function listTool(notes: Notes) {
  return defineTool({
    name: "memory_list",
    title: "List memories",
    description:
      "Lists memories without their contents. Use it to tidy up, or with state to find what can be restored.",
    keywords: ["browse", "overview", "列表", "一覧"],
    inputSchema: z.object({
      scope: z.enum(["workspace", "role", "both"]).default("both").describe("Whose."),
      category: z.enum(categories).optional().describe("Only these."),
      limit: z.number().int().min(1).max(100).default(20).describe("Page size."),
      sort: z.enum(["recent", "relevance", "accessed"]).default("recent").describe("Order."),
      state: z.enum(states).default("live").describe("State."),
      tags: names("All of these."),
      cursor: z.string().optional().describe("Next page."),
    }),
    outputSchema: z.object({
      fence: z.string(),
      memories: z.array(memorySchema),
      total: z.number().int(),
      nextCursor: z.string().nullable(),
    }),
    annotations: readOnly,
    execute: (input, ctx) => notes.list(input, ctx),
    render({ fence, memories, total, nextCursor }, input, toolName) {
      const kind = input.state === "live" ? "" : `${input.state} `;
      if (total === 0) return `No ${kind}memories${input.state === "live" ? " yet" : ""} in scope ${input.scope}.`;
      if (memories.length === 0)
        return `No further memories: ${count(total, `${kind}memory`, `${kind}memories`)} in all.`;
      const lines = memories.map((memory) => `${memory.title} ${facts(memory)}`);
      const text = [
        `${memories.length} of ${count(total, `${kind}memory`, `${kind}memories`)}.`,
        fenced(lines.join("\n"), fence),
      ];
      if (nextCursor !== null)
        text.push(`More: ${toolName("memory_list")} with the same parameters and cursor ${nextCursor}`);
      return text.join("\n");
    },
  });
}

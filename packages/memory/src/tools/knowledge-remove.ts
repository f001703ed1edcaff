import { defineTool } from "@toolhaft/core";
import { z } from "zod";
import type { Knowledge } from "../knowledge.ts";
import { count } from "../present.ts";
import { overwriting } from "../schemas.ts";

export function removeTool(knowledge: Knowledge) {
  return defineTool({
    name: "knowledge_remove",
    title: "Remove or restore",
    description:
      "Takes an entity with its edges, or one edge, out of your knowledge graph; restore true brings back what was taken out.",
    keywords: ["graph", "delete", "undo"],
    inputSchema: z.object({
      id: z.string().describe("Id of an entity (ent_…) or an edge (rel_…)."),
      restore: z.boolean().default(false).describe("Bring it back."),
    }),
    outputSchema: z.object({ removed: z.array(z.string()), restored: z.array(z.string()) }),
    annotations: overwriting,
    execute: (input, ctx) => knowledge.remove(input, ctx),
    render({ removed, restored }, { id, restore }, toolName) {
      const all = restore ? restored : removed;
      if (all.length === 0) return `Already ${restore ? "there" : "removed"}: ${id}`;
      const others = all.length > 1 ? ` with ${count(all.length - 1, "edge")}` : "";
      return `${restore ? "Restored" : "Removed"} ${id}${others}.\nTo undo: ${toolName("knowledge_remove")} with id ${id}${restore ? "" : " and restore true"}`;
    },
  });
}

import { defineTool } from "@toolhaft/core";
import { z } from "zod";
import type { Knowledge } from "../knowledge.ts";
import { oneLine, warningLines } from "../present.ts";
import { text, warningSchema, writing } from "../schemas.ts";

export const entitySchema = z.object({
  id: z.string(),
  name: z.string(),
  type: z.string(),
  attributes: z.record(z.string(), z.unknown()),
  createdAt: z.string(),
  updatedAt: z.string(),
});

export function addEntityTool(knowledge: Knowledge) {
  return defineTool({
    name: "knowledge_add_entity",
    title: "Add an entity",
    description:
      "Adds a thing to your knowledge graph, or merges attributes into it when name and type are known already; null removes an attribute.",
    keywords: ["graph", "node", "create"],
    inputSchema: z.object({
      name: text("Name, 1 to 200 characters; compared without case and width.", 200),
      type: text("Kind of thing, such as project, person, tool; 1 to 64 characters.", 64),
      attributes: z.record(z.string(), z.unknown()).optional().describe("Facts by key, at most 50 keys and 16 KiB."),
    }),
    outputSchema: z.object({
      entity: entitySchema,
      created: z.boolean(),
      changed: z.array(z.string()),
      sameName: z.array(z.object({ id: z.string(), type: z.string() })),
      warnings: z.array(warningSchema),
    }),
    annotations: writing,
    execute: (input, ctx) => knowledge.addEntity(input, ctx),
    render({ entity, created, changed, sameName, warnings }, _input, toolName) {
      const what = `${oneLine(entity.name)} [${oneLine(entity.type)}] ${entity.id}`;
      const lines = [
        created
          ? `Added ${what}`
          : changed.length > 0
            ? `Updated ${what}: ${changed.map(oneLine).join(", ")}`
            : `Already there, nothing changed: ${what}`,
      ];
      if (sameName.length > 0)
        lines.push(`Same name, other type: ${sameName.map(({ id, type }) => `${id} [${oneLine(type)}]`).join(", ")}.`);
      return [
        ...lines,
        ...warningLines(warnings, `To take it back: ${toolName("knowledge_remove")} with id ${entity.id}.`),
      ].join("\n");
    },
  });
}

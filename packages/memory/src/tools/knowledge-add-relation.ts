import { defineTool } from "@toolhaft/core";
import { z } from "zod";
import type { Knowledge } from "../knowledge.ts";
import { oneLine } from "../present.ts";
import { text, writing } from "../schemas.ts";
import { entitySchema } from "./knowledge-add-entity.ts";

export const edgeSchema = z.object({
  id: z.string(),
  from: z.string(),
  to: z.string(),
  type: z.string(),
  weight: z.number(),
  createdAt: z.string(),
  updatedAt: z.string(),
});

export function addRelationTool(knowledge: Knowledge) {
  return defineTool({
    name: "knowledge_add_relation",
    title: "Add a relation",
    description:
      "Connects two entities of your knowledge graph, directed from one to the other; the same relation again replaces its weight.",
    keywords: ["graph", "edge", "link"],
    inputSchema: z.object({
      from: text("Id or name of the entity it starts at."),
      to: text("Id or name of the entity it leads to."),
      type: text("Kind of relation, such as uses, owns, hosted_on; 1 to 64 characters.", 64),
      weight: z.number().min(0).default(1).describe("How strong; heavier ones are followed first."),
      create_missing: z.boolean().default(false).describe("Add an endpoint that does not exist, with type unknown."),
    }),
    outputSchema: z.object({
      edge: edgeSchema,
      from: entitySchema,
      to: entitySchema,
      created: z.boolean(),
      createdEntities: z.array(z.string()),
    }),
    annotations: writing,
    execute: (input, ctx) => knowledge.addRelation(input, ctx),
    render({ edge, from, to, created, createdEntities }) {
      const line = `${created ? "Added" : "Updated"} ${oneLine(from.name)} -${oneLine(edge.type)} ${weightText(edge.weight)}-> ${oneLine(to.name)}  ${edge.id}`;
      return createdEntities.length === 0 ? line : `${line}\nAdded with it: ${createdEntities.join(", ")}`;
    },
  });
}

export function weightText(weight: number): string {
  return Number.isInteger(weight) ? weight.toFixed(1) : String(weight);
}

import { defineTool } from "@toolhaft/core";
import { z } from "zod";
import { categories, relevances } from "../model.ts";
import type { Notes } from "../notes.ts";
import { warningLines } from "../present.ts";
import { idInput, memorySchema, names, overwriting, warningSchema } from "../schemas.ts";

export function updateTool(notes: Notes) {
  return defineTool({
    name: "memory_update",
    title: "Change a memory",
    description:
      "Changes only what is given; the history keeps old values. For a visible correction, write a new one with supersedes.",
    keywords: ["edit", "correct", "修改", "更新"],
    inputSchema: z.object({
      id: idInput,
      title: z.string().optional().meta({ description: "New title.", maxLength: 200 }),
      content: z.string().optional().describe("New content."),
      category: z.enum(categories).optional().describe("New category."),
      tags: names("Replaces the list."),
      relevance: z.enum(relevances).optional().describe("New relevance."),
      about: names("Replaces the list."),
      expected_version: z.number().int().min(1).optional().describe("Fail if changed since."),
    }),
    outputSchema: z.object({ memory: memorySchema, changed: z.array(z.string()), warnings: z.array(warningSchema) }),
    annotations: overwriting,
    execute: (input, ctx) => notes.update(input, ctx),
    render({ memory, changed, warnings }, _input, toolName) {
      const line =
        changed.length === 0
          ? `Nothing to change: ${memory.id} already has these values (version ${memory.version}).`
          : `Updated ${memory.id} to version ${memory.version}: ${changed.join(", ")}.`;
      return [
        line,
        ...warningLines(warnings, `To take it out of recall: ${toolName("memory_forget")} with id ${memory.id}.`),
      ].join("\n");
    },
  });
}

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
      "Changes a live memory in place: only what is given changes, tags and about replace the old list. The values before stay in its history. For a correction that should be seen as one, write a new memory with supersedes instead.",
    keywords: ["edit", "correct", "修改", "更新"],
    inputSchema: z.object({
      id: idInput,
      title: z.string().optional().meta({ description: "New title, 1 to 200 characters.", maxLength: 200 }),
      content: z.string().optional().describe("New content, at most 64 KiB."),
      category: z.enum(categories).optional().describe("New category."),
      tags: names("New list of tags; [] empties it."),
      relevance: z.enum(relevances).optional().describe("New relevance."),
      about: names("New list of what it is about; [] empties it."),
      expected_version: z.number().int().min(1).optional().describe("Fail if the memory is at another version by now."),
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

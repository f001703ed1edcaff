import { defineTool } from "@toolhaft/core";
import { z } from "zod";
import { categories, relevances, scopes } from "../model.ts";
import type { Notes } from "../notes.ts";
import { oneLine, warningLines } from "../present.ts";
import { memorySchema, names, text, warningSchema, writing } from "../schemas.ts";

export function writeTool(notes: Notes) {
  return defineTool({
    name: "memory_write",
    title: "Write a memory",
    description:
      "Keeps a note for later sessions: a decision, preference, fact or lesson. To correct an old one, give its id as supersedes. No secrets.",
    keywords: ["remember", "save", "note", "learn", "记住", "覚える", "merken"],
    inputSchema: z.object({
      title: text("One line.", 200),
      content: text("Markdown, at most 64 KiB."),
      category: z.enum(categories).default("note").describe("decision and preference never fade."),
      scope: z.enum(scopes).default("role").describe("workspace: every role sees it."),
      tags: names("At most 20."),
      relevance: z.enum(relevances).default("medium").describe("Weight."),
      about: names("People, systems or files, at most 8."),
      supersedes: z.string().optional().describe("Id of the memory this replaces."),
    }),
    outputSchema: z.object({
      status: z.enum(["stored", "duplicate"]),
      memory: memorySchema,
      supersededId: z.string().nullable(),
      differs: z.array(z.string()),
      similar: z.array(z.object({ id: z.string(), title: z.string(), similarity: z.number() })),
      warnings: z.array(warningSchema),
    }),
    annotations: writing,
    execute: (input, ctx) => notes.write(input, ctx),
    render({ status, memory, supersededId, differs, similar, warnings }, _input, toolName) {
      const what = `${memory.id} (${memory.category}, ${memory.scope}, ${memory.relevance}): ${oneLine(memory.title)}`;
      const lines = [status === "stored" ? `Stored ${what}` : `Already stored as ${what}; nothing was added.`];
      if (differs.length > 0) {
        lines.push(
          `Not equal there: ${differs.join(", ")}. To change that: ${toolName("memory_update")} with id ${memory.id} and ${differs.join(", ")}.`,
        );
      }
      if (supersededId !== null) lines.push(`Replaces ${supersededId}.`);
      if (similar.length > 0) {
        const list = similar
          .map(({ id, title, similarity }) => `${id} "${oneLine(title)}" (${similarity.toFixed(2)})`)
          .join(", ");
        lines.push(
          `Similar: ${list}. If this replaces it: ${toolName("memory_write")} with supersedes, or ${toolName("memory_forget")} it.`,
        );
      }
      const undo = `To take it back: ${toolName("memory_forget")} with id ${memory.id}; rows are deleted for good by purge only.`;
      return [...lines, ...warningLines(warnings, undo)].join("\n");
    },
  });
}

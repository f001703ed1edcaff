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
      "Keeps a note for later sessions: a decision, preference, fact or lesson worth remembering. An equal note is not stored twice; similar ones are named. To correct an old note, give its id as supersedes. No secrets.",
    keywords: ["remember", "save", "note", "learn", "记住", "覚える", "merken"],
    inputSchema: z.object({
      title: text("Short title on one line, 1 to 200 characters.", 200),
      content: text("The note, Markdown; at most 64 KiB."),
      category: z.enum(categories).default("note").describe("decision and preference never fade; note fades fastest."),
      scope: z.enum(scopes).default("role").describe("workspace: every role sees it; role: only your own role."),
      tags: names("Tags, compared without case; at most 20."),
      relevance: z.enum(relevances).default("medium").describe("How much it matters."),
      about: names("People, systems or files it is about, at most 8; sharpens recall."),
      supersedes: z.string().optional().describe("Id of a live memory of the same scope that this one replaces."),
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

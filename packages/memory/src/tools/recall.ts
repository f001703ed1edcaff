import { defineTool } from "@toolhaft/core";
import { z } from "zod";
import { categories } from "../model.ts";
import type { Notes, RecallData } from "../notes.ts";
import { count, fenced, hitEntries, oneLine, type ToolName } from "../present.ts";
import { degradedSchema, hitSchema, names, readOnly, text, warningSchema } from "../schemas.ts";

export function recallTool(notes: Notes) {
  return defineTool({
    name: "memory_recall",
    title: "Recall memories",
    description:
      'Searches what was kept in earlier sessions, best first. Ask with words or a question; "…" must occur as written. Use it before deciding what may have been decided before.',
    keywords: ["search", "remember", "find notes", "回忆", "検索", "erinnern"],
    inputSchema: z.object({
      query: text("Words or a question.", 1_000),
      scope: z.enum(["workspace", "role", "both"]).default("both").describe("Whose."),
      category: z.enum(categories).optional().describe("Only these."),
      limit: z.number().int().min(1).max(50).default(10).describe("Page size."),
      tags: names("All of these."),
      about: names("All of these."),
      full: z.boolean().default(false).describe("Whole contents, not excerpts."),
      cursor: z.string().optional().describe("Next page."),
    }),
    outputSchema: z.object({
      query: z.string(),
      fence: z.string(),
      hits: z.array(hitSchema),
      matched: z.number().int(),
      matchedIsFloor: z.boolean(),
      visible: z.number().int(),
      terms: z.object({ used: z.array(z.string()), ignored: z.array(z.string()) }),
      degraded: z.array(degradedSchema),
      nextCursor: z.string().nullable(),
      warnings: z.array(warningSchema),
    }),
    annotations: readOnly,
    execute: (input, ctx) => notes.recall(input, ctx),
    render: (data, input, toolName) => renderRecall(data, input.scope, "memory_recall", toolName),
  });
}

/** The text of a search; also that of fragments. */
export function renderRecall(data: RecallData, scope: string, tool: string, toolName: ToolName): string {
  const { hits, visible, warnings } = data;
  const notes = [
    ...warnings.map(({ message }) => `Note: ${message}.`),
    ...data.degraded.map(
      ({ code, message }) =>
        `Note: the search by meaning failed (${code}: ${oneLine(message)}); these are the hits by words.`,
    ),
  ];
  if (visible === 0) return [`No memories yet in scope ${scope}.`, ...notes].join("\n");
  if (hits.length === 0) {
    const searched = data.terms.used.length > 0 ? data.terms.used : [data.query];
    return [
      `None of ${count(visible, "visible memory", "visible memories")} matches: ${searched.map(oneLine).join(", ")}.`,
      ...notes,
    ].join("\n");
  }
  const lines = [headline(data), ...notes, fenced(hitEntries(hits), data.fence)];
  if (hits.some(({ truncated }) => truncated))
    lines.push(`"…" marks cut text; ${toolName("memory_get")} reads a memory in full.`);
  if (data.nextCursor !== null)
    lines.push(`More: ${toolName(tool)} with the same parameters and cursor ${data.nextCursor}`);
  return lines.join("\n");
}

function headline({ hits, matched, matchedIsFloor, visible, query, warnings }: RecallData): string {
  if (warnings.some(({ code }) => code === "nothing_to_search"))
    return `The newest ${hits.length} of ${count(visible, "visible memory", "visible memories")}.`;
  const found = Math.max(matched, hits.length);
  const most = matchedIsFloor ? `At least ${found}` : `${found}`;
  const verb = found === 1 ? "matches" : "match";
  return `${most} of ${count(visible, "visible memory", "visible memories")} ${verb} "${oneLine(query)}".`;
}

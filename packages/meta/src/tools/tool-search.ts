import { type AnyTool, defineTool, nearest, showInvisible, ToolError } from "@toolhaft/core";
import { z } from "zod";
import type { MetaState } from "../meta.ts";

const Hit = z.object({
  name: z.string(),
  family: z.string(),
  summary: z.string(),
  tokens: z.number(),
  loaded: z.boolean(),
});

/** Finds tools by what they do. */
export function toolSearch(state: MetaState): AnyTool {
  return defineTool({
    name: "tool_search",
    title: "Search for tools",
    description:
      "Finds tools that are not in your list, by what they do or by name, in any language. Gives names with one sentence each, best first, and the call that loads them.",
    keywords: ["find tool", "which tool", "capabilities", "werkzeug finden", "查找工具"],
    inputSchema: z.object({
      query: z.string().min(1).max(400).describe("What the tool should do, or its name"),
      limit: z.int().min(1).max(50).default(8).describe("Most rows to give"),
      family: z.string().min(1).max(64).optional().describe("Only tools of this family"),
    }),
    outputSchema: z.object({
      query: z.string(),
      hits: z.array(Hit),
      total: z.number(),
      near: z.array(z.string()),
      families: z.array(z.object({ name: z.string(), count: z.number() })),
    }),
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    async execute({ query, limit, family }, context) {
      const view = state.view(context);
      const families = [...view.families];
      if (family !== undefined && !families.some(({ name }) => name === family)) {
        const names = families.map(({ name }) => name);
        throw new ToolError("not_found", `there is no family ${JSON.stringify(showInvisible(family))}`, {
          hint: `families: ${names.join(", ") || "none"}`,
        });
      }
      const found = view.search(query, family);
      const hits = found.slice(0, limit).map(({ tool, family: of, tokens }) => ({
        name: tool.name,
        family: of,
        summary: firstSentence(tool.description),
        tokens,
        loaded: state.isLoaded(context, tool.name),
      }));
      return {
        query,
        hits,
        total: found.length,
        near: found.length > 0 ? [] : nearest(query, view.entries.keys()),
        families,
      };
    },
    render({ query, hits, total, near, families }, _input, toolName) {
      const asked = JSON.stringify(showInvisible(query));
      if (hits.length === 0) {
        const list = families.map(({ name, count }) => `${name} (${count})`).join(", ");
        return [
          `No tool matches ${asked}.`,
          ...(near.length > 0 ? [`Nearest names: ${near.join(", ")}`] : []),
          `Families: ${list || "none"}`,
        ].join("\n");
      }
      const rows = hits.map(
        ({ name, summary, tokens, loaded }) => `${name}: ${summary} (≈ ${tokens} tokens${loaded ? ", loaded" : ""})`,
      );
      const open = hits.filter(({ loaded }) => !loaded).map(({ name }) => name);
      const shown =
        hits.length < total
          ? `${hits.length} of ${total} tools match ${asked}:`
          : `${total} ${total === 1 ? "tool matches" : "tools match"} ${asked}:`;
      const next =
        open.length === 0 ? [] : [`Load with ${toolName("tool_load")} ${JSON.stringify({ names: open.slice(0, 3) })}`];
      return [shown, ...rows, ...next].join("\n");
    },
  }) as AnyTool;
}

/** Up to the first full stop that ends a sentence, at most 160 characters. */
function firstSentence(description: string): string {
  const end = /[.!?。！？](?=\s|$)/.exec(description);
  const sentence = description.slice(0, end === null ? undefined : end.index + 1).replace(/\s+/g, " ");
  return sentence.length <= 160 ? sentence : `${sentence.slice(0, 159).replace(/[\ud800-\udbff]$/, "")}…`;
}

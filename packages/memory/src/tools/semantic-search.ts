import { defineTool } from "@toolhaft/core";
import { z } from "zod";
import { count, fenced, hitEntries, oneLine } from "../present.ts";
import { degradedSchema, hitSchema, readOnly, text } from "../schemas.ts";
import type { Fragments } from "../semantic.ts";

export function searchFragmentsTool(fragments: Fragments) {
  return defineTool({
    name: "memory_semantic_search",
    title: "Search by meaning",
    description:
      "Searches everything kept in memory by meaning where the host has an embedder, and by words always. Use it when you do not know the words a memory uses. min_confidence leaves out what has faded.",
    keywords: ["vector", "embedding", "similar", "意味", "语义"],
    inputSchema: z.object({
      query: text("What to look for, 1 to 1,000 characters.", 1_000),
      limit: z.number().int().min(1).max(50).default(10).describe("Page size."),
      min_confidence: z
        .number()
        .min(0)
        .max(1)
        .default(0)
        .describe("Leaves out memories whose confidence has faded below this."),
    }),
    outputSchema: z.object({
      query: z.string(),
      fence: z.string(),
      mode: z.enum(["hybrid", "lexical"]),
      hits: z.array(hitSchema),
      belowConfidence: z.number().int(),
      highestBelow: z.number().nullable(),
      visible: z.number().int(),
      degraded: z.array(degradedSchema),
      nextCursor: z.null(),
    }),
    annotations: readOnly,
    execute: (input, ctx) => fragments.search(input, ctx),
    render({ query, fence, mode, hits, belowConfidence, highestBelow, visible, degraded }, input, toolName) {
      const notes = degraded.map(
        ({ code, message }) =>
          `Note: the search by meaning failed (${code}: ${oneLine(message)}); these are the hits by words.`,
      );
      if (mode === "lexical" && degraded.length === 0) notes.push("Searched by words: no embedder is set.");
      if (belowConfidence > 0) {
        notes.push(
          `${count(belowConfidence, "memory", "memories")} below confidence ${input.min_confidence}; the highest has ${(highestBelow ?? 0).toFixed(2)}.`,
        );
      }
      if (visible === 0) return ["No memories yet.", ...notes].join("\n");
      if (hits.length === 0)
        return [
          `Nothing found for "${oneLine(query)}" in ${count(visible, "visible memory", "visible memories")}.`,
          ...notes,
        ].join("\n");
      const lines = [
        `${count(hits.length, "memory", "memories")} for "${oneLine(query)}".`,
        ...notes,
        fenced(hitEntries(hits), fence),
      ];
      if (hits.some(({ truncated }) => truncated))
        lines.push(`"…" marks cut text; ${toolName("memory_get")} reads a memory in full.`);
      return lines.join("\n");
    },
  });
}

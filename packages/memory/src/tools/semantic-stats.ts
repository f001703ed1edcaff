import { defineTool } from "@toolhaft/core";
import { z } from "zod";
import { readOnly } from "../schemas.ts";
import type { Fragments } from "../semantic.ts";

const counts = z.record(z.string(), z.number().int());

export function statsTool(fragments: Fragments) {
  return defineTool({
    name: "memory_semantic_stats",
    title: "What memory holds",
    description:
      "Numbers of the memories you can see, by scope, category and state, and how they are searched: embedder, pending vectors, what the host does by itself.",
    keywords: ["status", "count", "size"],
    inputSchema: z.object({}),
    outputSchema: z.object({
      total: z.number().int(),
      byScope: counts,
      byCategory: counts,
      byState: counts,
      pendingVectors: z.number().int(),
      embedder: z.object({ model: z.string(), dimensions: z.number().int() }).nullable(),
      extractor: z.enum(["rules", "host"]),
      autoMemorize: z.boolean(),
      autoRecall: z.boolean(),
      enabled: z.boolean(),
      store: z.string(),
      bytes: z.number().int(),
      oldest: z.string().nullable(),
      newest: z.string().nullable(),
    }),
    annotations: readOnly,
    async execute(_input, ctx) {
      const found = await fragments.stats(ctx);
      return {
        ...found,
        byScope: { ...found.byScope },
        byCategory: { ...found.byCategory },
        byState: { ...found.byState },
      };
    },
    render(stats) {
      const list = (some: Record<string, number>) =>
        Object.entries(some)
          .map(([name, n]) => `${name} ${n}`)
          .join(", ") || "none";
      return [
        stats.total === 0
          ? "No memories yet."
          : `${stats.total} live memories, ${stats.bytes} bytes in ${stats.store}.`,
        `By scope: ${list(stats.byScope)}. By category: ${list(stats.byCategory)}. By state: ${list(stats.byState)}.`,
        stats.embedder
          ? `Embedder ${stats.embedder.model} (${stats.embedder.dimensions}), ${stats.pendingVectors} pending.`
          : "No embedder: searched by words.",
        `${stats.enabled ? "Adding is enabled" : "Adding is disabled by the host"}; extractor ${stats.extractor}; the host memorizes by itself: ${stats.autoMemorize ? "yes" : "no"}, recalls by itself: ${stats.autoRecall ? "yes" : "no"}.`,
      ].join("\n");
    },
  });
}

import { defineTool } from "@toolhaft/core";
import { z } from "zod";
import { oneLine, warningLines } from "../present.ts";
import { text, warningSchema, writing } from "../schemas.ts";
import type { Fragments } from "../semantic.ts";

export function addFragmentTool(fragments: Fragments) {
  return defineTool({
    name: "memory_semantic_add",
    title: "Add a fragment",
    description:
      "Keeps a piece of text as a fragment of your own role. What is known already is not stored twice, what says more than an old fragment replaces its text; the answer says what was really written.",
    keywords: ["remember", "memorize", "记住", "覚える"],
    inputSchema: z.object({ content: text("The text to keep, 1 to 16,000 characters.", 16_000) }),
    outputSchema: z.object({
      outcome: z.enum(["added", "merged", "duplicate", "rejected", "nothing"]),
      memories: z.array(
        z.object({
          id: z.string(),
          action: z.enum(["added", "merged", "kept"]),
          content: z.string(),
          before: z.string().nullable(),
        }),
      ),
      reason: z.string(),
      extractor: z.string(),
      warnings: z.array(warningSchema),
    }),
    annotations: writing,
    execute: (input, ctx) => fragments.add(input, ctx),
    render({ outcome, memories, reason, warnings }, _input, toolName) {
      if (memories.length === 0)
        return `${outcome === "rejected" ? "Rejected" : "Nothing stored"}: ${oneLine(reason)}.`;
      const words = { added: "Added", merged: "Merged into", kept: "Already known as" } as const;
      const lines = memories.map(({ id, action }) => `${words[action]} ${id}`);
      const undo = `To take it back: ${toolName("memory_semantic_forget")} with memory_id ${memories[0]?.id ?? ""}.`;
      return [...lines, `Outcome: ${outcome} (${oneLine(reason)}).`, ...warningLines(warnings, undo)].join("\n");
    },
  });
}

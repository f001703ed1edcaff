import { defineTool } from "@toolhaft/core";
import { z } from "zod";
import { idInput, overwriting } from "../schemas.ts";
import type { Fragments } from "../semantic.ts";
import { forgetOutput, renderForget } from "./forget.ts";

export function forgetFragmentTool({ notes }: Fragments) {
  return defineTool({
    name: "memory_semantic_forget",
    title: "Forget or restore a fragment",
    description:
      "Takes a memory or fragment out of search, or with restore true brings it back. Nothing is deleted, so both can be undone.",
    keywords: ["delete", "remove", "undo"],
    inputSchema: z.object({
      memory_id: idInput,
      restore: z.boolean().default(false).describe("Bring it back."),
    }),
    outputSchema: forgetOutput,
    annotations: overwriting,
    execute: ({ memory_id, restore }, ctx) => notes.forget({ id: memory_id, restore }, ctx, "memory_semantic_forget"),
    render: (data, input, toolName) =>
      renderForget(data, input.restore, "memory_semantic_forget", "memory_id", toolName),
  });
}

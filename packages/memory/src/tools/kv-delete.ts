import { defineTool, showInvisible } from "@toolhaft/core";
import { z } from "zod";
import type { Keys } from "../kv.ts";
import { overwriting, text } from "../schemas.ts";

export function deleteKeyTool(keys: Keys) {
  return defineTool({
    name: "memory_delete",
    title: "Remove a key",
    description: "Removes an exact key and its value for good. A key that does not exist is not an error.",
    keywords: ["remove", "unset"],
    inputSchema: z.object({
      key: text("Exact key, 1 to 256 bytes.", 256),
      if_version: z.number().int().min(0).optional().describe("Only if the key is at this version."),
    }),
    outputSchema: z.object({ key: z.string(), deleted: z.boolean(), version: z.number().int().nullable() }),
    annotations: overwriting,
    execute: (input, ctx) => keys.delete(input, ctx),
    render({ key, deleted, version }) {
      const name = showInvisible(JSON.stringify(key));
      return deleted ? `Removed ${name} (it was at version ${version}).` : `Nothing to remove: ${name} does not exist.`;
    },
  });
}

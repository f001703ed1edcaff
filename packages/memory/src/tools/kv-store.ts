import { defineTool, showInvisible } from "@toolhaft/core";
import { z } from "zod";
import type { Keys } from "../kv.ts";
import { warningLines } from "../present.ts";
import { overwriting, text, warningSchema } from "../schemas.ts";

export function storeKeyTool(keys: Keys) {
  return defineTool({
    name: "memory_store",
    title: "Store a value",
    description:
      "Keeps any JSON value under an exact key and replaces what was there. For facts to be searched by words, write a memory instead.",
    keywords: ["set", "put", "save", "key value"],
    inputSchema: z.object({
      key: text("Exact key, 1 to 256 bytes, without control characters.", 256),
      value: z
        .unknown()
        .refine((value) => value !== undefined, "is required")
        .describe("Any JSON value."),
      if_version: z.number().int().min(0).optional().describe("Only if the key is at this version; 0: must not exist."),
    }),
    outputSchema: z.object({
      key: z.string(),
      version: z.number().int(),
      created: z.boolean(),
      bytes: z.number().int(),
      warnings: z.array(warningSchema),
    }),
    annotations: overwriting,
    execute: (input, ctx) => keys.store(input, ctx),
    render({ key, version, created, bytes, warnings }, _input, toolName) {
      const name = showInvisible(JSON.stringify(key));
      const line = `Stored ${name} (version ${version}, ${bytes} bytes, ${created ? "new" : "replaced"}).`;
      return [line, ...warningLines(warnings, `To take it back: ${toolName("memory_delete")} with key ${name}.`)].join(
        "\n",
      );
    },
  });
}

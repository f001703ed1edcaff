import { defineTool, toolOutput } from "@toolhaft/core";
import { z } from "zod";
import type { Operations } from "../../evolve/operations.ts";
import { renderEvolve } from "../../evolve/render.ts";
import { changelogInput, dryRunInput, evolveOutput } from "../../evolve/schemas.ts";
import { creating } from "../../schemas.ts";

export function evolveCreateTool(operations: Operations) {
  return defineTool({
    name: "skill_evolve_create",
    title: "Create a skill",
    description:
      "Writes a new skill: its header from the manifest, its text from the body. Refused when the text gives orders that the scan knows, or the name is taken. Every version is kept and can be brought back.",
    inputSchema: z.object({
      name: z
        .string()
        .min(1)
        .meta({ description: "Name of the skill and its folder: a-z, 0-9, single hyphens inside.", maxLength: 64 }),
      manifest: z
        .object({
          description: z.string().meta({ description: "What it does and when to use it, up to 1,024 characters." }),
          license: z.string().optional().describe("Name of the license."),
          compatibility: z.string().optional().describe("What it needs, up to 500 characters."),
          metadata: z.record(z.string(), z.string()).optional().describe("Further keys, text to text."),
          allowed_tools: z
            .union([z.string(), z.array(z.string())])
            .optional()
            .describe("Tools it pre-approves: rules such as Bash(git:*)."),
          disallowed_tools: z
            .union([z.string(), z.array(z.string())])
            .optional()
            .describe("Tools it pre-approves: rules such as Bash(git:*)."),
        })
        .describe("The header."),
      body: z.string().default("").meta({ description: "Text below the header, up to 160,000 characters." }),
      changelog: changelogInput,
      dry_run: dryRunInput,
    }),
    outputSchema: evolveOutput,
    annotations: creating,
    failureLead: "Rejected, nothing written.",
    maxSchemaTokens: 600,
    async execute(input, ctx) {
      const { data, fileChanges } = await operations.create(ctx, input);
      return toolOutput(data, { fileChanges });
    },
    render: renderEvolve,
  });
}

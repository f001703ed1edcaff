import { defineTool, toolOutput } from "@toolhaft/core";
import { z } from "zod";
import type { Operations } from "../../evolve/operations.ts";
import { renderEvolve } from "../../evolve/render.ts";
import { changeShape, evolveOutput, skillName } from "../../evolve/schemas.ts";
import { changing } from "../../schemas.ts";

export function evolveRemoveFileTool(operations: Operations) {
  return defineTool({
    name: "skill_evolve_remove_file",
    title: "Remove a file of a skill",
    description:
      "Removes a file below references/, templates/, scripts/ or assets/ of a skill; the version before is kept.",
    inputSchema: z.object({
      skill: skillName("Name of the skill, or its id."),
      path: z.string().describe("Path below the skill, such as references/guide.md."),
      ...changeShape,
    }),
    outputSchema: evolveOutput,
    annotations: changing,
    failureLead: "Rejected, nothing written.",
    maxSchemaTokens: 600,
    async execute(input, ctx) {
      const { data, fileChanges } = await operations.removeFile(ctx, input);
      return toolOutput(data, { fileChanges });
    },
    render: renderEvolve,
  });
}

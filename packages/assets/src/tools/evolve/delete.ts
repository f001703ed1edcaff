import { defineTool, toolOutput } from "@toolhaft/core";
import { z } from "zod";
import type { Operations } from "../../evolve/operations.ts";
import { renderEvolve } from "../../evolve/render.ts";
import { changeShape, evolveOutput, skillName } from "../../evolve/schemas.ts";
import { changing } from "../../schemas.ts";

export function evolveDeleteTool(operations: Operations) {
  return defineTool({
    name: "skill_evolve_delete",
    title: "Delete a skill",
    description:
      "Removes the folder of a skill. A snapshot of all its files stays, and skill_evolve_rollback brings it back.",
    inputSchema: z.object({
      name: skillName("Name of the skill, or its id."),
      ...changeShape,
    }),
    outputSchema: evolveOutput,
    annotations: changing,
    failureLead: "Rejected, nothing written.",
    maxSchemaTokens: 600,
    async execute(input, ctx) {
      const { data, fileChanges } = await operations.remove(ctx, input);
      return toolOutput(data, { fileChanges });
    },
    render: renderEvolve,
  });
}

import { defineTool, toolOutput } from "@toolhaft/core";
import { z } from "zod";
import type { Operations } from "../../evolve/operations.ts";
import { renderEvolve } from "../../evolve/render.ts";
import { changeShape, evolveOutput, skillName } from "../../evolve/schemas.ts";
import { changing } from "../../schemas.ts";

export function evolveUpdateTool(operations: Operations) {
  return defineTool({
    name: "skill_evolve_update",
    title: "Replace the text of a skill",
    description:
      "Replaces everything below the header of a skill; the header stays byte for byte. The version before is kept and can be brought back.",
    inputSchema: z.object({
      name: skillName("Name of the skill, or its id."),
      body: z.string().meta({ description: "New text below the header, up to 160,000 characters." }),
      ...changeShape,
    }),
    outputSchema: evolveOutput,
    annotations: changing,
    failureLead: "Rejected, nothing written.",
    maxSchemaTokens: 600,
    async execute(input, ctx) {
      const { data, fileChanges } = await operations.update(ctx, input);
      return toolOutput(data, { fileChanges });
    },
    render: renderEvolve,
  });
}

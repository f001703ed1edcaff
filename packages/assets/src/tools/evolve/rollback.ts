import { defineTool, toolOutput } from "@toolhaft/core";
import { z } from "zod";
import type { Operations } from "../../evolve/operations.ts";
import { renderEvolve } from "../../evolve/render.ts";
import { changeShape, evolveOutput, skillName } from "../../evolve/schemas.ts";
import { changing } from "../../schemas.ts";

export function evolveRollbackTool(operations: Operations) {
  return defineTool({
    name: "skill_evolve_rollback",
    title: "Bring back a version of a skill",
    description:
      "Brings back all files of a skill as they were in a version, or one step back; also a deleted skill. It adds a version and deletes none.",
    inputSchema: z.object({
      name: skillName("Name of the skill, or its id."),
      version: z.int().min(1).optional().describe("Version to bring back; without it one step back."),
      ...changeShape,
    }),
    outputSchema: evolveOutput,
    annotations: changing,
    failureLead: "Rejected, nothing written.",
    maxSchemaTokens: 600,
    async execute(input, ctx) {
      const { data, fileChanges } = await operations.rollback(ctx, input);
      return toolOutput(data, { fileChanges });
    },
    render: renderEvolve,
  });
}

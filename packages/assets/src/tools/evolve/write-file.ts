import { defineTool, toolOutput } from "@toolhaft/core";
import { z } from "zod";
import type { Operations } from "../../evolve/operations.ts";
import { renderEvolve } from "../../evolve/render.ts";
import { changeShape, evolveOutput, skillName } from "../../evolve/schemas.ts";
import { changing } from "../../schemas.ts";

export function evolveWriteFileTool(operations: Operations) {
  return defineTool({
    name: "skill_evolve_write_file",
    title: "Write a file of a skill",
    description:
      "Writes a text file below references/, templates/, scripts/ or assets/ of a skill. A new file gets no execute bit, an old one keeps its mode.",
    inputSchema: z.object({
      skill: skillName("Name of the skill, or its id."),
      path: z.string().describe("Path below the skill, such as references/guide.md."),
      body: z.string().describe("Whole text of the file, up to 1 MiB."),
      ...changeShape,
    }),
    outputSchema: evolveOutput,
    annotations: changing,
    failureLead: "Rejected, nothing written.",
    maxSchemaTokens: 600,
    async execute(input, ctx) {
      const { data, fileChanges } = await operations.writeFile(ctx, input);
      return toolOutput(data, { fileChanges });
    },
    render: renderEvolve,
  });
}

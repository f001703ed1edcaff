import { defineTool, toolOutput } from "@toolhaft/core";
import { z } from "zod";
import type { Operations } from "../../evolve/operations.ts";
import { renderEvolve } from "../../evolve/render.ts";
import { changeShape, evolveOutput, skillName } from "../../evolve/schemas.ts";
import { changing } from "../../schemas.ts";

export function evolvePatchTool(operations: Operations) {
  return defineTool({
    name: "skill_evolve_patch",
    title: "Replace a part of a skill",
    description:
      "Replaces a text in a file of a skill. The text is found exactly or, when it is not there exactly, by lines with other blanks and indents; it must be there once unless replace_all is set. Line ends and indents stay those of the file.",
    inputSchema: z.object({
      name: skillName("Name of the skill, or its id."),
      old_string: z.string().describe("Text to replace."),
      new_string: z.string().describe("Text in its place, taken literally."),
      replace_all: z.boolean().default(false).describe("Replace it everywhere."),
      file: z.string().default("SKILL.md").describe("File of the skill."),
      ...changeShape,
    }),
    outputSchema: evolveOutput,
    annotations: changing,
    failureLead: "Rejected, nothing written.",
    maxSchemaTokens: 600,
    async execute(input, ctx) {
      const { data, fileChanges } = await operations.patch(ctx, input);
      return toolOutput(data, { fileChanges });
    },
    render: renderEvolve,
  });
}

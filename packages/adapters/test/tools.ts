import { type AnyTool, defineTool } from "@toolhaft/core";
import { z } from "zod";

const reads = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };

/** A tool that shows what it was given. */
export function shows(name: string, shape: z.core.$ZodShape = {}): AnyTool {
  return defineTool({
    name,
    title: "Show the input",
    description: "Gives back its input as JSON, to see what reached it through a host.",
    inputSchema: z.object(shape),
    outputSchema: z.object({ input: z.unknown() }),
    annotations: reads,
    execute: async (input) => ({ input }),
    render: ({ input }) => JSON.stringify(input),
  });
}

/** So many tools, each with so many optional parameters. */
export function many(count: number, optional = 0): AnyTool[] {
  const shape = Object.fromEntries(
    Array.from({ length: optional }, (_, index) => [`p${index}`, z.string().optional().describe("One of many")]),
  );
  return Array.from({ length: count }, (_, index) => shows(`tool_${index}`, shape));
}

/** A tool that strict modes cannot say. */
export const withRecord = shows("with_record", {
  labels: z.record(z.string(), z.string()).describe("Any keys").optional(),
});

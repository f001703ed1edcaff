import { z } from "zod";
import { type AnyTool, defineTool, type ToolContext } from "../src/index.ts";
import { reads, writes } from "./fixture-tools.ts";

interface Probe {
  name?: string;
  shape?: z.ZodRawShape;
  output?: z.ZodObject;
  readOnly?: boolean;
  idempotent?: boolean;
  [other: string]: unknown;
}

/** A tool that does what a test needs and nothing else. */
export function probe(
  execute: (input: Record<string, unknown>, context: ToolContext) => unknown,
  options: Probe = {},
): AnyTool {
  const {
    name = "probe",
    shape = {},
    output = z.object({ value: z.unknown() }),
    readOnly = false,
    idempotent = false,
    ...more
  } = options;
  return defineTool({
    name,
    title: "Probe",
    description: "Does what a test asks of it and nothing else.",
    inputSchema: z.object(shape),
    outputSchema: output,
    annotations: { ...(readOnly ? reads : writes), idempotentHint: idempotent || readOnly },
    execute: async (input: Record<string, unknown>, context: ToolContext) =>
      (await execute(input, context)) as { value: unknown },
    render: (data: unknown) => JSON.stringify(data),
    ...more,
  }) as AnyTool;
}

/** Resolves in a later turn of the event loop. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Waits until something holds. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}

import { type AnyTool, standardInput, type ToolSchema, toJsonSchema } from "@toolhaft/core";

/**
 * Our schema for hosts that take a Standard Schema, with a check that lets everything through: the raw input goes to the
 * call, where core checks and repairs it and answers in the tool's own words. Without `$schema`, which some providers
 * refuse.
 */
export function rawInput(tool: AnyTool): ToolSchema {
  const emit = (): Record<string, unknown> => ({ ...toJsonSchema(tool, "mcp") });
  const { "~standard": standard } = standardInput(tool);
  return { "~standard": { ...standard, validate: (value) => ({ value }), jsonSchema: { input: emit, output: emit } } };
}

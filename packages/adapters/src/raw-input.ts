import { type AnyTool, standardInput, type ToolSchema } from "@toolhaft/core";

/**
 * Our schema for hosts that take a Standard Schema, with a check that lets everything through: the raw input goes to the
 * call, where core checks and repairs it and answers in the tool's own words.
 */
export function rawInput(tool: AnyTool): ToolSchema {
  const { "~standard": standard } = standardInput(tool);
  return { "~standard": { ...standard, validate: (value) => ({ value }) } };
}

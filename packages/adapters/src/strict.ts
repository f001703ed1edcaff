import { type AnyTool, isToolError, nearest, type Profile, toJsonSchema } from "@toolhaft/core";
import type { NamedTool } from "./options.ts";

/** Which tools are asked to be strict: all that can be, or those named. */
export type Strict = boolean | readonly string[];

/** A tool that a profile cannot say, and why. */
export interface ReportRow {
  tool: string;
  problem: string;
}

/** Whether a tool is among the chosen; a name that matches nothing is a mistake, not a wish. */
export function chosen(
  option: string,
  choice: Strict | undefined,
  tools: readonly NamedTool[],
): (name: string) => boolean {
  if (typeof choice !== "object") return () => choice === true;
  const known = tools.map(({ name }) => name);
  const missing = choice.filter((name) => !known.includes(name));
  if (missing.length > 0) {
    const near = missing.flatMap((name) => nearest(name, known));
    throw new TypeError(
      `${option}: there is no tool ${missing.join(", ")}${near.length > 0 ? `; did you mean ${near.join(", ")}?` : ""}`,
    );
  }
  return (name) => choice.includes(name);
}

/** The schema in a profile, or the row that says why it cannot be. */
export function inProfile(tool: AnyTool, profile: Profile): { schema: ReturnType<typeof toJsonSchema> } | ReportRow {
  try {
    return { schema: toJsonSchema(tool, profile) };
  } catch (error) {
    if (!isToolError(error)) throw error;
    return { tool: tool.name, problem: error.message };
  }
}

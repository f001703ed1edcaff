import { ToolError } from "../errors.ts";
import { showPath } from "./json-schema.ts";

/** A place in a schema that a profile cannot say. */
export class Unsupported extends Error {
  readonly path: string;
  constructor(path: string, problem: string) {
    super(problem);
    this.path = path;
  }
}

export function unsupported(tool: string, profile: string, fault: Unsupported): ToolError {
  const path = showPath(fault.path);
  return new ToolError("unsupported", `${tool}: ${path}: ${fault.message}`, { details: { tool, profile, path } });
}

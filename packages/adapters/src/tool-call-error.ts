import type { ToolFailure, ToolResult } from "@toolhaft/core";

/** What a host is thrown for a failure: the model reads the message, the application has the rest. */
export class ToolCallError extends Error {
  override readonly name = "ToolCallError";
  readonly failure: ToolFailure;
  readonly result: ToolResult;

  constructor(result: Extract<ToolResult, { ok: false }>) {
    super(result.text);
    this.failure = result.error;
    this.result = result;
  }
}

/** The result of a call that succeeded. */
export type Success = Extract<ToolResult, { ok: true }>;

/** @throws ToolCallError with the text of a failure. */
export function orThrow(result: ToolResult): Success {
  if (!result.ok) throw new ToolCallError(result);
  return result;
}

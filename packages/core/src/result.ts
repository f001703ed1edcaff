import type { ToolFailure } from "./errors.ts";
import { failureText } from "./failure.ts";
import type { FileChange } from "./file-change.ts";
import type { Internals } from "./internals.ts";
import { capText, fits, maxTextBytes } from "./text-cap.ts";
import type { AnyTool, ToolResult } from "./tool.ts";
import { wellFormed } from "./well-formed.ts";

/** The last step: a text over the tool's limits loses its middle. */
export function capResult(result: ToolResult, tool: AnyTool): ToolResult {
  const { maxTextChars } = tool;
  if (fits(result.text, maxTextChars, maxTextBytes)) return result;
  return Object.freeze({ ...result, text: capText(result.text, { maxTextChars, maxTextBytes }).text });
}

/** A failure as a result. The lead stands before it while nothing has happened. */
export function failed(
  internals: Internals | undefined,
  error: ToolFailure,
  fileChanges?: readonly FileChange[],
  lead: string | undefined = internals?.core.definition.failureLead,
): ToolResult {
  const untouched =
    error.code !== "internal" &&
    error.details?.stillRunning !== true &&
    (fileChanges === undefined || fileChanges.length === 0);
  const text = wellFormed(failureText(error, untouched ? lead : undefined));
  return Object.freeze({
    ok: false,
    text,
    error: Object.freeze(error),
    ...(fileChanges === undefined ? {} : { fileChanges }),
  });
}

import type { FileChange } from "./file-change.ts";

/** Why a call failed. The list is closed: hosts and models learn eleven words, not one per tool. */
export const errorCodes = [
  "invalid_input",
  "not_found",
  "conflict",
  "denied",
  "unavailable",
  "timeout",
  "cancelled",
  "too_large",
  "unsupported",
  "upstream",
  "internal",
] as const;
export type ErrorCode = (typeof errorCodes)[number];

/** A failure as plain data: what a host shows and a model reads. */
export interface ToolFailure {
  code: ErrorCode;
  /** What is wrong. */
  message: string;
  /** What to do next. */
  hint?: string;
  /** Whether the same call may succeed later. */
  retryable: boolean;
  details?: Readonly<Record<string, unknown>>;
}

export interface ToolErrorOptions {
  hint?: string;
  retryable?: boolean;
  details?: Record<string, unknown>;
  cause?: unknown;
  /** What had already happened when the call failed; becomes the result's `fileChanges`. */
  fileChanges?: readonly FileChange[];
  /** In place of the tool's `failureLead`, where a tool passes on the failure of another one. */
  lead?: string;
}

/**
 * The one error a tool throws on purpose. The message says what is wrong, the hint what to do next.
 *
 * @example
 * throw new ToolError("not_found", "no file at src/a.ts", { hint: "list the folder first" });
 */
export class ToolError extends Error {
  override readonly name = "ToolError";
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly retryable: boolean;
  readonly details: Readonly<Record<string, unknown>> | undefined;
  readonly fileChanges: readonly FileChange[] | undefined;
  readonly lead: string | undefined;

  constructor(code: ErrorCode, message: string, options: ToolErrorOptions = {}) {
    super(message, "cause" in options ? { cause: options.cause } : undefined);
    this.code = code;
    this.hint = options.hint;
    this.details = options.details;
    this.fileChanges = options.fileChanges;
    this.lead = options.lead;
    this.retryable = options.retryable ?? retryableByDefault(code, options.details);
  }
}

/** Whether a thrown value is a {@link ToolError}, also one of another copy of this package. */
export function isToolError(thrown: unknown): thrown is ToolError {
  try {
    if (thrown instanceof ToolError) return true;
    return (
      thrown instanceof Error &&
      thrown.name === "ToolError" &&
      "code" in thrown &&
      errorCodes.some((code) => code === thrown.code)
    );
  } catch {
    return false; // its getters throw: not one of ours
  }
}

function retryableByDefault(code: ErrorCode, details: Record<string, unknown> | undefined): boolean {
  if (code === "timeout" || code === "conflict") return true;
  return code === "unavailable" && typeof details?.retryAfterMs === "number";
}

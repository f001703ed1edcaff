import { type ErrorCode, errorCodes, type ToolError, type ToolFailure } from "./errors.ts";
import { maskSecrets } from "./secrets.ts";

/** The thrown value behind a failure, for logs only: not enumerable, so in no JSON and no copy. */
const causeKey: unique symbol = Symbol.for("toolhaft.cause.v1");

/** A thrown {@link ToolError} as data. */
export function failureOf(error: ToolError): ToolFailure {
  const code: ErrorCode = errorCodes.includes(error.code) ? error.code : "internal";
  return withCause(
    {
      code,
      message: maskSecrets(messageOf(error)),
      ...(error.hint === undefined ? {} : { hint: maskSecrets(error.hint) }),
      retryable: error.retryable,
      ...(error.details === undefined ? {} : { details: error.details }),
    },
    error,
  );
}

/** Anything thrown that is no {@link ToolError}: `internal`, with what can be read of its message. */
export function internalFailure(thrown: unknown, prefix = ""): ToolFailure {
  return withCause({ code: "internal", message: prefix + maskSecrets(messageOf(thrown)), retryable: false }, thrown);
}

/** The stack or value that made a failure, for a log; `undefined` for one that was thrown on purpose. */
export function causeOf(failure: ToolFailure): unknown {
  return (failure as ToolFailure & { readonly [causeKey]?: unknown })[causeKey];
}

/** What a thrown value says; never throws itself. */
export function messageOf(thrown: unknown): string {
  try {
    if (typeof thrown === "object" && thrown !== null && "message" in thrown) {
      const { message } = thrown;
      if (typeof message === "string" && message !== "") return message;
    }
    if (typeof thrown === "string" && thrown !== "") return thrown;
    const empty = thrown === undefined || thrown === null || thrown === "";
    return `the tool threw ${empty ? "nothing that says why" : `a value without a message (${typeof thrown})`}`;
  } catch {
    return "the tool threw an error whose message cannot be read";
  }
}

/**
 * The text of a failure: `code: message`, the hint on its own line, then at most ten issues.
 *
 * @param lead Stands before it while nothing has happened.
 */
export function failureText(failure: ToolFailure, lead?: string): string {
  const lines = [`${lead === undefined ? "" : `${lead} `}${failure.code}: ${failure.message}`];
  if (failure.hint !== undefined && failure.hint !== "") lines.push(`hint: ${failure.hint}`);
  const { issues, count } = failure.details ?? {};
  if (Array.isArray(issues) && issues.length > 1) {
    for (const issue of issues.slice(0, 10)) if (isLine(issue)) lines.push(`- ${issue.line}`);
    if (typeof count === "number" && count > 10) lines.push(`… and ${count - Math.min(10, issues.length)} more`);
  }
  return lines.join("\n");
}

function isLine(issue: unknown): issue is { line: string } {
  return typeof issue === "object" && issue !== null && "line" in issue && typeof issue.line === "string";
}

function withCause(failure: ToolFailure, cause: unknown): ToolFailure {
  return Object.defineProperty(failure, causeKey, { value: cause, enumerable: false });
}

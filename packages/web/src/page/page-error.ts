/** A failure of page reading as it crosses from the worker; the reader makes a `ToolError` of it. */
export class PageError extends Error {
  override readonly name = "PageError";
  readonly code: "invalid_input" | "not_found" | "too_large" | "unavailable" | "unsupported";
  readonly hint: string | undefined;
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(code: PageError["code"], message: string, hint?: string, details?: Readonly<Record<string, unknown>>) {
    super(message);
    this.code = code;
    this.hint = hint;
    this.details = details;
  }
}

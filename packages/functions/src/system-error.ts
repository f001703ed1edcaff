import { isToolError, ToolError } from "@toolhaft/core";

export function isMissing(error: unknown): boolean {
  const code = codeOf(error);
  return code === "ENOENT" || code === "ENOTDIR";
}

/** A fault of the disk as what it is: nothing that the caller did wrong. */
export function unavailable(error: unknown, what: string): ToolError {
  if (isToolError(error)) return error;
  const code = codeOf(error) ?? (error instanceof Error ? error.message : String(error));
  const hint = code === "ENOSPC" || code === "EDQUOT" ? "free space on that disk" : "check the folder and its rights";
  return new ToolError("unavailable", `${what} (${code})`, { hint: `${hint}, then repeat the call`, cause: error });
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

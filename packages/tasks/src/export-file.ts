import { type FileChange, type ToolContext, ToolError } from "@toolhaft/core";
import type { Desk } from "./desk.ts";

/** Writes a text into the workspace: whole or not at all, and over an existing file only when asked to. */
export async function writeExport(
  desk: Pick<Desk, "workspace">,
  context: ToolContext,
  given: { path: string; text: string; overwrite: boolean },
): Promise<{ path: string; bytes: number; fileChanges: readonly FileChange[] }> {
  const workspace = await desk.workspace(context.directory);
  const { directory, sessionId, signal, ask } = context;
  const scope = { directory, sessionId, signal, ask };
  const target = await workspace.resolve(given.path, "write", scope);
  if (target.kind === "directory" || target.kind === "other") {
    throw new ToolError("conflict", `${target.shown} is no file; nothing was written`, {
      hint: "name another path",
      retryable: false,
    });
  }
  if (target.kind === "file" && !given.overwrite) {
    throw new ToolError("conflict", `${target.shown} is there already; nothing was written`, {
      hint: "set overwrite, or name another path",
      retryable: false,
    });
  }
  const bytes = Buffer.from(given.text);
  const staged = await workspace.stage(scope);
  try {
    await staged.append(bytes);
    const { changes } = await workspace.edit(
      [target.path],
      () => ({
        changes: [{ kind: "adopt", path: target.path, staged, overwrite: given.overwrite }],
        result: undefined,
      }),
      scope,
    );
    return { path: target.shown, bytes: bytes.length, fileChanges: changes };
  } finally {
    await staged.discard();
  }
}

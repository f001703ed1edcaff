import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { nearest, type ToolContext, ToolError } from "@toolhaft/core";
import type { Workspace } from "@toolhaft/workspace";
import { shownPath } from "./editor.ts";

/**
 * Puts what helps to find a missing file into a `not_found`: where the path led, and the paths in its folder whose names
 * are most like it. Any other error stays as it is.
 */
export async function helpFind(
  error: unknown,
  workspace: Workspace,
  paths: readonly string[],
  ctx: ToolContext,
): Promise<unknown> {
  if (!(error instanceof ToolError) || error.code !== "not_found") return error;
  const missing = paths.map((path) => resolve(ctx.directory, path)).filter((path) => !existsSync(path));
  const like = (await Promise.all(missing.map((path) => likeNamed(workspace, path, ctx)))).flat();
  const elsewhere = missing.filter((path) => !error.message.includes(path));
  const hints = [...(like.length > 0 ? [`did you mean ${like.join(", ")}?`] : []), ...(error.hint ? [error.hint] : [])];
  const resolved = elsewhere.length > 0 ? ` (resolved: ${elsewhere.join(", ")})` : "";
  return new ToolError("not_found", error.message + resolved, {
    ...(hints.length > 0 ? { hint: hints.join("; ") } : {}),
    ...(error.details === undefined ? {} : { details: { ...error.details } }),
    cause: error,
  });
}

/** Up to three like-named files in the folder; none where the file might not be read if it were there. */
async function likeNamed(workspace: Workspace, absolute: string, ctx: ToolContext): Promise<readonly string[]> {
  const folder = dirname(absolute);
  let names: readonly string[];
  try {
    await workspace.resolve(absolute, "read", ctx);
    names = (await readdir(folder, { withFileTypes: true }))
      .filter((one) => !one.isDirectory())
      .map(({ name }) => name);
  } catch {
    return [];
  }
  return nearest(basename(absolute), names).map((name) => shownPath(ctx.directory, join(folder, name)));
}

import { readdir } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { nearest, type ToolContext, ToolError } from "@toolhaft/core";
import type { Workspace } from "@toolhaft/workspace";
import { shownPath } from "./editor.ts";

/** A missing file, with the paths in its folder whose names are most like it. */
export async function notFound(
  workspace: Workspace,
  path: string,
  ctx: ToolContext,
  otherwise?: string,
): Promise<ToolError> {
  const name = shownPath(ctx.directory, path);
  const absolute = resolve(ctx.directory, path);
  const like = await likeNamed(workspace, absolute, ctx);
  const hints = [
    ...(like.length > 0 ? [`did you mean ${like.join(", ")}?`] : []),
    ...(otherwise === undefined ? [] : [otherwise]),
  ];
  const resolved = absolute === name ? "" : ` (${absolute})`;
  return new ToolError("not_found", `no file ${name}${resolved}`, {
    hint: hints.length > 0 ? hints.join(" ") : "check the path; list the folder",
    details: { path: name, resolved: absolute, like },
  });
}

/** Up to three like-named files in the folder; none where the folder may not be read. */
async function likeNamed(workspace: Workspace, absolute: string, ctx: ToolContext): Promise<readonly string[]> {
  const folder = dirname(absolute);
  let names: readonly string[];
  try {
    await workspace.resolve(folder, "read", ctx);
    names = (await readdir(folder, { withFileTypes: true }))
      .filter((one) => !one.isDirectory())
      .map(({ name }) => name);
  } catch {
    return [];
  }
  return nearest(basename(absolute), names).map((name) => shownPath(ctx.directory, join(folder, name)));
}

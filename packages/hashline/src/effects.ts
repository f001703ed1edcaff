import { resolve, sep } from "node:path";
import type { Effect, ToolContext } from "@toolhaft/core";

/** Files a call names, as far as its input tells; the workspace asks again with their real paths. */
export function effectsOf(
  permission: "file.read" | "file.write",
  paths: readonly string[],
  ctx: ToolContext,
): readonly Effect[] {
  return paths
    .filter((path) => path !== "" && !path.includes("\0"))
    .map((path) => ({ permission, resource: resolve(ctx.directory, path).split(sep).join("/") }));
}

import { isToolError, type ToolContext } from "@toolhaft/core";

/** Which of some paths the gate refuses; one question for all of them. */
export async function refusedOf(ctx: ToolContext, paths: readonly string[]): Promise<ReadonlySet<string>> {
  const refused = new Set<string>();
  const open: string[] = [];
  for (const path of new Set(paths)) {
    const verdict = ctx.permits("file.read", path);
    if (verdict === "deny") refused.add(path);
    else if (verdict === "ask") open.push(path);
  }
  if (open.length === 0) return refused;
  try {
    await ctx.ask({
      permission: "file.read",
      resources: open,
      reason: `read ${open.length} asset files outside the workspace`,
    });
  } catch (error) {
    if (!isToolError(error) || error.code !== "denied") throw error;
    for (const path of open) refused.add(path);
  }
  return refused;
}

// Another program's MCP server among your own tools: its texts are marked, its links not followed, its changes noticed.
import { type ToolResult, toolset } from "@toolhaft/core";
import { fromMcp, type McpSource } from "@toolhaft/mcp";
import { price } from "../custom-tool/main.ts";

/** Asks both for the price of a cake: our own tool, and the one behind the bridge. */
export async function compare(source: McpSource, pins?: Record<string, string>): Promise<ToolResult[]> {
  await using theirs = await fromMcp(source, { name: "other", ...(pins && { pins }) });
  const tools = toolset(price, theirs);
  const calls = ["price", "other_price"].map((name) => tools.get(name)?.call({ item: "cake", count: 2 }));
  return (await Promise.all(calls)).filter((result) => result !== undefined);
}

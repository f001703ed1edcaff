import { type AnyTool, toJsonSchema } from "@toolhaft/core";
import { invalidParams, McpFault, type McpObjectSchema, type McpTool } from "./types.ts";

const pageSize = 100;

/** Tools as the protocol gives them, each converted once. */
export interface Listing {
  page(tools: readonly AnyTool[], cursor: string | undefined): { tools: McpTool[]; nextCursor?: string };
}

/** @param structured Whether `outputSchema` is listed. */
export function createListing(structured: boolean): Listing {
  const converted = new WeakMap<AnyTool, McpTool>();
  const convert = (tool: AnyTool): McpTool => {
    const known = converted.get(tool);
    if (known !== undefined) return known;
    const made = toMcpTool(tool, structured);
    converted.set(tool, made);
    return made;
  };
  return {
    page(tools, cursor) {
      const start = cursor === undefined ? 0 : startOf(cursor, tools.length);
      const end = start + pageSize;
      const page = { tools: tools.slice(start, end).map(convert) };
      return end < tools.length ? { ...page, nextCursor: cursorOf(end) } : page;
    },
  };
}

/** The title stands in both places: clients read one or the other. Hints are all written: an absent one reads as dangerous. */
function toMcpTool(tool: AnyTool, structured: boolean): McpTool {
  const { name, title, description, annotations } = tool;
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations;
  return {
    name,
    title,
    description,
    inputSchema: objectSchema(tool, "input"),
    ...(structured && { outputSchema: objectSchema(tool, "output") }),
    annotations: { title, readOnlyHint, destructiveHint, idempotentHint, openWorldHint },
  };
}

function objectSchema(tool: AnyTool, side: "input" | "output"): McpObjectSchema {
  // defineTool refuses every root but an object, so only the type is restated.
  return { ...toJsonSchema(tool, "mcp", side), type: "object" };
}

function cursorOf(start: number): string {
  return Buffer.from(`tools:${start}`).toString("base64url");
}

function startOf(cursor: string, count: number): number {
  const start = Number(/^tools:(\d{1,9})$/.exec(Buffer.from(cursor, "base64url").toString())?.[1] ?? Number.NaN);
  if (!(start > 0 && start % pageSize === 0 && start < count)) {
    throw new McpFault(invalidParams, "this cursor is not one of ours, or the list has changed: list from the start");
  }
  return start;
}

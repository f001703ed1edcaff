import type { Attachment, ToolResult } from "@toolhaft/core";
import type { ResultsStore } from "./results-store.ts";
import type { McpCallResult, McpContent } from "./types.ts";

/** Asked for by `_meta` of one request: structured data beside the text. */
export const structuredKey = "toolhaft/structured";
const maxInlineImageBytes = 1_024 * 1_024;

/** How a result looks on the wire. Data goes along only when asked for, and never with a failure. */
export function toCallResult(
  result: ToolResult,
  wants: { option: boolean; request: boolean },
  store: ResultsStore,
): McpCallResult {
  const text: McpContent = { type: "text", text: result.text };
  const meta = wants.request ? metaOf(result) : undefined;
  // v1 clients check the data of a failure against the output schema and show that complaint instead of our text.
  if (!result.ok) return { content: [text], isError: true, ...meta };
  const content = [text, ...(result.attachments ?? []).map((attachment) => contentOf(attachment, store))];
  const structured =
    (wants.option || wants.request) && isRecord(result.data) ? { structuredContent: result.data } : undefined;
  return { content, ...structured, ...meta };
}

/** What another Toolhaft needs to rebuild the whole result. */
function metaOf(result: ToolResult): { _meta: Record<string, unknown> } | undefined {
  const meta: Record<string, unknown> = {};
  if (!result.ok) meta["toolhaft/error"] = result.error;
  if (result.fileChanges !== undefined) meta["toolhaft/fileChanges"] = result.fileChanges;
  return Object.keys(meta).length === 0 ? undefined : { _meta: meta };
}

function contentOf(attachment: Attachment, store: ResultsStore): McpContent {
  const { mimeType, source, bytes } = attachment;
  if (mimeType.startsWith("image/") && source.kind === "bytes" && bytes <= maxInlineImageBytes) {
    return { type: "image", data: Buffer.from(source.bytes).toString("base64"), mimeType };
  }
  return { type: "resource_link", ...store.add(attachment) };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

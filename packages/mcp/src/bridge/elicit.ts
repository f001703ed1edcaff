import type { ElicitResult } from "@modelcontextprotocol/client";
import { isToolError, type ToolContext } from "@toolhaft/core";
import { isObject, plainText } from "./schema.ts";

/**
 * A server's question as a permission: yes or no is all that a person says here, so a form that wants more than a yes is
 * declined. Never answered without a call that runs.
 */
export async function answerElicitation(
  params: unknown,
  context: ToolContext | undefined,
  server: string,
): Promise<ElicitResult> {
  const asked = isObject(params) ? params : {};
  const content = yesTo(asked.requestedSchema);
  if (context === undefined || content === undefined) return { action: "decline" };
  try {
    await context.ask({
      permission: "mcp.elicit",
      resources: [server],
      reason: `the MCP server ${server} asks: ${plainText(String(asked.message ?? ""), 1_000)}`,
      fresh: true,
    });
    return { action: "accept", content };
  } catch (error) {
    if (isToolError(error)) return { action: "decline" };
    throw error;
  }
}

/** The least answer that means yes: true for a box, the first choice that allows; undefined where words are wanted. */
function yesTo(schema: unknown): Record<string, boolean | string> | undefined {
  if (!isObject(schema) || !isObject(schema.properties)) return {};
  const required = Array.isArray(schema.required) ? schema.required.map(String) : [];
  const content: Record<string, boolean | string> = {};
  for (const name of required) {
    const field = schema.properties[name];
    if (!isObject(field)) return undefined;
    if (field.type === "boolean") content[name] = true;
    else if (typeof field.default === "string") content[name] = field.default;
    else {
      const allowing = Array.isArray(field.enum)
        ? field.enum.find((word) => /^(allow once|allow|yes|accept)$/i.test(word))
        : undefined;
      if (typeof allowing !== "string") return undefined;
      content[name] = allowing;
    }
  }
  return content;
}

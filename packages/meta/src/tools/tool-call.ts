import {
  type Annotations,
  type AnyTool,
  defineTool,
  narrowContext,
  nearest,
  showInvisible,
  type ToolContext,
  ToolError,
  type ToolResult,
  toolOutput,
} from "@toolhaft/core";
import { z } from "zod";
import type { MetaState } from "../meta.ts";

/**
 * Runs a loaded tool where the host's own list cannot show it. The inner call keeps its own checks, policy, approval and
 * result; this one only carries it.
 *
 * @param reachable The tools whose hints this one answers for.
 */
export function toolCall(state: MetaState, reachable: readonly AnyTool[]): AnyTool {
  return defineTool({
    name: "tool_call",
    title: "Call a loaded tool",
    description:
      "Runs a tool that tool_load has loaded, where it is not in your list. Gives exactly what that tool gives.",
    keywords: ["run tool", "invoke", "werkzeug aufrufen", "调用工具"],
    inputSchema: z.object({
      name: z.string().min(1).max(64).describe("Name of the loaded tool"),
      input: z.record(z.string(), z.unknown()).describe("Its parameters, as tool_load showed them"),
    }),
    outputSchema: z.object({ tool: z.string(), text: z.string(), data: z.unknown() }),
    annotations: worstOf(reachable),
    maxTextChars: Math.max(30_000, ...reachable.map((tool) => tool.maxTextChars)),
    async execute({ name, input }, context) {
      const tool = find(state, context, name);
      const result = await tool.call(
        input,
        state.policy === undefined ? context : narrowContext(context, state.policy),
      );
      if (!result.ok) throw asError(result);
      const { text, data, fileChanges, attachments } = result;
      return toolOutput(
        { tool: name, text, data: data ?? null },
        {
          ...(fileChanges === undefined ? {} : { fileChanges }),
          ...(attachments === undefined ? {} : { attachments }),
        },
      );
    },
    render: ({ text }) => text,
  }) as AnyTool;
}

function find(state: MetaState, context: ToolContext, name: string): AnyTool {
  const { entries } = state.view(context);
  const entry = entries.get(name);
  if (entry === undefined) {
    const near = nearest(name, entries.keys());
    const shown = JSON.stringify(showInvisible(name));
    throw new ToolError(
      "not_found",
      `no such tool: ${shown}${near.length > 0 ? ` (nearest: ${near.join(", ")})` : ""}`,
      {
        hint: `search with ${context.toolName("tool_search")}`,
      },
    );
  }
  if (!state.isLoaded(context, name)) {
    throw new ToolError("not_found", `${name} is not loaded`, {
      hint: `load it first: ${context.toolName("tool_load")} ${JSON.stringify({ names: [name] })}`,
    });
  }
  return entry.tool;
}

/** The inner failure as it is, what stands before its text included. */
function asError(result: ToolResult & { ok: false }): ToolError {
  const { code, message, ...options } = result.error;
  const lead = result.text.slice(0, Math.max(0, result.text.indexOf(`${code}: `))).trim();
  return new ToolError(code, message, {
    ...options,
    ...(lead === "" ? {} : { lead }),
    ...(result.fileChanges === undefined ? {} : { fileChanges: result.fileChanges }),
  } as ConstructorParameters<typeof ToolError>[2]);
}

function worstOf(tools: readonly AnyTool[]): Annotations {
  const every = (hint: "readOnlyHint" | "idempotentHint"): boolean => tools.every((tool) => tool.annotations[hint]);
  const some = (hint: "destructiveHint" | "openWorldHint"): boolean => tools.some((tool) => tool.annotations[hint]);
  return {
    readOnlyHint: every("readOnlyHint"),
    destructiveHint: some("destructiveHint"),
    idempotentHint: every("idempotentHint"),
    openWorldHint: some("openWorldHint"),
  };
}

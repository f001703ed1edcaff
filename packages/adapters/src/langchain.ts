import { ToolMessage } from "@langchain/core/messages";
import { DynamicStructuredTool } from "@langchain/core/tools";
import { createId, type ToolResult, toJsonSchema } from "@toolhaft/core";
import { type HostTool, hostTools } from "./host-tools.ts";
import { imagesOf } from "./images.ts";
import type { AdapterOptions, ToolSource } from "./options.ts";
import { ToolCallError } from "./tool-call-error.ts";

export type { AdapterOptions, HostCall, ToolSource } from "./options.ts";
export { ToolCallError } from "./tool-call-error.ts";

/** A `StructuredTool` of `@langchain/core`, its types widened. */
export type LangChainTool = DynamicStructuredTool;

/** What LangChain and LangGraph give a tool for one call. */
interface CallConfig {
  toolCall?: { id?: string };
  signal?: AbortSignal;
  configurable?: Readonly<Record<string, unknown>>;
  writer?: (chunk: unknown) => void;
}

/**
 * Tools for `createAgent`, `ToolNode` and `bindTools`. The message holds the text, its `artifact` the whole result; a
 * failure is a message with status `error`, so that an agent goes on with it.
 *
 * @example
 * const agent = createAgent({ model, tools: toLangChain(createHashline()) });
 */
export function toLangChain(source: ToolSource, options: AdapterOptions = {}): LangChainTool[] {
  return hostTools(source, options, false).map(toolOf);
}

function toolOf({ name, tool, call }: HostTool): LangChainTool {
  const func = async (input: unknown, _manager: unknown, config: CallConfig = {}): Promise<unknown> => {
    const { toolCall, signal, configurable, writer } = config;
    const thread = configurable?.thread_id;
    const result = await call(input, {
      callId: toolCall?.id ?? createId(),
      ...(typeof thread === "string" && { sessionId: thread }),
      context: config,
      signal,
      ...(writer && { onProgress: (update) => writer({ tool: name, ...update }) }),
    });
    if (result.ok) return [contentOf(result), result];
    // Without a call there is no message to put a failure in.
    if (toolCall?.id === undefined) throw new ToolCallError(result);
    // An agent that was stopped must not go on with the failure.
    signal?.throwIfAborted();
    const message = { content: result.text, status: "error", tool_call_id: toolCall.id, name, artifact: result };
    return [new ToolMessage(message), result];
  };
  return new UncheckedTool({
    name,
    description: tool.description,
    schema: toJsonSchema(tool, "mcp"),
    responseFormat: "content_and_artifact",
    func,
  });
}

/** The host's check would answer bad input in its own words and know no repair; core checks every call. */
class UncheckedTool extends DynamicStructuredTool {
  override call(...given: Parameters<DynamicStructuredTool["call"]>): Promise<unknown> {
    const unchecked = Object.create(this, { schema: { value: {} } });
    return super.call.apply(unchecked, given);
  }
}

function contentOf(result: ToolResult): unknown {
  const images = imagesOf(result);
  if (images.length === 0) return result.text;
  return [
    { type: "text", text: result.text },
    ...images.map(({ mimeType, base64 }) => ({ type: "image", mimeType, data: base64 })),
  ];
}

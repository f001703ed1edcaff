import { createTool } from "@mastra/core/tools";
import { createId, type ToolResult, toJsonSchema } from "@toolhaft/core";
import { type HostTool, hostTools, type RunningCall } from "./host-tools.ts";
import { imagesOf } from "./images.ts";
import type { AdapterOptions, ToolSource } from "./options.ts";
import { rawInput } from "./raw-input.ts";
import { orThrow } from "./tool-call-error.ts";

export type { AdapterOptions, HostCall, ToolSource } from "./options.ts";
export { ToolCallError } from "./tool-call-error.ts";

/** A tool as `createTool` of Mastra makes it, its types widened. */
export interface MastraTool {
  id: string;
  description: string;
}

/** What Mastra 1 gives `execute` beside the input. */
interface MastraContext {
  agent?: { toolCallId?: string; threadId?: string; agentId?: string };
  abortSignal?: AbortSignal;
  requestContext?: unknown;
  writer?: { write(chunk: unknown): Promise<void> };
}

/**
 * Tools for agents of Mastra 1, by name.
 *
 * @example
 * const agent = new Agent({ id, name, instructions, model, tools: toMastra(createHashline()) });
 */
export function toMastra(source: ToolSource, options: AdapterOptions = {}): Record<string, MastraTool> {
  const hostAsks = options.approval !== "policy";
  const tools = hostTools(source, options, hostAsks).map((hosted) => [hosted.name, toolOf(hosted, hostAsks)]);
  return Object.fromEntries(tools);
}

function toolOf({ name, tool, call, needsApproval }: HostTool, hostAsks: boolean): unknown {
  return createTool({
    id: name,
    title: tool.title,
    description: tool.description,
    inputSchema: rawInput(tool),
    ...(hostAsks && {
      requireApproval: (input: unknown, given?: { requestContext?: unknown }) =>
        needsApproval(input, { context: given?.requestContext }),
    }),
    async execute(input: unknown, context: MastraContext = {}) {
      return orThrow(await call(input, callOf(context)));
    },
    toModelOutput: modelOutput,
  });
}

function callOf({ agent, abortSignal, requestContext, writer }: MastraContext): RunningCall {
  return {
    callId: agent?.toolCallId ?? createId(),
    ...(agent?.threadId !== undefined && { sessionId: agent.threadId }),
    context: requestContext,
    signal: abortSignal,
    ...(writer && {
      onProgress(update) {
        // A writer whose stream has ended rejects; progress is not worth failing for.
        writer.write({ type: "progress", ...update }).catch(() => undefined);
      },
    }),
  };
}

function modelOutput(result: ToolResult): unknown {
  const images = imagesOf(result);
  if (images.length === 0) return { type: "text", value: result.text };
  const parts = images.map(({ mimeType, base64 }) => ({ type: "media", data: base64, mediaType: mimeType }));
  return { type: "content", value: [{ type: "text", text: result.text }, ...parts] };
}

/** A tool in the shape that Mastra 0.24 takes beside its own. */
export interface Mastra024Tool {
  description: string;
  parameters: unknown;
  execute(input: unknown, options?: { toolCallId?: string; abortSignal?: AbortSignal }): Promise<string>;
}

/**
 * Tools for agents of Mastra 0.24, by name. The model reads the text; there is no place for data beside it.
 */
export function toMastra024(source: ToolSource, options: AdapterOptions = {}): Record<string, Mastra024Tool> {
  return Object.fromEntries(
    hostTools(source, options, false).map(({ name, tool, call }): [string, Mastra024Tool] => [
      name,
      {
        description: tool.description,
        parameters: unchecked(toJsonSchema(tool, "mcp")),
        async execute(input, { toolCallId, abortSignal } = {}) {
          return orThrow(await call(input, { callId: toolCallId ?? createId(), signal: abortSignal })).text;
        },
      },
    ]),
  );
}

/** A schema as the AI SDK marks its own, which needs no zod. */
function unchecked(jsonSchema: object): unknown {
  return {
    [Symbol.for("vercel.ai.schema")]: true,
    [Symbol.for("vercel.ai.validator")]: true,
    _type: undefined,
    jsonSchema,
    validate: (value: unknown) => ({ success: true, value }),
  };
}

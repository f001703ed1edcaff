import { type ToolResult, toJsonSchema } from "@toolhaft/core";
import { type HostTool, hostTools } from "./host-tools.ts";
import { imagesOf } from "./images.ts";
import type { AdapterOptions, ToolSource } from "./options.ts";

export type { AdapterOptions, HostCall, ToolSource } from "./options.ts";

/** What the SDK hands to a tool of its run. */
export interface OpenAIAgentsContext {
  context: unknown;
  isToolApproved(call: { toolName: string; callId: string }): boolean | undefined;
}

interface CallDetails {
  toolCall?: { callId: string };
  signal?: AbortSignal;
}

type OutputPart = { type: "text"; text: string } | { type: "image"; image: { data: string; mediaType: string } };

/** A `FunctionTool` of `@openai/agents`, its types widened. */
export interface OpenAIAgentsTool {
  type: "function";
  name: string;
  description: string;
  parameters: { type: "object"; properties: Record<string, never>; required: string[]; additionalProperties: true };
  strict: false;
  invoke(context: OpenAIAgentsContext, input: string, details?: CallDetails): Promise<string | OutputPart[]>;
  errorFunction(context: OpenAIAgentsContext, error: unknown): string;
  needsApproval(context: OpenAIAgentsContext, input: unknown, callId?: string): Promise<boolean>;
  isEnabled(): Promise<boolean>;
  /** Data and changed files of a call, as `customData` of the run's output item. */
  customDataExtractor(call: { toolCall: { callId: string } }): Record<string, unknown> | undefined;
}

/** Results of calls whose custom data nobody fetched are forgotten after this many. */
const maxKept = 1_000;

/**
 * Tools for agents of the OpenAI Agents SDK. What needs a person's permission interrupts the run; the answer may be given
 * in another process, on a `RunState` that was stored as JSON in between.
 *
 * @example
 * const agent = new Agent({ name: "Editor", tools: toOpenAIAgents(createHashline()) });
 */
export function toOpenAIAgents(source: ToolSource, options: AdapterOptions = {}): OpenAIAgentsTool[] {
  return hostTools(source, options, options.approval !== "policy").map(toolOf);
}

function toolOf({ name, tool, call, needsApproval }: HostTool): OpenAIAgentsTool {
  const kept = new Map<string, ToolResult>();
  let unnamed = 0;
  return {
    type: "function",
    name,
    description: tool.description,
    // The SDK's type wants the parts of an object schema one by one; it sends what it was given.
    parameters: { ...toJsonSchema(tool, "openai") } as unknown as OpenAIAgentsTool["parameters"],
    strict: false,
    async invoke(context, input, details) {
      const callId = details?.toolCall?.callId ?? `${name}#${unnamed++}`;
      const approved = context.isToolApproved({ toolName: name, callId }) === true;
      const given = { callId, context: context.context, signal: details?.signal, approved };
      const result = await call(argumentsOf(input), given);
      kept.set(callId, result);
      const [oldest] = kept.keys();
      if (kept.size > maxKept && oldest !== undefined) kept.delete(oldest);
      return outputOf(result);
    },
    errorFunction: (_context, error) => (error instanceof Error ? error.message : String(error)),
    needsApproval: async ({ context }, input, callId) =>
      needsApproval(input, { ...(callId !== undefined && { callId }), context }),
    isEnabled: async () => true,
    customDataExtractor({ toolCall: { callId } }) {
      const result = kept.get(callId);
      kept.delete(callId);
      return result && customData(result);
    },
  };
}

/** The SDK takes what JSON can carry, and stores it with the run. */
function customData(result: ToolResult): Record<string, unknown> {
  const { fileChanges } = result;
  const kept = result.ok ? { data: result.data, fileChanges } : { error: result.error, fileChanges };
  return JSON.parse(JSON.stringify(kept));
}

/** Text that is no JSON goes on as it is: core says where it ends. */
function argumentsOf(input: string): unknown {
  const text = input.trim() === "" ? "{}" : input;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function outputOf(result: ToolResult): string | OutputPart[] {
  const images = imagesOf(result);
  if (images.length === 0) return result.text;
  return [
    { type: "text", text: result.text },
    ...images.map(({ mimeType, base64 }) => ({
      type: "image" as const,
      image: { data: base64, mediaType: mimeType },
    })),
  ];
}

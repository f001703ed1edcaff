import { createId, toJsonSchema } from "@toolhaft/core";
import { hostTools } from "./host-tools.ts";
import type { AdapterOptions, ToolSource } from "./options.ts";

export type { AdapterOptions, HostCall, ToolSource } from "./options.ts";

/** A `BaseTool` of LlamaIndex, its types widened. */
export interface LlamaIndexTool {
  metadata: { name: string; description: string; parameters: Record<string, unknown> };
  call(input: unknown): Promise<string>;
}

/**
 * Tools for agents of LlamaIndex.TS. A failure is the tool's answer. The host has no signal to pass on: put one into the
 * context where a run must be stoppable.
 *
 * @example
 * const editor = agent({ llm, tools: toLlamaIndex(createHashline()) });
 */
export function toLlamaIndex(source: ToolSource, options: AdapterOptions = {}): LlamaIndexTool[] {
  return hostTools(source, options, false).map(({ name, tool, call }) => ({
    metadata: { name, description: tool.description, parameters: { ...toJsonSchema(tool, "openai") } },
    call: async (input) => (await call(input, { callId: createId() })).text,
  }));
}

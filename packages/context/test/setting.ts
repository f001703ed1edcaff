import type { ContextInit, Family, ToolResult } from "@toolhaft/core";
import { tempWorkspace } from "@toolhaft/testing";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { onTestFinished } from "vitest";
import {
  type Assembled,
  type ContextHit,
  type ContextOptions,
  type ContextSource,
  createContextTools,
} from "../src/index.ts";

/** The counter as anybody may call it, not ours. */
export const independentCount = (text: string): number => countTokens(text, { disallowedSpecial: new Set() });

export async function folder(files: Record<string, string> = {}) {
  const workspace = await tempWorkspace(files);
  onTestFinished(() => workspace.remove());
  return workspace;
}

/** A source that gives the same hits whatever is asked. */
export function fixed(name: string, hits: readonly ContextHit[], more: Partial<ContextSource> = {}): ContextSource {
  return { name, search: async () => hits, ...more };
}

export function throwing(name: string, message: string): ContextSource {
  return { name, search: () => Promise.reject(new Error(message)) };
}

export function contextOver(options: ContextOptions) {
  const family = createContextTools(options);
  onTestFinished(() => family.close());
  return (input: Record<string, unknown>, init: ContextInit = {}) => callOf(family, "context_assemble", input, init);
}

export function callOf(family: Family, name: string, input: unknown, init: ContextInit = {}): Promise<ToolResult> {
  const tool = family.tools.find((one) => one.name === name);
  if (!tool) throw new Error(`no tool ${name}`);
  return tool.call(input, init);
}

export function good(result: ToolResult): { text: string; data: Assembled } {
  if (!result.ok) throw new Error(result.text);
  return { text: result.text, data: result.data as Assembled };
}

export function bad(result: ToolResult) {
  if (result.ok) throw new Error(`expected a failure, got: ${result.text}`);
  return result.error;
}

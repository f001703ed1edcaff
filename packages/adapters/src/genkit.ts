import { createId, toJsonSchema } from "@toolhaft/core";
import { type HostTool, hostTools } from "./host-tools.ts";
import type { AdapterOptions, ToolSource } from "./options.ts";

export type { AdapterOptions, HostCall, ToolSource } from "./options.ts";

/** What is used of a `Genkit` instance. */
export interface GenkitLike<T extends GenkitTool> {
  registry: { apiStability: "stable" | "beta" };
  defineTool(
    config: { name: string; description: string },
    run: (input: unknown, options: GenkitCallOptions) => Promise<string>,
  ): T;
}

/** What is used of a tool that Genkit defined. */
export interface GenkitTool {
  __action: { inputJsonSchema?: unknown };
}

interface GenkitCallOptions {
  interrupt(metadata?: Record<string, unknown>): never;
  context?: unknown;
  abortSignal?: AbortSignal;
  resumed?: unknown;
  sendChunk?: (chunk: never) => void;
}

/**
 * Defines the tools on a Genkit instance and gives them for `ai.generate({ tools })`. On an instance of `genkit/beta`, what
 * needs a person's permission interrupts; `tool.restart(interrupt)` is the yes, `tool.respond(interrupt, …)` the no. The
 * stable Genkit cannot interrupt: the context's asker is asked there.
 *
 * A failure is the tool's answer, not an exception: Genkit ends the whole generation when a tool throws.
 *
 * @throws TypeError for `approval: "host"` on a Genkit that cannot interrupt.
 * @example
 * const { text } = await ai.generate({ prompt, tools: toGenkit(ai, createHashline()) });
 */
export function toGenkit<T extends GenkitTool>(
  ai: GenkitLike<T>,
  source: ToolSource,
  options: AdapterOptions = {},
): T[] {
  const canAsk = ai.registry.apiStability === "beta";
  if (options.approval === "host" && !canAsk)
    throw new TypeError(
      'this Genkit cannot interrupt: take approval "policy", or make it with genkit of "genkit/beta"',
    );
  return hostTools(source, options, canAsk && options.approval !== "policy").map((hosted) => define(ai, hosted));
}

function define<T extends GenkitTool>(ai: GenkitLike<T>, { name, tool, call, needsApproval }: HostTool): T {
  const defined = ai.defineTool({ name, description: tool.description }, async (input: unknown, given) => {
    const approved = given.resumed !== undefined && given.resumed !== false;
    if (!approved && needsApproval(input, { context: given.context }))
      given.interrupt({ tool: name, title: tool.title });
    const { context, abortSignal: signal } = given;
    const result = await call(input, { callId: createId(), context, signal, approved });
    return result.text;
  });
  // Set afterwards, so that the model gets the schema and core alone checks by it: Genkit ends the generation on bad input.
  defined.__action.inputJsonSchema = toJsonSchema(tool, "mcp");
  return defined;
}

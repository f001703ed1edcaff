import { createId, type ToolResult, toJsonSchema } from "@toolhaft/core";
import { type HostTool, hostTools } from "./host-tools.ts";
import { imagesOf } from "./images.ts";
import type { AdapterOptions, ToolSource } from "./options.ts";
import { chosen, type Strict } from "./strict.ts";
import { orThrow } from "./tool-call-error.ts";

export type { AdapterOptions, HostCall, ToolSource } from "./options.ts";
export { ToolCallError } from "./tool-call-error.ts";

export interface TanStackOptions extends AdapterOptions {
  /** Tools that the host's discovery tool loads by need. @default none */
  lazy?: Strict;
  /**
   * Tools that the host asks for before each call; it can tell tools apart, but not inputs. Without it all questions go
   * to the context's `asker`.
   *
   * @default none
   */
  needsApproval?: Strict;
}

interface CallContext {
  toolCallId?: string;
  abortSignal?: AbortSignal;
  context?: unknown;
  emitCustomEvent(name: string, value: Record<string, unknown>): void;
}

type ContentPart =
  | { type: "text"; content: string }
  | { type: "image"; source: { type: "data"; value: string; mimeType: string } };

/** A server tool of `@tanstack/ai`, its types widened. */
export interface TanStackTool {
  __toolSide: "server";
  name: string;
  description: string;
  inputSchema: Record<string, unknown>;
  needsApproval?: true;
  lazy?: true;
  execute(input: unknown, context?: CallContext): Promise<ContentPart[]>;
}

/**
 * Server tools for `chat({ tools })` of TanStack AI. Progress arrives as custom events named `toolhaft-progress`.
 *
 * @throws TypeError when an option names a tool that is not there.
 * @example
 * const stream = chat({ adapter, messages, tools: toTanStack(createHashline()) });
 */
export function toTanStack(source: ToolSource, options: TanStackOptions = {}): TanStackTool[] {
  const hosted = hostTools(source, options, false);
  const isLazy = chosen("toTanStack: lazy", options.lazy, hosted);
  const isAsked = chosen("toTanStack: needsApproval", options.needsApproval, hosted);
  return hosted.map((each) => toolOf(each, isAsked(each.name), isLazy(each.name)));
}

function toolOf({ name, tool, call }: HostTool, asked: boolean, lazy: boolean): TanStackTool {
  return {
    __toolSide: "server",
    name,
    description: tool.description,
    inputSchema: { ...toJsonSchema(tool, "mcp") },
    ...(asked && { needsApproval: true }),
    ...(lazy && { lazy: true }),
    async execute(input, context) {
      const { toolCallId: callId = createId(), abortSignal: signal, context: own } = context ?? {};
      const result = await call(input, {
        callId,
        context: own,
        signal,
        approved: asked,
        onProgress: (update) => context?.emitCustomEvent("toolhaft-progress", { ...update }),
      });
      return contentOf(orThrow(result));
    },
  };
}

/** Always parts: a bare string that happens to be JSON would be parsed and written anew. */
function contentOf(result: ToolResult): ContentPart[] {
  return [
    { type: "text", content: result.text },
    ...imagesOf(result).map(({ mimeType, base64 }) => ({
      type: "image" as const,
      source: { type: "data" as const, value: base64, mimeType },
    })),
  ];
}

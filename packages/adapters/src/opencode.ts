import { type AnyTool, type Asker, createId, type JsonSchema, toJsonSchema } from "@toolhaft/core";
import { hostTools } from "./host-tools.ts";
import { imagesOf } from "./images.ts";
import type { AdapterOptions, ToolSource } from "./options.ts";
import { orThrow, type Success } from "./tool-call-error.ts";

export type { AdapterOptions, HostCall, ToolSource } from "./options.ts";
export { ToolCallError } from "./tool-call-error.ts";

/** What is used of a schema of the plugin's `tool.schema`, which is zod. */
interface HostSchema {
  optional(): HostSchema;
  /** Told to every copy of zod that converts the schema; `meta` is known to the copy it was called on alone. */
  _zod: { toJSONSchema?: () => unknown };
}

export interface OpencodeOptions extends AdapterOptions {
  /** `tool` of `@opencode-ai/plugin`: the arguments must be made with the zod that opencode itself reads them with. */
  tool: { schema: { any(): unknown } };
}

/** What opencode gives a tool for one call. */
export interface OpencodeContext {
  sessionID: string;
  messageID: string;
  agent: string;
  callID?: string;
  directory: string;
  worktree: string;
  abort: AbortSignal;
  metadata(input: { title?: string; metadata?: Record<string, unknown> }): unknown;
  ask(input: { permission: string; patterns: string[]; always: string[]; metadata: Record<string, unknown> }): unknown;
}

/** A tool of a plugin's `tool` record, its types widened. */
export interface OpencodeTool {
  description: string;
  args: Record<string, never>;
  execute(input: unknown, context: OpencodeContext): Promise<OpencodeResult>;
}

export interface OpencodeResult {
  title: string;
  output: string;
  metadata: Record<string, unknown>;
  attachments?: { type: "file"; mime: string; url: string }[];
}

/**
 * The `tool` record of an opencode plugin. Tools work in the session's directory unless the context names another, and
 * ask through opencode's own permissions.
 *
 * @example
 * import { tool } from "@opencode-ai/plugin";
 * export const Toolhaft = async () => ({ tool: toOpencode(createMemory(), { tool }) });
 */
export function toOpencode(source: ToolSource, options: OpencodeOptions): Record<string, OpencodeTool> {
  const tools = hostTools(source, options, false).map(({ name, tool, call }): [string, OpencodeTool] => [
    name,
    {
      description: tool.description,
      args: argumentsOf(toJsonSchema(tool, "mcp"), options.tool),
      async execute(input, context) {
        const { sessionID: sessionId, agent, abort: signal, callID = createId(), directory, worktree } = context;
        const result = await call(input, {
          callId: callID,
          sessionId,
          agent,
          place: { directory, worktree },
          context,
          signal,
          onProgress: ({ message: title, ...metadata }) =>
            void context.metadata({ ...(title !== undefined && { title }), metadata }),
          ...(options.approval !== "policy" && { asker: askerOf(context) }),
        });
        return resultOf(tool, orThrow(result));
      },
    },
  ]);
  return Object.fromEntries(tools);
}

/** opencode rejects for a no; what it remembers of a yes is its own matter. */
function askerOf(context: OpencodeContext): Asker {
  return async ({ permission, resources, always, reason, tool, details }) => {
    try {
      await context.ask({
        permission,
        patterns: [...resources],
        always: [...(always ?? resources)],
        metadata: { tool, reason, ...details },
      });
      return { allow: true };
    } catch (error) {
      return { allow: false, ...(error instanceof Error && error.message !== "" && { feedback: error.message }) };
    }
  };
}

/**
 * One schema for each argument, that lets everything through and says what ours says: opencode's own check would answer
 * in its own words, and its zod knows not everything that JSON Schema does.
 */
function argumentsOf(schema: JsonSchema, host: OpencodeOptions["tool"]): Record<string, never> {
  const { properties = {}, required = [] } = schema as {
    properties?: Record<string, Record<string, unknown>>;
    required?: readonly string[];
  };
  const made = Object.entries(properties).map(([name, property]) => {
    const any = host.schema.any() as HostSchema;
    const argument = required.includes(name) ? any : any.optional();
    argument._zod.toJSONSchema = () => structuredClone(property);
    return [name, argument];
  });
  return Object.fromEntries(made);
}

function resultOf(tool: AnyTool, result: Success): OpencodeResult {
  const { text, data, fileChanges } = result;
  const images = imagesOf(result);
  return {
    title: tool.title,
    output: text,
    metadata: { data, ...(fileChanges && { fileChanges }) },
    ...(images.length > 0 && {
      attachments: images.map(({ mimeType, base64 }) => ({
        type: "file" as const,
        mime: mimeType,
        url: `data:${mimeType};base64,${base64}`,
      })),
    }),
  };
}

import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { type Middleware, toolset } from "@toolhaft/core";
import { bindV1, createMcpHandlers, type ServeOptions } from "@toolhaft/mcp";
import type { AdapterOptions, ToolSource } from "./options.ts";

export type { ToolSource } from "./options.ts";

export interface ClaudeAgentSdkOptions
  extends Pick<AdapterOptions, "onProgress" | "onResult">,
    Omit<ServeOptions, "lazy"> {
  /** The agent knows the tools as `mcp__<name>__<tool>`. @default "toolhaft" */
  name?: string;
}

/** An entry of `mcpServers` in the options of `query`. */
export interface ClaudeAgentSdkServer {
  type: "sdk";
  name: string;
  instance: McpServer;
}

/**
 * Tools for the Claude Agent SDK, as a server in the same process. The agent's own permission mode stands before every
 * call; what the policy asks beyond it is put to the person by elicitation, and refused where the client has none.
 *
 * @example
 * query({ prompt, options: { mcpServers: { toolhaft: toClaudeAgentSdk(createMemory()) } } });
 */
export function toClaudeAgentSdk(source: ToolSource, options: ClaudeAgentSdkOptions = {}): ClaudeAgentSdkServer {
  const { name = "toolhaft", onProgress, onResult, ...serve } = options;
  const tools = "tools" in source ? source.tools : source;
  const handlers = createMcpHandlers(toolset(tools).wrap(listening(onProgress, onResult)), { ...serve, name });
  const instance = new McpServer({ name: handlers.name, version: handlers.version });
  const bound = bindV1(instance.server, handlers);
  const connect = instance.connect.bind(instance);
  instance.connect = async (transport) => {
    await bound;
    await connect(transport);
  };
  return { type: "sdk", name, instance };
}

/** Tells the program what the agent is told over MCP. */
function listening(onProgress: AdapterOptions["onProgress"], onResult: AdapterOptions["onResult"]): Middleware {
  return async (call, next) => {
    const { context } = call;
    const result = await next(
      onProgress === undefined
        ? call
        : {
            ...call,
            context: {
              ...context,
              progress(update) {
                context.progress(update);
                onProgress(context.callId, update);
              },
            },
          },
    );
    onResult?.(context.callId, result);
    return result;
  };
}

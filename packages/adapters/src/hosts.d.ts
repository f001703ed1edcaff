// What is used of hosts that are too heavy to be installed for every check; the long suite compiles against the real ones.

declare module "@langchain/core/messages" {
  export class ToolMessage {
    constructor(fields: {
      content: unknown;
      status: string;
      tool_call_id: string;
      name: string;
      artifact: unknown;
    });
  }
}

declare module "@langchain/core/tools" {
  export class DynamicStructuredTool {
    constructor(fields: {
      name: string;
      description: string;
      schema: unknown;
      responseFormat: "content_and_artifact";
      func(input: unknown, manager: unknown, config?: object): Promise<unknown>;
    });
    name: string;
    description: string;
    call(input: unknown, config?: unknown, tags?: string[]): Promise<unknown>;
    invoke(input: unknown, config?: unknown): Promise<unknown>;
  }
}

declare module "@mastra/core/tools" {
  export function createTool(options: Record<string, unknown>): unknown;
}

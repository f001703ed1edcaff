import {
  type AnyTool,
  type ContextInit,
  createContext,
  type StandardToolV1,
  standardInput,
  ToolError,
} from "@toolhaft/core";
import { namedTools, type ToolSource } from "./options.ts";

export type { ToolSource } from "./options.ts";

/**
 * Tools by the Standard Tool interface, bound to a context of your choice: the interface itself has none. `execute`
 * gives the data and rejects with `ToolError`; text, abort and progress have no place in it.
 *
 * @see https://standardschema.dev
 */
export function bindStandard(source: ToolSource, context: ContextInit = {}): StandardToolV1[] {
  const shared = createContext(context);
  return namedTools(source, { context: shared }).map(({ name, tool }) => bind(name, tool, shared));
}

function bind(name: string, tool: AnyTool, context: ContextInit): StandardToolV1 {
  return {
    "~standard": {
      ...tool["~standard"],
      name,
      inputSchema: standardInput(tool),
      async execute(input: unknown) {
        const result = await tool.call(input, context);
        if (result.ok) return result.data;
        const { code, message, ...rest } = result.error;
        throw new ToolError(code, message, { ...rest, ...(rest.details && { details: { ...rest.details } }) });
      },
    },
  };
}

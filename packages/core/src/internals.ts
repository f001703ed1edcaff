import type { ToolFailure } from "./errors.ts";
import type { Middleware } from "./middleware/types.ts";
import type { SchemaFault } from "./schema/base-form.ts";
import type { JsonSchema } from "./schema/json-schema.ts";
import type { AnyTool, ToolDefinition, ToolSchema } from "./tool.ts";

/** What a tool carries beside its public face; a registered symbol, so that copies of this package agree. */
export const internalsKey: unique symbol = Symbol.for("toolhaft.tool.v1");

export interface ToolCore {
  readonly definition: ToolDefinition<ToolSchema, ToolSchema>;
  readonly input: JsonSchema;
  readonly output: JsonSchema;
  /** Schemas of another program, passed on as they came where the profile changes nothing. */
  readonly asGiven?: { readonly input: JsonSchema; readonly output: JsonSchema };
  /** The first thing in a foreign schema that has no base form. */
  readonly faults?: { readonly input?: SchemaFault; readonly output?: SchemaFault };
  /** Schemas by profile and side, made on first use. */
  readonly profiles: Map<string, JsonSchema>;
  readonly validateOutput: boolean;
  readonly checkOutput: (data: unknown) => ToolFailure | undefined;
}

export interface Binding {
  readonly name: string;
  readonly description: string;
  /** Outermost first. */
  readonly middleware: readonly Middleware[];
  readonly toolName: ((original: string) => string) | undefined;
}

export interface Internals {
  readonly core: ToolCore;
  readonly binding: Binding;
}

export function internalsOf(tool: AnyTool): Internals | undefined {
  return (tool as AnyTool & { readonly [internalsKey]?: Internals })[internalsKey];
}

import { toolNamePattern } from "./check-definition.ts";
import type { ToolContext } from "./context.ts";
import { bindTool } from "./define-tool.ts";
import type { ToolCore } from "./internals.ts";
import { compileParse } from "./parse.ts";
import type { PolicyRule } from "./policy/types.ts";
import { baseForm, type SchemaFault } from "./schema/base-form.ts";
import { deepFreeze, type JsonSchema } from "./schema/json-schema.ts";
import type { Annotations, AnyTool, ToolSchema } from "./tool.ts";

/** A tool of another program: its schemas are JSON Schema, and its promises are taken as they are. */
export interface ForeignToolDefinition {
  /** `^[a-z][a-z0-9_]{0,63}$`. */
  name: string;
  title: string;
  description: string;
  annotations: Annotations;
  keywords?: readonly string[];
  /** As of `defineTool`: they stand below every rule of the user. */
  defaultRules?: readonly PolicyRule[];
  inputSchema: JsonSchema;
  outputSchema?: JsonSchema;
  maxTextChars?: number;
  /** What is wrong with an input by the foreign schema; empty when nothing is. */
  validate(input: unknown): readonly { path: readonly (string | number)[]; message: string }[];
  effects?(input: unknown, context: ToolContext): readonly { permission: string; resource: string }[];
  execute(input: unknown, context: ToolContext): Promise<unknown>;
  render(output: unknown, input: unknown, toolName: (original: string) => string): string;
}

/**
 * A tool from a foreign JSON Schema, for bridges to other programs. None of the checks of `defineTool` is made, for
 * nobody here can mend what is wrong; under `mcp`, `openai` and `anthropic` the schema is passed on as it came, other
 * profiles convert it or say `unsupported`. Inputs are repaired as everywhere; unknown keys are the foreign schema's matter.
 *
 * @throws TypeError when the name is none that hosts take.
 */
export function foreignTool(definition: ForeignToolDefinition): AnyTool {
  const { name, inputSchema, outputSchema = { type: "object" } } = definition;
  if (!toolNamePattern.test(name.slice(0, 48)) || !/^[a-z0-9_]{1,64}$/.test(name))
    throw new TypeError(`foreignTool: "${name}" does not match ^[a-z][a-z0-9_]{0,63}$`);
  const input = baseForm(inputSchema);
  const output = baseForm(outputSchema);
  const inputStandard = standardOf(inputSchema, definition.validate);
  const core: ToolCore = {
    definition: { ...definition, inputSchema: inputStandard, outputSchema: standardOf(outputSchema, () => []) },
    input: deepFreeze(input.schema),
    output: deepFreeze(output.schema),
    asGiven: { input: deepFreeze(structuredClone(inputSchema)), output: deepFreeze(structuredClone(outputSchema)) },
    faults: { ...firstFault("input", input.faults), ...firstFault("output", output.faults) },
    profiles: new Map(),
    validateOutput: false,
    checkOutput: () => undefined,
  };
  const parse = compileParse(name, inputStandard, core.input, { anyKey: true });
  return bindTool(core, parse, { name, description: definition.description, middleware: [], toolName: undefined });
}

function firstFault(
  side: "input" | "output",
  [fault]: readonly SchemaFault[],
): Partial<Record<"input" | "output", SchemaFault>> {
  return fault === undefined ? {} : { [side]: fault };
}

function standardOf(schema: JsonSchema, validate: ForeignToolDefinition["validate"]): ToolSchema {
  const emit = (): Record<string, unknown> => ({ ...schema });
  return {
    "~standard": {
      version: 1,
      vendor: "toolhaft-foreign",
      validate(value) {
        const issues = validate(value);
        return issues.length === 0
          ? { value }
          : { issues: issues.map(({ path, message }) => ({ path: [...path], message })) };
      },
      jsonSchema: { input: emit, output: emit },
    },
  };
}

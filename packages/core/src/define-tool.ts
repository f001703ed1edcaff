import type { StandardSchemaV1 } from "@standard-schema/spec";
import { runThrough } from "./call.ts";
import { checkSchema, checkTexts } from "./check-definition.ts";
import { completeContext } from "./create-context.ts";
import { ToolError, type ToolFailure } from "./errors.ts";
import { internalFailure } from "./failure.ts";
import { type Binding, type Internals, internalsKey, type ToolCore } from "./internals.ts";
import { asynchronous, compileParse, gather, ignore, isPromise } from "./parse.ts";
import { type Profile, toJsonSchema, withNulls } from "./profiles.ts";
import type { SchemaFault } from "./schema/base-form.ts";
import { convert } from "./schema/convert.ts";
import { explain } from "./schema/explain.ts";
import { showIssue } from "./schema/issue.ts";
import { deepFreeze, type JsonSchema, showPath } from "./schema/json-schema.ts";
import { findNonJson } from "./schema/json-value.ts";
import { findHiddenTypes } from "./schema/probe.ts";
import { forModels } from "./schema/rewrite.ts";
import { defaultMaxSchemaTokens, schemaTokens } from "./schema/tokens.ts";
import { addIssue, compileKeyCheck } from "./schema/unknown-keys.ts";
import type { AnyTool, InferInput, InferOutput, Tool, ToolDefinition, ToolSchema } from "./tool.ts";

/** @default 30_000 */
export const defaultMaxTextChars = 30_000;

/**
 * A tool from its definition. Everything that can be wrong with a definition is found here, when the module loads.
 *
 * @throws TypeError with all faults of the definition: name, path and fix of each.
 */
export function defineTool<I extends ToolSchema, O extends ToolSchema>(
  definition: ToolDefinition<I, O>,
): Tool<InferInput<I>, InferOutput<O>, InferOutput<I>> {
  const plain = definition as unknown as ToolDefinition<ToolSchema, ToolSchema>;
  const faults = checkTexts(plain);
  const input = schemaOf(plain.inputSchema, "input", faults);
  const output = schemaOf(plain.outputSchema, "output", faults);
  const shown = input === undefined ? undefined : deepFreeze(forModels(input));
  const tokens = shown === undefined ? 0 : schemaTokens(plain.name, plain.description, shown);
  const most = plain.maxSchemaTokens ?? defaultMaxSchemaTokens;
  if (tokens > most)
    faults.push({
      path: "inputSchema",
      problem: `name, description and schema are about ${tokens} tokens, over ${most}; shorten them or raise maxSchemaTokens`,
    });
  if (faults.length > 0 || input === undefined || shown === undefined || output === undefined)
    throw new TypeError(faultText(plain.name, faults));

  const core: ToolCore = {
    definition: plain,
    input: shown,
    output,
    profiles: new Map(),
    validateOutput: plain.validateOutput ?? !inProduction(),
    checkOutput: compileOutputCheck(plain.name, plain.outputSchema, output),
  };
  const parse = compileParse(plain.name, plain.inputSchema, input);
  const tool = bindTool(core, parse, {
    name: plain.name,
    description: plain.description,
    middleware: [],
    toolName: undefined,
  });
  const wrong = checkExamples(tool, input);
  if (wrong.length > 0) throw new TypeError(faultText(plain.name, wrong));
  return tool as Tool<InferInput<I>, InferOutput<O>, InferOutput<I>>;
}

/** A tool under a name, with middleware around its calls. */
export function bindTool(core: ToolCore, parse: AnyTool["parse"], binding: Binding): AnyTool {
  const { definition } = core;
  const internals: Internals = { core, binding };
  const calling = { tool: binding.name, defaultRules: definition.defaultRules ?? [], toolName: binding.toolName };
  const call: AnyTool["call"] = (raw, init) => {
    try {
      return runThrough(internals, { tool, raw, context: completeContext(init ?? {}, calling) });
    } catch (error) {
      return Promise.reject(error);
    }
  };
  const tool: AnyTool = {
    name: binding.name,
    title: definition.title,
    description: binding.description,
    annotations: Object.freeze({ ...definition.annotations }),
    keywords: Object.freeze([...(definition.keywords ?? [])]),
    examples: deepFreeze([...(definition.examples ?? [])]),
    inputSchema: definition.inputSchema,
    outputSchema: definition.outputSchema,
    maxTextChars: definition.maxTextChars ?? defaultMaxTextChars,
    defaultRules: calling.defaultRules,
    parse,
    effects: (input, context) => definition.effects?.(input, context) ?? [],
    call,
    "~standard": {
      version: 1,
      vendor: "toolhaft",
      name: binding.name,
      description: binding.description,
      inputSchema: definition.inputSchema,
      outputSchema: definition.outputSchema,
      async execute(input) {
        const result = await call(input);
        if (result.ok) return result.data;
        const { code, message, ...options } = result.error;
        throw new ToolError(code, message, options);
      },
    },
  };
  Object.defineProperty(tool, internalsKey, { value: internals, enumerable: false });
  Object.freeze(tool["~standard"]);
  return Object.freeze(tool);
}

function schemaOf(schema: ToolSchema, side: "input" | "output", faults: SchemaFault[]): JsonSchema | undefined {
  const form = convert(schema, side);
  const found = [...form.faults];
  if (found.length === 0) found.push(...checkSchema(form.schema, side));
  if (found.length === 0)
    found.push(...(side === "output" ? checkTakesWhatItGives(schema, form.schema) : hiddenTypes(schema, form.schema)));
  const where = `${side}Schema`;
  for (const { path, problem } of found)
    faults.push({ path: path === "" ? where : `${where} ${showPath(path)}`, problem });
  return found.length === 0 ? deepFreeze(form.schema) : undefined;
}

/** zod told what it hides while it was converted; other libraries are tried. */
function hiddenTypes(schema: ToolSchema, base: JsonSchema): SchemaFault[] {
  return schema["~standard"].vendor === "zod" ? [] : findHiddenTypes(schema, base);
}

/** `execute` gives the final form, which is checked by the same schema: one that changes values cannot check them. */
function checkTakesWhatItGives(schema: ToolSchema, output: JsonSchema): SchemaFault[] {
  const taken = convert(schema, "input").schema;
  if (JSON.stringify(taken) === JSON.stringify(output)) return [];
  return [
    {
      path: "",
      problem:
        "it changes what it checks (a transform, codec or default); describe the final form, and make it in `execute`",
    },
  ];
}

/** Each example is valid under every profile that can say the tool. */
function checkExamples(tool: AnyTool, input: JsonSchema): SchemaFault[] {
  const faults: SchemaFault[] = [];
  for (const example of tool.examples) {
    const path = `examples "${example.title}"`;
    const parsed = tool.parse(example.input);
    if (!parsed.ok) faults.push({ path, problem: `does not parse: ${parsed.error.message}` });
    else if (parsed.repaired.length > 0)
      faults.push({ path, problem: `is only understood after a repair of ${parsed.repaired.join(", ")}` });
    else {
      for (const profile of ["openai-strict", "anthropic-strict", "gemini"] as const) {
        const schema = schemaOrNone(tool, profile);
        const shown = profile === "openai-strict" ? withNulls(input, example.input) : example.input;
        const [issue] = schema === undefined ? [] : explain(schema, shown);
        if (issue !== undefined) faults.push({ path, problem: `is not valid under ${profile}: ${showIssue(issue)}` });
      }
    }
  }
  return faults;
}

function schemaOrNone(tool: AnyTool, profile: Profile): JsonSchema | undefined {
  try {
    return toJsonSchema(tool, profile);
  } catch (error) {
    if (error instanceof ToolError && error.code === "unsupported") return undefined;
    throw error;
  }
}

function faultText(name: string, faults: readonly SchemaFault[]): string {
  const lines = faults.map(({ path, problem }) => `${path}: ${problem}`);
  return lines.length === 1
    ? `defineTool(${name}): ${lines[0]}`
    : `defineTool(${name}): ${lines.length} faults\n${lines.map((line) => `- ${line}`).join("\n")}`;
}

/** Step 7: data that its schema does not describe is a fault of the tool. */
function compileOutputCheck(
  name: string,
  schema: ToolSchema,
  base: JsonSchema,
): (data: unknown) => ToolFailure | undefined {
  const checkKeys = compileKeyCheck(base);
  return (data) => {
    try {
      const result: StandardSchemaV1.Result<unknown> | Promise<StandardSchemaV1.Result<unknown>> =
        schema["~standard"].validate(data);
      if (isPromise(result)) {
        ignore(result);
        return { code: "internal", message: asynchronous(name).message, retryable: false };
      }
      const fault = findNonJson(data);
      const found =
        fault === undefined
          ? checkKeys?.(data, [], undefined)
          : addIssue(undefined, { path: fault.path, message: fault.problem });
      if (result.issues === undefined && found === undefined) return undefined;
      const [first] = gather(base, data, found, result.issues ?? []).issues;
      return {
        code: "internal",
        message: `${name}: its output does not match its outputSchema: ${first === undefined ? "unknown fault" : showIssue(first)}`,
        retryable: false,
      };
    } catch (thrown) {
      return internalFailure(thrown, `${name}: its output cannot be checked: `);
    }
  };
}

function inProduction(): boolean {
  return typeof process === "object" && process.env?.NODE_ENV === "production";
}

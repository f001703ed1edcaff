import { ToolError } from "./errors.ts";
import { internalsOf } from "./internals.ts";
import { chooseBranch } from "./schema/choose-branch.ts";
import { convert } from "./schema/convert.ts";
import { gemini } from "./schema/gemini.ts";
import { deepFreeze, isSchema, type JsonSchema, propertiesOf, requiredOf } from "./schema/json-schema.ts";
import { takesNull } from "./schema/rewrite.ts";
import { anthropicStrict, countOptional, openaiStrict } from "./schema/strict.ts";
import { schemaTokens } from "./schema/tokens.ts";
import { Unsupported, unsupported } from "./schema/unsupported.ts";
import type { AnyTool, ToolSchema } from "./tool.ts";

/** One provider's rules for JSON Schema. */
export type Profile =
  | "mcp"
  | "draft-07"
  | "2020-12"
  | "openai"
  | "openai-strict"
  | "anthropic"
  | "anthropic-strict"
  | "gemini";

export const profiles: readonly Profile[] = [
  "mcp",
  "draft-07",
  "2020-12",
  "openai",
  "openai-strict",
  "anthropic",
  "anthropic-strict",
  "gemini",
];

const dialects = {
  "draft-07": "http://json-schema.org/draft-07/schema#",
  "2020-12": "https://json-schema.org/draft/2020-12/schema",
} as const;

/** All strict tools of one request share a grammar. */
const anthropicLimits = { tools: 20, optional: 24 } as const;

/**
 * A tool's schema as a provider takes it: frozen, and the same object each time.
 *
 * @throws ToolError `unsupported` naming the path of what the profile cannot say.
 */
export function toJsonSchema(tool: AnyTool, profile: Profile, side: "input" | "output" = "input"): JsonSchema {
  if (!profiles.includes(profile))
    throw new TypeError(`toJsonSchema: there is no profile "${profile}"; there are: ${profiles.join(", ")}`);
  const core = internalsOf(tool)?.core;
  const base = core === undefined ? foreignBase(tool, side) : side === "input" ? core.input : core.output;
  if (profile === "mcp" || profile === "openai" || profile === "anthropic") return core?.asGiven?.[side] ?? base;
  const key = `${side} ${profile}`;
  const known = core?.profiles.get(key);
  if (known !== undefined) return known;
  const faults = core?.faults?.[side];
  if (faults !== undefined) throw unsupported(tool.name, profile, new Unsupported(faults.path, faults.problem));
  try {
    const made = deepFreeze(inProfile(base, profile));
    core?.profiles.set(key, made);
    return made;
  } catch (fault) {
    if (fault instanceof Unsupported) throw unsupported(tool.name, profile, fault);
    throw fault;
  }
}

function inProfile(base: JsonSchema, profile: Exclude<Profile, "mcp" | "openai" | "anthropic">): JsonSchema {
  switch (profile) {
    case "draft-07":
    case "2020-12":
      return { $schema: dialects[profile], ...base };
    case "openai-strict":
      return openaiStrict(base);
    case "anthropic-strict":
      return anthropicStrict(base);
    case "gemini":
      return gemini(base);
  }
}

/** Undoes a profile on what a model sent: a null that stands for an absent field is removed. */
export function fromProfile(tool: AnyTool, profile: Profile, raw: unknown): unknown {
  if (profile !== "openai-strict") return raw;
  const core = internalsOf(tool)?.core;
  return withoutNulls(core?.input ?? foreignBase(tool, "input"), raw);
}

function withoutNulls(schema: JsonSchema, value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const branch = chooseBranch(schema, value);
  if (branch === undefined) return value;
  if (Array.isArray(value)) {
    const { items } = branch;
    return isSchema(items) ? value.map((item: unknown) => withoutNulls(items, item)) : value;
  }
  const properties = propertiesOf(branch);
  const required = requiredOf(branch);
  const kept: Record<string, unknown> = {};
  for (const [name, inner] of Object.entries(value)) {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (inner === null && property !== undefined && !required.includes(name) && !takesNull(property)) continue;
    Object.defineProperty(kept, name, {
      value: property === undefined ? inner : withoutNulls(property, inner),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return kept;
}

/** The inverse of {@link fromProfile} for `openai-strict`: what is left out is null. */
export function withNulls(schema: JsonSchema, value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const branch = chooseBranch(schema, value);
  if (branch === undefined) return value;
  if (Array.isArray(value)) {
    const { items } = branch;
    return isSchema(items) ? value.map((item: unknown) => withNulls(items, item)) : value;
  }
  const given: Readonly<Record<string, unknown>> = { ...value };
  const filled = Object.entries(propertiesOf(branch)).map(([name, property]) => [
    name,
    Object.hasOwn(given, name) ? withNulls(property, given[name]) : null,
  ]);
  return { ...given, ...Object.fromEntries(filled) };
}

/** What a profile refuses, tool by tool, and what all of them together are too much for. */
export function profileReport(tools: Iterable<AnyTool>, profile: Profile): { tool: string; problem: string }[] {
  const rows: { tool: string; problem: string }[] = [];
  const sayable: JsonSchema[] = [];
  for (const tool of tools) {
    try {
      sayable.push(toJsonSchema(tool, profile));
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      rows.push({ tool: tool.name, problem: error.message });
    }
  }
  if (profile !== "anthropic-strict") return rows;
  const optional = sayable.reduce((sum, schema) => sum + countOptional(schema), 0);
  const { tools: most, optional: mostOptional } = anthropicLimits;
  if (sayable.length > most || optional > mostOptional) {
    rows.push({
      tool: "(all)",
      problem: `${sayable.length} strict tools with ${optional} optional parameters; one request takes at most ${most} and ${mostOptional}`,
    });
  }
  return rows;
}

/**
 * A tool's input as a Standard Schema of our own: hosts that take one get our JSON Schema, defaults and repair included,
 * whatever library the tool was written with.
 */
export function standardInput(tool: AnyTool): ToolSchema {
  const emit =
    (side: "input" | "output") =>
    (options: { target: string }): Record<string, unknown> => {
      if (options.target !== "draft-07" && options.target !== "draft-2020-12")
        throw new TypeError(`standardInput: the target "${options.target}" is not one of draft-07, draft-2020-12`);
      return { ...toJsonSchema(tool, options.target === "draft-07" ? "draft-07" : "2020-12", side) };
    };
  return {
    "~standard": {
      version: 1,
      vendor: "toolhaft",
      validate(value) {
        const parsed = tool.parse(value);
        return parsed.ok ? { value: parsed.input } : { issues: [{ message: parsed.error.message }] };
      },
      jsonSchema: { input: emit("input"), output: emit("input") },
    },
  };
}

/** `ceil(UTF-8 bytes of {name, description, schema} / 4.8)`, summed over the tools. */
export function estimateTokens(tools: AnyTool | Iterable<AnyTool>, profile: Profile = "mcp"): number {
  const list: Iterable<AnyTool> = Symbol.iterator in tools ? tools : [tools];
  let sum = 0;
  for (const tool of list) sum += schemaTokens(tool.name, tool.description, toJsonSchema(tool, profile));
  return sum;
}

function foreignBase(tool: AnyTool, side: "input" | "output"): JsonSchema {
  const form = convert(side === "input" ? tool.inputSchema : tool.outputSchema, side);
  const [fault] = form.faults;
  if (fault !== undefined) throw unsupported(tool.name, "mcp", new Unsupported(fault.path, fault.problem));
  return form.schema;
}

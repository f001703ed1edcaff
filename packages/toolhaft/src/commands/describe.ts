import {
  type AnyTool,
  createContext,
  estimateTokens,
  type JsonSchema,
  type Profile,
  toJsonSchema,
} from "@toolhaft/core";
import { settingsOf } from "../config/settings.ts";
import { exitCodes } from "../exit-codes.ts";
import type { FamilyEntry } from "../families.ts";
import type { Io } from "../io.ts";
import { columns } from "../table.ts";
import { findTool } from "../tools.ts";

export interface DescribeFlags {
  /** `true` for the profile that MCP clients get. */
  schema?: Profile | true;
  config?: string;
}

/** Everything about one tool: for a person, or its JSON Schema alone. */
export async function describe(
  name: string,
  flags: DescribeFlags,
  io: Io,
  known: readonly FamilyEntry[],
): Promise<number> {
  const settings = settingsOf({ config: flags.config }, io);
  const note = (text: string) => io.err(`toolhaft: ${text}\n`);
  for (const warning of settings.warnings) note(warning);
  const { tool, set } = await findTool(name, { settings: { ...settings, readOnly: false }, note }, known);
  try {
    if (flags.schema !== undefined) {
      io.out(`${JSON.stringify(toJsonSchema(tool, flags.schema === true ? "mcp" : flags.schema), null, 2)}\n`);
      return exitCodes.done;
    }
    const rows = parameterRows(toJsonSchema(tool, "mcp"), "");
    const parts = [`${tool.name}: ${tool.title}`, tool.description];
    parts.push(
      rows.length === 0
        ? "No parameters."
        : columns(["parameter", "type", "required", "default", "limits", "meaning"], rows, io).trimEnd(),
    );
    const input = exampleInput(tool);
    parts.push(`Example: toolhaft call ${tool.name} '${JSON.stringify(input).replaceAll("'", "'\\''")}'`);
    parts.push(`Permissions: ${permissionsOf(tool, io).join(", ") || "none that the input tells beforehand"}`);
    parts.push(`Tokens: about ${estimateTokens(tool)}`);
    io.out(`${parts.join("\n\n")}\n`);
    return exitCodes.done;
  } finally {
    await set.close();
  }
}

type Node = { [keyword: string]: unknown };

function parameterRows(schema: JsonSchema, prefix: string): string[][] {
  const node: Node = schema;
  const required = Array.isArray(node.required) ? node.required : [];
  return Object.entries(isNode(node.properties) ? node.properties : {}).flatMap(([name, child]) => {
    if (!isNode(child)) return [];
    const path = `${prefix}${name}`;
    const given = "default" in child ? JSON.stringify(child.default) : "";
    const own = [
      path,
      typeOf(child),
      required.includes(name) ? "yes" : "no",
      given,
      limitsOf(child),
      String(child.description ?? ""),
    ];
    const inner = isNode(child.items) ? parameterRows(child.items, `${path}[].`) : parameterRows(child, `${path}.`);
    return [own, ...inner];
  });
}

function typeOf(node: Node): string {
  if (Array.isArray(node.enum)) return node.enum.map((value) => JSON.stringify(value)).join(" | ");
  if ("const" in node) return JSON.stringify(node.const);
  if (Array.isArray(node.anyOf)) return node.anyOf.filter(isNode).map(typeOf).join(" | ");
  if (node.type === "array") return isNode(node.items) ? `${typeOf(node.items)}[]` : "array";
  return Array.isArray(node.type) ? node.type.join(" | ") : String(node.type ?? "any");
}

function limitsOf(node: Node): string {
  const between = (low: unknown, high: unknown, unit: string) => {
    if (low === undefined && high === undefined) return "";
    return `${low ?? ""}–${high ?? ""}${unit}`;
  };
  const parts = [
    between(node.minimum ?? node.exclusiveMinimum, node.maximum ?? node.exclusiveMaximum, ""),
    between(node.minLength, node.maxLength, " characters"),
    between(node.minItems, node.maxItems, " items"),
    node.pattern === undefined ? "" : `matches ${node.pattern}`,
    node.format === undefined ? "" : String(node.format),
  ];
  return parts.filter((part) => part !== "").join(", ");
}

/** The tool's own first example, else the least input its schema takes. */
function exampleInput(tool: AnyTool): unknown {
  const [example] = tool.examples;
  return example === undefined ? sampleOf(toJsonSchema(tool, "mcp")) : example.input;
}

function sampleOf(schema: JsonSchema | Node): unknown {
  const node: Node = schema;
  if ("default" in node) return node.default;
  if ("const" in node) return node.const;
  if (Array.isArray(node.enum)) return node.enum[0];
  if (Array.isArray(node.anyOf)) return sampleOf(node.anyOf.find(isNode) ?? {});
  const type = Array.isArray(node.type) ? node.type[0] : node.type;
  switch (type) {
    case "object": {
      const properties = isNode(node.properties) ? node.properties : {};
      const required = Array.isArray(node.required) ? node.required : [];
      return Object.fromEntries(
        required.map((name) => [name, sampleOf(isNode(properties[name]) ? properties[name] : {})]),
      );
    }
    case "array":
      return typeof node.minItems === "number" && node.minItems > 0
        ? [sampleOf(isNode(node.items) ? node.items : {})]
        : [];
    case "integer":
    case "number":
      return typeof node.minimum === "number" ? node.minimum : 1;
    case "boolean":
      return false;
    case "null":
      return null;
    default:
      return "…";
  }
}

/** What the example would ask for, and what the tool brings rules for. */
function permissionsOf(tool: AnyTool, io: Io): string[] {
  const parsed = tool.parse(exampleInput(tool));
  const effects = parsed.ok ? tool.effects(parsed.input, createContext({ directory: io.cwd })) : [];
  const own = tool.defaultRules.flatMap(({ permission = [] }) => permission);
  return [...new Set([...effects.map(({ permission }) => permission), ...own])];
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

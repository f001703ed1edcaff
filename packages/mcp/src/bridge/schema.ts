import { findInvisible, type JsonSchema } from "@toolhaft/core";

/** A server's tool as it lists it; everything in it is foreign text. */
export interface RemoteTool {
  name: string;
  title?: string | undefined;
  description?: string | undefined;
  inputSchema: Record<string, unknown>;
  annotations?:
    | {
        title?: string | undefined;
        readOnlyHint?: boolean | undefined;
        destructiveHint?: boolean | undefined;
        idempotentHint?: boolean | undefined;
        openWorldHint?: boolean | undefined;
      }
    | undefined;
}

/** Foreign text for people and models: without what cannot be seen, and no longer than so many characters. */
export function plainText(text: string, maxChars: number): string {
  let plain = "";
  let from = 0;
  for (const { start, end } of findInvisible(text)) {
    plain += text.slice(from, start);
    from = end;
  }
  const characters = [...(plain + text.slice(from)).replace(/\p{Surrogate}/gu, "\ufffd")];
  return characters.length <= maxChars ? characters.join("") : `${characters.slice(0, maxChars - 1).join("")}…`;
}

/** A foreign schema as it came, but for what hides in its words. */
export function visibleSchema(schema: unknown): JsonSchema {
  return mapped(schema, (key, value) =>
    (key === "description" || key === "title") && typeof value === "string" ? plainText(value, 1_024) : value,
  ) as JsonSchema;
}

/**
 * What inputs are checked by here. Foreign regular expressions are left to the server that wrote them: a hostile one
 * would stop this process.
 */
export function checkableSchema(schema: unknown): Record<string, unknown> {
  const left = mapped(schema, (key, value) => (key === "pattern" && typeof value === "string" ? undefined : value));
  return mapped(left, (key, value) => (key === "patternProperties" && isObject(value) ? undefined : value)) as Record<
    string,
    unknown
  >;
}

/** Goes over every schema in a schema; the names of properties are no keywords. */
function mapped(schema: unknown, change: (key: string, value: unknown) => unknown, depth = 0): unknown {
  // Deeper than anybody's schema, and safe for the stack.
  if (depth > 200) return {};
  if (Array.isArray(schema)) return schema.map((entry) => mapped(entry, change, depth + 1));
  if (!isObject(schema)) return schema;
  const entries = Object.entries(schema).flatMap(([key, value]): [string, unknown][] => {
    const changed = change(key, value);
    if (changed === undefined) return [];
    const named = ["properties", "$defs", "definitions", "dependentSchemas", "patternProperties"].includes(key);
    if (named && isObject(changed))
      return [
        [key, fromEntries(Object.entries(changed).map(([name, each]) => [name, mapped(each, change, depth + 2)]))],
      ];
    // Values, not schemas.
    if (["const", "enum", "default", "examples", "required"].includes(key)) return [[key, changed]];
    return [[key, mapped(changed, change, depth + 1)]];
  });
  return fromEntries(entries);
}

/** Own keys only, whatever they are called. */
function fromEntries(entries: [string, unknown][]): Record<string, unknown> {
  return Object.fromEntries(entries.filter(([key]) => key !== "__proto__"));
}

/** What a validator's one line of complaint says of each field: `data/owner must be string, data must have …`. */
export function issuesOf(complaint: string): { path: (string | number)[]; message: string }[] {
  return complaint.split(/, (?=data[/ ])/).map((part) => {
    const match = /^data(\S*) (.*)$/s.exec(part);
    if (match === null) return { path: [], message: part };
    const path = (match[1] ?? "")
      .split("/")
      .slice(1)
      .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"))
      .map((step) => (/^(0|[1-9]\d*)$/.test(step) ? Number(step) : step));
    return { path, message: match[2] ?? "" };
  });
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

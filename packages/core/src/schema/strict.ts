import { isSchema, type JsonSchema, propertiesOf, requiredOf, typesOf, valuesOf } from "./json-schema.ts";
import { intoWords, nullable, rewrite, takesNull } from "./rewrite.ts";
import { Unsupported } from "./unsupported.ts";

/** @see https://platform.openai.com/docs/guides/structured-outputs#supported-schemas */
const openaiFormats = new Set(["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"]);
const openaiWords = [
  "default",
  "minLength",
  "maxLength",
  "uniqueItems",
  "minProperties",
  "maxProperties",
  "propertyNames",
];
const maxLevels = 5;
const maxProperties = 100;

/** Every key required, optional ones nullable; what the strict grammar does not know goes into the description. */
export function openaiStrict(base: JsonSchema): JsonSchema {
  let properties = 0;
  const strict = rewrite(base, (schema, path) => {
    refuseOpen(schema, path, "openai-strict");
    properties += Object.keys(propertiesOf(schema)).length;
    const words =
      typeof schema.format === "string" && !openaiFormats.has(schema.format) ? [...openaiWords, "format"] : openaiWords;
    return allRequired(intoWords(schema, words));
  });
  if (properties > maxProperties)
    throw new Unsupported("", `it has ${properties} properties, and openai-strict takes at most ${maxProperties}`);
  const deepest = levels(base, "");
  if (deepest.count > maxLevels)
    throw new Unsupported(
      deepest.path,
      `it is nested ${deepest.count} levels deep, and openai-strict takes at most ${maxLevels}`,
    );
  return strict;
}

/** @see https://docs.claude.com/en/docs/build-with-claude/structured-outputs#json-schema-limitations */
const anthropicFormats = new Set([
  "date-time",
  "time",
  "date",
  "duration",
  "email",
  "hostname",
  "uri",
  "ipv4",
  "ipv6",
  "uuid",
]);
const anthropicWords = [
  "default",
  "pattern",
  "minLength",
  "maxLength",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "maxItems",
  "uniqueItems",
  "minProperties",
  "maxProperties",
  "propertyNames",
];

/** Bounds go into the description; of formats ten are known, of `minItems` 0 and 1. */
export function anthropicStrict(base: JsonSchema): JsonSchema {
  return rewrite(base, (schema, path) => {
    refuseOpen(schema, path, "anthropic-strict");
    const words = [...anthropicWords];
    if (typeof schema.format === "string" && !anthropicFormats.has(schema.format)) words.push("format");
    if (typeof schema.minItems === "number" && schema.minItems > 1) words.push("minItems");
    const said = intoWords(schema, words);
    return said.format !== undefined && Array.isArray(said.type) ? splitNull(said) : said;
  });
}

/** How many parameters of a tool may be left out, at every depth. */
export function countOptional(schema: JsonSchema): number {
  let count = 0;
  rewrite(schema, (part) => {
    count += Object.keys(propertiesOf(part)).length - requiredOf(part).length;
    return part;
  });
  return count;
}

/** What a strict grammar cannot say: objects with free keys, and values of any type. */
function refuseOpen(schema: JsonSchema, path: string, profile: string): void {
  if (valuesOf(schema) !== undefined)
    throw new Unsupported(
      path,
      `a record with free keys cannot be said in ${profile}; use an array of { key, value } objects`,
    );
  if (typesOf(schema).length === 0 && schema.anyOf === undefined)
    throw new Unsupported(path, `a value of any type cannot be said in ${profile}; name its type`);
  if (schema.type === "array" && !isSchema(schema.items))
    throw new Unsupported(`${path}[]`, `a value of any type cannot be said in ${profile}; name its type`);
}

function allRequired(schema: JsonSchema): JsonSchema {
  if (!isSchema(schema.properties)) return schema;
  const required = requiredOf(schema);
  const names = Object.keys(schema.properties);
  const properties = Object.fromEntries(
    Object.entries(propertiesOf(schema)).map(([name, property]) => [
      name,
      required.includes(name) || takesNull(property) ? property : nullable(property),
    ]),
  );
  const { properties: _, required: __, additionalProperties, ...rest } = schema;
  return { ...rest, properties, ...(names.length === 0 ? {} : { required: names }), additionalProperties };
}

/** `type: ["string", "null"]` beside a format: the format belongs to one branch only. */
function splitNull(schema: JsonSchema): JsonSchema {
  const { type, description, ...rest } = schema;
  const branches = (Array.isArray(type) ? type : []).map((name) =>
    name === "null" ? { type: "null" } : { type: name, ...rest },
  );
  return { ...(description === undefined ? {} : { description }), anyOf: branches };
}

function levels(schema: JsonSchema, path: string): { count: number; path: string } {
  const own = schema.type === "object" || schema.type === "array" ? 1 : 0;
  let deepest = { count: 0, path };
  const look = (inner: JsonSchema, at: string): void => {
    const found = levels(inner, at);
    if (found.count > deepest.count) deepest = found;
  };
  for (const [name, property] of Object.entries(propertiesOf(schema)))
    look(property, path === "" ? name : `${path}.${name}`);
  if (isSchema(schema.items)) look(schema.items, `${path}[]`);
  if (Array.isArray(schema.anyOf)) for (const branch of schema.anyOf) if (isSchema(branch)) look(branch, path);
  return { count: own + deepest.count, path: deepest.count === 0 ? path : deepest.path };
}

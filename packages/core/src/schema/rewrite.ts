import { isSchema, type JsonSchema, propertiesOf } from "./json-schema.ts";

/** Applies a change to a schema and everything in it, innermost first. */
export function rewrite(
  schema: JsonSchema,
  change: (schema: JsonSchema, path: string) => JsonSchema,
  path = "",
): JsonSchema {
  const out: Record<string, unknown> = { ...schema };
  if (isSchema(schema.properties)) {
    const properties: Record<string, JsonSchema> = {};
    for (const [name, property] of Object.entries(propertiesOf(schema))) {
      properties[name] = rewrite(property, change, path === "" ? name : `${path}.${name}`);
    }
    out.properties = properties;
  }
  if (isSchema(schema.items)) out.items = rewrite(schema.items, change, `${path}[]`);
  if (isSchema(schema.additionalProperties))
    out.additionalProperties = rewrite(schema.additionalProperties, change, `${path}{}`);
  if (Array.isArray(schema.anyOf))
    out.anyOf = schema.anyOf.map((branch) => (isSchema(branch) ? rewrite(branch, change, path) : branch));
  return change(out, path);
}

/**
 * The base form as models read it: without `minLength: 1` of texts and `minimum: 0` of whole numbers. They stand at nearly every
 * text, count and offset and no model needs to be told, while each costs four to five tokens in every listing; core checks them
 * all the same.
 */
export function forModels(schema: JsonSchema): JsonSchema {
  return rewrite(schema, (one) => {
    const untold = (keyword: string): boolean =>
      (keyword === "minLength" && one.minLength === 1) ||
      (keyword === "minimum" && one.minimum === 0 && one.type === "integer");
    return Object.fromEntries(Object.entries(one).filter(([keyword]) => !untold(keyword)));
  });
}

/**
 * Takes keywords out of a schema and says them in its description instead: a rule that a provider does not know is still
 * told to the model, and core checks it.
 */
export function intoWords(schema: JsonSchema, keywords: readonly string[]): JsonSchema {
  const words: string[] = [];
  const rest: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (!keywords.includes(keyword)) rest[keyword] = value;
    else {
      const said = inWords(keyword, value, schema);
      if (said !== undefined) words.push(said);
    }
  }
  return words.length === 0 ? rest : withNote(rest, words.join("; "));
}

/** A note at the end of the description, which keeps its place among the keywords. */
export function withNote(schema: JsonSchema, note: string): JsonSchema {
  const { type, description, ...rest } = schema;
  const said = typeof description === "string" && description !== "" ? `${description} (${note})` : note;
  return { ...(type === undefined ? {} : { type }), description: said, ...rest };
}

function inWords(keyword: string, value: unknown, schema: JsonSchema): string | undefined {
  const shown = JSON.stringify(value);
  switch (keyword) {
    case "default":
      return `default ${shown}`;
    case "minLength":
      return value === 1 ? "not empty" : `at least ${shown} characters`;
    case "maxLength":
      return `at most ${shown} characters`;
    case "minimum":
      return `at least ${shown}`;
    case "maximum":
      return `at most ${shown}`;
    case "exclusiveMinimum":
      return `more than ${shown}`;
    case "exclusiveMaximum":
      return `less than ${shown}`;
    case "multipleOf":
      return `a multiple of ${shown}`;
    case "minItems":
      return `at least ${shown} items`;
    case "maxItems":
      return `at most ${shown} items`;
    case "uniqueItems":
      return value === true ? "no item twice" : undefined;
    case "minProperties":
      return `at least ${shown} keys`;
    case "maxProperties":
      return `at most ${shown} keys`;
    case "format":
      return `format ${String(value)}`;
    case "pattern":
      return `matches ${String(value)}`;
    case "enum":
      return Array.isArray(value) ? `one of ${value.map((one) => JSON.stringify(one)).join(", ")}` : undefined;
    case "const":
      return `always ${shown}`;
    case "propertyNames":
      return isSchema(value) && typeof value.pattern === "string" ? `keys match ${value.pattern}` : undefined;
    case "additionalProperties":
      return isSchema(value) || value === true
        ? `any keys${isSchema(value) ? `, each value ${typeNames(value)}` : ""}`
        : undefined;
    default:
      return schema[keyword] === undefined ? undefined : `${keyword} ${shown}`;
  }
}

function typeNames(schema: JsonSchema): string {
  const names = Array.isArray(schema.type)
    ? schema.type.map(String)
    : typeof schema.type === "string"
      ? [schema.type]
      : ["of several types"];
  return names.join(" or ");
}

/** The schema with null allowed as well; its description stays outermost. */
export function nullable(schema: JsonSchema): JsonSchema {
  const { type } = schema;
  if (typeof type === "string" && ["string", "number", "integer", "boolean"].includes(type)) {
    const { const: single, enum: several, ...rest } = schema;
    const options = single !== undefined ? [single] : Array.isArray(several) ? several : undefined;
    return { ...rest, type: [type, "null"], ...(options === undefined ? {} : { enum: [...options, null] }) };
  }
  if (Array.isArray(type)) return type.includes("null") ? schema : { ...schema, type: [...type, "null"] };
  const { description, anyOf, ...rest } = schema;
  const branches = Array.isArray(anyOf) ? anyOf : [rest];
  const already = branches.some((branch) => isSchema(branch) && branch.type === "null");
  return {
    ...(description === undefined ? {} : { description }),
    anyOf: already ? branches : [...branches, { type: "null" }],
  };
}

/** Whether null is among what a schema takes. */
export function takesNull(schema: JsonSchema): boolean {
  if (schema.type === "null" || (Array.isArray(schema.type) && schema.type.includes("null"))) return true;
  if (Array.isArray(schema.anyOf)) return schema.anyOf.some((branch) => isSchema(branch) && takesNull(branch));
  return schema.type === undefined;
}

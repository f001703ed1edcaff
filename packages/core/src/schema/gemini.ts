import { branchesOf, isSchema, type JsonSchema, typesOf } from "./json-schema.ts";
import { intoWords, rewrite } from "./rewrite.ts";
import { Unsupported } from "./unsupported.ts";

const words = [
  "default",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "pattern",
  "multipleOf",
  "uniqueItems",
  "minProperties",
  "maxProperties",
  "propertyNames",
];

/**
 * The schema object of Gemini's function declarations: no `const`, `additionalProperties`, `default`, `exclusive*` or
 * `pattern`, one type per place with `nullable`, and string formats `date-time` and `enum` only.
 *
 * @see https://ai.google.dev/api/caching#Schema
 */
export function gemini(base: JsonSchema): JsonSchema {
  const said = rewrite(base, (schema, path) => {
    if (typesOf(schema).length === 0 && branchesOf(schema).length === 0)
      throw new Unsupported(path, "a value of any type cannot be said in gemini; name its type");
    const { items } = schema;
    if (schema.type === "array" && !isSchema(items))
      throw new Unsupported(`${path}[]`, "a value of any type cannot be said in gemini; name its type");
    if (
      isSchema(items) &&
      branchesOf(items).some((branch) => branch.type === "array" || (isSchema(branch) && branch.items !== undefined))
    ) {
      throw new Unsupported(
        `${path}[]`,
        "array items that may themselves be arrays cannot be said in gemini; use objects",
      );
    }
    return oneType(plain(schema));
  });
  return rewrite(said, (schema, path) => {
    if (schema.type === "null") throw new Unsupported(path, "null alone cannot be said in gemini; leave the field out");
    return schema;
  });
}

/** Drops and rewords what the dialect does not have. */
function plain(schema: JsonSchema): JsonSchema {
  const dropped = [...words];
  if (typeof schema.format === "string" && schema.format !== "date-time") dropped.push("format");
  if (schema.additionalProperties !== undefined) dropped.push("additionalProperties");
  const literals = schema.const !== undefined ? [schema.const] : Array.isArray(schema.enum) ? schema.enum : undefined;
  const strings = literals?.every((literal) => literal === null || typeof literal === "string");
  const { const: _, ...rest } = schema;
  if (literals === undefined) return intoWords(schema, dropped);
  if (strings) return intoWords({ ...rest, enum: literals.filter((literal) => literal !== null) }, dropped);
  // An enum holds strings only; other literals are told in words.
  return intoWords(schema.const === undefined ? schema : { ...rest, enum: literals }, [...dropped, "enum"]);
}

/** `[t, "null"]` and a null branch become `nullable`; several types become `anyOf`. */
function oneType(schema: JsonSchema): JsonSchema {
  if (Array.isArray(schema.anyOf)) {
    const branches = branchesOf(schema).filter((branch) => branch.type !== "null");
    const hasNull = branches.length < schema.anyOf.length;
    const { anyOf: _, ...rest } = schema;
    const [only] = branches;
    const merged = branches.length === 1 && only !== undefined ? { ...only, ...rest } : { ...rest, anyOf: branches };
    return ordered(hasNull ? { ...merged, nullable: true } : merged);
  }
  // A null branch is taken away by the union that holds it; any other is refused afterwards.
  if (schema.type === "null") return schema;
  const types = typesOf(schema).filter((type) => type !== "null");
  const hasNull = types.length < typesOf(schema).length;
  const [only] = types;
  const { type: _, description, ...rest } = schema;
  const said = description === undefined ? {} : { description };
  const merged =
    types.length === 1
      ? { type: only, ...said, ...rest }
      : { ...said, anyOf: types.map((type) => ({ type, ...rest })) };
  return ordered(hasNull ? { ...merged, nullable: true } : merged);
}

function ordered(schema: JsonSchema): JsonSchema {
  const { type, description, nullable, ...rest } = schema;
  return {
    ...(type === undefined ? {} : { type }),
    ...(description === undefined ? {} : { description }),
    ...(nullable === undefined ? {} : { nullable }),
    ...rest,
  };
}

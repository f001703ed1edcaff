/** A JSON Schema object as we emit it: plain, frozen data. */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
}

/** A value at a place where a schema stands: an object, or `true` and `false`. */
export function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The properties of an object schema; empty where there are none. */
export function propertiesOf(schema: JsonSchema): Readonly<Record<string, JsonSchema>> {
  const found: Record<string, JsonSchema> = {};
  if (!isSchema(schema.properties)) return found;
  for (const [name, property] of Object.entries(schema.properties)) {
    Object.defineProperty(found, name, { value: isSchema(property) ? property : {}, enumerable: true });
  }
  return found;
}

export function requiredOf(schema: JsonSchema): readonly string[] {
  return Array.isArray(schema.required) ? schema.required.filter((name) => typeof name === "string") : [];
}

export function branchesOf(schema: JsonSchema): readonly JsonSchema[] {
  return Array.isArray(schema.anyOf) ? schema.anyOf.filter(isSchema) : [];
}

/** The JSON types a schema names; empty when it names none. */
export function typesOf(schema: JsonSchema): readonly string[] {
  if (typeof schema.type === "string") return [schema.type];
  return Array.isArray(schema.type) ? schema.type.filter((name) => typeof name === "string") : [];
}

/** The schema of a record's values; `undefined` where other keys are not allowed or not spoken of. */
export function valuesOf(schema: JsonSchema): JsonSchema | true | undefined {
  if (schema.additionalProperties === true) return true;
  return isSchema(schema.additionalProperties) ? schema.additionalProperties : undefined;
}

export function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}

/** Where in a schema a fault is: `edits[].op`. The root is `(root)`. */
export function joinPath(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

export function showPath(path: string): string {
  return path === "" ? "(root)" : path;
}

import { branchesOf, isSchema, type JsonSchema, propertiesOf, typesOf } from "./json-schema.ts";

export function jsonTypeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value;
}

/** The JSON types that a place accepts, over all branches; empty means any. */
export function acceptedTypes(schema: JsonSchema): readonly string[] {
  const branches = branchesOf(schema);
  // "nullable" is how one dialect says it.
  if (branches.length === 0) return schema.nullable === true ? [...typesOf(schema), "null"] : typesOf(schema);
  const all = branches.map(acceptedTypes);
  return all.some((types) => types.length === 0) ? [] : [...new Set(all.flat())];
}

export function acceptsType(types: readonly string[], value: unknown): boolean {
  if (types.length === 0) return true;
  const type = jsonTypeOf(value);
  return types.includes(type) || (type === "number" && types.includes("integer") && Number.isInteger(value));
}

/** The branch that a value means: the only one of its type, or the one whose `const` properties agree. */
export function chooseBranch(schema: JsonSchema, value: unknown): JsonSchema | undefined {
  const branches = branchesOf(schema);
  if (branches.length === 0) return schema;
  const fitting = branches.filter((branch) => acceptsType(acceptedTypes(branch), value));
  const [only] = fitting;
  if (fitting.length <= 1) return only;
  if (jsonTypeOf(value) !== "object" || typeof value !== "object" || value === null) return undefined;
  const record: Readonly<Record<string, unknown>> = { ...value };
  return fitting.find((branch) => {
    const told = discriminator(schema);
    return told !== undefined && constantsOf(propertiesOf(branch)[told.name]).includes(record[told.name]);
  });
}

/** The property that tells the object branches of a union apart, and its value in each. */
export function discriminator(schema: JsonSchema): { name: string; values: readonly unknown[] } | undefined {
  const objects = branchesOf(schema).filter((branch) => branch.type === "object");
  const [first] = objects;
  if (first === undefined || objects.length < 2) return undefined;
  for (const name of Object.keys(propertiesOf(first))) {
    const values = objects.map((branch) => constantsOf(propertiesOf(branch)[name]));
    const all = values.flat();
    if (values.every((list) => list.length > 0) && new Set(all).size === all.length) return { name, values: all };
  }
  return undefined;
}

function constantsOf(property: JsonSchema | undefined): readonly unknown[] {
  if (!isSchema(property)) return [];
  if (property.const !== undefined) return [property.const];
  return Array.isArray(property.enum) ? property.enum : [];
}

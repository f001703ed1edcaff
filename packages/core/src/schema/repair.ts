import { acceptedTypes, acceptsType, chooseBranch } from "./choose-branch.ts";
import { type Path, showIssuePath } from "./issue.ts";
import { isSchema, type JsonSchema, propertiesOf, requiredOf, valuesOf } from "./json-schema.ts";
import { readJson } from "./json-text.ts";
import { maxDepth } from "./json-value.ts";

export interface Repaired {
  value: unknown;
  /** Paths of what was changed. */
  repaired: readonly string[];
}

/**
 * Mends what models get wrong without doubt about the meaning: `null` for an absent field, and arrays, objects, numbers
 * and booleans sent as strings. Touches only places whose type does not fit; never completes or guesses.
 */
export function repairInput(schema: JsonSchema, raw: unknown): Repaired {
  const repaired: string[] = [];
  const value = mend(schema, raw, [], repaired);
  return { value, repaired };
}

function mend(schema: JsonSchema, value: unknown, path: Path, repaired: string[]): unknown {
  if (path.length > maxDepth) return value;
  const types = acceptedTypes(schema);
  let mended = value;
  if (typeof value === "string" && !acceptsType(types, value)) {
    mended = fromText(types, value);
    if (mended === value) return value;
    repaired.push(showIssuePath(path));
  }
  if (typeof mended !== "object" || mended === null) return mended;
  const branch = chooseBranch(schema, mended);
  if (branch === undefined) return mended;
  return Array.isArray(mended) ? mendArray(branch, mended, path, repaired) : mendObject(branch, mended, path, repaired);
}

/** The value of a string that is wholly the JSON of an accepted type; else the string itself. */
function fromText(types: readonly string[], text: string): unknown {
  if (text === "true" || text === "false") return types.includes("boolean") ? text === "true" : text;
  if (/^-?\d/.test(text)) {
    // JSON.parse lets white space through: " 12 " and "12\n" are not a number's whole text.
    const number = text.trim() === text ? readJson(text)?.value : undefined;
    if (typeof number !== "number" || !Number.isFinite(number)) return text;
    if (types.includes("number")) return number;
    return types.includes("integer") && Number.isSafeInteger(number) ? number : text;
  }
  if (!/^\s*[[{]/.test(text)) return text;
  const parsed = readJson(text)?.value;
  const wanted = Array.isArray(parsed) ? "array" : "object";
  return typeof parsed === "object" && parsed !== null && types.includes(wanted) ? parsed : text;
}

function mendArray(schema: JsonSchema, value: readonly unknown[], path: Path, repaired: string[]): readonly unknown[] {
  const { items } = schema;
  if (!isSchema(items)) return value;
  const before = repaired.length;
  const mended = value.map((item, index) => mend(items, item, [...path, index], repaired));
  return repaired.length === before ? value : mended;
}

function mendObject(schema: JsonSchema, value: object, path: Path, repaired: string[]): object {
  const properties = propertiesOf(schema);
  const required = requiredOf(schema);
  const values = valuesOf(schema);
  const before = repaired.length;
  const mended: Record<string, unknown> = {};
  for (const [name, inner] of Object.entries(value)) {
    const place: Path = [...path, name];
    const property = Object.hasOwn(properties, name) ? properties[name] : isSchema(values) ? values : undefined;
    if (
      inner === null &&
      property !== undefined &&
      Object.hasOwn(properties, name) &&
      !required.includes(name) &&
      !acceptsType(acceptedTypes(property), null)
    ) {
      repaired.push(showIssuePath(place));
      continue;
    }
    const result = property === undefined ? inner : mend(property, inner, place, repaired);
    // A plain assignment of "__proto__" would set the prototype.
    Object.defineProperty(mended, name, { value: result, enumerable: true, configurable: true, writable: true });
  }
  return repaired.length === before ? value : mended;
}

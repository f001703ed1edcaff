import { maskSecrets } from "../secrets.ts";
import { acceptedTypes, acceptsType, chooseBranch, discriminator, jsonTypeOf } from "./choose-branch.ts";
import type { Issue, Path } from "./issue.ts";
import { maxIssues } from "./issue.ts";
import { branchesOf, isSchema, type JsonSchema, propertiesOf, requiredOf, valuesOf } from "./json-schema.ts";
import { cutJsonEnd } from "./json-text.ts";
import { maxDepth } from "./json-value.ts";

/**
 * Why a value does not fit a schema, in our own words and the same for every validation library. Unknown keys are not
 * looked at here. Finds what the schema can say; finer checks of the library come from the library.
 */
export function explain(schema: JsonSchema, value: unknown): Issue[] {
  const issues: Issue[] = [];
  visit(schema, value, [], issues);
  return issues;
}

function visit(schema: JsonSchema, value: unknown, path: Path, issues: Issue[]): void {
  if (issues.length >= maxIssues || path.length > maxDepth) return;
  if (value === null && schema.nullable === true) return;
  const add = (message: string): void => {
    issues.push({ path, message });
  };
  const types = acceptedTypes(schema);
  const branch = chooseBranch(schema, value);
  if (!acceptsType(types, value)) add(wrongType(types, schema, value));
  else if (branch === undefined) wrongBranch(schema, value, path, issues);
  else if (branch !== schema) visit(branch, value, path, issues);
  else if (schema.const !== undefined && value !== schema.const) {
    add(`${enumMiss(value)} is not ${JSON.stringify(schema.const)}`);
  } else if (Array.isArray(schema.enum) && !schema.enum.includes(value)) {
    add(`${enumMiss(value)} is none of ${listed(schema.enum)}`);
  } else if (typeof value === "string") explainString(schema, value, add);
  else if (typeof value === "number") explainNumber(schema, value, add);
  else if (Array.isArray(value)) explainArray(schema, value, path, issues);
  else if (typeof value === "object" && value !== null) explainObject(schema, value, path, issues);
}

function wrongType(types: readonly string[], schema: JsonSchema, value: unknown): string {
  if (value === undefined) return `is required (${types.join(" or ")})`;
  const received = jsonTypeOf(value);
  if (received === "number" && types.includes("integer")) return `expected an integer, received ${String(value)}`;
  const wanted = types.map(withArticle).join(" or ");
  if (typeof value !== "string") {
    const shown = typeof value === "number" || typeof value === "boolean" ? ` ${String(value)}` : "";
    return `expected ${wanted}, received ${withArticle(received)}${shown}`;
  }
  const cut = types.includes("array") || types.includes("object") ? cutJsonEnd(value) : undefined;
  if (cut !== undefined)
    return `the JSON text ends after ${cut} characters, in the middle; send less, or split the call`;
  const items = isSchema(schema.items) ? acceptedTypes(schema.items) : [];
  const shape = types.includes("array") && items.includes("string") ? `; write ["…"]` : "";
  return `expected ${wanted}, received a string${shape}`;
}

function wrongBranch(schema: JsonSchema, value: unknown, path: Path, issues: Issue[]): void {
  const told = discriminator(schema);
  if (told === undefined || typeof value !== "object" || value === null) {
    issues.push({ path, message: `fits none of the ${branchesOf(schema).length} forms allowed here` });
    return;
  }
  const given = (value as Readonly<Record<string, unknown>>)[told.name];
  const allowed = `one of ${listed(told.values)}`;
  const message =
    given === undefined ? `is required (${allowed})` : `${enumMiss(given)} is none of ${listed(told.values)}`;
  issues.push({ path: [...path, told.name], message });
}

function explainString(schema: JsonSchema, value: string, add: (message: string) => void): void {
  const length = [...value].length;
  const { minLength, maxLength, pattern, format } = schema;
  if (typeof minLength === "number" && length < minLength) {
    add(minLength === 1 ? "must not be empty" : `is ${length} characters long, at least ${minLength} are needed`);
  } else if (typeof maxLength === "number" && length > maxLength) {
    add(`is ${length} characters long, at most ${maxLength} are allowed`);
  } else if (typeof pattern === "string" && !matches(pattern, value)) {
    add(`does not match ${pattern}`);
  } else if (typeof format === "string" && plainlyNot(format, value)) {
    add(`is no valid ${format}`);
  }
}

function matches(pattern: string, value: string): boolean {
  try {
    return new RegExp(pattern, "u").test(value);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return new RegExp(pattern).test(value);
  }
}

/** Only what is certain; the library has the full rule. */
function plainlyNot(format: string, value: string): boolean {
  if (format === "email") return !value.includes("@");
  if (format === "uuid") return !/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value);
  if (format === "date-time" || format === "date") return Number.isNaN(Date.parse(value));
  return format === "uri" && !URL.canParse(value);
}

function explainNumber(schema: JsonSchema, value: number, add: (message: string) => void): void {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  if (typeof minimum === "number" && value < minimum) add(`${value} is below the least allowed, ${minimum}`);
  else if (typeof maximum === "number" && value > maximum) add(`${value} is above the most allowed, ${maximum}`);
  else if (typeof exclusiveMinimum === "number" && value <= exclusiveMinimum)
    add(`${value} is not above ${exclusiveMinimum}`);
  else if (typeof exclusiveMaximum === "number" && value >= exclusiveMaximum)
    add(`${value} is not below ${exclusiveMaximum}`);
  else if (typeof multipleOf === "number" && value % multipleOf !== 0 && Number.isInteger(multipleOf))
    add(`${value} is no multiple of ${multipleOf}`);
}

function explainArray(schema: JsonSchema, value: readonly unknown[], path: Path, issues: Issue[]): void {
  const { minItems, maxItems } = schema;
  if (typeof minItems === "number" && value.length < minItems) {
    issues.push({ path, message: `has ${value.length} items, at least ${minItems} are needed` });
  } else if (typeof maxItems === "number" && value.length > maxItems) {
    issues.push({ path, message: `has ${value.length} items, at most ${maxItems} are allowed` });
  }
  const items = schema.items;
  if (!isSchema(items)) return;
  for (const [index, item] of value.entries()) {
    if (issues.length >= maxIssues) return;
    visit(items, item, [...path, index], issues);
  }
}

function explainObject(schema: JsonSchema, value: object, path: Path, issues: Issue[]): void {
  const record: Readonly<Record<string, unknown>> = value as Readonly<Record<string, unknown>>;
  const properties = propertiesOf(schema);
  const required = requiredOf(schema);
  for (const [name, property] of Object.entries(properties)) {
    const inner = Object.hasOwn(record, name) ? record[name] : undefined;
    if (inner === undefined && !required.includes(name)) continue;
    visit(property, inner, [...path, name], issues);
  }
  const values = valuesOf(schema);
  if (!isSchema(values)) return;
  for (const [name, inner] of Object.entries(record)) {
    if (issues.length >= maxIssues) return;
    if (!Object.hasOwn(properties, name)) visit(values, inner, [...path, name], issues);
  }
}

function withArticle(type: string): string {
  if (type === "null" || type === "undefined") return type;
  return `${/^[aeio]/.test(type) ? "an" : "a"} ${type}`;
}

function enumMiss(value: unknown): string {
  if (typeof value === "string") return value.length <= 40 ? JSON.stringify(maskSecrets(value)) : "the value";
  return typeof value === "number" || typeof value === "boolean" || value === null ? String(value) : "the value";
}

function listed(values: readonly unknown[]): string {
  const shown = values.slice(0, 30).map((value) => JSON.stringify(value));
  return shown.join(", ") + (values.length > 30 ? `, … (${values.length} in all)` : "");
}

import { isSchema, type JsonSchema, requiredOf } from "./json-schema.ts";

/** A schema that cannot be said in our base form. */
export interface SchemaFault {
  path: string;
  problem: string;
}

export interface BaseForm {
  schema: JsonSchema;
  faults: readonly SchemaFault[];
}

/** The order in which keywords are written, so that equal schemas give equal bytes. */
const order = [
  "type",
  "description",
  "nullable",
  "const",
  "enum",
  "format",
  "pattern",
  "minLength",
  "maxLength",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "items",
  "minItems",
  "maxItems",
  "uniqueItems",
  "properties",
  "required",
  "additionalProperties",
  "minProperties",
  "maxProperties",
  "anyOf",
  "default",
];

const dropped = new Set([
  "$schema",
  "$id",
  "$defs",
  "$ref",
  "$anchor",
  "$comment",
  "definitions",
  "title",
  "id",
  "readOnly",
  "writeOnly",
  "examples",
  "deprecated",
  "contentEncoding",
  "contentMediaType",
  "x-",
]);

const refused: ReadonlyMap<string, string> = new Map([
  ["not", "`not` cannot be said to every provider; list what is allowed"],
  ["if", "`if` cannot be said to every provider; use a union of objects with a `const` each"],
  ["then", "`then` cannot be said to every provider; use a union of objects with a `const` each"],
  ["else", "`else` cannot be said to every provider; use a union of objects with a `const` each"],
  ["patternProperties", "`patternProperties` cannot be said to every provider; use an array of { key, value } objects"],
  [
    "prefixItems",
    "a tuple cannot be said to every provider; use an array of one type with a length, or an object with named fields",
  ],
  ["dependentRequired", "`dependentRequired` cannot be said to every provider; use a union of objects"],
  ["dependentSchemas", "`dependentSchemas` cannot be said to every provider; use a union of objects"],
  ["unevaluatedProperties", "`unevaluatedProperties` cannot be said to every provider; list the properties"],
  ["contains", "`contains` cannot be said to every provider; describe it in words"],
]);

/** Formats that name a rule of their own; others are a library's notes to itself. */
const formats = new Set(["date-time", "date", "time", "duration", "email", "hostname", "ipv4", "ipv6", "uri", "uuid"]);

/**
 * The one form that all profiles start from: references inlined, no `$schema` or titles, `additionalProperties: false`
 * on every object that lists properties, unions as `anyOf`, library noise dropped, keys in a fixed order. Never throws:
 * what cannot be said is listed.
 */
export function baseForm(raw: JsonSchema): BaseForm {
  const faults: SchemaFault[] = [];
  const schema = new Normaliser(raw, faults).visit(raw, "", []);
  return { schema, faults };
}

class Normaliser {
  readonly #root: JsonSchema;
  readonly #faults: SchemaFault[];

  constructor(root: JsonSchema, faults: SchemaFault[]) {
    this.#root = root;
    this.#faults = faults;
  }

  visit(given: unknown, path: string, open: readonly unknown[]): JsonSchema {
    if (!isSchema(given)) {
      if (given === false) this.#fault(path, "nothing is allowed here; leave the field out");
      return {};
    }
    const resolved = this.#resolve(given, path, open);
    if (resolved === undefined) return {};
    const [schema, trail] = resolved;
    const out: Record<string, unknown> = {};
    for (const [keyword, value] of Object.entries(this.#merged(schema, path))) {
      if (dropped.has(keyword) || keyword.startsWith("x-") || value === undefined) continue;
      const problem = refused.get(keyword);
      if (problem !== undefined) this.#fault(path, problem);
      else out[keyword] = value;
    }
    this.#union(out, path, trail);
    this.#object(out, path, trail);
    this.#array(out, path, trail);
    tidyNumber(out);
    tidyString(out);
    return inOrder(out);
  }

  /** Follows references; the description of the use stands over that of the definition. */
  #resolve(given: JsonSchema, path: string, open: readonly unknown[]): [JsonSchema, readonly unknown[]] | undefined {
    let schema = given;
    let trail = open;
    for (let hops = 0; typeof schema.$ref === "string"; hops++) {
      const target = this.#lookup(schema.$ref);
      if (target === undefined) {
        this.#fault(path, `the reference ${schema.$ref} leads nowhere`);
        return undefined;
      }
      if (trail.includes(target) || hops > 50) {
        this.#fault(path, "the type contains itself; use a list with parent ids, or a string of JSON");
        return undefined;
      }
      trail = [...trail, target];
      const { $ref: _, ...own } = schema;
      schema = { ...target, ...own };
    }
    return [schema, trail];
  }

  #lookup(reference: string): JsonSchema | undefined {
    if (reference === "#") return this.#root;
    if (!reference.startsWith("#/")) return undefined;
    let at: unknown = this.#root;
    for (const part of reference.slice(2).split("/")) {
      const key = decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
      at = isSchema(at) && Object.hasOwn(at, key) ? at[key] : undefined;
    }
    return isSchema(at) ? at : undefined;
  }

  /** `allOf` of rules that do not meet is one rule; of several patterns the first is shown, for core checks them all. */
  #merged(schema: JsonSchema, path: string): JsonSchema {
    if (!Array.isArray(schema.allOf)) return schema;
    const { allOf, ...rest } = schema;
    const merged: Record<string, unknown> = { ...rest };
    for (const part of allOf) {
      if (!isSchema(part)) continue;
      for (const [keyword, value] of Object.entries(part)) {
        if (!(keyword in merged)) merged[keyword] = value;
        else if (keyword === "properties" && isSchema(merged.properties) && isSchema(value))
          merged.properties = { ...merged.properties, ...value };
        else if (keyword === "required") merged.required = [...new Set([...requiredOf(merged), ...requiredOf(part)])];
        else if (
          keyword !== "pattern" &&
          keyword !== "additionalProperties" &&
          JSON.stringify(merged[keyword]) !== JSON.stringify(value)
        ) {
          this.#fault(path, `the parts of an intersection disagree about \`${keyword}\`; write one object`);
        }
      }
    }
    return merged;
  }

  #union(out: Record<string, unknown>, path: string, trail: readonly unknown[]): void {
    const given = out.anyOf ?? out.oneOf;
    delete out.oneOf;
    delete out.anyOf;
    if (out.nullable === true && typeof out.type === "string") out.type = [out.type, "null"];
    delete out.nullable;
    if (Array.isArray(given)) {
      const branches = given
        .map((branch) => this.visit(branch, path, trail))
        .flatMap((branch) => (onlyUnion(branch) ? (branch.anyOf as JsonSchema[]) : [branch]));
      const distinct = [...new Map(branches.map((branch) => [JSON.stringify(branch), branch])).values()];
      const [first] = distinct;
      if (distinct.length === 1 && first !== undefined) mergeInto(out, first);
      else Object.assign(out, joined(distinct, out) ?? { anyOf: distinct });
    }
    if (Array.isArray(out.type) && out.type.length === 1) out.type = out.type[0];
    if (Array.isArray(out.enum) && out.enum.length === 1 && out.const === undefined) {
      out.const = out.enum[0];
      delete out.enum;
    }
    if (out.type === undefined) inferType(out);
  }

  #object(out: Record<string, unknown>, path: string, trail: readonly unknown[]): void {
    if (isSchema(out.propertyNames)) {
      const { enum: names } = out.propertyNames;
      if (Array.isArray(names) && out.properties === undefined) {
        const value = out.additionalProperties ?? {};
        out.properties = Object.fromEntries(names.map((name) => [String(name), value]));
        delete out.additionalProperties;
      }
      const { pattern } = out.propertyNames;
      delete out.propertyNames;
      if (typeof pattern === "string" && out.properties === undefined) out.propertyNames = { pattern };
    }
    const lists = isSchema(out.properties);
    if (!lists && out.type !== "object") return;
    if (lists && isSchema(out.properties)) {
      const properties: Record<string, JsonSchema> = {};
      for (const [name, property] of Object.entries(out.properties)) {
        Object.defineProperty(properties, name, {
          value: this.visit(property, path === "" ? name : `${path}.${name}`, trail),
          enumerable: true,
          configurable: true,
          writable: true,
        });
      }
      out.properties = properties;
    }
    const required = requiredOf(out).filter((name) => isSchema(out.properties) && Object.hasOwn(out.properties, name));
    if (required.length > 0) out.required = required;
    else delete out.required;
    const other = out.additionalProperties;
    if (isSchema(other)) {
      const values = this.visit(other, path === "" ? "{}" : `${path}{}`, trail);
      out.additionalProperties = Object.keys(values).length === 0 ? true : values;
    } else if (other === undefined) {
      out.properties ??= {};
      out.additionalProperties = false;
    }
    if (out.additionalProperties === false) out.properties ??= {};
  }

  #array(out: Record<string, unknown>, path: string, trail: readonly unknown[]): void {
    if (Array.isArray(out.items)) {
      this.#fault(path, refused.get("prefixItems") ?? "");
      delete out.items;
    } else if (isSchema(out.items)) {
      out.items = this.visit(out.items, `${path}[]`, trail);
    }
    delete out.additionalItems;
  }

  #fault(path: string, problem: string): void {
    if (!this.#faults.some((fault) => fault.path === path && fault.problem === problem))
      this.#faults.push({ path, problem });
  }
}

/** A schema that says nothing but its branches. */
function onlyUnion(schema: JsonSchema): boolean {
  return Array.isArray(schema.anyOf) && Object.keys(schema).length === 1;
}

function mergeInto(out: Record<string, unknown>, branch: JsonSchema): void {
  for (const [keyword, value] of Object.entries(branch)) out[keyword] ??= value;
}

/** `T | null` of a scalar is `type: [t, "null"]`; constants of one type are an `enum`. */
function joined(branches: readonly JsonSchema[], out: Readonly<Record<string, unknown>>): JsonSchema | undefined {
  const nulls = branches.filter((branch) => branch.type === "null");
  const rest = branches.filter((branch) => branch.type !== "null");
  const [only] = rest;
  const literals = rest.map(literalsOf);
  if (
    rest.length > 1 &&
    literals.every((list) => list.length > 0) &&
    rest.every(({ type, description }) => type === only?.type && description === only?.description)
  ) {
    const options = literals.flat();
    const described =
      out.description === undefined && only?.description !== undefined ? { description: only.description } : {};
    if (nulls.length === 0) return { type: only?.type, ...described, enum: options };
    return { type: [only?.type, "null"], ...described, enum: [...options, null] };
  }
  if (nulls.length === 0 || only === undefined || rest.length !== 1) return undefined;
  const scalar = typeof only.type === "string" && ["string", "number", "integer", "boolean"].includes(only.type);
  if (!scalar) return undefined;
  const { type, description, const: single, enum: several, ...others } = only;
  const options = single !== undefined ? [single] : Array.isArray(several) ? several : undefined;
  return {
    ...others,
    type: [type, "null"],
    ...(options === undefined ? {} : { enum: [...options, null] }),
    ...(out.description === undefined && description !== undefined ? { description } : {}),
  };
}

/** The values of a branch that is nothing but constants. */
function literalsOf(branch: JsonSchema): readonly unknown[] {
  if (branch.const !== undefined) return [branch.const];
  return Array.isArray(branch.enum) ? branch.enum : [];
}

function inferType(out: Record<string, unknown>): void {
  if (out.const !== undefined) out.type = jsonType(out.const);
  else if (Array.isArray(out.enum)) {
    const types = [...new Set(out.enum.map(jsonType))];
    out.type = types.length === 1 ? types[0] : types;
  } else if (isSchema(out.properties)) out.type = "object";
}

function jsonType(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function tidyNumber(out: Record<string, unknown>): void {
  if (out.type !== "integer" && !(Array.isArray(out.type) && out.type.includes("integer"))) return;
  if (out.minimum === Number.MIN_SAFE_INTEGER) delete out.minimum;
  if (out.maximum === Number.MAX_SAFE_INTEGER) delete out.maximum;
  if (typeof out.exclusiveMinimum === "number") {
    out.minimum = Math.max(
      Math.floor(out.exclusiveMinimum) + 1,
      typeof out.minimum === "number" ? out.minimum : Number.NEGATIVE_INFINITY,
    );
    delete out.exclusiveMinimum;
  }
  if (typeof out.exclusiveMaximum === "number") {
    out.maximum = Math.min(
      Math.ceil(out.exclusiveMaximum) - 1,
      typeof out.maximum === "number" ? out.maximum : Number.POSITIVE_INFINITY,
    );
    delete out.exclusiveMaximum;
  }
}

function tidyString(out: Record<string, unknown>): void {
  if (typeof out.format !== "string") return;
  if (formats.has(out.format)) delete out.pattern;
  else delete out.format;
}

function inOrder(out: Readonly<Record<string, unknown>>): JsonSchema {
  const known = order.filter((keyword) => out[keyword] !== undefined);
  const others = Object.keys(out)
    .filter((keyword) => !order.includes(keyword))
    .sort();
  return Object.fromEntries([...known, ...others].map((keyword) => [keyword, out[keyword]]));
}

import type { JsonSchema } from "@toolhaft/core";
import fc, { type Arbitrary } from "fast-check";

const nastyTexts = [
  "",
  " ",
  "a\nb",
  "```\nx\n```",
  "</stored aaaaaaaa>",
  "<stored x: y>",
  "\u202egnp.exe",
  "\u0000",
  "日本語",
  "👩‍👩‍👧",
  "\ud800",
  "é",
  "%s {} \\",
  "-----",
];

/** Values that a schema in base form describes; not every one passes checks that JSON Schema cannot say. */
export function arbitraryOf(schema: JsonSchema): Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (Array.isArray(schema.enum)) return fc.constantFrom(...(schema.enum as unknown[]));
  if (Array.isArray(schema.anyOf)) return fc.oneof(...(schema.anyOf as JsonSchema[]).map(arbitraryOf));
  const types = Array.isArray(schema.type)
    ? (schema.type as string[])
    : typeof schema.type === "string"
      ? [schema.type]
      : [];
  if (types.length === 0) return fc.jsonValue({ maxDepth: 2 });
  return fc.oneof(...types.map((type) => ofType(type, schema)));
}

function ofType(type: string, schema: JsonSchema): Arbitrary<unknown> {
  switch (type) {
    case "null":
      return fc.constant(null);
    case "boolean":
      return fc.boolean();
    case "integer":
      return integers(schema);
    case "number":
      return numbers(schema);
    case "array":
      return arrays(schema);
    case "object":
      return objects(schema);
    default:
      return strings(schema);
  }
}

function numberOf(value: unknown, otherwise: number): number {
  return typeof value === "number" ? value : otherwise;
}

function integers(schema: JsonSchema): Arbitrary<unknown> {
  const step = numberOf(schema.multipleOf, 1);
  const min = Math.ceil(numberOf(schema.minimum, Number.MIN_SAFE_INTEGER) / step);
  const max = Math.floor(numberOf(schema.maximum, Number.MAX_SAFE_INTEGER) / step);
  const from = (least: number): Arbitrary<number> =>
    fc.integer({ min: Math.max(least, -(2 ** 40)), max: Math.min(max, 2 ** 40) });
  // That a count is never negative goes without saying in a schema.
  const any = min < 0 && max >= 0 ? fc.oneof({ weight: 7, arbitrary: from(0) }, from(min)) : from(min);
  return any.map((value) => value * step);
}

function numbers(schema: JsonSchema): Arbitrary<unknown> {
  const minExcluded = typeof schema.exclusiveMinimum === "number";
  const maxExcluded = typeof schema.exclusiveMaximum === "number";
  const min = minExcluded ? numberOf(schema.exclusiveMinimum, 0) : numberOf(schema.minimum, -1e12);
  const max = maxExcluded ? numberOf(schema.exclusiveMaximum, 0) : numberOf(schema.maximum, 1e12);
  return fc
    .double({ min, max, minExcluded, maxExcluded, noNaN: true })
    .map((value) => (Object.is(value, -0) ? 0 : value));
}

function strings(schema: JsonSchema): Arbitrary<unknown> {
  const min = numberOf(schema.minLength, 0);
  const max = Math.min(numberOf(schema.maxLength, 60), Math.max(min, 60));
  if (typeof schema.format === "string") return formatted(schema.format);
  if (typeof schema.pattern === "string") return patterned(schema.pattern);
  const fits = (text: string): boolean => [...text].length >= min && [...text].length <= max;
  const nasty = nastyTexts.filter(fits);
  const plain = fc.string({ unit: "grapheme", minLength: min, maxLength: max }).filter(fits);
  return nasty.length === 0 ? plain : fc.oneof(plain, fc.constantFrom(...nasty));
}

function formatted(format: string): Arbitrary<unknown> {
  const iso = fc
    .date({ min: new Date(0), max: new Date("2100-01-01"), noInvalidDate: true })
    .map((date) => date.toISOString());
  switch (format) {
    case "date-time":
      return iso;
    case "date":
      return iso.map((text) => text.slice(0, 10));
    case "time":
      return iso.map((text) => text.slice(11));
    case "email":
      return fc.constantFrom("a@example.com", "first.last@example.org");
    case "uuid":
      return fc.uuid({ version: 4 });
    case "uri":
      return fc.webUrl();
    case "ipv4":
      return fc.ipV4();
    case "ipv6":
      return fc.constantFrom("::1", "2001:db8::1");
    case "hostname":
      return fc.domain();
    default:
      return fc.constantFrom("P1D", "PT2H");
  }
}

function patterned(pattern: string): Arbitrary<unknown> {
  return fc.stringMatching(new RegExp(pattern));
}

function arrays(schema: JsonSchema): Arbitrary<unknown> {
  const minLength = numberOf(schema.minItems, 0);
  const maxLength = Math.min(numberOf(schema.maxItems, minLength + 4), minLength + 4);
  const items = arbitraryOf((schema.items ?? {}) as JsonSchema);
  if (schema.uniqueItems === true)
    return fc.uniqueArray(items, { minLength, maxLength, selector: (item) => JSON.stringify(item) });
  return fc.array(items, { minLength, maxLength });
}

function objects(schema: JsonSchema): Arbitrary<unknown> {
  const properties = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>);
  const required = Array.isArray(schema.required) ? (schema.required as string[]) : [];
  const listed = fc.record(Object.fromEntries(properties.map(([name, property]) => [name, arbitraryOf(property)])), {
    requiredKeys: required,
    noNullPrototype: true,
  });
  const { additionalProperties: others } = schema;
  if (others === false || others === undefined) return listed;
  const values = others === true ? fc.jsonValue({ maxDepth: 1 }) : arbitraryOf(others as JsonSchema);
  const key = fc
    .stringMatching(/^[a-z][a-z0-9_]{0,11}$/)
    .filter((name) => name !== "constructor" && name !== "prototype" && !properties.some(([known]) => known === name));
  return fc
    .tuple(listed, fc.dictionary(key, values, { maxKeys: 3, noNullPrototype: true }))
    .map(([one, other]) => ({ ...other, ...(one as object) }));
}

import type { ToolSchema } from "../tool.ts";
import type { SchemaFault } from "./base-form.ts";
import { acceptedTypes, acceptsType } from "./choose-branch.ts";
import { branchesOf, isSchema, type JsonSchema, propertiesOf, showPath } from "./json-schema.ts";

/** One value of each JSON type. */
const samples: readonly unknown[] = ["12", 12, true, null, [], {}];
const names = ["a string", "a number", "a boolean", "null", "an array", "an object"] as const;

/** Where a value stands in an input: keys, and 0 for items. */
type Place = readonly (string | number)[];

/**
 * Places that take more types than their schema shows, as coercions do. Tried with values of the other types, for only
 * the validator knows; the rest of the input is left out, and only complaints about the place itself count.
 */
export function findHiddenTypes(schema: ToolSchema, base: JsonSchema): SchemaFault[] {
  const faults: SchemaFault[] = [];
  for (const { place, path, types, around } of places(base, [], "", (value) => value)) {
    const taken = samples.findIndex((sample) => !acceptsType(types, sample) && takes(schema, around(sample), place));
    if (taken !== -1)
      faults.push({
        path,
        problem: `it takes ${names[taken]} where it shows ${types.join(" or ")}; write the type that is really taken`,
      });
  }
  return faults;
}

interface Tried {
  place: Place;
  path: string;
  types: readonly string[];
  /** The smallest input with a value at the place. */
  around(value: unknown): unknown;
}

function* places(
  schema: JsonSchema,
  place: Place,
  path: string,
  around: (value: unknown) => unknown,
): Generator<Tried> {
  if (branchesOf(schema).length > 0) return;
  for (const [name, property] of Object.entries(propertiesOf(schema))) {
    const at = path === "" ? name : `${path}.${name}`;
    const outer = (value: unknown): unknown => around({ [name]: value });
    const types = acceptedTypes(property);
    if (types.length > 0) yield { place: [...place, name], path: showPath(at), types, around: outer };
    yield* places(property, [...place, name], at, outer);
  }
  const { items } = schema;
  if (isSchema(items)) {
    const outer = (value: unknown): unknown => around([value]);
    const types = acceptedTypes(items);
    if (types.length > 0) yield { place: [...place, 0], path: `${path}[]`, types, around: outer };
    yield* places(items, [...place, 0], `${path}[]`, outer);
  }
}

function takes(schema: ToolSchema, input: unknown, place: Place): boolean {
  const result = schema["~standard"].validate(input);
  if (!("value" in result) && !("issues" in result)) return false;
  return !(result.issues ?? []).some((issue) => {
    const path = (issue.path ?? []).map((part) => (typeof part === "object" ? part.key : part));
    // A complaint at the place, inside it, or about something that holds it.
    return path.every((part, index) => index >= place.length || part === place[index]);
  });
}

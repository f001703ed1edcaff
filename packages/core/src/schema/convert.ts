import { messageOf } from "../failure.ts";
import type { ToolSchema } from "../tool.ts";
import { type BaseForm, baseForm, type SchemaFault } from "./base-form.ts";
import { isSchema, type JsonSchema, joinPath } from "./json-schema.ts";

const target = "draft-2020-12";

/** What JSON has in the place of a type that it cannot carry. */
const replacements: Readonly<Record<string, string>> = {
  date: "a date has no JSON form; use an ISO string",
  bigint: "a bigint has no JSON form; use a string of digits, or a number",
  map: "a map has no JSON form; use an array of { key, value } objects",
  set: "a set has no JSON form; use an array",
  symbol: "a symbol has no JSON form; use a string",
  undefined: "undefined has no JSON form; use an optional field",
  void: "void has no JSON form; use an optional field",
  function: "a function has no JSON form; use the name of what to do",
  custom: "a custom check has no JSON Schema; use a described type and refine it",
  transform: "a transform has no JSON Schema here; give out the final form, and change it in `execute`",
  nan: "NaN has no JSON form; use null",
  promise: "a promise has no JSON form; use what it resolves to",
  file: "a file has no JSON form; use its path, or an attachment",
  never: "nothing is allowed here; leave the field out",
};

/** What takes more than it shows: the model would be told less than the truth. */
const hidden: Readonly<Record<string, string>> = {
  coerce:
    "it takes more types than it shows (coerce); write the type that is really taken, strings are repaired by themselves",
  preprocess:
    "it takes more types than it shows (preprocess); write the type that is really taken, and change it in `execute`",
  catch: "it takes anything (catch); write the type that is really taken, with a default if it may be left out",
};

/**
 * A schema in our base form, converted by its own library.
 *
 * @param side `input`: what a caller may send, with defaulted fields optional. `output`: what comes out of the check.
 */
export function convert(schema: ToolSchema, side: "input" | "output"): BaseForm {
  const standard = schema["~standard"];
  if (typeof standard?.jsonSchema?.[side] !== "function" || typeof standard.validate !== "function") {
    const problem =
      "the schema does not describe itself as JSON Schema; use zod 4.2 or later, ArkType 2.1.28 or later, or Valibot through @valibot/to-json-schema";
    return { schema: {}, faults: [{ path: "", problem }] };
  }
  const isZod = standard.vendor === "zod";
  const found: SchemaFault[] = [];
  try {
    // zod tells what it meets on its walk, and so where: without that a fault has no path.
    const options = isZod ? { libraryOptions: { override: noteZod(found) } } : {};
    const form = baseForm(standard.jsonSchema[side]({ target, ...options }));
    return {
      schema: form.schema,
      faults: [...found, ...form.faults.filter(({ path }) => !found.some((other) => other.path === path))],
    };
  } catch (error) {
    const faults = isZod ? diagnoseZod(schema, side) : [];
    return {
      schema: {},
      faults: faults.length > 0 ? faults : [{ path: "", problem: `it has no JSON Schema: ${messageOf(error)}` }],
    };
  }
}

/** zod says what it cannot represent without saying where; asked to represent anything, its walk tells. */
function diagnoseZod(schema: ToolSchema, side: "input" | "output"): SchemaFault[] {
  const faults: SchemaFault[] = [];
  try {
    schema["~standard"].jsonSchema[side]({
      target,
      libraryOptions: { unrepresentable: "any", override: noteZod(faults) },
    });
  } catch (error) {
    faults.push({ path: "", problem: `it has no JSON Schema: ${messageOf(error)}` });
  }
  return faults;
}

function noteZod(faults: SchemaFault[]): (context: unknown) => void {
  return (context) => {
    if (!isSchema(context) || !Array.isArray(context.path)) return;
    const problem = zodProblem(zodDefinition(context.zodSchema));
    const path = zodPath(context.path);
    if (problem !== undefined && !faults.some((fault) => fault.path === path)) faults.push({ path, problem });
  };
}

function zodProblem(definition: JsonSchema | undefined): string | undefined {
  const type = definition?.type;
  if (definition === undefined || typeof type !== "string") return undefined;
  if (definition.coerce === true) return hidden.coerce;
  if (type === "catch") return hidden.catch;
  if (type === "pipe" && zodDefinition(definition.in)?.type === "transform") return hidden.preprocess;
  return Object.hasOwn(replacements, type) ? replacements[type] : undefined;
}

function zodDefinition(schema: unknown): JsonSchema | undefined {
  if (typeof schema !== "object" || schema === null || !("_zod" in schema)) return undefined;
  const inner = schema._zod;
  return isSchema(inner) && isSchema(inner.def) ? inner.def : undefined;
}

/** `["properties", "edits", "items", "properties", "at"]` → `edits[].at`. */
function zodPath(path: readonly unknown[]): string {
  let text = "";
  for (let index = 0; index < path.length; index++) {
    const part = String(path[index]);
    if (part === "properties") {
      index += 1;
      text = joinPath(text, String(path[index]));
    } else if (part === "items" || part === "prefixItems") text += "[]";
    else if (part === "additionalProperties") text += "{}";
  }
  return text;
}

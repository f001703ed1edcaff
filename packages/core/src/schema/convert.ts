import { messageOf } from "../failure.ts";
import type { ToolSchema } from "../tool.ts";
import { type BaseForm, baseForm, type SchemaFault } from "./base-form.ts";
import { isSchema, joinPath } from "./json-schema.ts";

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
  try {
    const form = baseForm(standard.jsonSchema[side]({ target }));
    const hidden = standard.vendor === "zod" ? diagnoseZod(schema, side) : [];
    return {
      schema: form.schema,
      faults: [...hidden, ...form.faults.filter((fault) => !hidden.some((other) => other.path === fault.path))],
    };
  } catch (error) {
    const found = standard.vendor === "zod" ? diagnoseZod(schema, side) : [];
    return {
      schema: {},
      faults: found.length > 0 ? found : [{ path: "", problem: `it has no JSON Schema: ${messageOf(error)}` }],
    };
  }
}

/** zod says what it cannot represent without saying where; its own walk over the parts tells. */
function diagnoseZod(schema: ToolSchema, side: "input" | "output"): SchemaFault[] {
  const faults: SchemaFault[] = [];
  const override = (context: unknown): void => {
    if (!isSchema(context)) return;
    const { zodSchema, path } = context;
    const type = zodType(zodSchema);
    const problem = type === undefined ? undefined : replacements[type];
    if (problem !== undefined && Array.isArray(path)) faults.push({ path: zodPath(path), problem });
  };
  try {
    schema["~standard"].jsonSchema[side]({ target, libraryOptions: { unrepresentable: "any", override } });
  } catch (error) {
    faults.push({ path: "", problem: `it has no JSON Schema: ${messageOf(error)}` });
  }
  return faults;
}

function zodType(schema: unknown): string | undefined {
  if (typeof schema !== "object" || schema === null || !("_zod" in schema)) return undefined;
  const inner = schema._zod;
  if (!isSchema(inner) || !isSchema(inner.def)) return undefined;
  return typeof inner.def.type === "string" ? inner.def.type : undefined;
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

import { findInvisible } from "./invisible.ts";
import type { SchemaFault } from "./schema/base-form.ts";
import { discriminator } from "./schema/choose-branch.ts";
import {
  branchesOf,
  isSchema,
  type JsonSchema,
  joinPath,
  propertiesOf,
  typesOf,
  valuesOf,
} from "./schema/json-schema.ts";
import { isUnsafe } from "./schema/unknown-keys.ts";
import type { ToolDefinition, ToolSchema } from "./tool.ts";

export const toolNamePattern = /^[a-z][a-z0-9_]{0,47}$/;
const propertyNamePattern = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;
const placeholders =
  /\b(?:TODO|FIXME|TBD|XXX|lorem ipsum)\b|\{\{|\}\}|<(?:description|tool|name|insert)[^>]*>|\bdescription here\b/i;

type AnyDefinition = ToolDefinition<ToolSchema, ToolSchema>;

/** Faults of name, texts and hints. */
export function checkTexts(definition: AnyDefinition): SchemaFault[] {
  const faults: SchemaFault[] = [];
  const fault = (path: string, problem: string): void => {
    faults.push({ path, problem });
  };
  const { name, title, description, annotations } = definition;
  if (typeof name !== "string" || !toolNamePattern.test(name))
    fault(
      "name",
      `${JSON.stringify(name)} does not match ^[a-z][a-z0-9_]{0,47}$; use lower-case letters, digits and _, at most 48`,
    );
  checkTitle(title, fault);
  checkDescription(description, fault);
  for (const hint of ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] as const) {
    if (typeof annotations?.[hint] !== "boolean")
      fault(`annotations.${hint}`, "is not true or false; clients read an absent hint as destructive and open");
  }
  if (annotations?.readOnlyHint === true && annotations.destructiveHint === true)
    fault("annotations", "a tool that only reads cannot be destructive; set destructiveHint to false");
  for (const part of ["execute", "render"] as const)
    if (typeof definition[part] !== "function") fault(part, "is no function");
  for (const rule of definition.defaultRules ?? []) {
    const names = typeof rule.permission === "string" ? [rule.permission] : (rule.permission ?? []);
    if (names.length === 0) fault("defaultRules", "a rule names no permission; name the tool's own");
    for (const permission of names) {
      if (permission.includes("*") || /^(?:file|net|process)\./.test(permission))
        fault(
          "defaultRules",
          `${permission} is not the tool's own permission; file.*, net.* and process.* belong to the policy`,
        );
    }
  }
  return faults;
}

function checkTitle(title: unknown, fault: (path: string, problem: string) => void): void {
  if (typeof title !== "string") {
    fault("title", "is missing; give it 1 to 64 characters for people");
    return;
  }
  const length = [...title].length;
  if (length < 1 || length > 64) fault("title", `is ${length} characters long; use 1 to 64`);
  if (/[\r\n\u2028\u2029]/.test(title)) fault("title", "has more than one line");
  const [hidden] = findInvisible(title);
  if (hidden !== undefined) fault("title", `holds the invisible character ${hidden.name}`);
}

function checkDescription(description: unknown, fault: (path: string, problem: string) => void): void {
  if (typeof description !== "string") {
    fault("description", "is missing; say in 20 to 1,024 characters when to use the tool and what comes back");
    return;
  }
  const length = [...description].length;
  if (length < 20 || length > 1024)
    fault("description", `is ${length} characters long; say in 20 to 1,024 when to use the tool and what comes back`);
  if (placeholders.test(description)) fault("description", "holds a placeholder; write the text");
  const [hidden] = findInvisible(description);
  if (hidden !== undefined) fault("description", `holds the invisible character ${hidden.name}`);
  const own = /@?toolhaft(?:\/[a-z-]+)?/i.exec(description);
  if (own !== null)
    fault("description", `names its own package (${own[0]}); the model knows the tool by its name only`);
}

/** Faults of one side's schema in base form. */
export function checkSchema(schema: JsonSchema, side: "input" | "output"): SchemaFault[] {
  const faults: SchemaFault[] = [];
  if (schema.type !== "object" || branchesOf(schema).length > 0) {
    const what =
      branchesOf(schema).length > 0
        ? "a union"
        : typesOf(schema).length > 0
          ? `a ${typesOf(schema).join(" or ")}`
          : "no object";
    faults.push({ path: "", problem: `is ${what}; wrap it in an object` });
    return faults;
  }
  visit(schema, "", side, faults);
  return faults;
}

function visit(schema: JsonSchema, path: string, side: "input" | "output", faults: SchemaFault[]): void {
  const fault = (at: string, problem: string): void => {
    faults.push({ path: at, problem });
  };
  if (side === "output" && schema.default !== undefined)
    fault(path, "a default on the output side; set the value in `execute`");
  for (const [name, property] of Object.entries(propertiesOf(schema))) {
    const at = joinPath(path, name);
    if (!propertyNamePattern.test(name) || isUnsafe(name))
      fault(
        at,
        "is no name that every provider takes; use letters, digits and _, at most 64, and not __proto__, constructor or prototype",
      );
    if (side === "input") checkPropertyDescription(property, at, fault);
    visit(property, at, side, faults);
  }
  const values = valuesOf(schema);
  if (isSchema(values)) visit(values, `${path}{}`, side, faults);
  if (isSchema(schema.items)) visit(schema.items, `${path}[]`, side, faults);
  checkUnion(schema, path, fault);
  for (const branch of branchesOf(schema)) visit(branch, path, side, faults);
}

function checkPropertyDescription(
  property: JsonSchema,
  path: string,
  fault: (path: string, problem: string) => void,
): void {
  const { description } = property;
  if (typeof description !== "string" || description.trim() === "") {
    fault(path, "has no description; say what to put there");
    return;
  }
  const length = [...description].length;
  if (length > 300) fault(path, `has a description of ${length} characters; use at most 300`);
  const [hidden] = findInvisible(description);
  if (hidden !== undefined) fault(path, `has the invisible character ${hidden.name} in its description`);
}

/** A union whose branches cannot be told apart cannot be explained in an error. */
function checkUnion(schema: JsonSchema, path: string, fault: (path: string, problem: string) => void): void {
  const branches = branchesOf(schema);
  if (branches.length === 0) return;
  if (branches.some((branch) => typesOf(branch).length === 0)) {
    fault(path, "a branch of the union names no type; say what it holds");
    return;
  }
  const objects = branches.filter((branch) => branch.type === "object");
  const types = branches.filter((branch) => branch.type !== "object").flatMap(typesOf);
  const plain = types.map((type) => (type === "integer" ? "number" : type));
  if (new Set(plain).size !== plain.length) {
    fault(path, "two branches of the union have the same JSON type; merge them, or use objects with a `const` each");
    return;
  }
  if (objects.length > 1 && discriminator(schema) === undefined)
    fault(path, "the objects of the union share no property with a different `const` in each; add one, such as kind");
}

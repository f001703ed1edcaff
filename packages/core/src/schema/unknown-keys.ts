import { nearest } from "../nearest.ts";
import { chooseBranch } from "./choose-branch.ts";
import { type Issue, maxIssues, type Path, showIssuePath } from "./issue.ts";
import { branchesOf, isSchema, type JsonSchema, propertiesOf, valuesOf } from "./json-schema.ts";
import { findNonJson } from "./json-value.ts";

/** Collects at most ten issues and counts the rest. */
export class IssueList {
  readonly issues: Issue[] = [];
  count = 0;

  add(issue: Issue): void {
    this.count += 1;
    if (this.issues.length < maxIssues) this.issues.push(issue);
  }
}

export type KeyCheck = (value: unknown, path: Path, found: IssueList) => void;

/**
 * A check for keys that a schema does not list, at every depth, and for values that are no JSON where the schema allows
 * any value. Validation libraries drop such keys and succeed: a misspelt `dry_run` would do the work for real.
 *
 * @returns `undefined` where nothing can be found below this place.
 */
export function compileKeyCheck(schema: JsonSchema): KeyCheck | undefined {
  const branches = branchesOf(schema);
  if (branches.length > 0) {
    const checks = new Map(branches.map((branch) => [branch, compileKeyCheck(branch)]));
    if ([...checks.values()].every((check) => check === undefined)) return undefined;
    return (value, path, found) => {
      const branch = chooseBranch(schema, value);
      if (branch !== undefined) checks.get(branch)?.(value, path, found);
    };
  }
  if (schema.type === undefined && schema.const === undefined && schema.enum === undefined) return checkAnyValue;
  if (isSchema(schema.items) || schema.type === "array")
    return compileArray(isSchema(schema.items) ? schema.items : {});
  if (schema.type === "object" || (Array.isArray(schema.type) && schema.type.includes("object")))
    return compileObject(schema);
  return undefined;
}

const checkAnyValue: KeyCheck = (value, path, found) => {
  const fault = value === undefined ? undefined : findNonJson(value);
  if (fault !== undefined) found.add({ path: [...path, ...fault.path], message: fault.problem });
};

function compileArray(items: JsonSchema): KeyCheck | undefined {
  const check = compileKeyCheck(items);
  if (check === undefined) return undefined;
  return (value, path, found) => {
    if (!Array.isArray(value)) return;
    value.forEach((item, index) => {
      check(item, [...path, index], found);
    });
  };
}

function compileObject(schema: JsonSchema): KeyCheck {
  const known = new Map(
    Object.entries(propertiesOf(schema)).map(([name, property]) => [name, compileKeyCheck(property)]),
  );
  const values = valuesOf(schema);
  const others =
    values === undefined ? undefined : values === true ? checkAnyValue : (compileKeyCheck(values) ?? acceptAny);
  return (value, path, found) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return;
    for (const key in value) {
      const check = known.get(key);
      if (check !== undefined) check((value as Readonly<Record<string, unknown>>)[key], [...path, key], found);
      else if (known.has(key)) continue;
      else if (others === undefined || isUnsafe(key)) found.add(unknownKey(key, known.keys(), path, found.count));
      else others((value as Readonly<Record<string, unknown>>)[key], [...path, key], found);
    }
  };
}

const acceptAny: KeyCheck = () => undefined;

/** Names that reach prototypes: refused even where any key is allowed. */
export function isUnsafe(key: string): boolean {
  return key === "__proto__" || key === "constructor" || key === "prototype";
}

function unknownKey(key: string, known: Iterable<string>, path: Path, before: number): Issue {
  const names = [...known];
  const shown = showIssuePath([...path, key.length > 64 ? `${key.slice(0, 64)}…` : key]);
  if (before >= maxIssues) return { path: [...path, key], message: "" };
  const [near] = nearest(key, names, 1);
  const allowed = names.length === 0 ? "no keys are allowed here" : `allowed: ${names.join(", ")}`;
  return {
    path: [...path, key],
    message: `unknown key ${shown}${near === undefined ? "" : `: did you mean ${near}?`} (${allowed})`,
    unknownKey: true,
  };
}

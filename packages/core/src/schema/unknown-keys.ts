import { nearest } from "../nearest.ts";
import { chooseBranch } from "./choose-branch.ts";
import { type Issue, maxIssues, type Path, showIssuePath } from "./issue.ts";
import { branchesOf, isSchema, type JsonSchema, propertiesOf, valuesOf } from "./json-schema.ts";
import { findNonJson } from "./json-value.ts";

/** At most ten issues, and how many there are in all. */
export interface IssueList {
  issues: Issue[];
  count: number;
}

export function addIssue(list: IssueList | undefined, issue: Issue): IssueList {
  const found = list ?? { issues: [], count: 0 };
  found.count += 1;
  if (found.issues.length < maxIssues) found.issues.push(issue);
  return found;
}

/** Gives back the list it was given, or one made for the first issue: most calls need none. */
export type KeyCheck = (value: unknown, path: Path, found: IssueList | undefined) => IssueList | undefined;

/**
 * A check for keys that a schema does not list, at every depth, and for values that are no JSON where the schema allows
 * any value. Validation libraries drop such keys and succeed: a misspelt `dry_run` would do the work for real.
 *
 * @returns `undefined` where nothing can be found below this place.
 */
export function compileKeyCheck(schema: JsonSchema): KeyCheck | undefined {
  const branches = branchesOf(schema);
  if (branches.length > 0) return compileUnion(schema, branches);
  if (schema.type === undefined && schema.const === undefined && schema.enum === undefined) return checkAnyValue;
  if (isSchema(schema.items) || schema.type === "array")
    return compileArray(isSchema(schema.items) ? schema.items : {});
  const object = schema.type === "object" || (Array.isArray(schema.type) && schema.type.includes("object"));
  return object ? compileObject(schema) : undefined;
}

function compileUnion(schema: JsonSchema, branches: readonly JsonSchema[]): KeyCheck | undefined {
  const checks = new Map(branches.map((branch) => [branch, compileKeyCheck(branch)]));
  if ([...checks.values()].every((check) => check === undefined)) return undefined;
  return (value, path, found) => {
    const branch = chooseBranch(schema, value);
    const check = branch === undefined ? undefined : checks.get(branch);
    return check === undefined ? found : check(value, path, found);
  };
}

const checkAnyValue: KeyCheck = (value, path, found) => {
  const fault = value === undefined ? undefined : findNonJson(value);
  return fault === undefined ? found : addIssue(found, { path: [...path, ...fault.path], message: fault.problem });
};

function compileArray(items: JsonSchema): KeyCheck | undefined {
  const check = compileKeyCheck(items);
  if (check === undefined) return undefined;
  return (value, path, before) => {
    if (!Array.isArray(value)) return before;
    let found = before;
    for (let index = 0; index < value.length; index++) found = check(value[index], [...path, index], found);
    return found;
  };
}

/** Where nothing needs to be looked at below a key. */
const leaf: KeyCheck = (_value, _path, found) => found;

function compileObject(schema: JsonSchema): KeyCheck {
  const known = new Map(
    Object.entries(propertiesOf(schema)).map(([name, property]) => [name, compileKeyCheck(property) ?? leaf]),
  );
  const values = valuesOf(schema);
  const others = values === undefined ? undefined : values === true ? checkAnyValue : (compileKeyCheck(values) ?? leaf);
  return (value, path, before) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return before;
    let found = before;
    for (const key in value) {
      const check = known.get(key) ?? (isUnsafe(key) ? undefined : others);
      if (check === leaf) continue;
      if (check === undefined) found = addIssue(found, unknownKey(key, known, path, found?.count ?? 0));
      else found = check((value as Readonly<Record<string, unknown>>)[key], [...path, key], found);
    }
    return found;
  };
}

/** Names that reach prototypes: refused even where any key is allowed. */
export function isUnsafe(key: string): boolean {
  return key === "__proto__" || key === "constructor" || key === "prototype";
}

function unknownKey(key: string, known: ReadonlyMap<string, unknown>, path: Path, before: number): Issue {
  // Only counted: a hundred thousand keys are not compared with the known ones.
  if (before >= maxIssues) return { path, message: "" };
  const names = [...known.keys()];
  const shown = showIssuePath([...path, key.length > 64 ? `${key.slice(0, 64)}…` : key]);
  const [near] = nearest(key, names, 1);
  const allowed = names.length === 0 ? "no keys are allowed here" : `allowed: ${names.join(", ")}`;
  const message = `unknown key ${shown}${near === undefined ? "" : `: did you mean ${near}?`} (${allowed})`;
  return { path: [...path, key], message, unknownKey: true };
}

import type { StandardSchemaV1 } from "@standard-schema/spec";
import { ToolError, type ToolFailure } from "./errors.ts";
import { failureOf } from "./failure.ts";
import { explain } from "./schema/explain.ts";
import { type Issue, maxIssues, type Path, showIssue, showIssuePath } from "./schema/issue.ts";
import type { JsonSchema } from "./schema/json-schema.ts";
import { cutJsonEnd, maxJsonText, readJson } from "./schema/json-text.ts";
import { repairInput } from "./schema/repair.ts";
import { compileKeyCheck, IssueList } from "./schema/unknown-keys.ts";
import type { ToolSchema } from "./tool.ts";

export type Parsed<P> = { ok: true; input: P; repaired: readonly string[] } | { ok: false; error: ToolFailure };

const nothing: readonly string[] = Object.freeze([]);

/** Checks any value against a tool's input, repairs it at most once, and applies defaults. */
export function compileParse<P>(
  tool: string,
  schema: ToolSchema<unknown, P>,
  base: JsonSchema,
): (raw: unknown) => Parsed<P> {
  const { validate } = schema["~standard"];
  const checkKeys = compileKeyCheck(base);

  const check = (value: unknown): { input: P } | { found: IssueList; library: readonly StandardSchemaV1.Issue[] } => {
    const found = new IssueList();
    checkKeys?.(value, [], found);
    const result = validate(value);
    if (isPromise(result)) throw asynchronous(tool);
    if (result.issues === undefined && found.count === 0) return { input: result.value };
    return { found, library: result.issues ?? [] };
  };

  const parse = (raw: unknown): Parsed<P> => {
    const whole = typeof raw === "string" ? parseWhole(raw) : { value: raw, repaired: nothing };
    if ("problem" in whole) return refuse([{ path: [], message: whole.problem }], 1, whole.hint);
    const first = check(whole.value);
    if ("input" in first) return { ok: true, input: first.input, repaired: whole.repaired };
    const mended = repairInput(base, whole.value);
    if (mended.repaired.length > 0) {
      const second = check(mended.value);
      if ("input" in second)
        return { ok: true, input: second.input, repaired: [...whole.repaired, ...mended.repaired] };
      // An unknown key that only shows after a repair is what stands in the way now.
      if (second.found.count > 0 && first.found.count === 0) return refuse(second.found.issues, second.found.count);
    }
    const issues = gather(base, whole.value, first.found, first.library);
    return refuse(issues.issues, issues.count);
  };

  return (raw) => {
    try {
      return parse(raw);
    } catch (error) {
      if (error instanceof ToolError) return { ok: false, error: failureOf(error) };
      return refuse([{ path: [], message: "the input cannot be read as JSON" }], 1);
    }
  };
}

export function asynchronous(tool: string): ToolError {
  return new ToolError("internal", `${tool}: its validator answers with a promise; validation must be synchronous`);
}

export function isPromise(value: unknown): value is Promise<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}

type Whole = { value: unknown; repaired: readonly string[] } | { problem: string; hint: string };

/** The whole input as a string: one level of JSON around an object is taken off. */
function parseWhole(raw: string): Whole {
  if (raw.length > maxJsonText)
    return {
      problem: `expected an object, received a string of ${raw.length} characters`,
      hint: "send the arguments as a JSON object",
    };
  const parsed = readJson(raw);
  if (
    parsed !== undefined &&
    typeof parsed.value === "object" &&
    parsed.value !== null &&
    !Array.isArray(parsed.value)
  ) {
    return { value: parsed.value, repaired: ["(root)"] };
  }
  const cut = cutJsonEnd(raw);
  if (cut !== undefined)
    return {
      problem: `the arguments end after ${cut} characters, in the middle of the JSON`,
      hint: "send less, or split the call",
    };
  return { problem: "expected an object, received a string", hint: "send the arguments as a JSON object" };
}

/** Unknown keys first, then what the schema explains, then what only the library knows. */
export function gather(
  base: JsonSchema,
  value: unknown,
  found: IssueList,
  library: readonly StandardSchemaV1.Issue[],
): IssueList {
  const all = new IssueList();
  for (const issue of found.issues) all.add(issue);
  all.count = found.count;
  if (library.length === 0) return all;
  const explained = explain(base, value);
  for (const issue of explained) all.add(issue);
  const known = explained.map((issue) => showIssuePath(issue.path));
  const unknown = found.issues.map((issue) => showIssuePath(issue.path.slice(0, -1)));
  for (const issue of library) {
    const path = plainPath(issue.path);
    const shown = showIssuePath(path);
    const said = known.some(
      (other) =>
        other === shown ||
        other.startsWith(`${shown}.`) ||
        other.startsWith(`${shown}[`) ||
        (shown === "(root)" && known.length > 0),
    );
    if (said || (unknown.includes(shown) && /unrecogni[sz]ed|unknown|unexpected|undeclared/i.test(issue.message)))
      continue;
    if (explained.length >= maxIssues) all.count += 1;
    else all.add({ path, message: withoutValue(issue.message, value, path) });
  }
  if (all.count === 0) all.add({ path: [], message: "the value does not fit the schema" });
  return all;
}

export function plainPath(path: StandardSchemaV1.Issue["path"]): Path {
  return (path ?? []).map((part) => {
    const key = typeof part === "object" ? part.key : part;
    return typeof key === "number" ? key : String(key);
  });
}

/** A library's own message, with the string it complains about taken out. */
function withoutValue(message: string, value: unknown, path: Path): string {
  let at: unknown = value;
  for (const part of path)
    at = typeof at === "object" && at !== null ? (at as Readonly<Record<string | number, unknown>>)[part] : undefined;
  return typeof at === "string" && at.length >= 3 ? message.replaceAll(at, "…") : message;
}

function refuse(issues: readonly Issue[], count: number, hint?: string): { ok: false; error: ToolFailure } {
  const [first] = issues;
  const more = count > 1 ? ` (and ${count - 1} more)` : "";
  return {
    ok: false,
    error: {
      code: "invalid_input",
      message: `${first === undefined ? "the input does not fit" : showIssue(first)}${more}`,
      hint: hint ?? "mend the input and call again",
      retryable: false,
      details: {
        issues: issues.map((issue) => ({
          path: showIssuePath(issue.path),
          message: issue.message,
          line: showIssue(issue),
        })),
        count,
      },
    },
  };
}

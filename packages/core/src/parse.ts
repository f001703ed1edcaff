import type { StandardSchemaV1 } from "@standard-schema/spec";
import { ToolError, type ToolFailure } from "./errors.ts";
import { failureOf } from "./failure.ts";
import { explain } from "./schema/explain.ts";
import { type Issue, type Path, showIssue, showIssuePath } from "./schema/issue.ts";
import type { JsonSchema } from "./schema/json-schema.ts";
import { cutJsonEnd, maxJsonText, readJson } from "./schema/json-text.ts";
import { findNonJson } from "./schema/json-value.ts";
import { repairInput } from "./schema/repair.ts";
import { addIssue, compileKeyCheck, type IssueList } from "./schema/unknown-keys.ts";
import type { ToolSchema } from "./tool.ts";

type Accepted<P> = { ok: true; input: P; repaired: readonly string[] };
export type Parsed<P> = Accepted<P> | { ok: false; error: ToolFailure };

const nothing: readonly string[] = Object.freeze([]);
const rootPath: Path = Object.freeze([]);

/** Checks any value against a tool's input, repairs it at most once, and applies defaults. */
export function compileParse<P>(
  tool: string,
  schema: ToolSchema<unknown, P>,
  base: JsonSchema,
  options: { anyKey?: boolean } = {},
): (raw: unknown) => Parsed<P> {
  const { validate } = schema["~standard"];
  const checkKeys = options.anyKey ? undefined : compileKeyCheck(base);

  const check = (value: unknown, repaired: readonly string[]): Accepted<P> | Refused => {
    const found = checkKeys?.(value, rootPath, undefined);
    const result = validate(value);
    if (!("value" in result) && isPromise(result)) throw unanswered(tool, value, result);
    if (result.issues === undefined && found === undefined) return { ok: true, input: result.value, repaired };
    return { ok: false, found, library: result.issues ?? [] };
  };

  const recover = (value: unknown, first: Refused, before: readonly string[]): Parsed<P> => {
    const mended = repairInput(base, value);
    if (mended.repaired.length > 0) {
      const second = check(mended.value, [...before, ...mended.repaired]);
      if (second.ok) return second;
      // An unknown key that only shows after a repair is what stands in the way now.
      if (second.found !== undefined && first.found === undefined)
        return refuse(second.found.issues, second.found.count);
    }
    const { issues, count } = gather(base, value, first.found, first.library);
    return refuse(issues, count);
  };

  const parseText = (raw: string): Parsed<P> => {
    const whole = parseWhole(raw);
    if ("problem" in whole) return refuse([{ path: rootPath, message: whole.problem }], 1, whole.hint);
    const first = check(whole.value, whole.repaired);
    return first.ok ? first : recover(whole.value, first, whole.repaired);
  };

  return (raw) => {
    try {
      if (typeof raw === "string") return parseText(raw);
      const first = check(raw, nothing);
      return first.ok ? first : recover(raw, first, nothing);
    } catch (error) {
      if (error instanceof ToolError) return { ok: false, error: failureOf(error) };
      return refuse([{ path: rootPath, message: "the input cannot be read as JSON" }], 1);
    }
  };
}

/** zod tries again asynchronously when reading the value throws: then it is the value that is at fault. */
function unanswered(tool: string, value: unknown, promise: Promise<unknown>): Error {
  ignore(promise);
  try {
    findNonJson(value);
  } catch {
    return new TypeError("the value cannot be read");
  }
  return asynchronous(tool);
}

/** A promise that nobody waits for must not end the process when it rejects. */
export function ignore(promise: Promise<unknown>): void {
  promise.then(undefined, () => undefined);
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

interface Refused {
  ok: false;
  found: IssueList | undefined;
  library: readonly StandardSchemaV1.Issue[];
}

/** Unknown keys first, then what the schema explains, then what only the library knows. */
export function gather(
  base: JsonSchema,
  value: unknown,
  found: IssueList | undefined,
  library: readonly StandardSchemaV1.Issue[],
): IssueList {
  let all: IssueList | undefined = found === undefined ? undefined : { issues: [...found.issues], count: found.count };
  const explained = library.length === 0 ? [] : explain(base, value);
  for (const issue of explained) all = addIssue(all, issue);
  const known = explained.map((issue) => showIssuePath(issue.path));
  const around = (found?.issues ?? []).map((issue) => showIssuePath(issue.path.slice(0, -1)));
  for (const issue of library) {
    const path = plainPath(issue.path);
    const shown = showIssuePath(path);
    const said =
      known.some((other) => covers(shown, other)) ||
      (around.includes(shown) && /unrecogni[sz]ed|unknown|unexpected|undeclared/i.test(issue.message));
    if (!said) all = addIssue(all, { path, message: withoutValue(issue.message, value, path) });
  }
  return all ?? addIssue(undefined, { path: [], message: "the value does not fit the schema" });
}

/** Whether one path is the other or leads to it. */
function covers(outer: string, inner: string): boolean {
  return outer === "(root)" || inner === outer || inner.startsWith(`${outer}.`) || inner.startsWith(`${outer}[`);
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

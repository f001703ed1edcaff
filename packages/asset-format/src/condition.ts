import { nearest } from "@toolhaft/core";
import { builtinConditions, type ConditionRegistry } from "./condition-registry.ts";
import { isRecord } from "./keys.ts";

/** A condition as data: what the engine evaluates, the graph prints and the validator checks. */
export type ConditionAst =
  | { kind: "call"; name: string; args: readonly string[] }
  | { kind: "all" | "any"; of: readonly ConditionAst[] }
  | { kind: "not"; of: ConditionAst };

/** Why a condition is none. */
export interface ConditionError {
  kind: "error";
  /** `unknown_condition` for a name nobody knows, `condition_syntax` for everything else. */
  rule: "condition_syntax" | "unknown_condition";
  message: string;
  expected: string;
  /** Keys and indexes from the root of the condition to the wrong part. */
  path: readonly (string | number)[];
  /** UTF-16 offset inside that part, when it is text. */
  offset: number;
  /** Known names like an unknown one. */
  near: readonly string[];
}

type Path = readonly (string | number)[];

/**
 * Parses a condition: the one parser of the engine, the graph and the validator.
 *
 * @param registry the names that are known; hosts add theirs
 */
export function parseCondition(
  source: unknown,
  registry: ConditionRegistry = builtinConditions,
): ConditionAst | ConditionError {
  return parsePart(source, [], registry, 0);
}

export function isConditionError(value: ConditionAst | ConditionError): value is ConditionError {
  return value.kind === "error";
}

const deepest = 20;

function parsePart(
  source: unknown,
  path: Path,
  registry: ConditionRegistry,
  depth: number,
): ConditionAst | ConditionError {
  if (depth > deepest) return fault(path, 0, `nested deeper than ${deepest} levels`, "a flatter condition");
  if (typeof source === "string") return parseText(source, path, registry);
  if (!isRecord(source)) return fault(path, 0, "a condition is text or a map", "name(arguments), or all, any or not");
  const keys = Object.keys(source);
  const [key] = keys;
  if (keys.length !== 1 || (key !== "all" && key !== "any" && key !== "not")) {
    return fault(
      path,
      0,
      `a map with the keys ${keys.join(", ") || "(none)"} is no condition`,
      "exactly one of all, any, not",
    );
  }
  if (key === "not") {
    const inner = parsePart(source.not, [...path, "not"], registry, depth + 1);
    return inner.kind === "error" ? inner : { kind: "not", of: inner };
  }
  const list = source[key];
  if (!Array.isArray(list)) return fault([...path, key], 0, `${key} needs a list`, "a list of conditions");
  if (list.length === 0) return fault([...path, key], 0, `${key} is an empty list`, "at least one condition");
  const of: ConditionAst[] = [];
  for (const [index, part] of list.entries()) {
    const inner = parsePart(part, [...path, key, index], registry, depth + 1);
    if (inner.kind === "error") return inner;
    of.push(inner);
  }
  return { kind: key, of };
}

const namePattern = /[A-Za-z_][A-Za-z0-9_.-]*/y;
const wordPattern = /[^,()"\s]+/y;

function parseText(source: string, path: Path, registry: ConditionRegistry): ConditionAst | ConditionError {
  let at = skipBlanks(source, 0);
  const name = match(namePattern, source, at);
  if (name === undefined)
    return fault(
      path,
      at,
      at >= source.length ? "the condition is empty" : `"${source.slice(at, at + 20)}" is no name`,
      "the name of a condition",
    );
  const nameAt = at;
  at = skipBlanks(source, at + name.length);
  const args: string[] = [];
  const argumentsAt: number[] = [];
  if (source[at] === "(") {
    at = skipBlanks(source, at + 1);
    if (source[at] === ")") at++;
    else {
      for (;;) {
        argumentsAt.push(at);
        const arg = parseArgument(source, at, path);
        if (typeof arg === "object" && "kind" in arg) return arg;
        args.push(arg.text);
        at = skipBlanks(source, arg.end);
        if (source[at] === ",") {
          at = skipBlanks(source, at + 1);
          continue;
        }
        if (source[at] !== ")")
          return fault(
            path,
            at,
            at >= source.length ? "the bracket is never closed" : `unexpected "${source[at]}"`,
            '"," or ")"',
          );
        at++;
        break;
      }
    }
    at = skipBlanks(source, at);
  }
  if (at < source.length)
    return fault(path, at, `unexpected "${source.slice(at, at + 20)}" after the condition`, "the end");
  return checkCall({ kind: "call", name, args }, path, { name: nameAt, args: argumentsAt }, registry);
}

function checkCall(
  call: ConditionAst & { kind: "call" },
  path: Path,
  at: { name: number; args: readonly number[] },
  registry: ConditionRegistry,
): ConditionAst | ConditionError {
  const known = Object.hasOwn(registry, call.name) ? registry[call.name] : undefined;
  if (!known) {
    const near = nearest(call.name, Object.keys(registry));
    return {
      kind: "error",
      rule: "unknown_condition",
      message: `unknown condition "${call.name}"`,
      expected: near.length > 0 ? near.join(" or ") : Object.keys(registry).join(", "),
      path,
      offset: at.name,
      near,
    };
  }
  if (call.args.length !== known.args.length) {
    const wanted = known.args.length === 0 ? "no argument" : `${known.name}(${known.args.join(", ")})`;
    return fault(path, at.args[known.args.length] ?? at.name, `${call.name} has ${call.args.length} arguments`, wanted);
  }
  const problem = known.check?.(call.args);
  return problem === undefined
    ? call
    : fault(path, at.args[0] ?? at.name, `${call.name}: ${problem.message}`, problem.expected);
}

function parseArgument(source: string, at: number, path: Path): { text: string; end: number } | ConditionError {
  if (source[at] !== '"') {
    const word = match(wordPattern, source, at);
    if (word !== undefined) return { text: word, end: at + word.length };
    return fault(
      path,
      at,
      at >= source.length ? "the argument is missing" : `unexpected "${source[at]}"`,
      "a word, or text in quotes",
    );
  }
  let text = "";
  for (let i = at + 1; i < source.length; i++) {
    const sign = source[i] ?? "";
    if (sign === '"') return { text, end: i + 1 };
    if (sign !== "\\") text += sign;
    else if (source[i + 1] === '"' || source[i + 1] === "\\") text += source[++i];
    else return fault(path, i, "a lone \\ in quotes", '\\" or \\\\');
  }
  return fault(path, at, "the quote is never closed", 'a closing "');
}

function match(pattern: RegExp, source: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(source)?.[0];
}

function skipBlanks(source: string, at: number): number {
  while (at < source.length && /\s/.test(source[at] ?? "")) at++;
  return at;
}

function fault(path: Path, offset: number, message: string, expected: string): ConditionError {
  return { kind: "error", rule: "condition_syntax", message, expected, path, offset, near: [] };
}

/** The inverse of {@link parseCondition}: text for a call, a map for the rest. */
export function printCondition(ast: ConditionAst): unknown {
  if (ast.kind === "call") return printCall(ast);
  if (ast.kind === "not") return { not: printCondition(ast.of) };
  return { [ast.kind]: ast.of.map(printCondition) };
}

/** One line for people: `all(user_approval, not(gate))`. */
export function showCondition(ast: ConditionAst): string {
  if (ast.kind === "call") return printCall(ast);
  if (ast.kind === "not") return `not(${showCondition(ast.of)})`;
  return `${ast.kind}(${ast.of.map(showCondition).join(", ")})`;
}

function printCall({ name, args }: ConditionAst & { kind: "call" }): string {
  if (args.length === 0) return name;
  const printed = args.map((arg) => (/^[^,()"\s]+$/.test(arg) ? arg : `"${arg.replace(/["\\]/g, "\\$&")}"`));
  return `${name}(${printed.join(", ")})`;
}

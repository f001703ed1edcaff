import { type ConditionAst, type ConditionError, isConditionError, parseCondition } from "./condition.ts";
import { builtinConditions, type ConditionRegistry } from "./condition-registry.ts";
import { type FrontmatterDocument, parseFrontmatter } from "./frontmatter.ts";
import { isRecord, type KeyReader, readKeys, shown } from "./keys.ts";
import type { Parsed } from "./problem.ts";

/** A condition as written, and what the parser made of it; one with an error never holds. */
export interface FunctionCondition {
  source: unknown;
  ast?: ConditionAst;
  error?: ConditionError;
}

export interface FunctionParam {
  name: string;
  description?: string;
  default?: string;
  required: boolean;
}

export interface FunctionTransition {
  when: FunctionCondition;
  activate: string[];
  deactivate: string[];
}

export interface FunctionObserver {
  on: "activate" | "message" | "tool_after" | "signal";
  tool?: string;
  when?: FunctionCondition;
  whenOutput?: { contains?: string; notContains?: string };
  setEvidence?: string;
  captureArtifact?: string;
  capturePayloadAs?: string;
  inject?: string;
}

/** A function: a named piece of work with a gate, what it needs and what it leads to. */
export interface FunctionSpec {
  name: string;
  description: string;
  params: FunctionParam[];
  /** `phase`: a label, not a state. */
  label?: string;
  priority: number;
  requires: string[];
  produces: string[];
  consumes: string[];
  gate?: FunctionCondition;
  transitions: FunctionTransition[];
  continueUntil?: FunctionCondition;
  continueMax: number;
  requiresEvidence: string[];
  observe: FunctionObserver[];
  stateSchemaVersion: number;
  /** Shown and never executed. */
  handlers?: unknown;
  body: string;
}

export type ParsedFunction = Parsed<FunctionSpec> & { document: FrontmatterDocument };

/** Every key a function may have. */
export const functionKeys: readonly string[] = [
  "name",
  "description",
  "params",
  "phase",
  "priority",
  "requires",
  "produces",
  "consumes",
  "gate",
  "transitions",
  "continue_until",
  "continue_max",
  "requires_evidence",
  "observe",
  "state_schema_version",
  "handlers",
];
const transitionKeys = ["when", "activate", "deactivate"];
const observerKeys = [
  "on",
  "tool",
  "when",
  "when_output",
  "set_evidence",
  "capture_artifact",
  "capture_payload_as",
  "inject",
];
const observed = ["activate", "message", "tool_after", "signal"] as const;

type Path = readonly (string | number)[];

/**
 * Reads a function file.
 *
 * @param fileName its name gives the function's when `name` is absent; `.md` is dropped
 */
export function parseFunction(
  text: string,
  fileName: string,
  registry: ConditionRegistry = builtinConditions,
): ParsedFunction {
  const document = parseFrontmatter(text);
  const keys = readKeys(document);
  if (document.problems.length > 0) return { problems: keys.problems, document };
  const name = fileName.replace(/^.*[\\/]/, "").replace(/\.md$/i, "");
  const value = readFunction(keys, document, [], name, text.slice(document.bodyStart), registry);
  return { value, problems: keys.problems, document };
}

/** Reads a function at a path of a document; `role.yaml` holds such inline. */
export function readFunction(
  keys: KeyReader,
  document: FrontmatterDocument,
  base: Path,
  otherwise: string,
  body: string,
  registry: ConditionRegistry,
): FunctionSpec {
  const at = (...path: Path): Path => [...base, ...path];
  const name = keys.text(at("name")) ?? otherwise;
  if (!/^[a-z][a-z0-9-]*$/.test(name))
    keys.problem(
      "name_format",
      at("name"),
      `"${name}" is no name of a function`,
      "use a-z first, then a-z, 0-9 and hyphens",
    );
  const condition = (path: Path): FunctionCondition | undefined => readCondition(keys, document, path, registry);
  const gate = condition(at("gate"));
  const continueUntil = condition(at("continue_until"));
  const label = keys.text(at("phase"));
  const handlers = keys.value(at("handlers"));
  if (handlers !== undefined)
    keys.problem(
      "handlers_ignored",
      at("handlers"),
      "handlers are shown and never executed",
      "move what they do into the body or into a tool",
      "warning",
    );
  keys.refuseOthers(base.length === 0 ? functionKeys : [...functionKeys, "body", "prompt"], base);
  return {
    name,
    description: keys.text(at("description"))?.trim() ?? "",
    params: readParams(keys, at("params")),
    ...(label !== undefined && { label }),
    priority: keys.integer(at("priority"), 50, Number.MIN_SAFE_INTEGER),
    requires: keys.texts(at("requires")),
    produces: readNames(keys, at("produces")),
    consumes: readNames(keys, at("consumes")),
    ...(gate && { gate }),
    transitions: records(keys, at("transitions")).map((path) => readTransition(keys, path, condition)),
    ...(continueUntil && { continueUntil }),
    continueMax: keys.integer(at("continue_max"), 5, 0),
    requiresEvidence: keys.texts(at("requires_evidence")),
    observe: records(keys, at("observe")).flatMap((path) => readObserver(keys, path, condition)),
    stateSchemaVersion: keys.integer(at("state_schema_version"), 1, 0),
    ...(handlers !== undefined && { handlers }),
    body,
  };
}

/** Names of artifacts may hold blanks, so only a list is taken apart. */
function readNames(keys: KeyReader, path: Path): string[] {
  if (Array.isArray(keys.value(path))) return keys.texts(path);
  const one = keys.text(path);
  return one === undefined || one.trim() === "" ? [] : [one];
}

function readCondition(
  keys: KeyReader,
  document: FrontmatterDocument,
  path: Path,
  registry: ConditionRegistry,
): FunctionCondition | undefined {
  const source = keys.value(path);
  if (source === undefined) return undefined;
  const ast = parseCondition(source, registry);
  if (!isConditionError(ast)) return { source, ast };
  const where = [...path, ...ast.path];
  const span = document.span(where);
  const start = span && span.start + (/["']/.test(document.text[span.start] ?? "") ? 1 : 0);
  keys.problems.push({
    rule: ast.rule,
    severity: "error",
    message: `${shown(where)}: ${ast.message}`,
    hint:
      ast.rule === "unknown_condition"
        ? ast.near.length > 0
          ? `did you mean ${ast.near.join(" or ")}?`
          : `known: ${ast.expected}`
        : `expected ${ast.expected}`,
    path: where,
    ...(start === undefined ? document.locate(where) : document.positionOf(start + ast.offset)),
  });
  return { source, error: ast };
}

function records(keys: KeyReader, path: Path): Path[] {
  const value = keys.value(path);
  if (value === undefined || value === null) return [];
  const list = Array.isArray(value) ? value : undefined;
  if (!list) {
    keys.problem("yaml_invalid", path, `${shown(path)} must be a list`, "begin each entry with -");
    return [];
  }
  return list.flatMap((one, index) => {
    if (isRecord(one)) return [[...path, index]];
    keys.problem(
      "yaml_invalid",
      [...path, index],
      `${shown([...path, index])} must be a map`,
      "write it as key: value lines",
    );
    return [];
  });
}

function readTransition(
  keys: KeyReader,
  path: Path,
  condition: (path: Path) => FunctionCondition | undefined,
): FunctionTransition {
  keys.refuseOthers(transitionKeys, path);
  const when = condition([...path, "when"]);
  if (!when) keys.problem("condition_syntax", path, `${shown(path)} has no when`, "say when it fires");
  return {
    when: when ?? { source: undefined, error: absent },
    activate: keys.texts([...path, "activate"]),
    deactivate: keys.texts([...path, "deactivate"]),
  };
}

const absent: ConditionError = {
  kind: "error",
  rule: "condition_syntax",
  message: "there is no condition",
  expected: "a condition",
  path: [],
  offset: 0,
  near: [],
};

function readObserver(
  keys: KeyReader,
  path: Path,
  condition: (path: Path) => FunctionCondition | undefined,
): FunctionObserver[] {
  keys.refuseOthers(observerKeys, path);
  const name = keys.text([...path, "on"]);
  const on = observed.find((one) => one === name);
  if (!on) {
    keys.problem(
      "yaml_invalid",
      [...path, "on"],
      `${shown([...path, "on"])} is "${name ?? ""}"`,
      `one of ${observed.join(", ")}`,
    );
    return [];
  }
  const text = (key: string): string | undefined => keys.text([...path, key]);
  const when = condition([...path, "when"]);
  const contains = keys.text([...path, "when_output", "contains"]);
  const notContains = keys.text([...path, "when_output", "not_contains"]);
  const [tool, setEvidence, captureArtifact, capturePayloadAs, inject] = [
    text("tool"),
    text("set_evidence"),
    text("capture_artifact"),
    text("capture_payload_as"),
    text("inject"),
  ];
  return [
    {
      on,
      ...(tool !== undefined && { tool }),
      ...(when && { when }),
      ...((contains !== undefined || notContains !== undefined) && {
        whenOutput: { ...(contains !== undefined && { contains }), ...(notContains !== undefined && { notContains }) },
      }),
      ...(setEvidence !== undefined && { setEvidence }),
      ...(captureArtifact !== undefined && { captureArtifact }),
      ...(capturePayloadAs !== undefined && { capturePayloadAs }),
      ...(inject !== undefined && { inject }),
    },
  ];
}

/** A list of names, a list of maps with `name`, or a map from name to default or to a map. */
function readParams(keys: KeyReader, path: Path): FunctionParam[] {
  const value = keys.value(path);
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) {
    return value.flatMap((one, index) => {
      const at = [...path, index];
      const name = isRecord(one) ? keys.text([...at, "name"]) : keys.text(at);
      if (name === undefined) return [];
      return [isRecord(one) ? paramOf(keys, at, name) : { name, required: false }];
    });
  }
  if (!isRecord(value)) return keys.texts(path).map((name) => ({ name, required: false }));
  return Object.entries(value).map(([name, one]) => {
    if (isRecord(one)) return paramOf(keys, [...path, name], name);
    const otherwise = one === null ? undefined : keys.text([...path, name]);
    return { name, ...(otherwise !== undefined && { default: otherwise }), required: false };
  });
}

function paramOf(keys: KeyReader, path: Path, name: string): FunctionParam {
  const description = keys.text([...path, "description"]);
  const otherwise = keys.text([...path, "default"]);
  return {
    name,
    ...(description !== undefined && { description }),
    ...(otherwise !== undefined && { default: otherwise }),
    required: keys.value([...path, "required"]) === true,
  };
}

import { builtinConditions, type ConditionRegistry } from "./condition-registry.ts";
import { type FrontmatterDocument, parseYamlFile } from "./frontmatter.ts";
import { type FunctionSpec, readFunction } from "./function.ts";
import { isRecord, type KeyReader, readKeys } from "./keys.ts";
import type { Parsed } from "./problem.ts";
import { readRules } from "./skill.ts";
import type { ToolClasses, ToolRule } from "./tool-rules.ts";

/** A declared reference: a file below the role, or text written into `role.yaml`. */
export interface RoleReference {
  name: string;
  description: string;
  path?: string;
  text?: string;
}

/** A role: who works, with what, and what it may do. */
export interface RoleSpec {
  /** `parent/child`. */
  id: string;
  name: string;
  description: string;
  prompt?: string;
  promptFile?: string;
  skills: string[];
  /** Names of functions this role uses; inline ones stand in `inlineFunctions`. */
  functions: string[];
  inlineFunctions: FunctionSpec[];
  disableFunctions: string[];
  autoActivate: string[];
  references: RoleReference[];
  subagents: RoleSpec[];
  permission: { allow: ToolRule[]; deny: ToolRule[]; ask: ToolRule[] };
  tools: Readonly<Record<string, boolean>>;
}

export type ParsedRole = Parsed<RoleSpec> & { document: FrontmatterDocument };

/** Every key a role may have. */
export const roleKeys: readonly string[] = [
  "name",
  "description",
  "prompt",
  "prompt_file",
  "skills",
  "functions",
  "disable_functions",
  "auto_activate",
  "references",
  "subagents",
  "permission",
  "tools",
];
/** Levels of roles below a role. */
export const deepestRole = 3;

type Path = readonly (string | number)[];

/**
 * Reads a `role.yaml`. `{env:NAME}` in it is plain text.
 *
 * @param id the folder's name; below another role `parent/child`
 */
export function parseRole(
  text: string,
  id: string,
  options: { conditions?: ConditionRegistry; classes?: ToolClasses } = {},
): ParsedRole {
  const document = parseYamlFile(text);
  const keys = readKeys(document);
  if (document.problems.length > 0) return { problems: keys.problems, document };
  const value = readRole(keys, document, [], id, options);
  return { value, problems: keys.problems, document };
}

function readRole(
  keys: KeyReader,
  document: FrontmatterDocument,
  base: Path,
  id: string,
  options: { conditions?: ConditionRegistry; classes?: ToolClasses },
): RoleSpec {
  const at = (...path: Path): Path => [...base, ...path];
  keys.refuseOthers(base.length === 0 ? roleKeys : [...roleKeys, "id"], base);
  const prompt = keys.text(at("prompt"));
  const promptFile = keys.text(at("prompt_file"));
  if ((prompt ?? "").trim() === "" && promptFile === undefined)
    keys.problem(
      "prompt_missing",
      at("prompt"),
      `role ${id} has neither prompt nor prompt_file`,
      "write prompt: or name a file in prompt_file:",
    );
  const permission = at("permission");
  keys.refuseOthers(["allow", "deny", "ask"], permission);
  const rules = (key: string): ToolRule[] => readRules(keys, key, options.classes, permission) ?? [];
  return {
    id,
    name: keys.text(at("name")) ?? id.slice(id.lastIndexOf("/") + 1),
    description: keys.text(at("description"))?.trim() ?? "",
    ...(prompt !== undefined && { prompt }),
    ...(promptFile !== undefined && { promptFile }),
    skills: namesOf(keys, at("skills")),
    functions: namesOf(keys, at("functions")),
    inlineFunctions: inlineFunctions(keys, document, at("functions"), options.conditions ?? builtinConditions),
    disableFunctions: keys.texts(at("disable_functions")),
    autoActivate: keys.texts(at("auto_activate")),
    references: readReferences(keys, at("references")),
    subagents: readSubagents(keys, document, at("subagents"), id, options),
    permission: { allow: rules("allow"), deny: rules("deny"), ask: rules("ask") },
    tools: readTools(keys, at("tools")),
  };
}

/** The plain names of a list whose other entries are maps. */
function namesOf(keys: KeyReader, path: Path): string[] {
  const value = keys.value(path);
  if (!Array.isArray(value)) return isRecord(value) ? [] : keys.texts(path);
  return value.flatMap((one, index) => {
    if (isRecord(one)) return [];
    const text = keys.text([...path, index]);
    return text === undefined ? [] : [text];
  });
}

/** Entries that are maps: a list of them with `name`, or a map by name. */
function entriesOf(keys: KeyReader, path: Path): { name: string; path: Path; value: unknown }[] {
  const value = keys.value(path);
  if (Array.isArray(value)) {
    return value.flatMap((one, index) => {
      if (!isRecord(one)) return [];
      const name = keys.text([...path, index, "name"]) ?? keys.text([...path, index, "id"]);
      return [{ name: name ?? `entry-${index + 1}`, path: [...path, index], value: one }];
    });
  }
  if (!isRecord(value)) return [];
  return Object.entries(value).map(([name, one]) => ({ name, path: [...path, name], value: one }));
}

function inlineFunctions(
  keys: KeyReader,
  document: FrontmatterDocument,
  path: Path,
  registry: ConditionRegistry,
): FunctionSpec[] {
  return entriesOf(keys, path).flatMap(({ name, path: at, value }) => {
    if (!isRecord(value)) return [];
    const body = keys.text([...at, "body"]) ?? keys.text([...at, "prompt"]) ?? "";
    return [readFunction(keys, document, at, name, body, registry)];
  });
}

function readReferences(keys: KeyReader, path: Path): RoleReference[] {
  const value = keys.value(path);
  if (Array.isArray(value)) {
    return value.flatMap((one, index) => {
      const at = [...path, index];
      if (isRecord(one))
        return referenceOf(keys, at, keys.text([...at, "name"]) ?? keys.text([...at, "path"]) ?? `entry-${index + 1}`);
      const text = keys.text(at);
      return text === undefined
        ? []
        : [{ name: text.replace(/^references\//, "").replace(/\.md$/i, ""), description: "", path: text }];
    });
  }
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([name, one]) => {
    if (isRecord(one)) return referenceOf(keys, [...path, name], name);
    const text = keys.text([...path, name]);
    return text === undefined ? [] : [{ name, description: "", path: text }];
  });
}

function referenceOf(keys: KeyReader, at: Path, name: string): RoleReference[] {
  const path = keys.text([...at, "path"]) ?? keys.text([...at, "file"]);
  const text = keys.text([...at, "text"]) ?? keys.text([...at, "content"]);
  if (path === undefined && text === undefined) {
    keys.problem("yaml_invalid", at, `reference ${name} has neither path nor text`, "name a file in path:");
    return [];
  }
  return [
    {
      name,
      description: keys.text([...at, "description"]) ?? "",
      ...(path !== undefined && { path }),
      ...(path === undefined && text !== undefined && { text }),
    },
  ];
}

function readSubagents(
  keys: KeyReader,
  document: FrontmatterDocument,
  path: Path,
  parent: string,
  options: { conditions?: ConditionRegistry; classes?: ToolClasses },
): RoleSpec[] {
  const entries = entriesOf(keys, path).filter(({ value }) => isRecord(value));
  if (entries.length > 0 && parent.split("/").length > deepestRole) {
    keys.problem(
      "yaml_invalid",
      path,
      `${parent} is ${deepestRole} levels deep and can have no sub-roles`,
      "make it flatter",
    );
    return [];
  }
  return entries.map(({ name, path: at }) => readRole(keys, document, at, `${parent}/${name}`, options));
}

function readTools(keys: KeyReader, path: Path): Record<string, boolean> {
  const value = keys.value(path);
  if (!isRecord(value)) return {};
  const tools: Record<string, boolean> = {};
  for (const [name, on] of Object.entries(value)) {
    if (typeof on === "boolean") tools[name] = on;
    else
      keys.problem("tool_rule_syntax", [...path, name], `tools.${name} must be true or false`, "write true or false");
  }
  return tools;
}

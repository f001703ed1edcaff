import { basename } from "node:path";
import {
  type ConditionAst,
  type ConditionError,
  type FrontmatterDocument,
  type FunctionCondition,
  type FunctionSpec,
  type Problem,
  parseFrontmatter,
  parseFunction,
  parseRole,
  parseSkill,
  type RoleSpec,
  type SkillSpec,
  showCondition,
  type ToolClasses,
} from "@toolhaft/asset-format";
import type { Asset } from "./model.ts";

/** What a file of an asset parses to. */
export type ParsedAsset = { problems: readonly Problem[]; document?: FrontmatterDocument; body: string } & (
  | { type: "skill"; value?: SkillSpec }
  | { type: "function"; value?: FunctionSpec }
  | { type: "role"; value?: RoleSpec }
  | { type: "reference"; value?: { description: string } }
);

/** Reads the text of an asset's defining file; of an entry inside a role its part. */
export function parseAsset(asset: Asset, text: string, classes?: ToolClasses): ParsedAsset {
  const fragment = fragmentOf(asset);
  if (fragment !== undefined) return parseEntry(asset, fragment, text, classes);
  switch (asset.type) {
    case "skill": {
      const { value, problems, document } = parseSkill(text, folderOf(asset), classes);
      return { type: "skill", ...(value && { value }), problems, document, body: value?.body ?? text };
    }
    case "function": {
      const { value, problems, document } = parseFunction(text, basename(asset.path));
      return { type: "function", ...(value && { value }), problems, document, body: value?.body ?? text };
    }
    case "role": {
      const { value, problems, document } = parseRole(text, asset.name, classes ? { classes } : {});
      return { type: "role", ...(value && { value }), problems, document, body: value?.prompt ?? (value ? "" : text) };
    }
    case "reference": {
      const head = /^\ufeff?---\r?\n/.test(text) ? parseFrontmatter(text) : undefined;
      return {
        type: "reference",
        value: { description: asset.description },
        problems: [],
        ...(head?.document && { document: head }),
        body: text,
      };
    }
  }
}

/** What stands behind `#` in an id. */
export function fragmentOf(asset: Asset): string | undefined {
  const prefix = `${asset.type}:${asset.path}#`;
  return asset.id.startsWith(prefix) ? asset.id.slice(prefix.length) : undefined;
}

/** The folder that names a skill. */
export function folderOf(asset: Asset): string {
  const parts = asset.path.split("/");
  return parts.at(-2) ?? asset.name;
}

function parseEntry(asset: Asset, fragment: string, text: string, classes: ToolClasses | undefined): ParsedAsset {
  const depth = fragment.split("/").length;
  const owner = asset.type === "role" ? asset.name : (asset.role ?? "");
  const levels = asset.type === "role" ? depth : depth - 1;
  const rootId = owner
    .split("/")
    .slice(0, owner.split("/").length - levels)
    .join("/");
  const { value, problems, document } = parseRole(text, rootId, classes ? { classes } : {});
  const role = value && subRole(value, owner);
  if (asset.type === "role")
    return { type: "role", ...(role && { value: role }), problems, document, body: role?.prompt ?? "" };
  if (asset.type === "function") {
    const spec = role?.inlineFunctions.find(({ name }) => name === asset.name);
    return { type: "function", ...(spec && { value: spec }), problems, document, body: spec?.body ?? "" };
  }
  const reference = role?.references.find(({ name }) => name === asset.name);
  return {
    type: "reference",
    value: { description: asset.description },
    problems,
    document,
    body: reference?.text ?? "",
  };
}

export function subRole(role: RoleSpec, id: string): RoleSpec | undefined {
  if (role.id === id) return role;
  for (const sub of role.subagents) {
    const found = subRole(sub, id);
    if (found) return found;
  }
  return undefined;
}

/** A condition in one line, or what is wrong with it. */
export function conditionText(condition: FunctionCondition | undefined): string | undefined {
  if (!condition) return undefined;
  return condition.ast ? showCondition(condition.ast) : `${JSON.stringify(condition.source)} (${errorText(condition)})`;
}

function errorText({ error }: { ast?: ConditionAst; error?: ConditionError }): string {
  return error ? `${error.message}, expected ${error.expected}` : "no condition";
}

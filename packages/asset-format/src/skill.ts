import { type FrontmatterDocument, parseFrontmatter, scalarText } from "./frontmatter.ts";
import { isRecord, type KeyReader, readKeys } from "./keys.ts";
import type { Parsed } from "./problem.ts";
import { parseToolRules, type ToolClasses, type ToolRule } from "./tool-rules.ts";

/** A skill of the open Agent Skills format. */
export interface SkillSpec {
  name: string;
  description: string;
  license?: string;
  compatibility?: string;
  metadata: Readonly<Record<string, string>>;
  tags: string[];
  /** Absent when the skill says nothing; a pre-approval, not a fence. */
  allowedTools?: ToolRule[];
  disallowedTools?: ToolRule[];
  /** Keys of hosts, kept as they are. */
  host: Readonly<Record<string, unknown>>;
  body: string;
}

export type ParsedSkill = Parsed<SkillSpec> & { document: FrontmatterDocument };

const hostKeys = [
  "disable-model-invocation",
  "user-invocable",
  "argument-hint",
  "context",
  "agent",
  "model",
  "hooks",
  "paths",
  "version",
  "tags",
];
/** Every key a skill may have. */
export const skillKeys: readonly string[] = [
  "name",
  "description",
  "license",
  "compatibility",
  "metadata",
  "allowed-tools",
  "disallowed-tools",
  ...hostKeys,
];

/** Most code points of a description and of `compatibility`. */
export const skillLimits = { name: 64, description: 1_024, compatibility: 500 } as const;

/**
 * Reads a `SKILL.md`. A file that does not parse has no value and says why.
 *
 * @param folder name of the folder that holds it
 */
export function parseSkill(text: string, folder: string, classes?: ToolClasses): ParsedSkill {
  const document = parseFrontmatter(text);
  const keys = readKeys(document);
  if (document.problems.length > 0) return { problems: keys.problems, document };
  const name = checkName(keys, folder);
  const description = checkDescription(keys);
  const license = keys.text(["license"]);
  const compatibility = keys.text(["compatibility"]);
  const length = [...(compatibility ?? "")].length;
  if (length > skillLimits.compatibility)
    keys.problem(
      "compatibility_length",
      ["compatibility"],
      `compatibility has ${length} characters; the most is ${skillLimits.compatibility}`,
      "shorten it",
      "warning",
    );
  const metadata = readMetadata(keys, document);
  const rules = (key: string): ToolRule[] | undefined => readRules(keys, key, classes);
  const allowedTools = rules("allowed-tools");
  const disallowedTools = rules("disallowed-tools");
  keys.refuseOthers(skillKeys);
  const value: SkillSpec = {
    name: name ?? folder,
    description: description ?? "",
    ...(license !== undefined && { license }),
    ...(compatibility !== undefined && { compatibility }),
    metadata,
    tags: document.data.tags === undefined ? splitTags(metadata.tags) : keys.texts(["tags"]),
    ...(allowedTools && { allowedTools }),
    ...(disallowedTools && { disallowedTools }),
    host: Object.fromEntries(hostKeys.filter((key) => key in document.data).map((key) => [key, document.data[key]])),
    body: text.slice(document.bodyStart),
  };
  return { value, problems: keys.problems, document };
}

function splitTags(text: string | undefined): string[] {
  return (text ?? "").split(/[\s,]+/).filter((tag) => tag !== "");
}

/** Why a text is no name of a skill; undefined when it is one. */
export function skillNameFault(name: string): string | undefined {
  const length = [...name].length;
  if (length === 0) return "it is empty";
  if (length > skillLimits.name) return `it has ${length} characters; the most is ${skillLimits.name}`;
  if (name !== name.toLowerCase()) return "it has upper-case letters";
  if (!/^[\p{L}\p{M}\p{N}-]+$/u.test(name)) return "it may hold lower-case letters, digits and hyphens only";
  if (name.startsWith("-") || name.endsWith("-") || name.includes("--")) return "hyphens must be single and inside";
  return undefined;
}

function checkName(keys: KeyReader, folder: string): string | undefined {
  const name = keys.text(["name"])?.normalize("NFKC");
  if (name === undefined || name.trim() === "") {
    if (!keys.problems.some(({ path }) => path?.[0] === "name"))
      keys.problem("name_format", ["name"], "the name is missing", `write name: ${folder}`);
    return undefined;
  }
  const fault = skillNameFault(name);
  if (fault !== undefined)
    keys.problem(
      "name_format",
      ["name"],
      `"${name}" is no name of a skill: ${fault}`,
      "use lower-case letters and digits with single hyphens inside",
    );
  else if (!/^[\x00-\x7f]*$/.test(name))
    keys.problem(
      "name_not_portable",
      ["name"],
      `"${name}" is not ASCII; some clients refuse it`,
      "use a-z, 0-9 and hyphens",
      "warning",
    );
  if (name !== folder.normalize("NFKC"))
    keys.problem(
      "name_folder_mismatch",
      ["name"],
      `the name is "${name}" and the folder is "${folder}"`,
      `write name: ${folder}, or rename the folder`,
    );
  return name;
}

function checkDescription(keys: KeyReader): string | undefined {
  const description = keys.text(["description"])?.trim();
  if (description === undefined || description === "") {
    if (!keys.problems.some(({ path }) => path?.[0] === "description"))
      keys.problem(
        "description_missing",
        ["description"],
        "the description is missing",
        "say in one or two sentences what the skill does and when to use it",
      );
    return undefined;
  }
  const length = [...description].length;
  if (length > skillLimits.description)
    keys.problem(
      "description_length",
      ["description"],
      `the description has ${length} characters; the most is ${skillLimits.description}`,
      "shorten it and move the rest into the body",
    );
  return description;
}

function readMetadata(keys: KeyReader, document: FrontmatterDocument): Record<string, string> {
  const value = keys.value(["metadata"]);
  if (value === undefined || value === null) return {};
  if (!isRecord(value)) {
    keys.problem(
      "metadata_not_text",
      ["metadata"],
      "metadata must be a map of text to text",
      "write it as key: value lines",
      "warning",
    );
    return {};
  }
  const metadata: Record<string, string> = {};
  for (const [key, one] of Object.entries(value)) {
    const text = scalarText(document.document, ["metadata", key]);
    if (typeof one !== "string")
      keys.problem(
        "metadata_not_text",
        ["metadata", key],
        `metadata.${key} is not text`,
        text === undefined ? "write text" : `write "${text}" in quotes`,
        "warning",
      );
    metadata[key] = text ?? JSON.stringify(one) ?? "";
  }
  return metadata;
}

export function readRules(
  keys: KeyReader,
  key: string,
  classes?: ToolClasses,
  base: readonly (string | number)[] = [],
): ToolRule[] | undefined {
  const path = [...base, key];
  const value = keys.value(path);
  if (value === undefined || value === null) return undefined;
  const { rules, problems } = parseToolRules(value, classes);
  for (const { rule, message, hint, path: inner = [] } of problems)
    keys.problem(rule, [...path, ...inner], message, hint);
  return rules;
}

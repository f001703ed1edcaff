import type { Problem } from "./problem.ts";

/** What kind of thing a tool does; decides how `*` reads in its spec and what composing warns of. */
export type ToolClass = "read" | "edit" | "write" | "shell" | "network" | "other";
/** Tool names in lower case. */
export type ToolClasses = Readonly<Record<string, ToolClass>>;

const classNames: Readonly<Record<Exclude<ToolClass, "other">, string>> = {
  read: "read grep glob ls notebookread view list search hashline_read list_skill_files read_skill_file skill_read_file",
  edit: "edit multiedit notebookedit patch apply_patch edit_file hashline_edit str_replace",
  write: "write create delete move",
  shell: "bash shell sh zsh powershell terminal exec run_command execute",
  network: "webfetch websearch web_fetch web_search fetch http curl",
};

/** Classes of the tools that many hosts share. */
export const defaultToolClasses: ToolClasses = Object.freeze(
  Object.fromEntries(
    Object.entries(classNames).flatMap(([kind, names]) => names.split(" ").map((name) => [name, kind as ToolClass])),
  ),
);

/** One rule of a list: `Bash(git push:*)`. */
export interface ToolRule {
  /** As written. */
  readonly text: string;
  /** Lower case; may hold `*`. */
  readonly tool: string;
  /** Absent when every call is meant. */
  readonly spec?: string;
  readonly class: ToolClass;
}

const mostChars = 200;
const mostWildcards = 20;
const shape = /^([A-Za-z_*][A-Za-z0-9_.\-*]*)(?:\(([\s\S]*)\))?$/;

/** A list of rules: a YAML sequence, or text split at blanks and commas outside brackets. */
export function parseToolRules(
  value: unknown,
  classes: ToolClasses = defaultToolClasses,
): { rules: ToolRule[]; problems: Problem[] } {
  const rules: ToolRule[] = [];
  const problems: Problem[] = [];
  if (value === undefined || value === null) return { rules, problems };
  const parts = Array.isArray(value) ? value : typeof value === "string" ? splitRules(value) : [value];
  for (const [index, part] of parts.entries()) {
    const path = Array.isArray(value) ? [index] : [];
    const rule =
      typeof part === "string" ? parseToolRule(part.trim(), classes) : `a rule is text, not ${JSON.stringify(part)}`;
    if (typeof rule === "string")
      problems.push({
        rule: "tool_rule_syntax",
        severity: "error",
        message: rule,
        hint: "write Tool, Tool(spec) or mcp__server__tool",
        path,
      });
    else rules.push(rule);
  }
  return { rules, problems };
}

function parseToolRule(text: string, classes: ToolClasses): ToolRule | string {
  if (text.length > mostChars) return `a rule of ${text.length} characters; the most is ${mostChars}`;
  if (text.split("*").length - 1 > mostWildcards) return `a rule with more than ${mostWildcards} wildcards`;
  const match = shape.exec(text);
  if (!match?.[1] || text.includes("\0")) return `"${text}" is no tool rule`;
  const tool = match[1].toLowerCase();
  const spec = match[2];
  const every = spec === undefined || spec === "" || spec === "*" || spec === "**";
  return { text, tool, ...(!every && { spec }), class: classes[tool] ?? "other" };
}

/** Text cut at blanks and commas that stand outside brackets. */
function splitRules(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let part = "";
  for (const sign of text) {
    if (sign === "(") depth++;
    else if (sign === ")") depth = Math.max(0, depth - 1);
    if (depth === 0 && /[\s,]/.test(sign)) {
      if (part !== "") parts.push(part);
      part = "";
    } else part += sign;
  }
  if (part !== "") parts.push(part);
  return parts;
}

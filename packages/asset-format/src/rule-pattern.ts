import type { ToolRule } from "./tool-rules.ts";

/** Ends the name of a call and begins its spec; neither can hold it. */
export const separator = "\0";

/** A step of a pattern: one letter, any text, or any text without `/`. */
export type Step = string | { any: "text" | "segment" };

/** The calls that a rule matches, as alternatives of steps over `name \0 spec`. */
export function stepsOf(rule: ToolRule): Step[][] {
  const names = nameSteps(rule.tool);
  const specs = rule.spec === undefined ? [[anyText]] : specSteps(rule.spec, isPathClass(rule));
  return names.flatMap((name) => specs.map((spec) => [...name, separator, ...spec]));
}

const anyText: Step = { any: "text" };

function isPathClass(rule: ToolRule): boolean {
  return rule.class === "read" || rule.class === "edit" || rule.class === "write";
}

/** `mcp__server` means all tools of that server. */
function nameSteps(tool: string): Step[][] {
  const steps = glob(tool, false);
  return /^mcp__[^*]+$/.test(tool) && !tool.slice(5).includes("__") ? [steps, [...steps, "_", "_", anyText]] : [steps];
}

function specSteps(spec: string, path: boolean): Step[][] {
  const prefix = /^([\s\S]+):\*$/.exec(spec)?.[1];
  if (prefix === undefined) return [glob(path ? spec.replace(/^\.\//, "") : spec, path)];
  const steps = glob(prefix, path);
  return [steps, [...steps, " ", anyText]];
}

function glob(text: string, path: boolean): Step[] {
  const steps: Step[] = [];
  for (const part of text.match(/\*+|[^*]/gu) ?? []) {
    if (!part.startsWith("*")) steps.push(part);
    else steps.push(path && part.length === 1 ? { any: "segment" } : anyText);
  }
  return steps;
}

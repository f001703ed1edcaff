import { createPolicy, defaultPolicy, type Policy, type PolicyRule, parseRule } from "@toolhaft/core";
import { usageFault } from "./exit-codes.ts";

/** `--allow`, `--deny` and `--ask`, as they were typed. */
export interface RuleFlags {
  allow?: readonly string[] | undefined;
  deny?: readonly string[] | undefined;
  ask?: readonly string[] | undefined;
}

/** The rules of the flags; `ask` after `allow`, so that the stricter of two stands. */
export function rulesOf(flags: RuleFlags): PolicyRule[] {
  return (["allow", "ask", "deny"] as const).flatMap((effect) =>
    (flags[effect] ?? []).map((text) => readRule(effect, text)),
  );
}

/** The default policy of a folder with the user's rules above it. A `deny` of either wins. */
export function userPolicy(rules: readonly PolicyRule[], directory: string, roots: readonly string[]): Policy {
  const defaults = defaultPolicy(directory, roots);
  return rules.length === 0 ? defaults : layered(defaults, createPolicy({ rules, directory }));
}

function layered(below: Policy, above: Policy): Policy {
  const check: Policy["check"] = (query) => {
    const lower = below.check(query);
    if (lower.effect === "deny") return lower;
    const upper = above.check(query);
    return upper.rule === undefined ? lower : upper;
  };
  return {
    check,
    visible: (tool, agent) => below.visible(tool, agent) && above.visible(tool, agent),
    narrow: (child) => layered(below.narrow(child), above.narrow(child)),
  };
}

function readRule(effect: PolicyRule["effect"], text: string): PolicyRule {
  try {
    return parseRule(effect, text);
  } catch (error) {
    throw usageFault(`--${effect} ${JSON.stringify(text)}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

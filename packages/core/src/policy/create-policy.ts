import type { AnyTool } from "../tool.ts";
import { netPattern } from "./net.ts";
import { filePattern, type Matcher, oddness, type PatternOptions, plainForm, stringPattern } from "./pattern.ts";
import type { Patterns, Policy, PolicyRule, Verdict } from "./types.ts";

export interface PolicyInit {
  rules?: readonly PolicyRule[];
  /** What holds when no rule matches. @default "ask" */
  fallback?: "ask" | "allow" | "deny";
  /** Where relative file patterns start. @default the working directory, where there is one */
  directory?: string;
}

/**
 * A policy from rules. Any matching `deny` wins wherever it stands; among `allow` and `ask` the last one that matches;
 * else the fallback. Without a permission it answers for the tool as a whole: only rules without a permission and
 * resources count there, and a fallback of `ask` lets the tool be called, for its effects are asked one by one.
 *
 * @throws TypeError for an empty pattern list or a rule with an unknown effect.
 */
export function createPolicy(init: PolicyInit = {}): Policy {
  const directory = init.directory ?? workingDirectory();
  const rules = (init.rules ?? []).map((rule): PlacedRule => ({ rule, directory }));
  return policyOf(rules, init.fallback ?? "ask");
}

/** A rule and where its relative patterns start. */
export interface PlacedRule {
  rule: PolicyRule;
  directory: string | undefined;
  /** In place of the rule's own `resources`. */
  resources?: Matcher;
}

type Query = Parameters<Policy["check"]>[0];

interface CompiledRule {
  rule: PolicyRule;
  tools: Matcher | undefined;
  agents: Matcher | undefined;
  permission: Matcher | undefined;
  /** By class of permission, compiled on first use. */
  resources: ((permission: string) => Matcher) | undefined;
  /** Bare `*` or no resources at all. */
  any: boolean;
  exact: ReadonlySet<string>;
}

const stable: unique symbol = Symbol.for("toolhaft.stable-policy.v1");
type StablePolicy = Policy & { readonly [stable]: boolean };

/** Whether a policy answers the same question the same way each time: those made here do. */
export function isStable(policy: Policy): boolean {
  return (policy as Partial<StablePolicy>)[stable] === true;
}

/** How many tools, and agents of a tool, a policy keeps its answers for. */
const maxKnown = 1_000;

export function policyOf(placed: readonly PlacedRule[], fallback: "ask" | "allow" | "deny"): Policy {
  if (!["ask", "allow", "deny"].includes(fallback))
    throw new TypeError(`policy: the fallback "${fallback}" is none of ask, allow, deny`);
  const compiled = placed.map(compile);
  const denials = compiled.filter(({ rule }) => rule.effect === "deny");
  const others = compiled.filter(({ rule }) => rule.effect !== "deny").reverse();

  // Asked before every call; the answer depends on nothing but tool and agent.
  const known = new Map<string, Map<string, Verdict>>();
  const checkTool = (query: Query): Verdict => {
    let byAgent = known.get(query.tool);
    if (byAgent === undefined) {
      if (known.size >= maxKnown) known.clear();
      byAgent = new Map();
      known.set(query.tool, byAgent);
    }
    let found = byAgent.get(query.agent);
    if (found === undefined) {
      if (byAgent.size >= maxKnown) byAgent.clear();
      found = judgeTool(query);
      byAgent.set(query.agent, found);
    }
    return found;
  };

  const check = (query: Query): Verdict => {
    const { permission, resource } = query;
    if (permission === undefined) return checkTool(query);
    const odd = resource === undefined ? undefined : oddness(resource);
    const plain = odd === undefined || resource === undefined ? undefined : plainForm(resource);
    for (const candidate of denials) {
      if (!covers(candidate, query, permission)) continue;
      if (
        matchesResource(candidate, permission, resource, undefined) ||
        (plain !== undefined && matchesResource(candidate, permission, plain, undefined))
      ) {
        return verdict(candidate.rule);
      }
    }
    let passedBy = false;
    for (const candidate of others) {
      if (!covers(candidate, query, permission)) continue;
      const strict = candidate.rule.effect === "allow" ? odd : undefined;
      if (matchesResource(candidate, permission, resource, strict)) return verdict(candidate.rule);
      if (strict !== undefined && matchesResource(candidate, permission, resource, undefined)) passedBy = true;
    }
    const reason = passedBy
      ? `no wildcard allows ${resource}: ${odd}`
      : `no rule matches ${permission}${resource === undefined ? "" : ` ${resource}`}`;
    return { effect: fallback, reason };
  };

  const judgeTool = (query: Query): Verdict => {
    const whole = (candidate: CompiledRule): boolean =>
      candidate.rule.permission === undefined && candidate.rule.resources === undefined && coversTool(candidate, query);
    const denial = denials.find(whole);
    if (denial !== undefined) return verdict(denial.rule);
    const other = others.find(whole);
    if (other !== undefined) return verdict(other.rule);
    // A rule for some effects of tools it names lets those tools be called; one that names no tool speaks of effects only.
    const partly = others.find(
      ({ rule, tools }) =>
        rule.effect !== "deny" &&
        tools !== undefined &&
        rule.tools !== undefined &&
        coversTool({ tools, agents: compiledAgents(rule) }, query),
    );
    if (fallback !== "deny") return { effect: "allow", reason: "no rule speaks of the tool" };
    return partly === undefined
      ? { effect: "deny", reason: `no rule allows the tool ${query.tool}` }
      : { effect: "allow", rule: partly.rule, reason: describe(partly.rule) };
  };

  const policy: StablePolicy = {
    [stable]: true,
    check,
    visible: (tool: AnyTool, agent: string) => checkTool({ tool: tool.name, agent }).effect !== "deny",
    narrow: (child: Policy) => narrowed(policy, child),
  };
  return Object.freeze(policy);
}

function compiledAgents(rule: PolicyRule): Matcher | undefined {
  return rule.agents === undefined ? undefined : anyOf(rule.agents, (pattern) => stringPattern(pattern));
}

const strictness = { allow: 0, ask: 1, deny: 2 } as const;

function narrowed(parent: Policy, child: Policy): Policy {
  const policy: StablePolicy = {
    [stable]: isStable(parent) && isStable(child),
    check: (query) => {
      const mine = parent.check(query);
      const theirs = child.check(query);
      const stricter = strictness[theirs.effect] - strictness[mine.effect];
      // Of two equal answers the one that names its rule.
      return stricter > 0 || (stricter === 0 && mine.rule === undefined) ? theirs : mine;
    },
    visible: (tool, agent) => parent.visible(tool, agent) && child.visible(tool, agent),
    narrow: (grandchild) => narrowed(policy, grandchild),
  };
  return Object.freeze(policy);
}

function compile({ rule, directory, resources }: PlacedRule): CompiledRule {
  if (!(rule.effect in strictness))
    throw new TypeError(`policy: the effect "${rule.effect}" is none of allow, ask, deny`);
  const ignoreCase = rule.effect !== "allow" && caseBlind();
  const plain = (pattern: string): Matcher => stringPattern(pattern);
  const patterns = rule.resources === undefined ? [] : listOf(rule.resources, "resources");
  return {
    rule,
    tools: rule.tools === undefined ? undefined : anyOf(rule.tools, plain, "tools"),
    agents: rule.agents === undefined ? undefined : anyOf(rule.agents, plain, "agents"),
    permission: rule.permission === undefined ? undefined : anyOf(rule.permission, plain, "permission"),
    resources:
      resources !== undefined
        ? () => resources
        : patterns.length === 0
          ? undefined
          : byClass(patterns, { directory, ignoreCase }),
    any: resources === undefined && (patterns.length === 0 || patterns.includes("*")),
    exact: new Set(patterns),
  };
}

/** The matcher of a pattern list for each of the three classes of permission. */
function byClass(patterns: readonly string[], options: PatternOptions): (permission: string) => Matcher {
  const made = new Map<"file" | "net" | "other", Matcher>();
  return (permission) => {
    const kind = permission.startsWith("file.") ? "file" : permission.startsWith("net.") ? "net" : "other";
    let matcher = made.get(kind);
    if (matcher === undefined) {
      const one = (pattern: string): Matcher =>
        kind === "file"
          ? filePattern(pattern, options)
          : kind === "net"
            ? netPattern(pattern)
            : stringPattern(pattern, { ignoreCase: options.ignoreCase && /[/\\]/.test(pattern) });
      matcher = anyOf(patterns, one);
      made.set(kind, matcher);
    }
    return matcher;
  };
}

function covers(candidate: CompiledRule, query: Query, permission: string): boolean {
  if (candidate.permission !== undefined && !candidate.permission(permission)) return false;
  return coversTool(candidate, query);
}

function coversTool(candidate: Pick<CompiledRule, "tools" | "agents">, query: Query): boolean {
  return (
    (candidate.tools === undefined || candidate.tools(query.tool)) &&
    (candidate.agents === undefined || candidate.agents(query.agent))
  );
}

function matchesResource(
  candidate: CompiledRule,
  permission: string,
  resource: string | undefined,
  odd: string | undefined,
): boolean {
  if (candidate.any || candidate.resources === undefined) return true;
  if (resource === undefined) return false;
  if (odd !== undefined) return candidate.exact.has(resource);
  return candidate.resources(permission)(resource);
}

function anyOf(patterns: Patterns, make: (pattern: string) => Matcher, where = "patterns"): Matcher {
  const matchers = listOf(patterns, where).map(make);
  const [only] = matchers;
  return matchers.length === 1 && only !== undefined ? only : (value) => matchers.some((matches) => matches(value));
}

function listOf(patterns: Patterns, where: string): readonly string[] {
  const list = typeof patterns === "string" ? [patterns] : patterns;
  if (list.length === 0)
    throw new TypeError(`policy: ${where} is an empty list, which would match nothing; leave it out to match all`);
  for (const pattern of list) {
    if (typeof pattern !== "string" || pattern === "")
      throw new TypeError(`policy: ${where} holds an empty pattern; leave it out to match all`);
  }
  return list;
}

function verdict(rule: PolicyRule): Verdict {
  return { effect: rule.effect, rule, reason: rule.reason ?? describe(rule) };
}

function describe(rule: PolicyRule): string {
  const part = (name: string, patterns: Patterns | undefined): string =>
    patterns === undefined ? "" : ` ${name} ${typeof patterns === "string" ? patterns : patterns.join(", ")}`;
  return `rule: ${rule.effect}${part("agents", rule.agents)}${part("tools", rule.tools)}${part("permission", rule.permission)}${part("resources", rule.resources)}`;
}

/** Node, Bun and Deno have one; a worker or browser has none. */
export function workingDirectory(): string | undefined {
  return typeof process === "object" && typeof process.cwd === "function" ? process.cwd() : undefined;
}

function caseBlind(): boolean {
  return typeof process === "object" && (process.platform === "win32" || process.platform === "darwin");
}

import {
  matchesRule,
  type RoleSpec,
  type RuleRelation,
  relateRules,
  type SkillSpec,
  type ToolRule,
} from "@toolhaft/asset-format";

/** A rule and whose it is. */
export interface OwnedRule {
  owner: string;
  field: "allowed-tools" | "disallowed-tools" | "permission.deny" | "tools";
  rule: ToolRule;
}

export interface Conflict {
  kind: "grant_removed" | "role_denies" | "starved" | "self_contradiction" | "widened" | "read_only_lost";
  severity: "error" | "warning";
  rules: { owner: string; field: string; rule: string }[];
  relation: RuleRelation;
  witness: string;
}

export interface Permissions {
  semantics: "grant" | "restrict";
  effective: { rule: string; effect: "granted" | "removed"; from: string[] }[];
  conflicts: Conflict[];
}

export interface ComposedSkill {
  name: string;
  spec: SkillSpec;
}

/** What tool rules of skills used together, and of a role, mean for each other. */
export function composePermissions(
  skills: readonly ComposedSkill[],
  role: RoleSpec | undefined,
  semantics: "grant" | "restrict",
): Permissions {
  const grants = skills.flatMap(({ name, spec }) =>
    (spec.allowedTools ?? []).map((rule): OwnedRule => ({ owner: name, field: "allowed-tools", rule })),
  );
  const removals = skills.flatMap(({ name, spec }) =>
    (spec.disallowedTools ?? []).map((rule): OwnedRule => ({ owner: name, field: "disallowed-tools", rule })),
  );
  const denials = role ? denialsOf(role) : [];
  const conflicts = [
    ...grants.flatMap((grant) => removals.flatMap((removal) => removed(grant, removal))),
    ...grants.flatMap((grant) => denials.flatMap((denial) => meeting("role_denies", "error", grant, denial))),
    ...(semantics === "restrict" ? starved(skills) : []),
    ...widened(grants),
    ...readOnlyLost(skills),
  ];
  conflicts.sort((a, b) => Number(a.severity === "warning") - Number(b.severity === "warning"));
  const inForce = semantics === "restrict" ? grants.filter((grant) => isInEvery(grant, skills)) : grants;
  return { semantics, effective: effectiveOf(inForce, [...removals, ...denials]), conflicts };
}

/** With lists that fence: whether every skill that has a list grants all calls of a rule. */
function isInEvery({ rule }: OwnedRule, skills: readonly ComposedSkill[]): boolean {
  return skills.every(
    ({ spec: { allowedTools } }) =>
      allowedTools === undefined ||
      allowedTools.some((other) => ["covers", "equal"].includes(relateRules(other, rule).relation)),
  );
}

function denialsOf(role: RoleSpec): OwnedRule[] {
  const owner = `role ${role.id}`;
  const denied = role.permission.deny.map((rule): OwnedRule => ({ owner, field: "permission.deny", rule }));
  const off = Object.entries(role.tools).flatMap(([tool, on]): OwnedRule[] =>
    on ? [] : [{ owner, field: "tools", rule: { text: tool, tool: tool.toLowerCase(), class: "other" } }],
  );
  return [...denied, ...off];
}

function removed(grant: OwnedRule, removal: OwnedRule): Conflict[] {
  if (grant.owner !== removal.owner) return meeting("grant_removed", "error", grant, removal);
  // A skill that takes away a part of what it grants says so on purpose; all of it is a contradiction.
  return meeting("self_contradiction", "warning", grant, removal).filter(
    ({ relation }) => relation === "covered" || relation === "equal",
  );
}

function meeting(kind: Conflict["kind"], severity: Conflict["severity"], a: OwnedRule, b: OwnedRule): Conflict[] {
  const { relation, witness } = relateRules(a.rule, b.rule);
  if (witness === undefined) return [];
  return [{ kind, severity, rules: [shown(a), shown(b)], relation, witness }];
}

/** With lists that fence, a call must be granted by every skill that has a list. */
function starved(skills: readonly ComposedSkill[]): Conflict[] {
  const fenced = skills.filter(({ spec }) => spec.allowedTools !== undefined);
  return fenced.flatMap(({ name, spec }) =>
    (spec.allowedTools ?? []).flatMap((rule) =>
      fenced.flatMap((other): Conflict[] => {
        if (other.name === name) return [];
        const outside = callOutside(rule, other.spec.allowedTools ?? []);
        if (outside === undefined) return [];
        const theirs = (other.spec.allowedTools ?? []).map((one) => ({
          owner: other.name,
          field: "allowed-tools",
          rule: one.text,
        }));
        const relation = outside.partly ? "overlaps" : "disjoint";
        return [
          {
            kind: "starved",
            severity: "error",
            rules: [{ owner: name, field: "allowed-tools", rule: rule.text }, ...theirs.slice(0, 5)],
            relation,
            witness: outside.call,
          },
        ];
      }),
    ),
  );
}

/** A call that a rule grants and none of some others does; undefined when one of them covers it. */
function callOutside(rule: ToolRule, others: readonly ToolRule[]): { call: string; partly: boolean } | undefined {
  const relations = others.map((other) => relateRules(other, rule).relation);
  if (relations.some((relation) => relation === "covers" || relation === "equal")) return undefined;
  const call = samplesOf(rule).find(
    ({ tool, spec }) => matchesRule(rule, tool, spec) && !others.some((other) => matchesRule(other, tool, spec)),
  );
  if (!call) return undefined;
  const written = rule.text.split("(", 1)[0] ?? rule.tool;
  const name = written.includes("*") ? call.tool : written;
  return {
    call: call.spec === "" ? name : `${name}(${call.spec})`,
    partly: relations.some((relation) => relation !== "disjoint"),
  };
}

/** Concrete calls that a rule matches: its wildcards as nothing and as some texts. */
function samplesOf(rule: ToolRule): { tool: string; spec: string }[] {
  const fills = ["", "x", "other", "x/y"];
  const specs =
    rule.spec === undefined
      ? ["", "x", "other"]
      : fills.map((fill) => (rule.spec ?? "").replace(/:\*$/, fill === "" ? "" : ` ${fill}`).replace(/\*+/g, fill));
  return fills.flatMap((fill) => specs.map((spec) => ({ tool: rule.tool.replace(/\*+/g, fill), spec })));
}

function widened(grants: readonly OwnedRule[]): Conflict[] {
  return grants.flatMap((wide) =>
    grants.flatMap((narrow): Conflict[] => {
      if (wide.owner === narrow.owner) return [];
      const { relation, witness } = relateRules(wide.rule, narrow.rule);
      if (relation !== "covers" || witness === undefined) return [];
      return [{ kind: "widened", severity: "warning", rules: [shown(wide), shown(narrow)], relation, witness }];
    }),
  );
}

function readOnlyLost(skills: readonly ComposedSkill[]): Conflict[] {
  const strong = new Set(["edit", "write", "shell", "network"]);
  return skills.flatMap(({ name, spec }) => {
    const own = spec.allowedTools ?? [];
    if (own.length === 0 || own.some((rule) => rule.class !== "read")) return [];
    return skills.flatMap((other): Conflict[] => {
      const rule = (other.spec.allowedTools ?? []).find((one) => strong.has(one.class));
      if (other.name === name || !rule) return [];
      const rules = [
        ...own.slice(0, 3).map((one) => ({ owner: name, field: "allowed-tools", rule: one.text })),
        { owner: other.name, field: "allowed-tools", rule: rule.text },
      ];
      return [
        {
          kind: "read_only_lost",
          severity: "warning",
          rules,
          relation: "disjoint",
          witness:
            samplesOf(rule).map(({ spec: call }) =>
              call === "" ? (rule.text.split("(", 1)[0] ?? rule.tool) : `${rule.text.split("(", 1)[0]}(${call})`,
            )[0] ?? rule.text,
        },
      ];
    });
  });
}

function effectiveOf(grants: readonly OwnedRule[], removals: readonly OwnedRule[]): Permissions["effective"] {
  const found = new Map<string, Permissions["effective"][number]>();
  for (const [effect, rules] of [
    ["removed", removals],
    ["granted", grants],
  ] as const) {
    for (const { owner, rule } of rules) {
      const key = `${effect} ${rule.tool}(${rule.spec ?? ""})`;
      const known = found.get(key);
      if (known) {
        if (!known.from.includes(owner)) known.from.push(owner);
      } else found.set(key, { rule: rule.text, effect, from: [owner] });
    }
  }
  return [...found.values()];
}

function shown({ owner, field, rule }: OwnedRule): { owner: string; field: string; rule: string } {
  return { owner, field, rule: rule.text };
}

/** `error grant_removed: release allows Bash(git push:*), audit removes Bash. Example: Bash(git push)` */
export function conflictLine({ kind, severity, rules, witness }: Conflict): string {
  const verbs: Record<string, string> = {
    "allowed-tools": "allows",
    "disallowed-tools": "removes",
    "permission.deny": "denies",
    tools: "switches off",
  };
  const said = rules.map(({ owner, field, rule }) => `${owner} ${verbs[field] ?? field} ${rule}`).join(", ");
  return `${severity} ${kind}: ${said}. Example: ${witness}`;
}

import type { FunctionSpec as Format, FunctionCondition } from "@toolhaft/asset-format";
import { nearest, ToolError } from "@toolhaft/core";

/** A function and where it belongs. */
export interface FunctionSpec extends Format {
  /** `role/name`, or `name` of one that belongs to no role. */
  id: string;
  /** `parent/child` for a role below another. */
  role: string | null;
  /** What is wrong with its file; a condition in error never holds. */
  problems: readonly string[];
  /** Absolute path of the defining file. */
  path?: string;
}

/** Where functions come from. */
export interface FunctionSpecs {
  /** All, or those of a role and the roles below it; first by priority, then by id. */
  list(scope?: string): Promise<readonly FunctionSpec[]>;
  /** Changes when any function does. */
  version(): Promise<string>;
  /** Ids of all roles, also of those without functions. */
  roles?(): Promise<readonly string[]>;
}

/** Looks functions up by id, and by name in the scope of a role. */
export interface SpecIndex {
  readonly all: readonly FunctionSpec[];
  get(id: string): FunctionSpec | undefined;
  /** A name as a function of `role` uses it: the role, its parents, then functions without a role. */
  inScope(name: string, role: string | null): FunctionSpec | undefined;
  /** A name as a host gives it: an id, or a name that only one role has. @throws ToolError `not_found`, `conflict` */
  find(name: string): FunctionSpec;
}

export function indexSpecs(specs: readonly FunctionSpec[]): SpecIndex {
  const byId = new Map<string, FunctionSpec>();
  for (const spec of specs) if (!byId.has(spec.id)) byId.set(spec.id, spec);
  return {
    all: [...byId.values()],
    get: (id) => byId.get(id),
    inScope(name, role) {
      if (name.includes("/")) return byId.get(plainId(name));
      for (let scope = role; scope !== null; scope = parentOf(scope)) {
        const found = byId.get(`${scope}/${name}`);
        if (found) return found;
      }
      return byId.get(name);
    },
    find(given) {
      const name = plainId(given);
      const exact = byId.get(name);
      if (exact) return exact;
      const named = [...byId.values()].filter((spec) => spec.name === name);
      const [only] = named;
      if (only && named.length === 1) return only;
      if (only) {
        const ids = named.map(({ id }) => id).sort();
        throw new ToolError("conflict", `${named.length} functions are called "${given}": ${ids.join(", ")}`, {
          hint: "give the whole id",
          retryable: false,
        });
      }
      const known = [...byId.keys(), ...[...byId.values()].map((spec) => spec.name)];
      const near = [...new Set(nearest(given, known, 5))];
      throw new ToolError("not_found", `there is no function "${given}"`, {
        hint: near.length > 0 ? `near: ${near.join(", ")}` : "function_graph shows every function",
      });
    },
  };
}

function parentOf(role: string): string | null {
  const end = role.lastIndexOf("/");
  return end < 0 ? null : role.slice(0, end);
}

/** `parent--child` is another way to write `parent/child`; an end slash says nothing. */
export function plainId(given: string): string {
  return given.replace(/--/g, "/").replace(/\/+$/, "");
}

/** Whether a role is another one or lies below it, by segment of its path. */
export function isWithin(role: string | null, scope: string): boolean {
  return role !== null && (role === scope || role.startsWith(`${scope}/`));
}

/** @throws ToolError `not_found` with near roles */
export async function knownRole(specs: FunctionSpecs, given: string): Promise<string> {
  const role = plainId(given);
  const own = (await specs.list()).flatMap((spec) => (spec.role === null ? [] : [spec.role]));
  const roles = new Set([...own, ...((await specs.roles?.()) ?? [])]);
  // A parent whose functions are all in roles below it is a role too.
  for (const one of [...roles]) for (let up = parentOf(one); up !== null; up = parentOf(up)) roles.add(up);
  if (roles.has(role)) return role;
  const near = nearest(role, roles, 5);
  throw new ToolError("not_found", `there is no role "${given}"`, {
    hint:
      near.length > 0 ? `near: ${near.join(", ")}` : `roles: ${[...roles].sort().slice(0, 20).join(", ") || "none"}`,
  });
}

/** First by priority, higher first, then by id. */
export function byPriority(a: { priority: number; id: string }, b: { priority: number; id: string }): number {
  return b.priority - a.priority || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}

/** Every condition of a function with the place it stands at. */
export function conditionsOf(spec: FunctionSpec): { place: string; condition: FunctionCondition }[] {
  const optional = (place: string, condition: FunctionCondition | undefined) =>
    condition ? [{ place, condition }] : [];
  return [
    ...optional("gate", spec.gate),
    ...optional("continue_until", spec.continueUntil),
    ...spec.transitions.map(({ when }, index) => ({ place: `transitions[${index}].when`, condition: when })),
    ...spec.observe.flatMap(({ when }, index) => optional(`observe[${index}].when`, when)),
  ];
}

/** Functions given by a host as data. */
export function staticSpecs(list: readonly FunctionSpec[]): FunctionSpecs {
  const sorted = [...list].sort(byPriority);
  return {
    list: async (scope) => (scope === undefined ? sorted : sorted.filter(({ role }) => isWithin(role, scope))),
    version: async () => "static",
  };
}

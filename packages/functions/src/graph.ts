import { showCondition } from "@toolhaft/asset-format";
import { type FunctionSpec, isWithin, type SpecIndex } from "./specs/specs.ts";
import { components } from "./tarjan.ts";

export type Focus = "dependencies" | "state_machine";
export type EdgeKind = "requires" | "produces" | "consumes" | "activates" | "deactivates";

export interface GraphNode {
  id: string;
  kind: "function" | "artifact";
  label: string;
  role: string | null;
  missing?: boolean | undefined;
  phase?: string | undefined;
}

export interface GraphEdge {
  from: string;
  to: string;
  kind: EdgeKind;
  when?: string | undefined;
}

export interface Graph {
  focus: Focus;
  nodes: GraphNode[];
  edges: GraphEdge[];
  /** Functions that need each other, and data that flows in a circle. */
  cycles: string[][];
  /** Artifacts that are consumed and that nothing produces. */
  unproduced: string[];
  /** Names that no file defines. */
  unknown: string[];
}

/** The functions of a role and the roles below it, or all, and what connects them. */
export function buildGraph(
  index: SpecIndex,
  focus: Focus,
  role: string | undefined,
  phases: ReadonlyMap<string, string>,
): Graph {
  const specs = index.all.filter((spec) => role === undefined || isWithin(spec.role, role));
  const nodes = new Map<string, GraphNode>();
  const edges: GraphEdge[] = [];
  const unknown = new Set<string>();
  const consumed = new Set<string>();

  const functionNode = (spec: FunctionSpec): string => {
    const phase = phases.get(spec.id);
    const node = { id: spec.id, kind: "function", label: spec.id, role: spec.role, ...(phase && { phase }) } as const;
    if (!nodes.has(spec.id)) nodes.set(spec.id, node);
    return spec.id;
  };
  const named = (name: string, from: FunctionSpec): string => {
    const target = index.inScope(name, from.role);
    if (target) return functionNode(target);
    unknown.add(name);
    if (!nodes.has(name)) nodes.set(name, { id: name, kind: "function", label: name, role: null, missing: true });
    return name;
  };
  // Functions first: an artifact that bears the name of one gets another id.
  for (const spec of specs) functionNode(spec);
  for (const spec of specs) {
    if (focus === "dependencies") {
      for (const name of spec.requires) edges.push({ from: spec.id, to: named(name, spec), kind: "requires" });
      continue;
    }
    for (const { when, activate, deactivate } of spec.transitions) {
      const shown = when.ast ? showCondition(when.ast) : String(when.source ?? "?");
      for (const name of activate) edges.push({ from: spec.id, to: named(name, spec), kind: "activates", when: shown });
      for (const name of deactivate)
        edges.push({ from: spec.id, to: named(name, spec), kind: "deactivates", when: shown });
    }
  }
  if (focus === "dependencies") {
    const artifact = (name: string): string => {
      const id = nodes.get(name)?.kind === "function" ? `[${name}]` : name;
      if (!nodes.has(id)) nodes.set(id, { id, kind: "artifact", label: name, role: null });
      return id;
    };
    for (const spec of specs) {
      for (const name of spec.produces) edges.push({ from: spec.id, to: artifact(name), kind: "produces" });
      for (const name of spec.consumes) {
        edges.push({ from: artifact(name), to: spec.id, kind: "consumes" });
        consumed.add(name);
      }
    }
  }
  const produced = new Set(index.all.flatMap(({ produces }) => produces));
  const requires = edges.filter(({ kind }) => kind === "requires");
  const flow = edges.filter(({ kind }) => kind === "produces" || kind === "consumes");
  return {
    focus,
    nodes: [...nodes.values()],
    edges,
    cycles: [...components(requires), ...components(flow)],
    unproduced: [...consumed].filter((name) => !produced.has(name)).sort(),
    unknown: [...unknown].sort(),
  };
}

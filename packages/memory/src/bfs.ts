import type { Edge } from "./store.ts";

export interface BfsOptions {
  depth: number;
  /** Most nodes, the start included. */
  limit: number;
  /** Which end of an edge is the next node, seen from a node of the frontier. */
  direction: "out" | "in" | "both";
  /** Name of a node, for the order within a level. */
  name(id: string): string;
}

/** Edges at the given nodes, heaviest first; called once per level and batch. */
export type LevelQuery = (frontier: readonly string[]) => Promise<readonly Edge[]>;

export interface BfsResult {
  nodes: { id: string; depth: number; via: string | null }[];
  truncated: boolean;
  depthReached: number;
}

const batch = 500;

/** Breadth first, level by level: each node once, at its least depth, by the heaviest edge that reaches it there. */
export async function breadthFirst(
  start: string,
  options: BfsOptions,
  level: LevelQuery,
  named: (ids: readonly string[]) => Promise<void>,
): Promise<BfsResult> {
  const seen = new Set([start]);
  const nodes: BfsResult["nodes"] = [{ id: start, depth: 0, via: null }];
  let frontier = [start];
  let truncated = false;
  let depthReached = 0;
  for (let depth = 1; depth <= options.depth && frontier.length > 0 && !truncated; depth++) {
    const reached = new Map<string, Edge>();
    for (let from = 0; from < frontier.length; from += batch) {
      const part = new Set(frontier.slice(from, from + batch));
      for (const edge of await level([...part])) {
        for (const next of ends(edge, part, options.direction)) {
          if (!seen.has(next) && heavier(edge, reached.get(next))) reached.set(next, edge);
        }
      }
    }
    await named([...reached.keys()]);
    const ordered = [...reached].sort(
      ([a, edgeA], [b, edgeB]) =>
        edgeB.weight - edgeA.weight || compare(options.name(a), options.name(b)) || compare(a, b),
    );
    const room = options.limit - nodes.length;
    truncated = ordered.length > room;
    frontier = [];
    for (const [id, edge] of ordered.slice(0, room)) {
      seen.add(id);
      frontier.push(id);
      nodes.push({ id, depth, via: edge.id });
    }
    if (frontier.length > 0) depthReached = depth;
  }
  return { nodes, truncated, depthReached };
}

function ends(edge: Edge, frontier: ReadonlySet<string>, direction: BfsOptions["direction"]): string[] {
  const next: string[] = [];
  if (direction !== "in" && frontier.has(edge.from)) next.push(edge.to);
  if (direction !== "out" && frontier.has(edge.to)) next.push(edge.from);
  return next;
}

function heavier(edge: Edge, known: Edge | undefined): boolean {
  return !known || edge.weight > known.weight || (edge.weight === known.weight && edge.id < known.id);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

import type { CallHierarchyItem } from "vscode-languageserver-protocol";
import type { Place, Range } from "./answer.ts";
import type { Call, Session } from "./ask.ts";
import type { OpenFile } from "./open-file.ts";
import { lineOf, pathOfUri } from "./places.ts";
import { comparePositions } from "./positions.ts";
import { symbolKind } from "./symbols.ts";
import { realPathOf, uriKey, uriToPath } from "./uris.ts";

/** One node of a call or type hierarchy; `parent` is the index of its parent, -1 for children of the root. */
export interface HierarchyNode {
  name: string;
  kind: string;
  path: string;
  range: Range;
  selection: Range;
  depth: number;
  parent: number;
  sites?: Range[];
  cycle?: true;
}

/** A step from one item to the next ones. */
export type Step = (
  session: Session,
  item: CallHierarchyItem,
) => Promise<{ item: CallHierarchyItem; sites?: Range[] }[]>;

/** Most nodes of a tree that are walked. */
export const maxNodes = 2_000;

/** A tree as far as it was walked. */
export interface Walk {
  nodes: HierarchyNode[];
  /** There is more than was walked. */
  cut: boolean;
}

export const steps = {
  incoming: async (session, item) => {
    type Calls = { from: CallHierarchyItem; fromRanges: Range[] }[] | null;
    const calls = await session.request<Calls>("callHierarchy/incomingCalls", { item });
    return (calls ?? []).map((call) => ({ item: call.from, sites: call.fromRanges }));
  },
  outgoing: async (session, item) => {
    type Calls = { to: CallHierarchyItem; fromRanges: Range[] }[] | null;
    const calls = await session.request<Calls>("callHierarchy/outgoingCalls", { item });
    return (calls ?? []).map((call) => ({ item: call.to, sites: call.fromRanges }));
  },
  supertypes: async (session, item) => {
    const items = await session.request<CallHierarchyItem[] | null>("typeHierarchy/supertypes", { item });
    return (items ?? []).map((one) => ({ item: one }));
  },
  subtypes: async (session, item) => {
    const items = await session.request<CallHierarchyItem[] | null>("typeHierarchy/subtypes", { item });
    return (items ?? []).map((one) => ({ item: one }));
  },
} satisfies Record<string, Step>;

/** Walks level by level; an item that is its own ancestor ends with `cycle`. */
export async function walkHierarchy(
  call: Call,
  file: OpenFile | undefined,
  session: Session,
  root: CallHierarchyItem,
  step: Step,
  depth: number,
): Promise<Walk> {
  const nodes: HierarchyNode[] = [];
  let level: { item: CallHierarchyItem; index: number; above: string[] }[] = [
    { item: root, index: -1, above: [keyOf(root)] },
  ];
  for (let at = 1; at <= depth && level.length > 0; at++) {
    const next: typeof level = [];
    for (const { item, index, above } of level) {
      const found = (await step(session, item)).sort((a, b) => compareItems(a.item, b.item));
      for (const one of found) {
        if (nodes.length >= maxNodes) return { nodes, cut: true };
        const key = keyOf(one.item);
        const cycle = above.includes(key);
        nodes.push({
          ...describe(call, file, one.item),
          depth: at,
          parent: index,
          ...(one.sites && { sites: [...one.sites].sort((a, b) => comparePositions(a.start, b.start)) }),
          ...(cycle && { cycle: true as const }),
        });
        if (!cycle) next.push({ item: one.item, index: nodes.length - 1, above: [...above, key] });
      }
    }
    level = next;
  }
  return { nodes, cut: false };
}

function describe(call: Call, file: OpenFile | undefined, item: CallHierarchyItem) {
  return {
    name: item.name,
    kind: symbolKind(item.kind),
    path: pathOfUri(call, file, item.uri),
    range: item.range,
    selection: item.selectionRange,
  };
}

function keyOf(item: CallHierarchyItem): string {
  const { line, character } = item.selectionRange.start;
  return `${uriKey(item.uri)}\0${line}:${character}\0${item.name}`;
}

function compareItems(a: CallHierarchyItem, b: CallHierarchyItem): number {
  const left = uriKey(a.uri);
  const right = uriKey(b.uri);
  if (left !== right) return left < right ? -1 : 1;
  return comparePositions(a.selectionRange.start, b.selectionRange.start);
}

/** The item itself as a place with its source line. */
export async function placeOfItem(call: Call, file: OpenFile | undefined, item: CallHierarchyItem): Promise<Place> {
  const path = uriToPath(item.uri);
  const spot = {
    file: path === undefined ? item.uri : realPathOf(path),
    local: path !== undefined,
    range: item.selectionRange,
  };
  const text = await lineOf(call, file, spot);
  return {
    path: pathOfUri(call, file, item.uri),
    range: item.selectionRange,
    name: item.name,
    kind: symbolKind(item.kind),
    ...(text !== undefined && { text }),
  };
}

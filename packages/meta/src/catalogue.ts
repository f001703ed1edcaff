import {
  type AnyTool,
  estimateTokens,
  familiesOf,
  isVisible,
  type Policy,
  type ToolContext,
  type Toolset,
} from "@toolhaft/core";
import { rankTools, type SearchIndex } from "./search-index.ts";

/** A tool as the meta tools see it. */
export interface Entry {
  readonly tool: AnyTool;
  readonly family: string;
  /** Estimated, of its listing. */
  readonly tokens: number;
}

/** All tools that can be reached, and for each caller only those that it may see. */
export interface Catalogue {
  visible(context: ToolContext): View;
  /** For lists that are made outside a call. */
  visibleTo(agent: string): View;
}

/** What one caller may see: everything the meta tools say is made from this alone. */
export interface View {
  readonly entries: ReadonlyMap<string, Entry>;
  readonly families: readonly { name: string; count: number }[];
  /** Names of the tools that fit a query, best first. */
  search(query: string, family: string | undefined): readonly Entry[];
}

/** Views of this many different callers are kept. */
const maxViews = 32;

export function createCatalogue(tools: Toolset, policy: Policy | undefined): Catalogue {
  const families = familiesOf(tools);
  const all = tools.tools.map(
    (tool): Entry => ({ tool, family: families.get(tool.name) ?? "other", tokens: estimateTokens(tool) }),
  );
  const views = new Map<string, View>();
  // The index of a view holds its own tools only: a hidden one must not move the order of the others.
  const viewOf = (entries: readonly Entry[]): View => {
    const key = entries.map(({ tool }) => tool.name).join(" ");
    const known = views.get(key);
    if (known !== undefined) return known;
    const view = makeView(entries);
    const [oldest] = views.keys();
    if (views.size >= maxViews && oldest !== undefined) views.delete(oldest);
    views.set(key, view);
    return view;
  };
  const allowed = (tool: AnyTool, agent: string): boolean => policy?.visible(tool, agent) ?? true;
  return {
    visible: (context) => viewOf(all.filter(({ tool }) => allowed(tool, context.agent) && isVisible(tool, context))),
    visibleTo: (agent) => viewOf(all.filter(({ tool }) => allowed(tool, agent))),
  };
}

function makeView(entries: readonly Entry[]): View {
  const counts = new Map<string, number>();
  for (const { family } of entries) counts.set(family, (counts.get(family) ?? 0) + 1);
  let index: SearchIndex | undefined;
  return {
    entries: new Map(entries.map((entry) => [entry.tool.name, entry])),
    families: [...counts].map(([name, count]) => ({ name, count })).sort((a, b) => (a.name < b.name ? -1 : 1)),
    search(query, family) {
      index ??= rankTools(entries);
      return index(query).filter((entry) => family === undefined || entry.family === family);
    },
  };
}

import {
  type AnyTool,
  type Family,
  nearest,
  type Policy,
  type ToolContext,
  type Toolset,
  toolset,
} from "@toolhaft/core";
import { createCatalogue, type View } from "./catalogue.ts";
import { createLoadedSets } from "./loaded.ts";
import { toolCall } from "./tools/tool-call.ts";
import { toolLoad } from "./tools/tool-load.ts";
import { toolSearch } from "./tools/tool-search.ts";

export interface MetaOptions {
  /** What is searched, loaded and called. */
  tools: Toolset | Family | readonly AnyTool[];
  /** Hides and denies on top of the policy of each call. */
  policy?: Policy;
  /** Names of tools that stay listed without being loaded. */
  alwaysOn?: readonly string[];
  /** Whether there is a `tool_call`, for hosts that read the list of tools once. @default true */
  call?: boolean;
  /** What all loaded tools of a session may cost in a listing, in estimated tokens. @default 8_000 */
  maxLoadedTokens?: number;
}

/** Finds and loads tools by need: `tool_search`, `tool_load` and `tool_call` over any toolset. */
export interface Meta extends Family {
  /** What a session's list holds now: the meta tools, those always on, then the loaded ones in order. Only ever grows. */
  listed(sessionId: string, agent?: string): readonly AnyTool[];
  /** Called after tools were loaded. @returns a function that ends it */
  onLoad(listener: (sessionId: string, names: readonly string[]) => void): () => void;
  /** For a host's instructions, at most 600 characters: the families, and how to find their tools. */
  instructions(): string;
}

/** What the three tools share. */
export interface MetaState {
  readonly maxLoadedTokens: number;
  readonly policy: Policy | undefined;
  readonly alwaysOn: readonly string[];
  readonly hasCall: boolean;
  view(context: ToolContext): View;
  isLoaded(context: ToolContext, name: string): boolean;
  loadedTokens(context: ToolContext): number;
  load(context: ToolContext, names: readonly string[]): void;
}

const maxSessions = 1_000;
const maxInstructions = 600;

/**
 * Makes the meta tools over a toolset. Nothing is opened; closing it closes the toolset.
 *
 * @throws TypeError when `alwaysOn` names a tool that is not there, or a tool has the name of a meta tool.
 */
export function createMeta(options: MetaOptions): Meta {
  const { policy, alwaysOn = [], call = true, maxLoadedTokens = 8_000 } = options;
  const tools = toolset(options.tools);
  for (const name of alwaysOn) {
    if (tools.get(name) === undefined)
      throw new TypeError(`createMeta: alwaysOn names ${name}, which is no tool here${near(name, tools)}`);
  }
  const catalogue = createCatalogue(tools, policy);
  const loaded = createLoadedSets(maxSessions);
  const listeners = new Set<(sessionId: string, names: readonly string[]) => void>();
  const state: MetaState = {
    maxLoadedTokens,
    policy,
    alwaysOn,
    hasCall: call,
    view: (context) => catalogue.visible(context),
    isLoaded: ({ sessionId }, name) => alwaysOn.includes(name) || loaded.has(sessionId, name),
    loadedTokens: ({ sessionId }) => loaded.tokens(sessionId),
    load(context, names) {
      const { entries } = catalogue.visible(context);
      loaded.add(
        context.sessionId,
        names.flatMap((name) => entries.get(name) ?? []),
      );
      for (const listener of listeners) listener(context.sessionId, names);
    },
  };
  const reachable = [...catalogue.visibleTo("main").entries.values()].map(({ tool }) => tool);
  const own: readonly AnyTool[] = [toolSearch(state), toolLoad(state), ...(call ? [toolCall(state, reachable)] : [])];
  toolset(own, tools); // refuses a tool that has the name of a meta tool

  const close = (): Promise<void> => tools.close();
  return {
    name: "meta",
    tools: own,
    close,
    [Symbol.asyncDispose]: close,
    listed(sessionId, agent = "main") {
      const { entries } = catalogue.visibleTo(agent);
      const names = new Set([...alwaysOn, ...loaded.names(sessionId)]);
      return [...own, ...[...names].flatMap((name) => entries.get(name)?.tool ?? [])];
    },
    onLoad(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    instructions: () => instructionsOf(catalogue.visibleTo("main"), call),
  };
}

function instructionsOf({ families, entries }: View, call: boolean): string {
  const how = `Find tools with tool_search, then load them with tool_load${call ? "; a loaded tool that is not in your list runs through tool_call" : ""}.`;
  const lead = `${entries.size} tools are here and not listed. ${how} Families: `;
  let list = "";
  for (const [index, { name, count }] of families.entries()) {
    const rest = families.length - index;
    const item = `${index === 0 ? "" : ", "}${name} (${count})`;
    const more = `, and ${rest} more`;
    if (lead.length + list.length + item.length + more.length + 1 > maxInstructions) return `${lead}${list}${more}.`;
    list += item;
  }
  return `${lead}${list || "none"}.`;
}

function near(name: string, tools: Toolset): string {
  const names = nearest(
    name,
    tools.tools.map((tool) => tool.name),
  );
  return names.length === 0 ? "" : `; did you mean ${names.join(", ")}?`;
}

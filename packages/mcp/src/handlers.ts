import { type AnyTool, nearest, ToolError, type Toolset } from "@toolhaft/core";
import manifest from "../package.json" with { type: "json" };
import { createGuard } from "./guard.ts";
import { createListing } from "./listing.ts";
import { createSessionPlace } from "./place.ts";
import { createResultsStore } from "./results-store.ts";
import { agentOf, createRunningCalls } from "./running-calls.ts";
import { type CallReply, invalidParams, McpFault, type McpHandlers, type ServeOptions } from "./types.ts";

/**
 * One session's tools as plain functions, free of any SDK: list, call, read. `serveStdio` binds them to the v2 server,
 * `bindV1` to a v1 server that already exists.
 *
 * @param tools The set, or how to load it; it is loaded at the first request that needs it, or by `warm`.
 */
export function createMcpHandlers(tools: Toolset | (() => Promise<Toolset>), options: ServeOptions = {}): McpHandlers {
  const { lazy, structured = false } = options;
  const onError = options.onError ?? ((error: Error) => void process.stderr.write(`toolhaft: ${error.message}\n`));
  const listeners = new Set<() => void>();
  const seenBy = new Map<string, ReadonlyMap<string, AnyTool>>();
  const changed = () => {
    seenBy.clear();
    for (const listener of listeners) listener();
  };
  const place = createSessionPlace(options, onError, changed);
  const listing = createListing(structured);
  const store = createResultsStore();
  const guard = createGuard(options.maxTextChars);
  const calls = createRunningCalls(structured, store, onError);
  const stopLoads = lazy?.onLoad((session) => {
    if (session === place.sessionId) changed();
  });

  let loading: Promise<Toolset> | undefined;
  const load = (): Promise<Toolset> => {
    loading ??= typeof tools === "function" ? tools() : Promise.resolve(tools);
    return loading;
  };

  /** What each client may see, kept until the folder or the loaded tools change. */
  const visible = async (agent: string): Promise<ReadonlyMap<string, AnyTool>> => {
    const known = seenBy.get(agent);
    if (known !== undefined) return known;
    const all = lazy === undefined ? (await load()).tools : lazy.listed(place.sessionId);
    const { policy } = place.current();
    const seen = new Map(all.filter((tool) => policy.visible(tool, agent)).map((tool) => [tool.name, tool]));
    seenBy.set(agent, seen);
    return seen;
  };

  const find = async (name: string, agent: string): Promise<AnyTool> => {
    const seen = await visible(agent);
    const found = seen.get(name);
    if (found !== undefined) return found;
    const unloaded = lazy === undefined ? undefined : (await load()).get(name);
    if (unloaded !== undefined && place.current().policy.visible(unloaded, agent)) {
      const hint = `tool_load ${JSON.stringify({ names: [name] })}`;
      throw new ToolError("not_found", `the tool ${name} is not loaded`, { hint });
    }
    const near = nearest(name, [...seen.keys()]);
    const meant = near.length > 0 ? `: did you mean ${near.join(", ")}?` : "";
    throw new McpFault(invalidParams, `unknown tool "${name.slice(0, 100)}"${meant}`);
  };

  return {
    name: options.name ?? "toolhaft",
    version: options.version ?? manifest.version,
    instructions: options.instructions ?? lazy?.instructions(),
    askTimeoutMs: options.askTimeoutMs ?? 600_000,
    onError,
    async list({ cursor, client }) {
      await place.settled();
      return listing.page([...(await visible(agentOf({ client }))).values()], cursor);
    },
    async call(request) {
      if (request.resume !== undefined) return calls.resume(request);
      await place.settled();
      try {
        const tool = await find(request.name, agentOf(request));
        return await calls.start(guard.over(tool, place.current()), request, place.current().context);
      } catch (error) {
        if (error instanceof ToolError) return failure(error);
        throw error;
      }
    },
    listResources: () => store.list(),
    readResource: (uri) => store.read(uri),
    setRoots: place.setRoots,
    awaitRoots: place.awaitRoots,
    warm: () => void load().catch(() => undefined),
    onListChanged(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async close() {
      stopLoads?.();
      listeners.clear();
      await calls.close();
      // A set that never loaded has nothing to close, and its fault was told to whoever asked for it.
      const loaded = await loading?.catch(() => undefined);
      await loaded?.close();
    },
  };
}

/** A failure before any tool ran, in the words of a tool's own. */
function failure({ code, message, hint }: ToolError): CallReply {
  const text = hint === undefined ? `${code}: ${message}` : `${code}: ${message}\nhint: ${hint}`;
  return { kind: "result", result: { content: [{ type: "text", text }], isError: true } };
}

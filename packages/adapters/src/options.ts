import {
  type AnyTool,
  type ContextInit,
  createContext,
  type Family,
  fitName,
  isVisible,
  type ProgressUpdate,
  type ToolContext,
  type ToolResult,
  type Toolset,
} from "@toolhaft/core";

/** What every `to<Host>` takes. */
export interface AdapterOptions {
  /**
   * Where and as whom the tools work. One object is one conversation: what a person allowed for the session stays
   * allowed. A function answers for each call.
   *
   * @default the working directory and the default policy
   */
  context?: ContextInit | ((call: HostCall) => ContextInit);
  /** Who asks a person: the host's own approval where it has one, or `asker` of the context. @default "host" where the host can ask */
  approval?: "host" | "policy";
  onProgress?(callId: string, update: ProgressUpdate): void;
  /** The whole result of each call, for hosts that have no place for data beside the text. */
  onResult?(callId: string, result: ToolResult): void;
}

/** What a host tells of one call. */
export interface HostCall {
  callId: string;
  agent?: string;
  sessionId?: string;
  /** Where the host itself works; counts unless the options name a directory. */
  place?: { directory: string; worktree: string };
  /** The host's own context, as it came. */
  context?: unknown;
}

/** What every adapter takes tools from. */
export type ToolSource = Toolset | Family | readonly AnyTool[];

/** A tool under the name that the host will know. */
export interface NamedTool {
  name: string;
  tool: AnyTool;
}

/**
 * The tools of a source that the context's policy lets anybody see, under names that fit.
 *
 * @param maxLength The longest name the host takes.
 */
export function namedTools(source: ToolSource, options: AdapterOptions, maxLength = 64): NamedTool[] {
  const tools = "tools" in source ? source.tools : source;
  const context = typeof options.context === "object" ? options.context : undefined;
  const seen = createContext(context);
  const visible = tools.filter((tool) => isVisible(tool, seen));
  const named = visible.map((tool) => ({ name: fitName("", tool.name, maxLength), tool }));
  const names = new Set(named.map(({ name }) => name));
  if (names.size < named.length)
    throw new TypeError("two tools have one name: put them through toolset(), which says which");
  return named;
}

/** Makes the context of each call from what the options and the host say. */
export function contextMaker(
  options: AdapterOptions,
): (call: HostCall, signal: AbortSignal | undefined) => ContextInit {
  const { context: given, onProgress } = options;
  const shared = new Map<string, ToolContext>();
  const base = (call: HostCall): ContextInit => {
    if (typeof given === "function") return { ...call.place, ...given(call) };
    const place = given?.directory === undefined ? call.place : undefined;
    const key = JSON.stringify(place ?? null);
    const known = shared.get(key) ?? createContext({ ...given, ...place });
    shared.set(key, known);
    return known;
  };
  return (call, signal) => {
    const init = base(call);
    const own = typeof given === "function" ? init.signal : given?.signal;
    return {
      ...init,
      callId: call.callId,
      ...(call.agent !== undefined && { agent: call.agent }),
      ...(call.sessionId !== undefined && { sessionId: call.sessionId }),
      ...(signal && { signal: own === undefined ? signal : AbortSignal.any([own, signal]) }),
      ...(onProgress && { progress: (update: ProgressUpdate) => onProgress(call.callId, update) }),
    };
  };
}

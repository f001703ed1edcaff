import { systemClock } from "./clock.ts";
import type { Ask, ContextInit, PermissionRequest, ProgressUpdate, ToolContext } from "./context.ts";
import { bindAsk, type Caller, defaultAskTimeoutMs, type Gate, permitted } from "./gate.ts";
import { createId } from "./id.ts";
import { workingDirectory } from "./policy/create-policy.ts";
import { defaultPolicy } from "./policy/default-policy.ts";
import type { PolicyRule } from "./policy/types.ts";
import { type Progress, throttleProgress } from "./progress.ts";

/**
 * What a context carries beside its plain data; kept by `{ ...context }`, so a copy is still the same conversation.
 * A registered symbol: two copies of this package in one process understand each other's contexts.
 */
const stateKey: unique symbol = Symbol.for("toolhaft.context.v1");
/** The gate of a nested call, on the request that goes through the outer call's `ask`. */
const askedFor: unique symbol = Symbol.for("toolhaft.asked-for.v1");

interface ContextState {
  readonly gate: Gate;
  /** The signal that never fires, made once: a call with it needs no listener. */
  readonly inert: AbortSignal | undefined;
  /** The call id that nobody chose. */
  readonly ownCallId: string | undefined;
  /** The `ask` and `toolName` that core made; another one is a middleware's or the host's. */
  readonly ask: Ask;
  readonly toolName: ToolContext["toolName"];
  readonly hostToolName: ToolContext["toolName"] | undefined;
  readonly progress: Progress | undefined;
}

type StatefulInit = ContextInit & { readonly [stateKey]?: ContextState; ask?: Ask };
type StatefulContext = ToolContext & { readonly [stateKey]: ContextState };
type AskedRequest = PermissionRequest & { readonly [askedFor]?: Ask };

const same = (original: string): string => original;
const noProgress = (_update: ProgressUpdate): void => undefined;

/**
 * A whole context from what a caller sets; the rest gets stand-alone defaults. Share one context for one conversation:
 * read marks, loaded tools and remembered answers hang on it.
 *
 * @throws TypeError when there is no working directory and none is given, or a path is not absolute.
 */
export function createContext(init: ContextInit = {}): ToolContext {
  return completeContext(init, { tool: "", defaultRules: [], toolName: undefined });
}

export interface CallingTool {
  /** Its name here; empty outside a call. */
  readonly tool: string;
  readonly defaultRules: readonly PolicyRule[];
  /** From a tool's own name to the toolset's. */
  readonly toolName: ToolContext["toolName"] | undefined;
}

/** Step 1 of a call: the context completed and its gate bound to the tool. */
export function completeContext(init: StatefulInit, calling: CallingTool): ToolContext {
  const given = init[stateKey];
  const directory = init.directory ?? workingDirectory();
  if (directory === undefined)
    throw new TypeError("createContext: there is no working directory here; give `directory`");
  const roots = init.roots ?? [directory];
  if (given === undefined || init.directory === undefined)
    for (const path of [directory, init.worktree ?? directory, ...roots]) requireAbsolute(path);
  const gate = gateOf(init, given, directory, roots);
  const inert =
    init.signal === undefined ? new AbortController().signal : init.signal === given?.inert ? given.inert : undefined;
  const signal = init.signal ?? inert ?? AbortSignal.abort();
  const chosenCallId = init.callId !== undefined && init.callId !== given?.ownCallId ? init.callId : undefined;
  const callId = chosenCallId ?? createId();
  const sessionId = init.sessionId ?? createId();
  const agent = init.agent ?? "main";
  const caller: Caller = { tool: calling.tool, defaultRules: calling.defaultRules, callId, sessionId, agent, signal };

  const outerAsk = given !== undefined && init.ask !== undefined && init.ask !== given.ask ? init.ask : undefined;
  const ask = outerAsk === undefined ? askOf(gate, caller) : nestedAsk(outerAsk, bindAsk(gate, caller));
  const hostToolName =
    init.toolName === undefined || init.toolName === given?.toolName ? given?.hostToolName : init.toolName;
  const toolName = composeNames(hostToolName, calling.toolName);
  const clock = init.clock ?? systemClock;
  const listener = init.progress === undefined || init.progress === noProgress ? undefined : init.progress;
  const progress = listener === undefined || calling.tool === "" ? undefined : throttleProgress(listener, clock);

  const context: StatefulContext = {
    sessionId,
    callId,
    agent,
    directory,
    worktree: init.worktree ?? directory,
    roots,
    signal,
    clock,
    toolName,
    progress: progress === undefined ? (listener ?? noProgress) : progress.update,
    ask,
    permits: (permission, resource) => permitted(gate, caller, permission, resource),
    [stateKey]: {
      gate,
      inert,
      ownCallId: chosenCallId === undefined ? callId : undefined,
      ask,
      toolName,
      hostToolName,
      progress,
    },
  };
  if (init.messageId !== undefined) Object.assign(context, { messageId: init.messageId });
  if (init.task !== undefined) Object.assign(context, { task: init.task });
  if (init.origin !== undefined) Object.assign(context, { origin: init.origin });
  return context;
}

/** Whether the context's signal can fire at all. */
export function canAbort(context: ToolContext): boolean {
  return stateOf(context)?.inert !== context.signal;
}

export function progressOf(context: ToolContext): Progress | undefined {
  return stateOf(context)?.progress;
}

export function gateOfContext(context: ToolContext): Gate | undefined {
  return stateOf(context)?.gate;
}

function stateOf(context: ToolContext): ContextState | undefined {
  return (context as Partial<StatefulContext>)[stateKey];
}

function gateOf(
  init: StatefulInit,
  given: ContextState | undefined,
  directory: string,
  roots: readonly string[],
): Gate {
  if (given !== undefined && init.policy === undefined && init.asker === undefined && init.askTimeoutMs === undefined)
    return given.gate;
  return {
    policy: init.policy ?? given?.gate.policy ?? defaultPolicy(directory, roots),
    asker: init.asker ?? given?.gate.asker,
    askTimeoutMs: init.askTimeoutMs ?? given?.gate.askTimeoutMs ?? defaultAskTimeoutMs,
    remembered: given?.gate.remembered ?? new Set(),
  };
}

function askOf(gate: Gate, caller: Caller): Ask {
  let bound: Ask | undefined;
  return (request: AskedRequest) => {
    const nested = request[askedFor];
    if (nested !== undefined) return nested(request);
    bound ??= bindAsk(gate, caller);
    return bound(request);
  };
}

/** A call inside a call asks through what middleware put around the outer one, in its own name. */
function nestedAsk(outer: Ask, own: Ask): Ask {
  return (request: AskedRequest) => {
    const passed: AskedRequest = { ...request, [askedFor]: request[askedFor] ?? own };
    return outer(passed);
  };
}

function composeNames(
  host: ToolContext["toolName"] | undefined,
  own: ToolContext["toolName"] | undefined,
): ToolContext["toolName"] {
  if (own === undefined) return host ?? same;
  return host === undefined ? own : (original) => host(own(original));
}

function requireAbsolute(path: string): void {
  if (!/^(?:[/\\]|[A-Za-z]:[/\\])/.test(path)) throw new TypeError(`createContext: "${path}" is not an absolute path`);
}

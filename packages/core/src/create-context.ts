import { type Clock, systemClock } from "./clock.ts";
import type { Ask, Asker, ContextInit, PermissionRequest, ProgressUpdate, ToolContext } from "./context.ts";
import { type Answers, askGate, type Caller, defaultAskTimeoutMs, type Gate, permitted } from "./gate.ts";
import { createCounter, createId } from "./id.ts";
import { isStable, workingDirectory } from "./policy/create-policy.ts";
import { defaultPolicy } from "./policy/default-policy.ts";
import type { Policy, PolicyRule, Verdict } from "./policy/types.ts";
import { type Progress, throttleProgress } from "./progress.ts";
import type { AnyTool } from "./tool.ts";

/**
 * What a context carries beside its plain data; kept by `{ ...context }`, so a copy is still the same conversation.
 * A registered symbol: two copies of this package in one process understand each other's contexts.
 */
const stateKey: unique symbol = Symbol.for("toolhaft.context.v1");
/** The gate of a nested call, on the request that goes through the outer call's `ask`. */
const askedFor: unique symbol = Symbol.for("toolhaft.asked-for.v1");

/** What all calls of a conversation have in common. */
interface Conversation {
  readonly gate: Gate;
  /** The signal that never fires, made once: a call with it needs no listener. */
  readonly inert: AbortSignal | undefined;
  readonly hostToolName: ToolContext["toolName"] | undefined;
}

/** What one call adds. Few fields: every call makes one. */
interface ContextState extends Answers {
  readonly conversation: Conversation;
  readonly calling: CallingTool;
  readonly callId: string;
  /** Whether the host chose the call id. */
  readonly named: boolean;
  readonly sessionId: string;
  readonly agent: string;
  /** The signal the gate was bound with. */
  readonly signal: AbortSignal;
  readonly progress: Progress | undefined;
  readonly toolName: ToolContext["toolName"];
  /** The `ask` that core made; another one in the context is a middleware's or the host's. */
  ask: Ask | undefined;
  /** The context that core made; a copy is another object. */
  context: ToolContext | undefined;
  /** What was repaired in the input, told to middleware around the steps. */
  repaired: readonly string[] | undefined;
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
  /** The last answer of step 2: most tools are called by one agent under one policy. */
  last?: { readonly policy: Policy; readonly agent: string; readonly verdict: Verdict };
}

/** Step 1 of a call: the context completed and its gate bound to the tool. */
export function completeContext(init: StatefulInit, calling: CallingTool): ToolContext {
  const given = init[stateKey];
  if (given !== undefined && isUntouched(init, given)) return nextContext(given.context, given, calling);
  const directory = init.directory ?? absolute(workingDirectory());
  const worktree = init.worktree ?? directory;
  const roots = init.roots ?? [directory];
  if (given === undefined) checkPaths(directory, worktree, roots);
  const conversation = conversationOf(init, given, directory, roots);
  const clock = init.clock ?? systemClock;
  const progress = progressFor(init, calling, clock);
  const named =
    init.callId !== undefined && (given === undefined || given.named || init.callId !== given.callId)
      ? init.callId
      : undefined;
  const state: ContextState = {
    conversation,
    calling,
    callId: named ?? conversation.gate.nextCallId(),
    named: named !== undefined,
    sessionId: init.sessionId ?? createId(),
    agent: init.agent ?? "main",
    signal: init.signal ?? conversation.inert ?? new AbortController().signal,
    progress,
    toolName: composeNames(conversation.hostToolName, calling.toolName),
    ask: undefined,
    context: undefined,
    repaired: undefined,
    given: undefined,
  };
  state.ask = init.ask === undefined || init.ask === given?.ask ? askFor(state) : nestedAsk(init.ask, state);
  const { callId, sessionId, agent, signal, toolName, ask } = state;
  const context: StatefulContext = {
    sessionId,
    callId,
    agent,
    directory,
    worktree,
    roots,
    signal,
    clock,
    toolName,
    progress: progress?.update ?? init.progress ?? noProgress,
    ask,
    permits: (permission, resource) => permitted(conversation.gate, callerFor(state), permission, resource),
    [stateKey]: state,
  };
  state.context = context;
  if (init.messageId !== undefined || init.task !== undefined || init.origin !== undefined) addOptional(context, init);
  return context;
}

/** A context as core made it, without what changes from call to call or has a listener: the common case by far. */
function isUntouched(init: StatefulInit, given: ContextState): given is ContextState & { context: ToolContext } {
  return (
    given.context === init &&
    init.ask === given.ask &&
    init.progress === noProgress &&
    !given.named &&
    init.origin === undefined &&
    init.task === undefined &&
    init.messageId === undefined
  );
}

/** The next call of a conversation in which nothing was replaced: a new id and a gate of its own. */
function nextContext(before: ToolContext, given: ContextState, calling: CallingTool): ToolContext {
  const { conversation, sessionId, agent, signal } = given;
  const callId = conversation.gate.nextCallId();
  const toolName = composeNames(conversation.hostToolName, calling.toolName);
  const state: ContextState = {
    conversation,
    calling,
    callId,
    named: false,
    sessionId,
    agent,
    signal,
    progress: undefined,
    toolName,
    ask: undefined,
    context: undefined,
    repaired: undefined,
    given: undefined,
  };
  const ask = askFor(state);
  const context: StatefulContext = {
    sessionId,
    callId,
    agent,
    directory: before.directory,
    worktree: before.worktree,
    roots: before.roots,
    signal,
    clock: before.clock,
    toolName,
    progress: noProgress,
    ask,
    permits: (permission, resource) => permitted(conversation.gate, callerFor(state), permission, resource),
    [stateKey]: state,
  };
  state.ask = ask;
  state.context = context;
  return context;
}

/** Whether the agent of a context may see a tool: what it may not call is in no list, no search and no error. */
export function isVisible(tool: AnyTool, context: ToolContext): boolean {
  return stateOf(context)?.conversation.gate.policy.visible(tool, context.agent) ?? true;
}

/** The same conversation under a policy that can only take away. */
export function narrowContext(context: ToolContext, policy: Policy): ContextInit {
  const before = stateOf(context)?.conversation.gate.policy;
  return { ...context, policy: before === undefined ? policy : before.narrow(policy) };
}

function progressFor(init: StatefulInit, calling: CallingTool, clock: Clock): Progress | undefined {
  const { progress } = init;
  if (progress === undefined || progress === noProgress || calling.tool === "") return undefined;
  return throttleProgress(progress, clock);
}

function addOptional(context: ToolContext, { messageId, task, origin }: ContextInit): void {
  if (messageId !== undefined) Object.assign(context, { messageId });
  if (task !== undefined) Object.assign(context, { task });
  if (origin !== undefined) Object.assign(context, { origin });
}

/** Whether the context's signal can fire at all. */
export function canAbort(context: ToolContext): boolean {
  return stateOf(context)?.conversation.inert !== context.signal;
}

export function progressOf(context: ToolContext): Progress | undefined {
  return stateOf(context)?.progress;
}

/** What was repaired in the call's input, once it was parsed. */
export function repairsOf(context: ToolContext): readonly string[] | undefined {
  return stateOf(context)?.repaired;
}

export function noteRepairs(context: ToolContext, repaired: readonly string[]): void {
  const state = stateOf(context);
  if (state !== undefined) state.repaired = repaired;
}

/** Step 2: what the policy says of the tool as a whole. */
export function toolVerdict(context: ToolContext, tool: string): Verdict | undefined {
  const state = stateOf(context);
  if (state === undefined) return undefined;
  const { policy } = state.conversation.gate;
  const { agent } = context;
  const { calling } = state;
  const last = calling.last;
  if (last !== undefined && last.policy === policy && last.agent === agent) return last.verdict;
  const verdict = policy.check({ tool, agent });
  // Only what core made is known to give the same answer each time.
  if (isStable(policy)) calling.last = { policy, agent, verdict };
  return verdict;
}

/** The asker that a context brings along. */
export function gateAskerOf(init: ContextInit): Asker | undefined {
  return (init as StatefulInit)[stateKey]?.conversation.gate.asker;
}

/** The context whose gate stops asking when the signal that a middleware put in fires. */
export function withOwnSignal(context: ToolContext): ToolContext {
  const state = stateOf(context);
  if (state === undefined || state.signal === context.signal) return context;
  state.given ??= new Map();
  return { ...context, ask: nestedAsk(context.ask, { ...state, signal: context.signal }) };
}

function stateOf(context: ToolContext): ContextState | undefined {
  return (context as Partial<StatefulContext>)[stateKey];
}

/** The same one for every call of a conversation in which nothing was replaced. */
function conversationOf(
  init: StatefulInit,
  given: ContextState | undefined,
  directory: string,
  roots: readonly string[],
): Conversation {
  const { policy, asker, askTimeoutMs, signal, toolName } = init;
  const before = given?.conversation;
  const sameGate = policy === undefined && asker === undefined && askTimeoutMs === undefined;
  if (before !== undefined && sameGate && signal === before.inert && toolName === given?.toolName) return before;
  const { gate } = before ?? {};
  return {
    gate:
      gate !== undefined && sameGate
        ? gate
        : {
            policy: policy ?? gate?.policy ?? defaultPolicy(directory, roots),
            asker: asker ?? gate?.asker,
            askTimeoutMs: askTimeoutMs ?? gate?.askTimeoutMs ?? defaultAskTimeoutMs,
            nextCallId: gate?.nextCallId ?? createCounter(),
            remembered: gate?.remembered ?? new Set(),
          },
    inert: signal === undefined ? new AbortController().signal : signal === before?.inert ? signal : undefined,
    hostToolName: toolName === given?.toolName ? before?.hostToolName : toolName,
  };
}

function askFor(state: ContextState): Ask {
  return (request: AskedRequest) => {
    const nested = request[askedFor];
    return nested === undefined ? askGate(state.conversation.gate, callerFor(state), state, request) : nested(request);
  };
}

/** A call inside a call asks through what middleware put around the outer one, in its own name. */
function nestedAsk(outer: Ask, state: ContextState): Ask {
  const own: Ask = (request) => askGate(state.conversation.gate, callerFor(state), state, request);
  return (request: AskedRequest) => {
    const passed: AskedRequest = { ...request, [askedFor]: request[askedFor] ?? own };
    return outer(passed);
  };
}

function callerFor({ calling, callId, sessionId, agent, signal }: ContextState): Caller {
  return { tool: calling.tool, defaultRules: calling.defaultRules, callId, sessionId, agent, signal };
}

function composeNames(
  host: ToolContext["toolName"] | undefined,
  own: ToolContext["toolName"] | undefined,
): ToolContext["toolName"] {
  if (own === undefined) return host ?? same;
  return host === undefined ? own : (original) => host(own(original));
}

function absolute(directory: string | undefined): string {
  if (directory === undefined)
    throw new TypeError("createContext: there is no working directory here; give `directory`");
  return directory;
}

function checkPaths(directory: string, worktree: string, roots: readonly string[]): void {
  for (const path of [directory, worktree, ...roots]) {
    if (!/^(?:[/\\]|[A-Za-z]:[/\\])/.test(path))
      throw new TypeError(`createContext: "${path}" is not an absolute path`);
  }
}

import { dirname, join } from "node:path";
import { builtinConditions, type ConditionRegistry } from "@toolhaft/asset-format";
import { type Clock, type Family, type Middleware, systemClock, type ToolContext } from "@toolhaft/core";
import type { ArtifactStore } from "./artifacts/artifact.ts";
import { fileArtifacts } from "./artifacts/file-artifacts.ts";
import { createEngine, type Desk, type FunctionEngine } from "./engine.ts";
import { type ObserveOptions, observer } from "./observe.ts";
import { directorySpecs } from "./specs/directory.ts";
import type { FunctionSpecs } from "./specs/specs.ts";
import type { FunctionStore, SignalLog } from "./store.ts";
import { sqliteStore } from "./stores/lazy-sqlite.ts";
import { graphTool } from "./tools/graph.ts";
import { signalTool } from "./tools/signal.ts";
import { stateTool } from "./tools/state.ts";

export interface FunctionsOptions {
  /** Workspace, absolute. @default that of each call; of `engine` and `signals` the current folder */
  directory?: string;
  /** Where functions come from. @default the files of the workspace */
  specs?: FunctionSpecs;
  /** States and signals. @default SQLite at `path` */
  store?: FunctionStore;
  /** @default files in `artifacts/` beside the database */
  artifacts?: ArtifactStore;
  /** Names that conditions may use: `{ ...builtinConditions, my_condition }`. @default those of the format */
  conditions?: ConditionRegistry;
  /** File of the database. @default `<directory>/.toolhaft/functions.db` */
  path?: string;
  /** Names that agents go by; none of them may approve. Agents that sent a signal are known by it. @default ["main"] */
  agents?: readonly string[];
  /** Milliseconds a step waits for another process. @default 10_000 */
  lockTimeoutMs?: number;
  clock?: Clock;
}

export interface Functions extends Family {
  readonly name: "functions";
  readonly engine: FunctionEngine;
  readonly signals: SignalLog;
  /** Feeds `tool` events from any toolset: evidence works with tools that know nothing of functions. */
  observe(options?: ObserveOptions): Middleware;
}

/** A desk for a call: the same one for the same workspace. */
export type DeskOf = (context: Pick<ToolContext, "directory">) => Desk;

/**
 * Functions as a small state machine: gates, hand-overs, evidence, and a signal log. Making the family opens nothing.
 *
 * @example
 * const functions = createFunctions({ directory });
 * await functions.engine.step(session, { type: "activate", function: "plan" });
 */
export function createFunctions(options: FunctionsOptions = {}): Functions {
  const clock = options.clock ?? systemClock;
  const conditions = options.conditions ?? builtinConditions;
  const desks = new Map<string, Desk>();
  const deskOf: DeskOf = (context) => {
    const directory = options.directory ?? context.directory;
    const known = desks.get(directory);
    if (known) return known;
    const path = options.path ?? join(directory, ".toolhaft", "functions.db");
    const desk: Desk = {
      specs: options.specs ?? directorySpecs(directory, { conditions }),
      store: options.store ?? sharedStore(path),
      artifacts: options.artifacts ?? fileArtifacts(join(dirname(path), "artifacts")),
      clock,
      conditions,
      agents: options.agents ?? ["main"],
    };
    desks.set(directory, desk);
    return desk;
  };
  const stores = new Map<string, FunctionStore>();
  const sharedStore = (path: string): FunctionStore => {
    const store = stores.get(path) ?? sqliteStore({ path, clock, lockTimeoutMs: options.lockTimeoutMs ?? 10_000 });
    stores.set(path, store);
    return store;
  };
  const own = () => deskOf({ directory: process.cwd() });
  const close = async () => {
    for (const store of stores.values()) await store.close();
    await options.store?.close();
  };
  return {
    name: "functions",
    tools: [signalTool(deskOf), stateTool(deskOf), graphTool(deskOf)],
    engine: {
      step: (session, event, signal) => createEngine(own()).step(session, event, signal),
      state: (session) => createEngine(own()).state(session),
      prompt: (session) => createEngine(own()).prompt(session),
    },
    signals: {
      since: (session, seq, limit) => own().store.signals.since(session, seq, limit),
      openPause: (session) => own().store.signals.openPause(session),
      terminating: (session, sinceSeq) => own().store.signals.terminating(session, sinceSeq),
      resolutions: (session) => own().store.signals.resolutions(session),
      subscribe: (listener) => own().store.signals.subscribe(listener),
      prune: (prune) => own().store.signals.prune(prune),
    },
    observe: (observing) => observer(deskOf, observing),
    close,
    [Symbol.asyncDispose]: close,
  };
}

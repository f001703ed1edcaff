import type { AnyTool, Family, ToolContext } from "@toolhaft/core";
import { createId, ToolError } from "@toolhaft/core";
import type { Applied, Caller, LaneSnapshot, Task, TaskBackend } from "@toolhaft/tasks";
import { severalOpen } from "./approval.ts";
import type { Desk } from "./desk.ts";
import { Engine } from "./engine/engine.ts";
import type { RecoveryReport } from "./engine/recovery.ts";
import { Metrics } from "./metrics.ts";
import type { Notifier, ToolName } from "./notices/notice.ts";
import { type DispatchOptions, settingsOf } from "./options.ts";
import { toolsOf } from "./tools/index.ts";
import { Tracing } from "./tracing.ts";

/** What a host or a person does with a dispatcher, and no tool. */
export interface DispatchApi {
  /** Registers, recovers and begins to work on the store of the working directory. */
  start(): Promise<RecoveryReport>;
  /** Waits until nothing of this dispatcher's stores is open, at most `timeoutMs`. @default 600_000 */
  drain(options?: { timeoutMs?: number }): Promise<{ unfinished: readonly Task[] }>;
  /** A person's yes from outside. */
  approve(taskId: string, by: { human: string }, options?: DecideOptions): Promise<Applied>;
  /** A person's no from outside. */
  reject(taskId: string, by: { human: string }, options?: DecideOptions): Promise<Applied>;
  /** Delivers a session's notices through this notifier until it is disposed of. */
  attach(sessionId: string, notifier: Notifier, options?: { toolName?: ToolName }): Disposable;
  /** Prometheus text exposition. */
  metricsText(): Promise<string>;
  /** Closes, and gives what was not finished, so that a program can say so. */
  shutdown(how?: "release" | "cancel" | "wait"): Promise<{ unfinished: readonly string[] }>;
}

export interface DecideOptions {
  /** Needed when several are open. */
  approvalId?: string;
  comment?: string;
}

export interface Dispatch extends Family {
  readonly name: "dispatch";
  readonly api: DispatchApi;
}

/**
 * The dispatch family: runs subagents and records everything in a task store. Starts nothing until the first call or
 * `start()`.
 *
 * @throws TypeError for an option that is unknown or out of range, naming it
 */
export function createDispatch(options: DispatchOptions): Dispatch {
  const settings = settingsOf(options);
  const engines = new Map<TaskBackend, Engine>();
  const metrics = new Metrics(settings.metrics, () => allLanes(engines));
  const tracing = new Tracing(settings.metrics.tracer);
  const attached = new Map<string, { notifier: Notifier; toolName: ToolName; on: Map<Engine, Disposable> }>();
  let closing: Promise<{ unfinished: readonly string[] }> | undefined;

  const engineOf = (directory: string): Engine => {
    if (closing !== undefined) throw new ToolError("unavailable", "this dispatcher has been closed");
    const backend = settings.tasks.api.backend(directory);
    let engine = engines.get(backend);
    if (engine === undefined) {
      engine = new Engine(settings, backend, metrics, tracing, directory);
      engines.set(backend, engine);
      for (const [session, { notifier, toolName, on }] of attached) {
        on.set(engine, engine.delivery.attach(session, notifier, toolName));
        engine.serve(session, toolName, false);
      }
    }
    return engine;
  };
  const known = settings.tasks.api.knowAgents(async (name) => (await settings.agents.get(name)) !== undefined);
  const home = () => engineOf(settings.directory ?? process.cwd());

  const desk: Desk = {
    settings,
    metrics,
    async open(context: ToolContext): Promise<{ engine: Engine; caller: Caller }> {
      const engine = engineOf(context.directory);
      await tracing.load();
      engine.serve(context.sessionId, context.toolName, context.task === undefined);
      await engine.start();
      return { engine, caller: await settings.tasks.api.caller(context) };
    },
  };

  const decide = async (
    decision: "approved" | "rejected",
    taskId: string,
    by: { human: string },
    { approvalId, comment }: DecideOptions = {},
  ): Promise<Applied> => {
    const engine = [...engines.values(), home()][0] ?? home();
    for (const one of new Set([...engines.values(), engine])) {
      const open = await one.store.approvals({ taskId, open: true });
      const chosen = approvalId ?? (open.length === 1 ? open[0]?.id : undefined);
      if (chosen === undefined) {
        if (open.length > 1) throw new ToolError("conflict", severalOpen(open.map(({ id }) => id)));
        continue;
      }
      const edge = {
        kind: "decide",
        key: createId(),
        approvalId: chosen,
        decision,
        by,
        comment: comment ?? null,
      } as const;
      const applied = await one.queue.apply(taskId, edge);
      if (applied.ok || applied.why !== "not_found") {
        if (applied.ok) metrics.count("approvals", { decision });
        return applied;
      }
    }
    const task = await engine.store.get(taskId);
    return task === undefined ? { ok: false, why: "not_found" } : { ok: false, why: "wrong_state", task };
  };

  const shutdown = (how: "release" | "cancel" | "wait" = settings.onClose) => {
    closing ??= (async () => {
      const open = [...engines.values()];
      engines.clear();
      known[Symbol.dispose]();
      const unfinished = (await Promise.all(open.map((engine) => engine.close(how)))).flat();
      if (settings.ownsTasks) await settings.tasks.close();
      return { unfinished };
    })();
    return closing;
  };

  const api: DispatchApi = {
    async start() {
      await tracing.load();
      return home().start();
    },
    drain: ({ timeoutMs = 600_000 } = {}) => drain([...engines.values()], timeoutMs),
    approve: (taskId, by, more) => decide("approved", taskId, by, more),
    reject: (taskId, by, more) => decide("rejected", taskId, by, more),
    attach(sessionId, notifier, { toolName = sameName } = {}) {
      const on = new Map<Engine, Disposable>();
      const open = new Set([...engines.values(), home()]);
      attached.set(sessionId, { notifier, toolName, on });
      for (const engine of open) {
        on.set(engine, engine.delivery.attach(sessionId, notifier, toolName));
        engine.serve(sessionId, toolName, false);
      }
      return {
        [Symbol.dispose]() {
          if (attached.get(sessionId)?.on === on) attached.delete(sessionId);
          for (const one of on.values()) one[Symbol.dispose]();
        },
      };
    },
    metricsText: () => metrics.text(),
    shutdown,
  };
  const close = async () => {
    await shutdown();
  };
  return {
    name: "dispatch",
    tools: toolsOf(desk) satisfies readonly AnyTool[],
    api,
    close,
    [Symbol.asyncDispose]: close,
  };
}

const sameName: ToolName = (name) => name;

async function allLanes(engines: ReadonlyMap<TaskBackend, Engine>): Promise<readonly LaneSnapshot[]> {
  return (await Promise.all([...engines.values()].map(({ store }) => store.lanes()))).flat();
}

const ending: ReadonlySet<string> = new Set([
  "completed",
  "failed",
  "timed_out",
  "cancelled",
  "budget_exceeded",
  "lease_lost",
]);

/** Waits until every dispatch task that waits or runs has ended. */
async function drain(engines: readonly Engine[], timeoutMs: number): Promise<{ unfinished: readonly Task[] }> {
  const open = (engine: Engine, limit: number) =>
    engine.store.find({ kind: "dispatch", statuses: ["pending", "running", "awaiting_approval"], limit });
  const deadline = performance.now() + timeoutMs;
  const left = await Promise.all(
    engines.map(async (engine) => {
      await engine.changes.until(
        async () =>
          // What runs here is unfinished: the store need not be asked.
          !engine.isRunning() && (await open(engine, 1)).items.length === 0 ? true : undefined,
        Math.max(0, deadline - performance.now()),
        new AbortController().signal,
        ({ kind }) => ending.has(kind),
      );
      return (await open(engine, 100)).items;
    }),
  );
  return { unfinished: left.flat() };
}

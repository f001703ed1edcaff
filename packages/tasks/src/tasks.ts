import { join } from "node:path";
import { type AnyTool, systemClock } from "@toolhaft/core";
import type { Workspace } from "@toolhaft/workspace";
import { callerOf } from "./caller.ts";
import { checkOptions } from "./check-options.ts";
import type { ClaimBook, Desk } from "./desk.ts";
import type { Tasks, TasksOptions } from "./options.ts";
import { sqliteTasks } from "./sqlite-tasks.ts";
import type { ClaimRef, TaskBackend } from "./store.ts";
import { budgetTool } from "./tools/budget.ts";
import { chronologyTool } from "./tools/chronology.ts";
import { claimTool } from "./tools/claim.ts";
import { completeTool } from "./tools/complete.ts";
import { concurrencyTool } from "./tools/concurrency.ts";
import { exportTool } from "./tools/export.ts";
import { graphTool } from "./tools/graph.ts";
import { listTool } from "./tools/list.ts";
import { postTool } from "./tools/post.ts";
import { retryTool } from "./tools/retry.ts";
import { searchTool } from "./tools/search.ts";
import { statusTool } from "./tools/status.ts";
import { updateTool } from "./tools/update.ts";

/** Milliseconds between two runs of the retention. */
const pruneEveryMs = 3_600_000;

/**
 * The task family: a shared board, and the history of everything that was run. Opens nothing before the first call.
 *
 * @throws TypeError for an unknown option, or one out of its range
 */
export function createTasks(options: TasksOptions = {}): Tasks {
  checkOptions(options);
  const clock = options.clock ?? systemClock;
  const backends = new Map<string, TaskBackend>();
  const workspaces = new Map<string, Promise<Workspace>>();
  const directories = new Set<(agent: string) => Promise<boolean>>();
  const prunedAt = new WeakMap<TaskBackend, number>();
  const backend = (directory: string): TaskBackend => {
    if (options.store !== undefined) return options.store;
    const path = options.path ?? join(directory, ".toolhaft", "tasks.db");
    let found = backends.get(path);
    if (found === undefined) {
      found = sqliteTasks({ path, clock, ...(options.durability && { durability: options.durability }) });
      backends.set(path, found);
    }
    return found;
  };
  const desk: Desk = {
    clock,
    maxWaitMs: options.maxWaitMs ?? 600_000,
    visibility: options.visibility ?? "store",
    board: { leaseMs: 600_000, maxAttempts: 3, maxPending: 10_000, ...options.board },
    backend: ({ directory }) => backend(directory),
    caller: (context) => callerOf(context, backend(context.directory).store),
    async workspace(directory) {
      if (options.workspace !== undefined) return options.workspace;
      let made = workspaces.get(directory);
      if (made === undefined) {
        made = import("@toolhaft/workspace").then(({ createWorkspace }) => createWorkspace({ root: directory }));
        workspaces.set(directory, made);
      }
      return made;
    },
    claims: claimBook(),
    async canRun(agent) {
      for (const knows of directories) if (await knows(agent)) return true;
      return directories.size === 0;
    },
    async prune({ directory }) {
      const store = backend(directory);
      const now = performance.now();
      if (now - (prunedAt.get(store) ?? Number.NEGATIVE_INFINITY) < pruneEveryMs) return;
      prunedAt.set(store, now);
      await store.store.prune(options.retention);
    },
  };
  const close = async () => {
    const open = [...backends.values()];
    backends.clear();
    for (const one of open) await one.close();
    await options.store?.close();
    for (const made of workspaces.values()) await (await made).close();
    workspaces.clear();
  };
  return {
    name: "tasks",
    tools: toolsOf(desk),
    api: {
      clock,
      maxWaitMs: desk.maxWaitMs,
      visibility: desk.visibility,
      backend,
      caller: desk.caller,
      knowAgents(knows) {
        directories.add(knows);
        return { [Symbol.dispose]: () => void directories.delete(knows) };
      },
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

function toolsOf(desk: Desk): readonly AnyTool[] {
  return Object.freeze([
    searchTool(desk),
    graphTool(desk),
    budgetTool(desk),
    chronologyTool(desk),
    exportTool(desk),
    concurrencyTool(desk),
    retryTool(desk),
    postTool(desk),
    claimTool(desk),
    completeTool(desk),
    updateTool(desk),
    listTool(desk),
    statusTool(desk),
  ] as AnyTool[]);
}

function claimBook(): ClaimBook {
  const claims = new Map<string, ClaimRef>();
  const keyOf = (context: { agent: string; sessionId: string; directory: string }, taskId: string) =>
    JSON.stringify([context.directory, taskId, context.agent, context.sessionId]);
  return {
    remember: (context, ref) => void claims.set(keyOf(context, ref.taskId), { taskId: ref.taskId, fence: ref.fence }),
    of: (context, taskId) => claims.get(keyOf(context, taskId)),
    forget: (context, taskId) => void claims.delete(keyOf(context, taskId)),
  };
}

import { join } from "node:path";
import { systemClock } from "@toolhaft/core";
import { callerOf } from "./caller.ts";
import type { Tasks, TasksOptions } from "./options.ts";
import { sqliteTasks } from "./sqlite-tasks.ts";
import type { TaskBackend } from "./store.ts";

/**
 * The task family: a shared board, and the history of everything that was run. Opens nothing before the first call.
 *
 * @throws TypeError for an unknown option, or one out of its range
 */
export function createTasks(options: TasksOptions = {}): Tasks {
  const backends = new Map<string, TaskBackend>();
  const clock = options.clock ?? systemClock;
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
  const close = async () => {
    const open = [...backends.values()];
    backends.clear();
    for (const one of open) await one.close();
    await options.store?.close();
  };
  return {
    name: "tasks",
    tools: [],
    api: {
      clock,
      maxWaitMs: options.maxWaitMs ?? 600_000,
      visibility: options.visibility ?? "store",
      backend,
      caller: (context) => callerOf(context, backend(context.directory).store),
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

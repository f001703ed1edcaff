import { ToolError } from "@toolhaft/core";
import type { Caller, Task, TaskStore } from "@toolhaft/tasks";
import type { Engine } from "./engine/engine.ts";

/** The task and every one above it, nearest first. */
export async function chainOf(store: TaskStore, task: Task): Promise<readonly Task[]> {
  const chain = [task];
  let at = task.parentTask;
  while (at !== null) {
    const above = await store.get(at);
    if (above === undefined) break;
    chain.push(above);
    at = above.parentTask;
  }
  return chain;
}

/** Whether the caller is the task itself, or works somewhere below it. */
export async function isAtOrBelow(store: TaskStore, caller: Caller, taskId: string): Promise<boolean> {
  if (caller.task === null) return false;
  return (await chainOf(store, caller.task)).some(({ id }) => id === taskId);
}

/**
 * A task is controlled by the session that owns it, by those above, and, when no living engine serves its owner, by any
 * root session on the store.
 */
export async function mayControl(engine: Engine, caller: Caller, task: Task): Promise<boolean> {
  if (caller.task?.id === task.id) return false;
  const session = caller.actor.sessionId;
  const chain = await chainOf(engine.store, task);
  if (task.rootSession === session || chain.some(({ ownerSession }) => ownerSession === session)) return true;
  if (caller.task !== null) return chain.slice(1).some(({ id }) => id === caller.task?.id);
  if (engine.servesSession(task.ownerSession)) return false;
  const engines = await engine.store.engines();
  return !engines.some(({ alive, sessions }) => alive && sessions.includes(task.ownerSession));
}

/** @throws ToolError `denied` */
export async function requireControl(engine: Engine, caller: Caller, task: Task, what: string): Promise<void> {
  if (await mayControl(engine, caller, task)) return;
  throw new ToolError("denied", `${task.id} is not yours to ${what}: it belongs to session ${task.ownerSession}`, {
    hint: "only the session that launched a task, and those above it, control it; a person can do so from outside",
    details: { by: "policy", owner: task.ownerSession },
  });
}

/** Every task below, whatever its state, nearest first. */
export async function descendantsOf(store: TaskStore, taskId: string): Promise<readonly Task[]> {
  const found: Task[] = [];
  const queue = [taskId];
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    let cursor: string | undefined;
    do {
      const page = await store.find({ parentTask: next, limit: 100, ...(cursor !== undefined && { cursor }) });
      for (const task of page.items) {
        found.push(task);
        queue.push(task.id);
      }
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
  }
  return found;
}

import type { Task, TaskStore } from "@toolhaft/tasks";

/**
 * How long an attempt has worked before a claim that goes on with it, in milliseconds: the wall limit counts that, and
 * not the time it waited.
 */
export async function spentBefore(store: TaskStore, task: Task): Promise<number> {
  const { items } = await store.events(task.id, {
    kinds: ["started", "approval_requested", "released", "lease_lost"],
    limit: 500,
  });
  let spent = 0;
  let since: number | undefined;
  for (const { attempt, kind, at } of items) {
    if (attempt !== task.attempt) continue;
    const time = Date.parse(at);
    if (kind === "started") since = time;
    else if (since !== undefined) {
      spent += Math.max(0, time - since);
      since = undefined;
    }
  }
  return spent;
}

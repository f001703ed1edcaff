import { isEnded, type Task } from "@toolhaft/tasks";
import type { Engine } from "./engine/engine.ts";

/** Waits until a task ends or `until` says so, and gives it as it is then. */
export async function waitFor(
  { changes, store }: Pick<Engine, "changes" | "store">,
  taskId: string,
  ms: number,
  signal: AbortSignal,
  until: (task: Task) => boolean = () => false,
): Promise<Task | undefined> {
  let last: Task | undefined;
  await changes.until(
    async () => {
      last = await store.get(taskId);
      return last === undefined || isEnded(last.state) || until(last) ? true : undefined;
    },
    ms,
    signal,
    (hint) => hint.taskId === taskId,
  );
  return last;
}

/** Ids of the notices that say how an attempt ended. */
export function endNotices(task: Task): string[] {
  const kind = { completed: "completed", failed: "failed", timed_out: "timeout", cancelled: "cancelled" } as const;
  const { state } = task;
  if (!isEnded(state) || !(state in kind)) return [];
  const name = task.end?.reason === "budget_exceeded" ? "budget" : kind[state as keyof typeof kind];
  return [`${task.id}:${task.attempt}:${name}`];
}

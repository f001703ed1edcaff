import { createId } from "@toolhaft/core";
import { type Actor, isEnded, type Task } from "@toolhaft/tasks";
import type { Engine } from "./engine/engine.ts";
import { descendantsOf } from "./ownership.ts";

export type CancelOutcome = "cancelled" | "requested" | "already_ended";

/** Ends what waits at once, and asks what runs to stop. */
export async function cancelTask(
  { queue, store }: Pick<Engine, "queue" | "store">,
  taskId: string,
  by: Actor,
  reason: string | null,
): Promise<{ outcome: CancelOutcome; task: Task | undefined }> {
  // A task may start or end between two looks; one of the two edges fits soon.
  for (let tries = 0; tries < 20; tries++) {
    const task = await store.get(taskId);
    if (task === undefined || isEnded(task.state)) return { outcome: "already_ended", task };
    const held = task.state === "starting" || task.state === "running";
    if (held && task.cancelRequested !== null) return { outcome: "requested", task };
    const kind = held ? "request_cancel" : "cancel";
    const applied = await queue.apply(taskId, { kind, key: createId(), by, reason });
    if (applied.ok) return { outcome: held ? "requested" : "cancelled", task: applied.task };
  }
  return { outcome: "requested", task: await store.get(taskId) };
}

/** The task and, unless told otherwise, everything below it. */
export async function cancelTree(
  engine: Pick<Engine, "queue" | "store">,
  taskId: string,
  by: Actor,
  reason: string | null,
  cascade: boolean,
): Promise<{ outcome: CancelOutcome; task: Task | undefined; cascaded: string[] }> {
  const own = await cancelTask(engine, taskId, by, reason);
  const cascaded: string[] = [];
  if (cascade && own.outcome !== "already_ended") {
    for (const { id, state } of await descendantsOf(engine.store, taskId)) {
      if (isEnded(state)) continue;
      const { outcome } = await cancelTask(engine, id, by, reason);
      if (outcome !== "already_ended") cascaded.push(id);
    }
  }
  return { ...own, cascaded };
}

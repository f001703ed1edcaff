import type { Task } from "@toolhaft/tasks";
import type { Engine } from "../engine/engine.ts";

/** Longest queue in which a task's place is counted one by one. */
const exactBelow = 20;

export interface QueuePlace {
  ahead: number;
  waitsFor: "slot" | "budget" | "dependency";
  lane: string;
}

/** What a task that has not started waits for; null once it has. */
export async function queueOf(engine: Engine, task: Task): Promise<QueuePlace | null> {
  const lane = task.lane ?? "";
  if (task.state === "blocked") return { ahead: task.dependsOn.length, waitsFor: "dependency", lane };
  if (task.state !== "queued") return null;
  const snapshot = (await engine.store.lanes()).find((one) => one.lane === lane);
  if (snapshot === undefined) return { ahead: 0, waitsFor: "slot", lane };
  const free = task.mode === "sync" ? snapshot.available.sync : snapshot.available.background;
  // Of a long queue the length says enough: what was posted last stands behind all of its priority.
  const ahead = snapshot.queued > exactBelow ? snapshot.queued - 1 : await aheadOf(engine, task);
  return { ahead, waitsFor: free > ahead ? "budget" : "slot", lane };
}

async function aheadOf(engine: Engine, task: Task): Promise<number> {
  let ahead = 0;
  let cursor: string | undefined;
  do {
    const page = await engine.store.find({
      kind: "dispatch",
      statuses: ["pending"],
      limit: 100,
      ...(cursor !== undefined && { cursor }),
    });
    for (const one of page.items)
      if (one.lane === task.lane && one.state === "queued" && one.id !== task.id)
        if (one.priority > task.priority || (one.priority === task.priority && one.seq < task.seq)) ahead += 1;
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return ahead;
}

/** A place in words, where a session id would stand. */
export function waits(queue: QueuePlace | null | undefined, status: string): string {
  if (queue === undefined || queue === null) return status === "pending" ? "(starting)" : "(none yet)";
  if (queue.waitsFor === "dependency") return `(waits for ${queue.ahead} other task${queue.ahead === 1 ? "" : "s"})`;
  if (queue.waitsFor === "budget") return "(queued, waits for budget)";
  return `(queued, ${queue.ahead} ahead in lane ${queue.lane})`;
}

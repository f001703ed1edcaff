import type { KnownEngine, Task, TaskBackend, TaskQueue } from "@toolhaft/tasks";

/** What starting found and did. */
export interface RecoveryReport {
  engine: string;
  /** Tasks that the sweep moved on: claims that were over, limits that had passed. */
  moved: readonly string[];
  /** Interrupted too long ago: they wait for a yes. */
  held: readonly string[];
  /** Tasks that wait for a slot. */
  queued: number;
}

/**
 * Whether nobody served the store for longer than `withinMs` since a task was last touched.
 *
 * @param touched Milliseconds since the epoch, as all times here.
 */
export function isStale(
  touched: number,
  engines: readonly Pick<KnownEngine, "startedAt" | "beatAt">[],
  now: number,
  withinMs: number,
): boolean {
  const served = engines
    .map(({ startedAt, beatAt }) => ({ from: Date.parse(startedAt), to: Date.parse(beatAt) }))
    .sort((a, b) => a.from - b.from);
  let covered = touched;
  for (const { from, to } of served) {
    if (to <= covered) continue;
    if (from - covered > withinMs) return true;
    covered = Math.max(covered, to);
  }
  return now - covered > withinMs;
}

/** Queued tasks of these agents that are stale take the edge `hold`. Nothing is started, and no money spent, unasked. */
export async function holdStale(
  backend: TaskBackend,
  now: number,
  withinMs: number,
  expiresMs: number,
): Promise<string[]> {
  const { store, queue } = backend;
  const engines = await store.engines();
  const held: string[] = [];
  for (const task of await pendingOf(backend)) {
    if (task.state !== "queued" || Date.parse(task.createdAt) > now - withinMs) continue;
    const { items } = await store.events(task.id, { afterSeq: Math.max(0, task.lastEventSeq - 1), limit: 1 });
    const touched = Date.parse(items[0]?.at ?? task.createdAt);
    if (!isStale(touched, engines, now, withinMs)) continue;
    const applied = await queue.apply(task.id, {
      kind: "hold",
      key: `${task.id}:${task.lastEventSeq}:hold`,
      approval: {
        kind: "stale_resume",
        key: `stale:${task.lastEventSeq}`,
        title: `Start "${task.title}", which was interrupted long ago?`,
        approvers: "owner",
        expiresMs,
      },
    });
    if (applied.ok) held.push(task.id);
  }
  return held;
}

async function pendingOf({ store }: TaskBackend): Promise<Task[]> {
  const found: Task[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.find({
      kind: "dispatch",
      statuses: ["pending"],
      limit: 100,
      ...(cursor !== undefined && { cursor }),
    });
    found.push(...page.items);
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return found;
}

/** Sweeps until nothing is due; gives the tasks that moved. */
export async function sweepAll(queue: TaskQueue): Promise<string[]> {
  const moved: string[] = [];
  for (let more = true; more; ) {
    const report = await queue.sweep();
    moved.push(...report.moved.map(({ taskId }) => taskId));
    more = report.more;
  }
  return moved;
}

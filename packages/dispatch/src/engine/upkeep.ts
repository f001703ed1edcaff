import { isEnded, type Task, type TaskQueue, type TaskStore } from "@toolhaft/tasks";
import type { Run } from "./run.ts";

/** Stops what has lost its lease by this process's own clock, and renews what is due. */
export async function renewLeases(
  queue: TaskQueue,
  runs: Iterable<Run>,
  leaseMs: number,
  onCancel: (taskId: string) => Promise<void>,
): Promise<void> {
  const now = performance.now();
  const due = [...runs].filter((run) => run.lease.isDue(now) && run.stopped?.kind !== "lost");
  if (due.length === 0) return;
  const refs = due.map((run) => run.ref);
  const answers = await queue.renew(refs, leaseMs);
  for (const [at, run] of due.entries()) {
    const answer = answers[at];
    // One that was claimed anew meanwhile has another fence.
    if (run.ref !== refs[at]) continue;
    if (answer === "lost") run.stop({ kind: "lost" });
    else run.lease.renewed(now);
    if (answer === "cancel_requested") await onCancel(run.taskId);
  }
}

/** Stops what is over a limit. */
export async function checkLimits(store: TaskStore, runs: Iterable<Run>, now: number): Promise<void> {
  for (const run of [...runs]) {
    const over = run.checkLimits(now);
    if (over === undefined) continue;
    if (over.kind === "limit" && over.reason === "idle_timeout" && (await waitsForChild(store, run.taskId)))
      run.signOfLife();
    else run.stop(over);
  }
}

/** The idle clock stands still while a child runs that the task waits for. */
async function waitsForChild(store: TaskStore, taskId: string): Promise<boolean> {
  const { items } = await store.find({
    kind: "dispatch",
    parentTask: taskId,
    statuses: ["pending", "running", "awaiting_approval"],
    limit: 100,
  });
  return items.some(({ mode }) => mode === "sync");
}

/** Stops a run whose row says that it is not ours to run any more. */
export function stopByRow(run: Run, task: Task | undefined): void {
  if (task === undefined || isEnded(task.state)) run.stop({ kind: "lost" });
  else if (task.cancelRequested !== null && task.fence === run.ref.fence)
    run.stop({ kind: "cancel", ...task.cancelRequested });
}

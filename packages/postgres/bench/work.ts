import type { NewTask, TaskBackend } from "@toolhaft/tasks";

/** What both sides are given to do: tasks of some owners, each claimed once and completed with a short result. */
export const owners = 8;

export const task = (index: number): NewTask => ({
  kind: "board",
  title: `Task ${index}`,
  body: "What is to be done.",
  createdBy: { agent: "bench", sessionId: "bench" },
  ownerSession: `owner-${index % owners}`,
  rootSession: `owner-${index % owners}`,
});

export async function postMany({ queue }: TaskBackend, count: number, from = 0): Promise<void> {
  for (let at = 0; at < count; at += 500) {
    await queue.post(Array.from({ length: Math.min(500, count - at) }, (_, index) => task(from + at + index)));
  }
}

/** Claims up to so many tasks at once and completes each; gives how many there were. */
export async function workOurs({ queue }: TaskBackend, worker: string, count: number): Promise<number> {
  const claims = await queue.claim({
    by: { agent: worker, sessionId: worker },
    kind: "board",
    n: count,
    leaseMs: 60_000,
  });
  await Promise.all(
    claims.map((ref) =>
      queue.apply(ref.taskId, {
        kind: "complete",
        key: `${ref.taskId}:${ref.fence}`,
        ref,
        result: { text: "done" },
      }),
    ),
  );
  return claims.length;
}

/** Lets so many loops run side by side until each finds nothing more, or `enough` were done. */
export async function inFlight(
  loops: number,
  step: (loop: number) => Promise<number>,
  enough = Number.POSITIVE_INFINITY,
): Promise<number> {
  let done = 0;
  await Promise.all(
    Array.from({ length: loops }, async (_, loop) => {
      for (let more = 1; more > 0 && done < enough; done += more) more = await step(loop);
    }),
  );
  return done;
}

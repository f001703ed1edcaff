import type { NewTask, TaskBackend } from "../src/index.ts";

export const by = { agent: "bench", sessionId: "bench" };

export const task = (index: number, more: Partial<NewTask> = {}): NewTask => ({
  kind: "board",
  title: `Task ${index}`,
  body: "What is to be done.",
  createdBy: by,
  ownerSession: "bench",
  rootSession: "bench",
  ...more,
});

export const postMany = ({ queue }: TaskBackend, count: number) =>
  queue.post(Array.from({ length: count }, (_, index) => task(index)));

/** Claims up to so many tasks at once and completes each; gives how many there were. */
export async function work({ queue }: TaskBackend, count: number): Promise<number> {
  const claims = await queue.claim({ by, kind: "board", n: count, leaseMs: 60_000 });
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

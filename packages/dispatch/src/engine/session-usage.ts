import type { Task, TaskStore, Usage } from "@toolhaft/tasks";

/** What other attempts used in a session; null where nobody said. */
export async function usedBefore(store: TaskStore, session: string, task: Task): Promise<Usage | null> {
  const { items } = await store.find({ kind: "dispatch", sessionId: session, limit: 100 });
  let sum: Usage | null = null;
  for (const one of items) {
    for (const { attempt, sessionId, usage } of await store.attempts(one.id)) {
      if (sessionId !== session || usage === null || (one.id === task.id && attempt === task.attempt)) continue;
      sum = sum === null ? usage : addUsage(sum, usage);
    }
  }
  return sum;
}

function addUsage(a: Usage, b: Usage): Usage {
  const add = (x: number | null, y: number | null) => (x === null && y === null ? null : (x ?? 0) + (y ?? 0));
  return {
    inputTokens: add(a.inputTokens, b.inputTokens),
    outputTokens: add(a.outputTokens, b.outputTokens),
    reasoningTokens: add(a.reasoningTokens, b.reasoningTokens),
    cacheReadTokens: add(a.cacheReadTokens, b.cacheReadTokens),
    cacheWriteTokens: add(a.cacheWriteTokens, b.cacheWriteTokens),
    costUsd: add(a.costUsd, b.costUsd),
    complete: a.complete && b.complete,
  };
}

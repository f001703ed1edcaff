import type { BudgetMeasure, BudgetScope, TaskStore } from "@toolhaft/tasks";
import type { Run } from "./run.ts";

const measures: readonly BudgetMeasure[] = ["inputTokens", "outputTokens", "totalTokens", "costUsd", "sessions"];

/** Tells the owner once when a budget above the run comes near its end. */
export async function warnOfBudget(store: TaskStore, run: Run, { warnAt }: { warnAt: number }): Promise<void> {
  for (const scope of await scopesOf(store, run.taskId, run.task.rootSession)) {
    const { limits, used } = await store.budget(scope);
    for (const measure of measures) {
      const limit = limits?.[measure];
      const spent = used[measure];
      if (limit === undefined || spent === null || spent < limit * warnAt) continue;
      const name = "root" in scope ? `root:${scope.root}` : scope.task;
      await store.append(run.taskId, run.ref, {
        key: `budget:${name}:${measure}:warning`,
        kind: "budget_warning",
        data: { scope: name, measure, used: spent, limit },
        notice: { kind: "budget", n: 1 },
      });
    }
  }
}

/** The root, the task, and every task above it. */
export async function scopesOf(store: TaskStore, taskId: string, root: string): Promise<BudgetScope[]> {
  const scopes: BudgetScope[] = [{ root }];
  let at: string | null = taskId;
  while (at !== null) {
    scopes.push({ task: at });
    at = (await store.get(at))?.parentTask ?? null;
  }
  return scopes;
}

/** What is said of a claim that has used all it was granted. */
export async function usedUp(store: TaskStore, taskId: string): Promise<string | undefined> {
  const { claim } = await store.budget({ task: taskId });
  if (claim?.exceeded == null) return undefined;
  const { exceeded, consumed, granted } = claim;
  return `the budget is used up: ${exceeded} ${consumed[exceeded]} of ${granted[exceeded] ?? 0} granted`;
}

import type { ContextInit } from "@toolhaft/core";
import type { ClaimRef, Task, TaskQueue, TaskStore, Usage } from "@toolhaft/tasks";
import type { Metrics } from "../metrics.ts";
import type { Settings } from "../options.ts";
import type { RunOutcome } from "../runner.ts";
import type { Run } from "./run.ts";

/** What a run needs from its engine. */
export interface RunEnvironment {
  readonly settings: Settings;
  readonly store: TaskStore;
  readonly queue: TaskQueue;
  readonly metrics: Metrics;
  readonly directory: string;
  /** Where child processes find the store. */
  readonly storeName: string;
  readonly host: string;
  readonly engineId: string;
  /** What the dispatching call allows, for tools that the subagent calls in this process. */
  contextFor(task: Task): ContextInit;
  /** What other attempts used in a session. */
  usedBefore(session: string, task: Task): Promise<Usage | null>;
  warnOfBudget(run: Run): Promise<void>;
  started(run: Run): void;
  ended(run: Run, task: Task): void;
  /** A runner that had been given up has settled after all. */
  late(taskId: string, ref: ClaimRef, outcome: RunOutcome): Promise<void>;
  /** Something went wrong that belongs to no task. */
  fault(message: string): void;
}

import { type Clock, type ToolContext, ToolError } from "@toolhaft/core";
import type { Workspace } from "@toolhaft/workspace";
import type { Caller } from "./caller.ts";
import { checkTaskId, noSuchTask } from "./ids.ts";
import type { Task } from "./model.ts";
import type { ClaimRef, TaskBackend } from "./store.ts";

/** What the tools work with. */
export interface Desk {
  readonly clock: Clock;
  readonly maxWaitMs: number;
  readonly visibility: "store" | "root";
  readonly board: { leaseMs: number; maxAttempts: number; maxPending: number };
  backend(context: Pick<ToolContext, "directory">): TaskBackend;
  caller(context: ToolContext): Promise<Caller>;
  workspace(directory: string): Promise<Workspace>;
  /** Claims made through this family, so that holders need not repeat their tokens. */
  readonly claims: ClaimBook;
  /** Whether a dispatcher here can run an agent; true where none is here to say. */
  canRun(agent: string): Promise<boolean>;
  /** Takes old tasks out, at most hourly. */
  prune(context: Pick<ToolContext, "directory">): Promise<void>;
}

/** Fences of claims by task and holder. */
export interface ClaimBook {
  remember(context: Pick<ToolContext, "agent" | "sessionId" | "directory">, ref: ClaimRef): void;
  of(context: Pick<ToolContext, "agent" | "sessionId" | "directory">, taskId: string): ClaimRef | undefined;
  forget(context: Pick<ToolContext, "agent" | "sessionId" | "directory">, taskId: string): void;
}

/** The caller's root where only that is to be seen. */
export async function visibleRoot(desk: Desk, context: ToolContext): Promise<string | undefined> {
  return desk.visibility === "root" ? (await desk.caller(context)).rootSession : undefined;
}

/** @throws ToolError `invalid_input` for what is no id, `not_found` for one that is not there or not to be seen */
export async function taskFor(desk: Desk, context: ToolContext, id: string, field = "task_id"): Promise<Task> {
  checkTaskId(field, id);
  const task = await desk.backend(context).store.get(id);
  const root = await visibleRoot(desk, context);
  if (task === undefined || (root !== undefined && task.rootSession !== root)) throw noSuchTask();
  return task;
}

/** A fact about a task that no repeating changes. */
export function conflict(message: string, hint: string, details: Record<string, unknown> = {}): ToolError {
  return new ToolError("conflict", message, { hint, retryable: false, details });
}

import { createId, type ToolContext, ToolError } from "@toolhaft/core";
import { conflict, type Desk, taskFor } from "./desk.ts";
import type { Edge } from "./edges.ts";
import { isEnded } from "./edges.ts";
import type { Task } from "./model.ts";
import type { ClaimRef } from "./store.ts";

/** A key for an edge that is wished for now. */
export function newKey(): string {
  return createId();
}

/** A board task the caller may see. @throws ToolError `denied` for one that a dispatcher runs */
export async function boardTask(desk: Desk, context: ToolContext, id: string): Promise<Task> {
  const task = await taskFor(desk, context, id);
  if (task.kind === "board") return task;
  throw new ToolError("denied", "this task is run by a dispatcher, not by the board", {
    hint: `read it with ${context.toolName("task_status")}`,
    details: { by: "policy" },
  });
}

/** Stands for a claim that nobody has: what it settles is refused, and its text kept. */
const noFence = 0;

/**
 * The claim a caller speaks for: of the token, else the one made through this family, else the live one if it is the
 * same agent and session.
 */
export async function holderRef(
  desk: Desk,
  context: ToolContext,
  task: Task,
  token: string | undefined,
): Promise<ClaimRef> {
  if (token !== undefined) {
    const { store } = desk.backend(context);
    return (await store.claimOf(task.id, token)) ?? { taskId: task.id, fence: noFence };
  }
  const remembered = desk.claims.of(context, task.id);
  if (remembered !== undefined) return remembered;
  const mine = task.claimedBy?.agent === context.agent && task.claimedBy.sessionId === context.sessionId;
  return { taskId: task.id, fence: mine ? task.fence : noFence };
}

/** Applies an edge; a refusal is a conflict that says how the task stands. */
export async function applyOrConflict(desk: Desk, context: ToolContext, task: Task, edge: Edge): Promise<Task> {
  const applied = await desk.backend(context).queue.apply(task.id, edge);
  if (applied.ok) return applied.task;
  throw standing(applied.task ?? task, desk.clock.now());
}

/** Why a caller who is not the holder can do nothing here. */
export function standing(task: Task, now: number): ToolError {
  const details = { status: task.status, state: task.state, claimedBy: task.claimedBy, leaseUntil: task.leaseUntil };
  if (isEnded(task.state)) {
    return conflict(
      `the task has ended already: ${task.status}`,
      "read it with task_status; task_retry runs it again",
      details,
    );
  }
  if (task.claimedBy !== null && task.leaseUntil !== null && Date.parse(task.leaseUntil) > now) {
    const { agent, sessionId } = task.claimedBy;
    return conflict(
      `the task is held by ${agent} (session ${sessionId}) until ${task.leaseUntil}`,
      "wait for that, or work on another task",
      details,
    );
  }
  return conflict(
    `nobody holds the task now: it is ${task.state}${task.attempt > 0 ? ", the last claim is over" : ""}`,
    "claim it with task_claim first",
    details,
  );
}

/** Why a named task could not be claimed. */
export function notClaimable(task: Task, agent: string, now: number): ToolError {
  const details = { status: task.status, state: task.state };
  if (task.state === "blocked") {
    return conflict(`the task waits for ${task.dependsOn.join(", ")}`, "claim those first", details);
  }
  if (task.state === "queued" && task.assignee !== null && task.assignee !== agent) {
    return conflict(`the task is assigned to ${task.assignee}`, "leave it to them, or claim another", details);
  }
  if (task.state === "queued" && task.notBefore !== null && Date.parse(task.notBefore) > now) {
    return conflict(`the task is deferred until ${task.notBefore}`, "claim it then", details);
  }
  return standing(task, now);
}

/** @throws ToolError `too_large` with both figures */
export function checkSize(field: string, size: number, most: number, unit: string): void {
  if (size <= most) return;
  throw new ToolError("too_large", `${field} has ${size} ${unit}, at most ${most} are allowed`, {
    hint: "keep the long part in a file, and its path here",
    details: { size, limit: most },
  });
}

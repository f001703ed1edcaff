import { defineTool, type ToolContext, ToolError } from "@toolhaft/core";
import { z } from "zod";
import { applyOrConflict, boardTask, holderRef, newKey, standing } from "../board.ts";
import { conflict, type Desk } from "../desk.ts";
import { isEnded } from "../edges.ts";
import { leaseSecs, taskId, text } from "../input.ts";
import type { Task } from "../model.ts";
import { taskRowSchema } from "../schemas.ts";
import { oneLine } from "../show.ts";
import type { ClaimRef } from "../store.ts";
import { taskRow } from "../task-row.ts";

/** `task_update`: renews, gives back, fails or cancels a task of the board. */
export function updateTool(desk: Desk) {
  return defineTool({
    name: "task_update",
    title: "Update a task",
    description: "Renews, releases or fails your claim on a task, or cancels a task posted by or assigned to you.",
    keywords: ["board", "renew", "release", "fail", "cancel", "lease"],
    inputSchema: z.object({
      task_id: taskId,
      action: z.enum(["renew", "release", "fail", "cancel"]).describe("All but cancel are the holder's."),
      reason: text("Why.", 2_000).optional(),
      claim_token: z.string().optional().describe("If another process claimed it."),
      lease_secs: leaseSecs,
    }),
    outputSchema: z.object({ task: taskRowSchema, leaseUntil: z.string().nullable() }),
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
    async execute(input, context) {
      const task = await boardTask(desk, context, input.task_id);
      const ref = await holderRef(desk, context, task, input.claim_token);
      const reason = input.reason ?? null;
      switch (input.action) {
        case "renew":
          return shown(await renew(desk, context, task, ref, input.lease_secs));
        case "release":
          return shown(
            await applyOrConflict(desk, context, task, {
              kind: "release",
              key: newKey(),
              ref,
              ...(reason !== null && { reason }),
            }),
          );
        case "fail":
          return shown(
            await applyOrConflict(desk, context, task, {
              kind: "fail",
              key: newKey(),
              ref,
              reason: "runner_failed",
              message: reason ?? "the holder gave it up",
              retryable: false,
            }),
          );
        case "cancel":
          return shown(await cancel(desk, context, task, ref, reason));
      }
    },
    render({ task, leaseUntil }, input) {
      const what = `${task.id} "${oneLine(task.title)}"`;
      if (input.action === "renew") return `Renewed ${what}: lease until ${leaseUntil?.slice(11, 19)} UTC.`;
      if (input.action === "release") return `Released ${what}; it is back on the board.`;
      if (input.action === "fail") return `Failed ${what}.`;
      if (task.status === "cancelled") return `Cancelled ${what}.`;
      const who = task.claimedBy === null ? "its holder" : oneLine(task.claimedBy.agent);
      return `Asked ${who} to stop ${what}; it is cancelled when they answer, or soon without an answer.`;
    },
  });
}

function shown(task: Task) {
  return { task: taskRow(task), leaseUntil: task.leaseUntil };
}

async function renew(
  desk: Desk,
  context: ToolContext,
  task: Task,
  ref: ClaimRef,
  seconds: number | undefined,
): Promise<Task> {
  const { queue, store } = desk.backend(context);
  const own = seconds === undefined ? (await store.terms(task.id))?.limits.leaseMs : undefined;
  const leaseMs = seconds === undefined ? (own ?? desk.board.leaseMs) : seconds * 1_000;
  const [answer] = await queue.renew([ref], leaseMs);
  const now = (await store.get(task.id)) ?? task;
  if (answer === "ok") return now;
  if (answer === "lost") throw standing(now, desk.clock.now());
  const asked = now.cancelRequested;
  const by = asked?.by ?? task.createdBy;
  await applyOrConflict(desk, context, task, { kind: "cancel", key: newKey(), ref, by, reason: asked?.reason ?? null });
  throw conflict(
    `${by.agent} asked to cancel this task${asked?.reason == null ? "" : `: ${asked.reason}`}; it is cancelled now`,
    "stop working on it",
    { status: "cancelled" },
  );
}

async function cancel(
  desk: Desk,
  context: ToolContext,
  task: Task,
  ref: ClaimRef,
  reason: string | null,
): Promise<Task> {
  const { actor, rootSession } = await desk.caller(context);
  const owners = [task.createdBy.sessionId, task.ownerSession];
  const isOwner =
    owners.includes(actor.sessionId) || task.rootSession === actor.sessionId || task.rootSession === rootSession;
  if (!isOwner && task.assignee !== actor.agent) {
    throw new ToolError("denied", "only the poster or the assignee can cancel this task", {
      hint: "a holder can release it, or fail it with a reason",
      details: { by: "policy" },
    });
  }
  if (isEnded(task.state)) throw standing(task, desk.clock.now());
  const { queue } = desk.backend(context);
  const at = await queue.apply(task.id, { kind: "cancel", key: newKey(), by: actor, reason });
  if (at.ok) return at.task;
  const asked = await queue.apply(task.id, { kind: "request_cancel", key: newKey(), by: actor, reason });
  const found = asked.task ?? task;
  if (isEnded(found.state)) throw standing(found, desk.clock.now());
  if (found.cancelRequested === null) throw standing(found, desk.clock.now());
  // The holder itself needs no grace.
  const own = await queue.apply(task.id, { kind: "cancel", key: newKey(), by: actor, reason, ref });
  return own.ok ? own.task : found;
}

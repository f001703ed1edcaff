import { defineTool, type ToolContext } from "@toolhaft/core";
import { z } from "zod";
import { boardTask, notClaimable } from "../board.ts";
import { type Desk, taskFor } from "../desk.ts";
import { leaseSecs, waitMs } from "../input.ts";
import type { Task } from "../model.ts";
import { eventSchema, taskRowSchema } from "../schemas.ts";
import { oneLine } from "../show.ts";
import type { Claim } from "../store.ts";
import { taskRow } from "../task-row.ts";
import { headOf } from "../text-window.ts";
import { waitFor } from "../wait.ts";

/** `task_claim`: takes the next task of the board, or a named one. */
export function claimTool(desk: Desk) {
  return defineTool({
    name: "task_claim",
    title: "Claim a task",
    description:
      "Takes a task from the shared board: the first by priority and age, or task_id. Renew with task_update, finish with task_complete.",
    keywords: ["board", "take", "next task", "work"],
    inputSchema: z.object({
      priority_filter: z.number().int().optional().describe("Least priority."),
      task_id: z.string().optional().describe("Only this task."),
      wait_ms: waitMs,
      lease_secs: leaseSecs,
    }),
    outputSchema: z.object({
      task: taskRowSchema
        .extend({
          body: z.string(),
          dependencies: z.array(z.object({ taskId: z.string(), resultHead: z.string() })),
        })
        .nullable(),
      claimToken: z.string().nullable(),
      leaseUntil: z.string().nullable(),
      checkpoint: eventSchema.nullable(),
      waitedMs: z.number(),
    }),
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    async execute(input, context) {
      const { task_id } = input;
      if (task_id !== undefined) await boardTask(desk, context, task_id);
      const wait = Math.min(input.wait_ms, desk.maxWaitMs);
      const { queue } = desk.backend(context);
      const claim = await waitFor(queue, wait, context.signal, () => claimNow(desk, context, input));
      if (claim === undefined) {
        if (task_id !== undefined) {
          throw notClaimable(await taskFor(desk, context, task_id), context.agent, desk.clock.now());
        }
        return { task: null, claimToken: null, leaseUntil: null, checkpoint: null, waitedMs: wait };
      }
      desk.claims.remember(context, claim);
      return {
        task: {
          ...taskRow(claim.task),
          body: claim.task.body,
          dependencies: await dependenciesOf(desk, context, claim.task),
        },
        claimToken: claim.token,
        leaseUntil: claim.leaseUntil,
        checkpoint: claim.resume?.checkpoint ?? null,
        waitedMs: 0,
      };
    },
    render({ task, leaseUntil, checkpoint, waitedMs }, _input, toolName) {
      if (task === null) return waitedMs > 0 ? `Nothing to claim within ${waitedMs} ms.` : "Nothing to claim.";
      const lines = [
        `Claimed ${task.id} "${oneLine(task.title)}" (priority ${task.priority}, attempt ${task.attempt} of ${task.maxAttempts})`,
        `Lease until ${leaseUntil?.slice(11, 19)} UTC: renew with ${toolName("task_update")} {"task_id":"${task.id}","action":"renew"}`,
      ];
      if (checkpoint !== null || task.attempt > 1) {
        const saved = checkpoint === null ? "" : ` Last checkpoint: ${checkpointText(checkpoint.data)}.`;
        lines.push(`${task.attempt > 1 ? `Attempt ${task.attempt - 1} did not finish.` : ""}${saved}`.trim());
      }
      for (const { taskId, resultHead } of task.dependencies) lines.push(`After ${taskId}: ${oneLine(resultHead)}`);
      return [...lines, "---", task.body].join("\n");
    },
  });
}

async function claimNow(
  desk: Desk,
  context: ToolContext,
  input: { priority_filter?: number | undefined; task_id?: string | undefined; lease_secs?: number | undefined },
): Promise<Claim | undefined> {
  const root = desk.visibility === "root" ? (await desk.caller(context)).rootSession : undefined;
  const [claim] = await desk.backend(context).queue.claim({
    by: { agent: context.agent, sessionId: context.sessionId },
    kind: "board",
    leaseMs: input.lease_secs === undefined ? desk.board.leaseMs : input.lease_secs * 1_000,
    ownLease: input.lease_secs === undefined,
    ...(input.task_id !== undefined && { taskId: input.task_id }),
    ...(input.priority_filter !== undefined && { minPriority: input.priority_filter }),
    ...(root !== undefined && { rootSession: root }),
  });
  return claim;
}

async function dependenciesOf(
  desk: Desk,
  context: ToolContext,
  task: Task,
): Promise<{ taskId: string; resultHead: string }[]> {
  const { store } = desk.backend(context);
  const found = await Promise.all(task.dependsOn.map((id) => store.get(id)));
  return found.flatMap((one) =>
    one === undefined ? [] : [{ taskId: one.id, resultHead: headOf(one.result?.head ?? "", 500) }],
  );
}

/** `lexing done; remaining: numbers, strings`. */
function checkpointText(data: Readonly<Record<string, unknown>>): string {
  const phase = typeof data.phase === "string" ? data.phase : "";
  const list = (value: unknown) => (Array.isArray(value) ? value.map(String) : []);
  const done = list(data.completed_items ?? data.completedItems);
  const left = list(data.remaining_items ?? data.remainingItems);
  const parts = [
    phase,
    done.length > 0 ? `done: ${done.join(", ")}` : "",
    left.length > 0 ? `remaining: ${left.join(", ")}` : "",
  ];
  return oneLine(parts.filter((part) => part !== "").join("; "));
}

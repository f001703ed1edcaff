import { defineTool } from "@toolhaft/core";
import { z } from "zod";
import { showDuration, showTime } from "../dates.ts";
import { type Desk, taskFor } from "../desk.ts";
import { taskId } from "../input.ts";
import { taskRowSchema } from "../schemas.ts";
import { callText, oneLine } from "../show.ts";
import { taskRow } from "../task-row.ts";

/** Code points of a result in one reply: with the header they stay within any text limit. */
const window = 16_000;

/** `task_status`: how one task stands, with its result. */
export function statusTool(desk: Desk) {
  return defineTool({
    name: "task_status",
    title: "Task status",
    description: "Shows one task: status, who works on it, why it ended, and its result, in parts when long.",
    keywords: ["board", "result", "progress"],
    inputSchema: z.object({
      task_id: taskId,
      offset: z.number().int().min(0).default(0).describe("First character."),
    }),
    outputSchema: z.object({
      task: taskRowSchema,
      result: z.string().nullable(),
      assignedTo: z.string().nullable(),
      createdAt: z.string(),
      completedAt: z.string().nullable(),
      nextResultOffset: z.number().nullable(),
      lateResults: z.number(),
    }),
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    async execute(input, context) {
      const task = await taskFor(desk, context, input.task_id);
      const { store } = desk.backend(context);
      const read =
        task.result === null
          ? null
          : await store.readResult(task.id, task.attempt, { offset: input.offset, limit: window });
      const late = await store.events(task.id, { kinds: ["late_result"], limit: 1 });
      return {
        task: taskRow(task),
        result: read?.text ?? null,
        assignedTo: task.assignee ?? task.claimedBy?.agent ?? task.agent,
        createdAt: task.createdAt,
        completedAt: task.status === "completed" ? task.endedAt : null,
        nextResultOffset: read?.nextOffset ?? null,
        lateResults: late.total,
      };
    },
    render({ task, result, assignedTo, nextResultOffset, lateResults }, input, toolName) {
      const attempt = task.attempt === 0 ? "" : `, attempt ${task.attempt} of ${task.maxAttempts}`;
      const lines = [
        `${task.id} "${oneLine(task.title)}": ${task.status}${task.stage === null ? "" : ` (${task.stage})`}${attempt}`,
        `Posted ${showTime(task.createdAt)} UTC by ${oneLine(task.createdBy.agent)}${assignedTo === null ? "" : `, with ${oneLine(assignedTo)}`}`,
      ];
      if (task.stage === "blocked") lines.push(`Waits for ${task.dependsOn.join(", ")}`);
      if (task.leaseUntil !== null) lines.push(`Claimed until ${showTime(task.leaseUntil)} UTC`);
      if (task.endedAt !== null)
        lines.push(`Ended ${showTime(task.endedAt)} UTC after ${showDuration(task.durationMs)}`);
      if (task.end !== null && task.end.reason !== "done")
        lines.push(`Reason: ${task.end.reason}${task.end.message === "" ? "" : `: ${oneLine(task.end.message)}`}`);
      if (lateResults > 0)
        lines.push(
          `${lateResults} late result${lateResults === 1 ? "" : "s"} kept as events (task_export with include_events)`,
        );
      if (result !== null) lines.push("---", result);
      if (nextResultOffset !== null) {
        lines.push(
          `[characters ${input.offset}-${nextResultOffset} of ${task.resultChars}; next: ${callText(toolName("task_status"), { task_id: task.id, offset: nextResultOffset })}]`,
        );
      }
      return lines.join("\n");
    },
  });
}

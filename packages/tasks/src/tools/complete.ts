import { defineTool } from "@toolhaft/core";
import { z } from "zod";
import { applyOrConflict, boardTask, checkSize, holderRef, newKey } from "../board.ts";
import type { Desk } from "../desk.ts";
import { isKept, taskId } from "../input.ts";
import { taskRowSchema } from "../schemas.ts";
import { oneLine } from "../show.ts";
import { taskRow } from "../task-row.ts";

const mostResult = 1_048_576;

/** `task_complete`: the holder finishes a task with its result. */
export function completeTool(desk: Desk) {
  return defineTool({
    name: "task_complete",
    title: "Complete a task",
    description: "Finishes a task that you claimed, with its result.",
    keywords: ["board", "done", "finish", "result"],
    inputSchema: z.object({
      task_id: taskId,
      result: z
        .string()
        .refine(isKept, { message: "must not hold NUL or half of a surrogate pair" })
        .describe("At most 1 MiB."),
      claim_token: z.string().optional().describe("If another process claimed it."),
    }),
    outputSchema: z.object({ task: taskRowSchema, leaseUntil: z.string().nullable() }),
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    async execute(input, context) {
      checkSize("result", Buffer.byteLength(input.result), mostResult, "bytes");
      const task = await boardTask(desk, context, input.task_id);
      const ref = await holderRef(desk, context, task, input.claim_token);
      const done = await applyOrConflict(desk, context, task, {
        kind: "complete",
        key: newKey(),
        ref,
        result: { text: input.result },
      });
      desk.claims.forget(context, task.id);
      return { task: taskRow(done), leaseUntil: null };
    },
    render: ({ task }) =>
      `Completed ${task.id} "${oneLine(task.title)}" (${task.resultChars ?? 0} characters of result kept).`,
  });
}

import { defineTool } from "@toolhaft/core";
import { z } from "zod";
import { checkSize } from "../board.ts";
import { momentOf } from "../dates.ts";
import { type Desk, taskFor } from "../desk.ts";
import { checkTaskId } from "../ids.ts";
import { isKept, leaseSecs, text } from "../input.ts";
import { taskRowSchema } from "../schemas.ts";
import { oneLine } from "../show.ts";
import { taskRow } from "../task-row.ts";
import { lengthOf } from "../text-window.ts";

const mostBody = 100_000;
const mostMetadata = 16 * 1_024;

/** `task_post`: puts a task on the shared board. */
export function postTool(desk: Desk) {
  return defineTool({
    name: "task_post",
    title: "Post a task",
    description: "Posts a task on the shared board, for any agent or one assignee. You are told when it ends.",
    keywords: ["board", "todo", "delegate", "queue", "issue"],
    inputSchema: z.object({
      title: text("One line.", 200),
      body: z
        .string()
        .min(1)
        .refine((value) => value.trim() !== "", { message: "must not be blank" })
        .refine(isKept, { message: "must not hold NUL or half of a surrogate pair" })
        .describe("All that one has to know."),
      assignee: text("Who alone may claim it.", 200).optional(),
      priority: z.number().int().min(-100).max(100).default(0).describe("Higher first."),
      depends_on: z.array(z.string()).max(50).optional().describe("Must complete first."),
      not_before: z.string().optional().describe("ISO time of the first claim."),
      dedupe_key: text("One open task per key.", 200).optional(),
      max_attempts: z.number().int().min(1).max(20).optional().describe("Claims that may be lost."),
      lease_secs: leaseSecs,
      metadata: z.record(z.string(), z.unknown()).optional().describe("At most 16 KiB."),
    }),
    outputSchema: z.object({ task: taskRowSchema, created: z.boolean() }),
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    async execute(input, context) {
      checkSize("body", lengthOf(input.body), mostBody, "characters");
      const metadata = input.metadata ?? null;
      if (metadata !== null) checkSize("metadata", Buffer.byteLength(JSON.stringify(metadata)), mostMetadata, "bytes");
      const notBefore = input.not_before === undefined ? null : momentOf("not_before", input.not_before);
      for (const id of input.depends_on ?? []) checkTaskId("depends_on", id);
      if (desk.visibility === "root") {
        for (const id of input.depends_on ?? []) await taskFor(desk, context, id, "depends_on");
      }
      const caller = await desk.caller(context);
      await desk.prune(context);
      const [posted] = await desk.backend(context).queue.post([
        {
          kind: "board",
          title: input.title,
          body: input.body,
          createdBy: caller.actor,
          ownerSession: context.sessionId,
          rootSession: caller.rootSession,
          parentTask: caller.task?.id ?? null,
          depth: caller.depth + 1,
          assignee: input.assignee ?? null,
          priority: input.priority,
          dependsOn: input.depends_on ?? [],
          notBefore,
          dedupeKey: input.dedupe_key ?? null,
          maxAttempts: input.max_attempts ?? desk.board.maxAttempts,
          limits: { leaseMs: input.lease_secs === undefined ? desk.board.leaseMs : input.lease_secs * 1_000 },
          metadata,
          maxQueued: desk.board.maxPending,
        },
      ]);
      if (posted === undefined) throw new Error("the store gave no task");
      return { task: taskRow(posted.task), created: posted.created };
    },
    render({ task, created }, _input, toolName) {
      const what = `${task.id} "${oneLine(task.title)}" (priority ${task.priority}${task.assignee === null ? "" : `, for ${oneLine(task.assignee)}`})`;
      if (!created) return `Already on the board: ${what}, ${task.status}; nothing was posted.`;
      if (task.end !== null) return `Posted ${what}; it ended at once: ${task.status}, ${oneLine(task.end.message)}.`;
      const waits = task.stage === "blocked" ? ` It waits for ${task.dependsOn.join(", ")}.` : "";
      return `Posted ${what}.${waits}\nSee how it stands: ${toolName("task_status")} {"task_id":"${task.id}"}`;
    },
  });
}

import { defineTool } from "@toolhaft/core";
import { z } from "zod";
import { type Desk, visibleRoot } from "../desk.ts";
import { cursor, limit, text } from "../input.ts";
import { statuses } from "../model.ts";
import { taskRowSchema } from "../schemas.ts";
import { callText, cell, plural, table } from "../show.ts";
import { taskRow } from "../task-row.ts";

/** `task_list`: the board, newest first. */
export function listTool(desk: Desk) {
  return defineTool({
    name: "task_list",
    title: "List tasks",
    description: "Lists tasks of the shared board, newest first: what is open, who works on what.",
    keywords: ["board", "open tasks", "backlog"],
    inputSchema: z.object({
      status: z.enum(statuses).optional().describe("Only these."),
      assignee: text("Assigned to it.", 200).optional(),
      created_by: text("Posted by this agent or session.", 200).optional(),
      kind: z.enum(["board", "dispatch", "all"]).default("board").describe("dispatch: sub-agents'."),
      limit: limit(100, 20),
      cursor,
    }),
    outputSchema: z.object({ tasks: z.array(taskRowSchema), total: z.number(), nextCursor: z.string().nullable() }),
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    async execute(input, context) {
      const root = await visibleRoot(desk, context);
      const page = await desk.backend(context).store.find({
        limit: input.limit,
        ...(input.status !== undefined && { statuses: [input.status] }),
        ...(input.assignee !== undefined && { assignee: input.assignee }),
        ...(input.created_by !== undefined && { createdBy: input.created_by }),
        ...(input.kind !== "all" && { kind: input.kind }),
        ...(input.cursor !== undefined && { cursor: input.cursor }),
        ...(root !== undefined && { rootSession: root }),
      });
      return { tasks: page.items.map((task) => taskRow(task)), total: page.total, nextCursor: page.nextCursor };
    },
    render({ tasks, total, nextCursor }, input, toolName) {
      if (total === 0) return "No tasks.";
      const rows = tasks.map((task) => [
        task.id,
        cell(task.title),
        task.status,
        cell(task.assignee ?? task.claimedBy?.agent ?? task.agent ?? "–", 40),
        String(task.priority),
      ]);
      const lines = [
        `${tasks.length} of ${plural(total, "task")}`,
        table(["Task ID", "Title", "Status", "Agent", "Priority"], rows),
      ];
      if (nextCursor !== null) lines.push(`Next: ${callText(toolName("task_list"), { ...input, cursor: nextCursor })}`);
      return lines.join("\n");
    },
  });
}

import { defineTool } from "@toolhaft/core";
import { z } from "zod";
import { rangeOf, showDuration, showTime } from "../dates.ts";
import { type Desk, visibleRoot } from "../desk.ts";
import { cursor, date, limit, text } from "../input.ts";
import { statuses, type Task } from "../model.ts";
import { taskRowSchema } from "../schemas.ts";
import { aroundFirstHit } from "../search-text.ts";
import { callText, cell, oneLine, plural, table } from "../show.ts";
import { taskRow } from "../task-row.ts";

/** `task_search`: past and present tasks by text. */
export function searchTool(desk: Desk) {
  return defineTool({
    name: "task_search",
    title: "Search tasks",
    description: "Finds past and present tasks by text in id, title, prompt, agent, error or result.",
    keywords: ["history", "find", "past tasks", "subagents"],
    inputSchema: z.object({
      query: text('Terms that must all occur; "…" is one, * is all.', 500),
      status: z.enum(statuses).optional().describe("Only these."),
      agent: text("Only this agent's.").optional(),
      parent_session: text("Posted by this session.").optional(),
      root_session: text("Below this session.").optional(),
      from_date: date("ISO date or time"),
      to_date: date("Until"),
      limit: limit(100, 20),
      include_result: z.boolean().default(false).describe("Text around the hit."),
      kind: z.enum(["dispatch", "board", "all"]).default("all").describe("Sub-agents' or the board's."),
      sort: z.enum(["recent", "relevance"]).default("recent").describe("relevance: title first."),
      cursor,
    }),
    outputSchema: z.object({
      query: z.string(),
      tasks: z.array(taskRowSchema),
      total: z.number(),
      nextCursor: z.string().nullable(),
    }),
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    async execute(input, context) {
      const range = rangeOf(input.from_date, input.to_date);
      const root = await visibleRoot(desk, context);
      if (root !== undefined && input.root_session !== undefined && input.root_session !== root)
        return { query: input.query, tasks: [], total: 0, nextCursor: null };
      const rootSession = root ?? input.root_session;
      const page = await desk.backend(context).store.find({
        text: input.query,
        limit: input.limit,
        sort: input.sort,
        ...range,
        ...(input.status !== undefined && { statuses: [input.status] }),
        ...(input.agent !== undefined && { agent: input.agent }),
        ...(input.parent_session !== undefined && { ownerSession: input.parent_session }),
        ...(rootSession !== undefined && { rootSession }),
        ...(input.kind !== "all" && { kind: input.kind }),
        ...(input.cursor !== undefined && { cursor: input.cursor }),
      });
      const preview = (task: Task) => (input.include_result ? aroundFirstHit(task, input.query) : undefined);
      return {
        query: input.query,
        tasks: page.items.map((task) => taskRow(task, preview(task))),
        total: page.total,
        nextCursor: page.nextCursor,
      };
    },
    render({ query, tasks, total, nextCursor }, input, toolName) {
      if (total === 0) return `No tasks for "${oneLine(query)}".`;
      const rows = tasks.map((task) => [
        task.id,
        cell(task.agent ?? task.claimedBy?.agent ?? task.assignee ?? "–", 40),
        task.status,
        showTime(task.startedAt),
        showDuration(task.durationMs),
        cell(task.title),
      ]);
      const lines = [
        `${tasks.length} of ${plural(total, "task")} for "${oneLine(query)}"`,
        table(["Task ID", "Agent", "Status", "Started (UTC)", "Duration", "Description"], rows),
      ];
      for (const { id, resultPreview } of tasks)
        if (resultPreview !== undefined && resultPreview !== "") lines.push(`${id}: ${oneLine(resultPreview)}`);
      if (nextCursor !== null)
        lines.push(`Next: ${callText(toolName("task_search"), { ...input, cursor: nextCursor })}`);
      return lines.join("\n");
    },
  });
}

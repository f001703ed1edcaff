import { defineTool, ToolError } from "@toolhaft/core";
import { z } from "zod";
import { type Desk, taskFor, visibleRoot } from "../desk.ts";
import { mermaidGraph, textTree } from "../graph-text.ts";
import { text } from "../input.ts";
import { taskRowSchema } from "../schemas.ts";
import { taskRow } from "../task-row.ts";
import { headOf } from "../text-window.ts";

const summaryChars = 100;

/** `task_graph`: the tree of tasks and what they wait for. */
export function graphTool(desk: Desk) {
  return defineTool({
    name: "task_graph",
    title: "Tree of tasks",
    description: "Shows the tree of tasks below a session or a task: who started what, what waits for what.",
    keywords: ["tree", "hierarchy", "dependencies", "mermaid", "subagents"],
    inputSchema: z.object({
      root_session: text("Top session, or all.").optional(),
      task_id: z.string().optional().describe("Below this task."),
      depth: z.number().int().min(1).max(20).default(5).describe("Levels."),
      include_status: z.boolean().default(true).describe("Status, too."),
      include_result_summary: z.boolean().default(true).describe("Results' beginnings, too."),
      format: z.enum(["text", "mermaid"]).default("text").describe("Lines or flowchart."),
      limit: z.number().int().min(1).max(500).default(200).describe("Most tasks."),
    }),
    outputSchema: z.object({
      root: z.string(),
      nodes: z.array(taskRowSchema.extend({ level: z.number().int().min(0).max(20), attempts: z.number() })),
      shown: z.number(),
      total: z.number(),
      hiddenBelowDepth: z.number(),
    }),
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    async execute(input, context) {
      const start = input.task_id === undefined ? undefined : await taskFor(desk, context, input.task_id);
      const visible = await visibleRoot(desk, context);
      const own = visible ?? (await desk.caller(context)).rootSession;
      const wanted = input.root_session ?? own;
      const root = wanted === "all" && visible === undefined ? undefined : wanted === "all" ? visible : wanted;
      const { store } = desk.backend(context);
      const hidden = visible !== undefined && root !== visible;
      const page = hidden
        ? { nodes: [], total: 0, hiddenBelowDepth: 0 }
        : await store.tree({
            depth: start === undefined ? input.depth : input.depth + 1,
            limit: input.limit,
            ...(start !== undefined ? { task: start.id } : root !== undefined && { root }),
          });
      if (page.total === 0) {
        throw new ToolError("not_found", "there are no tasks below this session on this store", {
          hint: "root_session all shows every session",
        });
      }
      const summary = (head: string | undefined) =>
        input.include_result_summary && head !== undefined && head !== "" ? headOf(head, summaryChars) : undefined;
      return {
        root: start?.rootSession ?? root ?? "all",
        nodes: page.nodes.map(({ task, level, attempts }) => ({
          ...taskRow(task, summary(task.result?.head)),
          level,
          attempts,
        })),
        shown: page.nodes.length,
        total: page.total,
        hiddenBelowDepth: page.hiddenBelowDepth,
      };
    },
    render(data, input) {
      const options = { status: input.include_status };
      return input.format === "mermaid" ? mermaidGraph(data, options) : textTree(data, options);
    },
  });
}

import { defineTool, ToolError } from "@toolhaft/core";
import { z } from "zod";
import { type Desk, visibleRoot } from "../desk.ts";
import { text } from "../input.ts";
import { type BudgetMeasure, type BudgetState, budgetMeasures, statuses, type Task, unknownUsage } from "../model.ts";
import { usageSchema } from "../schemas.ts";
import { cell, plural, table } from "../show.ts";
import type { TaskBackend } from "../store.ts";

const mostTasks = 100;
const limitsSchema = z.object({
  inputTokens: z.number().optional(),
  outputTokens: z.number().optional(),
  totalTokens: z.number().optional(),
  costUsd: z.number().optional(),
  sessions: z.number().optional(),
});
const rowSchema = z.object({
  measure: z.enum(budgetMeasures),
  used: z.number().nullable(),
  reserved: z.number(),
  limit: z.number().nullable(),
  remaining: z.number().nullable(),
  percent: z.number().nullable(),
  exceeded: z.boolean(),
});

/** `task_budget`: what was used and what is left below a session. */
export function budgetTool(desk: Desk) {
  return defineTool({
    name: "task_budget",
    title: "Budget",
    description: "Shows tokens, cost and sub-agent sessions used, held and left below a session.",
    keywords: ["tokens", "cost", "money", "usage", "limit"],
    inputSchema: z.object({
      session_id: text("Top session.").optional(),
      detail: z.boolean().default(false).describe("Per task, too."),
    }),
    outputSchema: z.object({
      scope: z.string(),
      rows: z.array(rowSchema),
      tasks: z
        .array(
          z.object({
            taskId: z.string(),
            agent: z.string(),
            status: z.enum(statuses),
            usage: usageSchema,
            limit: limitsSchema.nullable(),
            exceeded: z.boolean(),
          }),
        )
        .optional(),
      hiddenTasks: z.number(),
      unknownUsage: z.number(),
    }),
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    async execute(input, context) {
      const own = (await desk.caller(context)).rootSession;
      const root = input.session_id ?? own;
      const visible = await visibleRoot(desk, context);
      const backend = desk.backend(context);
      const state = await backend.store.budget({ root });
      const page = await backend.store.find({ rootSession: root, limit: input.detail ? mostTasks : 1 });
      if ((visible !== undefined && visible !== root) || (page.total === 0 && state.limits === null)) {
        throw new ToolError("not_found", "there is no such session with tasks or limits on this store", {
          hint: "task_graph with root_session all shows the sessions there are",
        });
      }
      const rows = budgetMeasures.map((measure) => rowOf(state, measure));
      const figures = { scope: root, rows, unknownUsage: state.unknownUsage };
      if (!input.detail) return { ...figures, hiddenTasks: 0 };
      const tasks = await Promise.all(page.items.map((task) => detailOf(backend, task)));
      return { ...figures, tasks, hiddenTasks: page.total - tasks.length };
    },
    render({ scope, rows, tasks, hiddenTasks, unknownUsage }) {
      const lines = [
        `Session ${scope}`,
        table(
          ["Metric", "Used", "Reserved", "Limit", "% Used", "Remaining"],
          rows.map(({ measure, used, reserved, limit, percent, remaining }) => [
            measure,
            figure(measure, used, "unknown"),
            figure(measure, reserved, "0"),
            figure(measure, limit, "unlimited"),
            percent === null ? "–" : `${percent} %`,
            figure(measure, remaining, "–"),
          ]),
        ),
      ];
      if (unknownUsage > 0) lines.push(`${plural(unknownUsage, "task")} ran without usage reports`);
      if (tasks !== undefined && tasks.length > 0) {
        const cells = tasks.map(({ taskId, agent, status, usage, exceeded }) => [
          taskId,
          cell(agent, 40),
          status,
          figure("inputTokens", usage.inputTokens, "unknown"),
          figure("outputTokens", usage.outputTokens, "unknown"),
          figure("costUsd", usage.costUsd, "unknown"),
          exceeded ? "yes" : "no",
        ]);
        lines.push(table(["Task ID", "Agent", "Status", "Input", "Output", "Cost", "Exceeded"], cells));
      }
      if (hiddenTasks > 0) lines.push(`${plural(hiddenTasks, "older task")} not shown.`);
      return lines.join("\n");
    },
  });
}

function rowOf(state: BudgetState, measure: BudgetMeasure): z.infer<typeof rowSchema> {
  const used = state.used[measure];
  const reserved = state.reserved[measure];
  const limit = state.limits?.[measure] ?? null;
  const spent = used ?? 0;
  return {
    measure,
    used,
    reserved,
    limit,
    remaining: limit === null ? null : Math.max(0, limit - spent - reserved),
    percent: limit === null || limit === 0 ? null : Math.round((spent / limit) * 1_000) / 10,
    exceeded: limit !== null && spent >= limit,
  };
}

async function detailOf({ store }: TaskBackend, task: Task) {
  const state = await store.budget({ task: task.id });
  return {
    taskId: task.id,
    agent: task.agent ?? task.claimedBy?.agent ?? task.assignee ?? "",
    status: task.status,
    usage: task.usage ?? unknownUsage,
    limit: state.limits,
    exceeded: budgetMeasures.some((measure) => rowOf(state, measure).exceeded),
  };
}

function figure(measure: BudgetMeasure, value: number | null, absent: string): string {
  if (value === null) return absent;
  return measure === "costUsd" ? value.toFixed(4) : String(Math.round(value));
}

import { type AnyTool, defineTool } from "@toolhaft/core";
import { eventSchema, type Task, taskRow, taskRowSchema, usageSchema } from "@toolhaft/tasks";
import { z } from "zod";
import { type Desk, taskFor } from "../desk.ts";
import type { Engine } from "../engine/engine.ts";
import { defaultLimits, mergeLimits } from "../limits.ts";
import { lastEvent } from "../notices/notice.ts";
import { approvalSchema, cursorInput, readOnly, remainingSchema } from "../schemas.ts";
import { cell, duration, glyphs, table, timeText, usageText } from "../show.ts";
import { shown } from "./dispatch.ts";

const rowSchema = taskRowSchema.extend({
  lastActivity: z.string().nullable(),
  toolCalls: z.number().int(),
  consecutiveFailures: z.number().int(),
});
const limitSchema = z.object({ limitMs: z.number().nullable(), leftMs: z.number().nullable() });
const measureSchema = z.object({ used: z.number().nullable(), reserved: z.number(), limit: z.number().nullable() });

const oneSchema = z.object({
  identity: z.object({
    taskId: z.string(),
    agent: z.string().nullable(),
    ownerSession: z.string(),
    rootSession: z.string(),
    parentTask: z.string().nullable(),
    sessionId: z.string().nullable(),
    depth: z.number().int(),
    continues: z.string().nullable(),
  }),
  times: z.object({
    createdAt: z.string(),
    startedAt: z.string().nullable(),
    lastActivityAt: z.string().nullable(),
    endedAt: z.string().nullable(),
    durationMs: z.number().nullable(),
  }),
  limits: z.object({ queue: limitSchema, start: limitSchema, wall: limitSchema, idle: limitSchema }),
  budget: z.record(z.string(), measureSchema),
  attempts: z.array(
    z.object({
      attempt: z.number().int(),
      state: z.string(),
      reason: z.string().nullable(),
      usage: usageSchema.nullable(),
    }),
  ),
  events: z.array(eventSchema),
});

const outputSchema = z.object({
  tasks: z.array(rowSchema),
  remaining: remainingSchema,
  approvals: z.array(approvalSchema),
  nextCursor: z.string().nullable(),
  one: oneSchema.nullable(),
});
type Output = z.infer<typeof outputSchema>;

/** `dispatch_status`: how the tasks of a session stand. */
export function statusTool(desk: Desk): AnyTool {
  return defineTool({
    name: "dispatch_status",
    title: "Show tasks and how they stand",
    description: "Lists the tasks of this session and the questions that wait; with task_id, all about one.",
    keywords: ["list tasks", "running", "subagents", "overview", "progress"],
    maxSchemaTokens: 500,
    inputSchema: z.object({
      task_id: z.string().optional().describe("Only this one."),
      scope: z.enum(["session", "root", "store"]).default("session").describe("This session, its tree, or all."),
      active_only: z.boolean().default(false).describe("Not ended."),
      limit: z.number().int().min(1).max(100).default(50).describe("Page size."),
      cursor: cursorInput,
    }),
    outputSchema,
    annotations: readOnly,
    async execute(input, context) {
      const { engine, caller } = await desk.open(context);
      const { store } = engine;
      if (input.task_id !== undefined) {
        const task = await taskFor(desk, engine, caller, "task_id", input.task_id);
        return {
          tasks: [await rowOf(engine, task)],
          remaining: await remainingOf(engine, task.ownerSession),
          approvals: (await store.approvals({ taskId: task.id, open: true })).map(shown),
          nextCursor: null,
          one: await whole(engine, task, desk.settings.clock.now()),
        };
      }
      const scope = input.scope === "store" && desk.settings.tasks.api.visibility === "root" ? "root" : input.scope;
      const page = await store.find({
        kind: "dispatch",
        limit: input.limit,
        ...(scope === "session" && { ownerSession: caller.actor.sessionId }),
        ...(scope === "root" && { rootSession: caller.rootSession }),
        ...(input.active_only && { statuses: ["pending", "running", "awaiting_approval"] as const }),
        ...(input.cursor !== undefined && { cursor: input.cursor }),
      });
      return {
        tasks: await Promise.all(page.items.map((task) => rowOf(engine, task))),
        remaining: await remainingOf(engine, caller.actor.sessionId),
        approvals: (await store.approvals({ open: true, ...(scope !== "store" && { root: caller.rootSession }) })).map(
          shown,
        ),
        nextCursor: page.nextCursor,
        one: null,
      };
    },
    render: (output, input, toolName) => render(output, input, toolName),
  });
}

async function rowOf(engine: Engine, task: Task): Promise<Output["tasks"][number]> {
  const activity = await lastEvent(task, engine.store, "activity");
  const { text, toolCalls } = activity?.data ?? {};
  return {
    ...taskRow(task),
    lastActivity: typeof text === "string" ? text : null,
    toolCalls: typeof toolCalls === "number" ? toolCalls : 0,
    consecutiveFailures: task.attempt < 2 && task.end === null ? 0 : await failuresOf(engine, task),
  };
}

/** Attempts in a row, up to the latest, that ended badly. */
async function failuresOf(engine: Engine, task: Task): Promise<number> {
  let count = 0;
  for (const { state, end } of [...(await engine.store.attempts(task.id))].reverse()) {
    if (state === "completed") break;
    if (end !== null) count += 1;
  }
  return count;
}

async function remainingOf(engine: Engine, session: string): Promise<Output["remaining"]> {
  const count = async (statuses: readonly ("pending" | "running" | "awaiting_approval")[]) =>
    (await engine.store.find({ kind: "dispatch", ownerSession: session, statuses, limit: 1 })).total;
  return {
    running: await count(["running"]),
    queued: await count(["pending"]),
    waiting: await count(["awaiting_approval"]),
  };
}

async function whole(engine: Engine, task: Task, now: number): Promise<NonNullable<Output["one"]>> {
  const { store } = engine;
  const limits = mergeLimits(defaultLimits, (await store.terms(task.id))?.limits);
  const since = (iso: string | null, limitMs: number | null, counts: boolean) => ({
    limitMs,
    leftMs: limitMs === null || iso === null || !counts ? null : Math.max(0, limitMs - (now - Date.parse(iso))),
  });
  const { limits: budgetLimits, used, reserved } = await store.budget({ task: task.id });
  const measures = ["inputTokens", "outputTokens", "totalTokens", "costUsd", "sessions"] as const;
  const events = await store.events(task.id, { afterSeq: Math.max(0, task.lastEventSeq - 5), limit: 5 });
  const { state } = task;
  return {
    identity: {
      taskId: task.id,
      agent: task.agent,
      ownerSession: task.ownerSession,
      rootSession: task.rootSession,
      parentTask: task.parentTask,
      sessionId: task.sessionId,
      depth: task.depth,
      continues: task.continues,
    },
    times: {
      createdAt: task.createdAt,
      startedAt: task.startedAt,
      lastActivityAt: task.lastActivityAt,
      endedAt: task.endedAt,
      durationMs: task.durationMs,
    },
    limits: {
      queue: since(task.createdAt, limits.queueMs, state === "queued"),
      start: since(task.createdAt, limits.startMs, state === "starting"),
      wall: since(task.startedAt, limits.wallMs, state === "running"),
      idle: since(task.lastActivityAt ?? task.startedAt, limits.idleMs, state === "running"),
    },
    budget: Object.fromEntries(
      measures.map((measure) => [
        measure,
        { used: used[measure], reserved: reserved[measure], limit: budgetLimits?.[measure] ?? null },
      ]),
    ),
    attempts: (await store.attempts(task.id)).map(({ attempt, state: was, end, usage }) => ({
      attempt,
      state: was,
      reason: end?.reason ?? null,
      usage,
    })),
    events: [...events.items],
  };
}

function render(output: Output, input: { limit: number }, toolName: (original: string) => string): string {
  const { tasks, remaining, approvals, nextCursor, one } = output;
  const open = `${remaining.running} running, ${remaining.queued} queued, ${remaining.waiting} awaiting approval.`;
  const [first] = tasks;
  if (first === undefined) return `No tasks. ${open}`;
  const rows = tasks.map((task) => [
    glyphs[task.status],
    task.id,
    cell(task.agent ?? "–", 30),
    `${task.status}${task.stage === null || task.stage === "queued" ? "" : ` (${task.stage})`}`,
    task.durationMs === null ? "–" : duration(task.durationMs),
    String(task.depth),
    cell(task.title, 60),
    task.lastActivity === null ? "–" : cell(task.lastActivity, 60),
    String(task.toolCalls),
  ]);
  const lines = [
    table(["", "Task ID", "Agent", "Status", "Duration", "Depth", "Description", "Last activity", "Calls"], rows),
    `Open for this session: ${open}`,
  ];
  for (const approval of approvals)
    lines.push(
      `✋ ${approval.taskId} asks (${approval.id}): ${cell(approval.title, 120)}; answered by ${typeof approval.approvers === "string" ? approval.approvers : approval.approvers.join(", ")}: ${toolName("dispatch_approve")} or ${toolName("dispatch_reject")}`,
    );
  if (one !== null) lines.push(...detail(one, first.end));
  if (nextCursor !== null)
    lines.push(`More: ${toolName("dispatch_status")} ${JSON.stringify({ ...input, cursor: nextCursor })}`);
  return lines.join("\n");
}

function detail(one: NonNullable<Output["one"]>, end: Task["end"]): string[] {
  const { identity, times, limits, attempts, events, budget } = one;
  const left = Object.entries(limits)
    .filter(([, { leftMs }]) => leftMs !== null)
    .map(([name, { leftMs, limitMs }]) => `${name} ${duration(leftMs ?? 0)} of ${duration(limitMs ?? 0)} left`);
  const spent = Object.entries(budget)
    .filter(([, { limit }]) => limit !== null)
    .map(([name, { used, limit }]) => `${name} ${used ?? "unknown"} of ${limit}`);
  return [
    `Session ${identity.sessionId ?? "–"}, owner ${identity.ownerSession}, root ${identity.rootSession}${identity.parentTask === null ? "" : `, parent ${identity.parentTask}`}${identity.continues === null ? "" : `, continues ${identity.continues}`}`,
    `Created ${timeText(times.createdAt)}, started ${timeText(times.startedAt)}, ended ${timeText(times.endedAt)} UTC`,
    ...(end === null || end.reason === "done" ? [] : [`${end.reason}: ${cell(end.message, 500)}`]),
    ...(left.length === 0 ? [] : [`Limits: ${left.join("; ")}`]),
    ...(spent.length === 0 ? [] : [`Budget: ${spent.join("; ")}`]),
    ...attempts.map(
      ({ attempt, state, reason, usage }) =>
        `Attempt ${attempt}: ${state}${reason === null ? "" : ` (${reason})`}, ${usageText(usage)}`,
    ),
    ...events.map(({ seq, at, kind }) => `${seq}. ${timeText(at)} ${kind}`),
  ];
}

import { type AnyTool, createId, defineTool, type ToolContext, ToolError } from "@toolhaft/core";
import { type Caller, type ClaimRef, isEnded, type Task } from "@toolhaft/tasks";
import { z } from "zod";
import { checkText } from "../checks.ts";
import { type Desk, taskFor } from "../desk.ts";
import type { Engine } from "../engine/engine.ts";
import { taskIdInput, text, writing } from "../schemas.ts";

const perSecond = 10;
const milestones = [75, 50, 25];

/** `dispatch_progress`: a subagent tells how far it is. */
export function progressTool(desk: Desk): AnyTool {
  const recent = new Map<string, number[]>();
  return defineTool({
    name: "dispatch_progress",
    title: "Report progress of the own task",
    description: "For subagents: tells those who wait how far your task is.",
    keywords: ["progress", "percent", "report", "milestone"],
    inputSchema: z.object({
      task_id: taskIdInput,
      stage: text("Stage.", 100),
      message: text("News.", 2_000),
      percentage: z.number().min(0).max(100).describe("0 to 100."),
    }),
    outputSchema: z.object({
      taskId: z.string(),
      seq: z.number().int(),
      milestone: z.number().nullable(),
      stage: z.string(),
      percentage: z.number(),
    }),
    annotations: writing,
    async execute({ task_id, stage, message, percentage }, context) {
      checkText("stage", stage, 100, "invalid_input");
      checkText("message", message, 2_000, "invalid_input");
      const { engine, caller } = await desk.open(context);
      const task = await taskFor(desk, engine, caller, "task_id", task_id);
      const ref = ownClaim(caller, task, context);
      limitRate(recent, task.id, desk.settings.clock.now());
      const milestone = desk.settings.progressNotices === "none" ? null : await newMilestone(engine, task, percentage);
      const seq = await engine.store.append(task.id, ref, {
        key: createId(),
        kind: "progress",
        data: { stage, message, percentage },
        ...(milestone !== null && { notice: { kind: "progress" as const, n: milestone } }),
      });
      return { taskId: task.id, seq, milestone, stage, percentage };
    },
    render: ({ stage, percentage }) => `Recorded: ${stage} ${percentage} %`,
  });
}

/** The highest milestone that this report reaches first; none at the end, which has its own notice. */
async function newMilestone(engine: Engine, task: Task, percentage: number): Promise<number | null> {
  if (percentage >= 100) return null;
  const reached = milestones.find((mark) => percentage >= mark);
  if (reached === undefined) return null;
  const { items } = await engine.store.events(task.id, { kinds: ["progress"], limit: 500 });
  const before = items
    .filter(({ attempt }) => attempt === task.attempt)
    .map(({ data }) => (typeof data.percentage === "number" ? data.percentage : 0));
  return Math.max(0, ...before) >= reached ? null : reached;
}

function limitRate(recent: Map<string, number[]>, taskId: string, now: number): void {
  const times = (recent.get(taskId) ?? []).filter((time) => now - time < 1_000 && time <= now);
  if (times.length >= perSecond) {
    const retryAfterMs = Math.max(1, 1_000 - (now - (times[0] ?? now)));
    throw new ToolError("unavailable", `at most ${perSecond} reports a second are taken`, {
      hint: "report less often",
      retryable: true,
      details: { retryAfterMs },
    });
  }
  recent.set(taskId, [...times, now]);
  if (recent.size > 1_000) for (const [id, last] of recent) if (now - (last.at(-1) ?? 0) > 1_000) recent.delete(id);
}

/**
 * The claim of the task itself: by its token, or by the session of the claim.
 *
 * @throws ToolError `conflict` for an ended task, `denied` for anybody else's
 */
export function ownClaim(caller: Caller, task: Task, context: ToolContext): ClaimRef {
  if (isEnded(task.state))
    throw new ToolError("conflict", `${task.id} has ended: ${task.status}`, {
      hint: "an ended task is not changed",
      retryable: false,
      details: { status: task.status },
    });
  if (caller.ref !== null && caller.ref.taskId === task.id) return caller.ref;
  const held = task.state === "starting" || task.state === "running" || task.state === "waiting";
  const bySession = context.task === undefined && caller.task?.id === task.id && held;
  const byClaim = task.claimedBy?.sessionId === context.sessionId && task.claimedBy.agent === context.agent;
  if (bySession || (byClaim && held)) return { taskId: task.id, fence: task.fence };
  throw new ToolError("denied", `only ${task.id} itself reports its progress`, {
    hint: "call it from inside the task that runs",
    details: { by: "policy" },
  });
}

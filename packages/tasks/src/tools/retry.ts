import { defineTool, ToolError } from "@toolhaft/core";
import { z } from "zod";
import { newKey } from "../board.ts";
import { conflict, type Desk, taskFor } from "../desk.ts";
import { isEnded } from "../edges.ts";
import { taskId, text } from "../input.ts";

/** `task_retry`: runs an ended task again, as a new attempt. */
export function retryTool(desk: Desk) {
  return defineTool({
    name: "task_retry",
    title: "Retry a task",
    description: "Runs an ended task again as a new attempt; a sub-agent that can resume, from its checkpoint.",
    keywords: ["again", "rerun", "repeat", "failed"],
    inputSchema: z.object({
      task_id: taskId,
      modify_prompt: text("Put before the prompt.", 20_000).optional(),
      reset_budget: z.boolean().default(false).describe("Start at zero; asks a person."),
    }),
    outputSchema: z.object({
      taskId: z.string(),
      attempt: z.number().int(),
      status: z.literal("pending"),
      resumes: z.boolean(),
      sessionId: z.string().nullable(),
      engines: z.number().int(),
      kind: z.enum(["dispatch", "board"]),
    }),
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    async execute(input, context) {
      const task = await taskFor(desk, context, input.task_id);
      const { actor, rootSession } = await desk.caller(context);
      const mine = [task.ownerSession, task.rootSession, task.createdBy.sessionId].includes(actor.sessionId);
      if (!mine && task.rootSession !== rootSession) {
        throw new ToolError("denied", "only the session that posted this task, or one above it, can retry it", {
          hint: "ask its owner, or post a task of your own",
          details: { by: "policy" },
        });
      }
      const stillOpen = () =>
        conflict(`the task has not ended: it is ${task.status}`, "wait until it ends, or cancel it first", {
          status: task.status,
        });
      if (!isEnded(task.state)) throw stillOpen();
      if (task.agent !== null && !(await desk.canRun(task.agent))) {
        throw new ToolError("unsupported", "the agent of this task is no longer in the directory", {
          hint: "dispatch it to another agent",
        });
      }
      if (input.reset_budget) {
        await context.ask({
          permission: "task.budget_reset",
          resources: [task.id],
          reason: "Start the counters of a task's budget at zero",
        });
      }
      const { queue, store } = desk.backend(context);
      const applied = await queue.apply(task.id, {
        kind: "retry",
        key: newKey(),
        by: actor,
        modifyPrompt: input.modify_prompt ?? null,
        resetBudget: input.reset_budget,
      });
      if (!applied.ok) throw stillOpen();
      const engines = (await store.engines()).filter(({ alive }) => alive).length;
      const { id, attempt, sessionId, kind } = applied.task;
      return { taskId: id, attempt, status: "pending" as const, resumes: sessionId !== null, sessionId, engines, kind };
    },
    render({ taskId: id, attempt, resumes, sessionId, engines, kind }) {
      const how = resumes ? ` (resumes session ${sessionId})` : "";
      const lines = [`Attempt ${attempt} of ${id} queued${how}.`];
      if (kind === "dispatch" && engines === 0)
        lines.push("No dispatcher runs on this store; the task starts when one does.");
      return lines.join("\n");
    },
  });
}

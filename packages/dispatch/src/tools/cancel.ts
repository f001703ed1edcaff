import { type AnyTool, defineTool } from "@toolhaft/core";
import { z } from "zod";
import { cancelTree } from "../cancel.ts";
import { checkText } from "../checks.ts";
import { type Desk, taskFor } from "../desk.ts";
import { requireControl } from "../ownership.ts";
import { statusSchema, taskIdInput, text } from "../schemas.ts";

/** `dispatch_cancel`: stop a task and everything below it. */
export function cancelTool(desk: Desk): AnyTool {
  return defineTool({
    name: "dispatch_cancel",
    title: "Cancel a task",
    description: "Stops a task that you launched, with everything below it.",
    keywords: ["stop", "abort", "kill", "cancel"],
    inputSchema: z.object({
      task_id: taskIdInput,
      reason: text("Why.", 2_000).optional(),
      cascade: z.boolean().default(true).describe("What it launched, too."),
    }),
    outputSchema: z.object({
      taskId: z.string(),
      outcome: z.enum(["cancelled", "requested", "already_ended"]),
      status: statusSchema,
      cascaded: z.array(z.string()),
    }),
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    async execute({ task_id, reason, cascade }, context) {
      if (reason !== undefined) checkText("reason", reason, 2_000, "invalid_input");
      const { engine, caller } = await desk.open(context);
      const task = await taskFor(desk, engine, caller, "task_id", task_id);
      await requireControl(engine, caller, task, "cancel");
      const done = await cancelTree(engine, task.id, caller.actor, reason ?? null, cascade);
      return {
        taskId: task.id,
        outcome: done.outcome,
        status: done.task?.status ?? task.status,
        cascaded: done.cascaded,
      };
    },
    render({ taskId, outcome, status, cascaded }) {
      const below = cascaded.length === 0 ? "" : ` and ${cascaded.length} below it`;
      if (outcome === "already_ended") return `${taskId} had ended already: ${status}.`;
      if (outcome === "cancelled") return `Cancelled ${taskId}${below}.`;
      return `Asked ${taskId}${below} to stop; it ends as cancelled when its run has stopped.`;
    },
  });
}

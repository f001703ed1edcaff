import { type AnyTool, createId, defineTool, ToolError } from "@toolhaft/core";
import { z } from "zod";
import { checkCharacters, checkJsonSize, checkText } from "../checks.ts";
import { type Desk, taskFor } from "../desk.ts";
import { taskIdInput, text } from "../schemas.ts";
import { ownClaim } from "./progress.ts";

const maxItems = 500;
const maxMetadataBytes = 16 * 1024;

const items = (description: string) =>
  z
    .array(z.string().meta({ maxLength: 500 }))
    .max(maxItems)
    .describe(description);

/** `dispatch_checkpoint`: what the next attempt must know. */
export function checkpointTool(desk: Desk): AnyTool {
  return defineTool({
    name: "dispatch_checkpoint",
    title: "Save a checkpoint of the own task",
    description: "For subagents: saves what is done and left. The next attempt is given the last checkpoint.",
    keywords: ["checkpoint", "save", "resume", "state"],
    inputSchema: z.object({
      task_id: taskIdInput,
      phase: text("Phase.", 200),
      completed_items: items("What is done").default([]),
      remaining_items: items("What is left").default([]),
      metadata: z.record(z.string(), z.unknown()).optional().describe("At most 16 KiB."),
    }),
    outputSchema: z.object({
      taskId: z.string(),
      checkpointId: z.string(),
      seq: z.number().int(),
      number: z.number().int(),
      phase: z.string(),
      completed: z.number().int(),
      remaining: z.number().int(),
    }),
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    async execute({ task_id, phase, completed_items, remaining_items, metadata }, context) {
      checkText("phase", phase, 200, "invalid_input");
      for (const [field, list] of Object.entries({ completed_items, remaining_items })) {
        for (const [at, item] of list.entries()) {
          checkCharacters(`${field}[${at}]`, item);
          if ([...item].length > 500)
            throw new ToolError("invalid_input", `${field}[${at}] has over 500 characters`, { hint: "shorten it" });
        }
      }
      if (metadata !== undefined) checkJsonSize("metadata", metadata, maxMetadataBytes);
      const { engine, caller } = await desk.open(context);
      const task = await taskFor(desk, engine, caller, "task_id", task_id);
      const ref = ownClaim(caller, task, context);
      const checkpointId = `checkpoint_${createId()}`;
      const seq = await engine.store.append(task.id, ref, {
        key: checkpointId,
        kind: "checkpoint",
        data: {
          checkpointId,
          phase,
          completedItems: completed_items,
          remainingItems: remaining_items,
          ...(metadata !== undefined && { metadata }),
        },
      });
      const { total } = await engine.store.events(task.id, { kinds: ["checkpoint"], limit: 1 });
      return {
        taskId: task.id,
        checkpointId,
        seq,
        number: total,
        phase,
        completed: completed_items.length,
        remaining: remaining_items.length,
      };
    },
    render: ({ number, phase, completed, remaining }) =>
      `Checkpoint ${number} saved (${phase}: ${completed} done, ${remaining} left).`,
  });
}

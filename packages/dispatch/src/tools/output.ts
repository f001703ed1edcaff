import { type AnyTool, defineTool, ToolError } from "@toolhaft/core";
import {
  type Attempt,
  eventSchema,
  isEnded,
  statusOf,
  type Task,
  type TaskStore,
  textWindowSchema,
} from "@toolhaft/tasks";
import { z } from "zod";
import { type Desk, taskFor } from "../desk.ts";
import { lastEvent } from "../notices/notice.ts";
import { readOnly, statusSchema, taskIdInput, waitInput } from "../schemas.ts";
import { duration, windowText } from "../show.ts";
import { endNotices, waitFor } from "../wait.ts";
import { fitWindow } from "../window.ts";

/** `dispatch_output`: read a task's result. */
export function outputTool(desk: Desk): AnyTool {
  return defineTool({
    name: "dispatch_output",
    title: "Read a task's result",
    description: "Reads the result of a task, whole or in parts; of a failed one, reason and output.",
    keywords: ["result", "answer", "output", "wait", "subagent"],
    maxSchemaTokens: 500,
    inputSchema: z.object({
      task_id: taskIdInput,
      max_chars: z.number().int().min(1).max(100_000).default(16_000).describe("Page size."),
      offset: z.number().int().min(0).optional().describe("First character."),
      limit: z.number().int().min(1).optional().describe("Characters; default max_chars."),
      tail: z.boolean().default(false).describe("The last characters."),
      attempt: z.number().int().min(1).optional().describe("Default: the latest."),
      wait_ms: waitInput,
    }),
    outputSchema: z.object({
      taskId: z.string(),
      attempt: z.number().int(),
      status: statusSchema,
      agent: z.string(),
      title: z.string(),
      sessionId: z.string().nullable(),
      durationMs: z.number().nullable(),
      end: z.object({ reason: z.string(), message: z.string(), retryable: z.boolean() }).nullable(),
      result: textWindowSchema.nullable(),
      partial: z.boolean(),
      progress: eventSchema.nullable(),
    }),
    annotations: readOnly,
    async execute(input, context) {
      if (input.tail && input.offset !== undefined)
        throw new ToolError("invalid_input", "tail and offset exclude each other", { hint: "leave one of them out" });
      const { engine, caller } = await desk.open(context);
      let task = await taskFor(desk, engine, caller, "task_id", input.task_id);
      const wait = Math.min(input.wait_ms, desk.settings.maxWaitMs);
      if (wait > 0 && !isEnded(task.state)) task = (await waitFor(engine, task.id, wait, context.signal)) ?? task;
      const attempt = input.attempt ?? Math.max(1, task.attempt);
      const own = await attemptOf(engine.store, task, attempt);
      // An attempt that is over is read as it ended, whatever the task does now.
      const past = attempt !== task.attempt && own !== undefined;
      const status = past ? statusOf(own.state) : task.status;
      const end = past ? own.end : task.end;
      const result = past ? own.result : task.result;
      const limit = Math.min(input.limit ?? input.max_chars, input.max_chars);
      const ended = past || isEnded(task.state);
      const window = !ended
        ? null
        : fitWindow(
            await engine.store.readResult(
              task.id,
              attempt,
              input.tail ? { tail: limit } : { offset: input.offset ?? 0, limit },
            ),
            input.tail,
          );
      if (isEnded(task.state) && caller.actor.sessionId === task.ownerSession)
        await engine.store.ackNotices(endNotices(task));
      return {
        taskId: task.id,
        attempt,
        status,
        agent: task.agent ?? task.assignee ?? task.claimedBy?.agent ?? "board",
        title: task.title,
        sessionId: past ? own.sessionId : task.sessionId,
        durationMs: past ? durationOf(own) : task.durationMs,
        end,
        result: window,
        partial: result?.partial ?? false,
        progress: ended ? null : ((await lastEvent(task, engine.store, "progress")) ?? null),
      };
    },
    render(output, input, toolName) {
      const { taskId, attempt, status, agent, title, durationMs, end, result, partial, progress } = output;
      const head = [
        `${taskId} ${agent} "${title.replace(/\s+/g, " ")}"`,
        `Status: ${status}${attempt > 1 ? `, attempt ${attempt}` : ""}${durationMs === null ? "" : `, ${duration(durationMs)}`}`,
      ];
      if (end !== null && end.reason !== "done") head.push(`${end.reason}: ${end.message.slice(0, 1_000)}`);
      if (progress !== null) {
        const { stage, percentage, message } = progress.data;
        head.push(`Progress: ${String(stage)} ${String(percentage)} %: ${String(message).slice(0, 300)}`);
      }
      if (result === null) return [...head, "It has not ended; you will be told."].join("\n");
      if (result.totalChars === 0) return [...head, "There is no output."].join("\n");
      if (partial) head.push("What there was of the answer when it ended:");
      const next = (offset: number) =>
        `${toolName("dispatch_output")} ${JSON.stringify({ task_id: taskId, ...(input.attempt !== undefined && { attempt }), offset, ...(input.max_chars !== 16_000 && { max_chars: input.max_chars }), ...(input.limit !== undefined && { limit: input.limit }) })}`;
      const rest = windowText(result, next);
      return [...head, "---", result.text, ...(rest === "" ? [] : [rest])].join("\n");
    },
  });
}

async function attemptOf(
  store: Pick<TaskStore, "attempts">,
  task: Task,
  attempt: number,
): Promise<Attempt | undefined> {
  const attempts = await store.attempts(task.id);
  const own = attempts.find((one) => one.attempt === attempt);
  if (own === undefined && attempt > Math.max(1, task.attempt))
    throw new ToolError("invalid_input", `attempt ${attempt} never was; ${task.id} has had ${task.attempt}`, {
      hint: "leave attempt out for the latest",
    });
  return own;
}

function durationOf({ startedAt, endedAt }: { startedAt: string | null; endedAt: string | null }): number | null {
  return startedAt === null || endedAt === null ? null : Date.parse(endedAt) - Date.parse(startedAt);
}

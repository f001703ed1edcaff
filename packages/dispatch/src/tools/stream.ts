import { type AnyTool, defineTool, ToolError } from "@toolhaft/core";
import { eventKinds, eventSchema, isEnded, type Page, type TaskEvent } from "@toolhaft/tasks";
import { z } from "zod";
import { type Desk, taskFor } from "../desk.ts";
import { readOnly, statusSchema, taskIdInput, waitInput } from "../schemas.ts";
import { cell, table, timeText } from "../show.ts";

const byDefault = ["progress"] as const;

/** Checked here and not in the schema: two dozen names in every listing, for a parameter that is seldom needed. */
const isEventKind = (kind: string) => eventKinds.some((known) => known === kind);

/** `dispatch_stream`: what a task reported, in order. */
export function streamTool(desk: Desk): AnyTool {
  return defineTool({
    name: "dispatch_stream",
    title: "Follow a task's reports",
    description: "Reads what a task reported, in order. Give after_seq to miss nothing and repeat nothing.",
    keywords: ["events", "follow", "watch", "progress", "log"],
    maxSchemaTokens: 600,
    inputSchema: z.object({
      task_id: taskIdInput,
      since: z.string().optional().describe("Since this ISO time."),
      after_seq: z.number().int().min(0).optional().describe("nextSeq of the last reply."),
      kinds: z
        .array(z.string().refine(isEventKind, `must be one of ${eventKinds.join(", ")}`))
        .min(1)
        .optional()
        .describe("Default: progress."),
      limit: z.number().int().min(1).max(500).default(100).describe("Page size."),
      wait_ms: waitInput,
    }),
    outputSchema: z.object({
      taskId: z.string(),
      status: statusSchema,
      events: z.array(eventSchema),
      nextSeq: z.number().int(),
      dropped: z.number().int(),
      ended: z.boolean(),
      more: z.boolean(),
    }),
    annotations: readOnly,
    async execute(input, context) {
      const since = input.since === undefined ? undefined : instant(input.since);
      const { engine, caller } = await desk.open(context);
      const seen = await taskFor(desk, engine, caller, "task_id", input.task_id);
      const query = {
        kinds: input.kinds === undefined ? byDefault : eventKinds.filter((kind) => input.kinds?.includes(kind)),
        limit: input.limit,
        ...(input.after_seq !== undefined && { afterSeq: input.after_seq }),
        ...(since !== undefined && { since }),
      };
      let task = seen;
      let page: Page<TaskEvent> | undefined;
      await engine.changes.until(
        async () => {
          // The task first: what it wrote before it ended is then in the page.
          task = (await engine.store.get(seen.id)) ?? task;
          page = await engine.store.events(seen.id, query);
          return page.items.length > 0 || isEnded(task.state) ? true : undefined;
        },
        Math.min(input.wait_ms, desk.settings.maxWaitMs),
        context.signal,
        (hint) => hint.taskId === seen.id,
      );
      const events = [...(page?.items ?? [])];
      const more = page?.nextCursor !== null && page?.nextCursor !== undefined;
      return {
        taskId: task.id,
        status: task.status,
        events,
        nextSeq: events.at(-1)?.seq ?? input.after_seq ?? 0,
        dropped: droppedOf(events),
        ended: isEnded(task.state) && !more,
        more,
      };
    },
    render({ taskId, status, events, nextSeq, ended, more }, input, toolName) {
      const rows = events.map(({ at, kind, data }) => [
        timeText(at),
        cell(String(data.stage ?? data.phase ?? kind), 40),
        typeof data.percentage === "number" ? String(data.percentage) : "",
        cell(messageOf(data), 160),
      ]);
      const next = `${toolName("dispatch_stream")} ${JSON.stringify({ task_id: taskId, after_seq: nextSeq, ...(input.kinds !== undefined && { kinds: input.kinds }) })}`;
      const tail = ended
        ? `${taskId} has ended: ${status}.`
        : `${taskId} is ${status}; ${more ? "more" : "news"}: ${next}`;
      return [rows.length === 0 ? "No reports." : table(["Time (UTC)", "Stage", "%", "Message"], rows), tail].join(
        "\n",
      );
    },
  });
}

/** How many reports of a full record were let go before the first that is left. */
function droppedOf(events: readonly TaskEvent[]): number {
  const first = events[0]?.data.dropped;
  return typeof first === "number" ? first : 0;
}

function messageOf(data: Readonly<Record<string, unknown>>): string {
  const { message, text, reason } = data;
  for (const one of [message, text, reason]) if (typeof one === "string") return one;
  return Object.keys(data).length === 0 ? "" : JSON.stringify(data).slice(0, 400);
}

/** A time of any offset, as UTC. */
function instant(text: string): string {
  const iso = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/;
  const time = iso.test(text)
    ? Date.parse(/T.*(Z|[+-]\d{2}:?\d{2})$/.test(text) || !text.includes("T") ? text : `${text}Z`)
    : Number.NaN;
  if (Number.isNaN(time) || (!text.includes("T") && new Date(time).toISOString().slice(0, 10) !== text))
    throw new ToolError("invalid_input", `since is no time: "${text.slice(0, 60)}"`, {
      hint: "write it as 2026-11-30T08:12:04Z or with an offset",
    });
  return new Date(time).toISOString();
}

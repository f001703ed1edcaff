import { defineTool, type ToolContext, ToolError, toolOutput } from "@toolhaft/core";
import { z } from "zod";
import { type Desk, taskFor } from "../desk.ts";
import { writeExport } from "../export-file.ts";
import { type Exported, exportJson, exportMarkdown } from "../export-text.ts";
import { exportPath, taskId } from "../input.ts";
import { type Attempt, statuses, type Task, type TaskEvent } from "../model.ts";
import { textWindowSchema } from "../schemas.ts";
import { callText } from "../show.ts";
import type { TaskStore } from "../store.ts";
import { lengthOf, windowOf } from "../text-window.ts";

/** Code points of an export in one reply. */
const pageChars = 16_000;
/** The largest result a store keeps, in code points. */
const wholeResult = 16 * 1_024 * 1_024;
const eventsAtOnce = 500;

/** `task_export`: one task as a document, inline or in a file. */
export function exportTool(desk: Desk) {
  return defineTool({
    name: "task_export",
    title: "Export a task",
    description: "Gives one task as a document with its whole result: inline in parts, or written to export_path.",
    keywords: ["report", "save", "document", "markdown", "json"],
    inputSchema: z.object({
      task_id: taskId,
      format: z.enum(["markdown", "json"]).default("markdown").describe("Form."),
      export_path: exportPath,
      output_path: z.string().min(1).optional().describe("Same."),
      include_prompt: z.boolean().default(true).describe("Prompt."),
      include_messages: z.boolean().default(false).describe("Transcript, if kept."),
      include_events: z.boolean().default(false).describe("Events."),
      attempt: z.number().int().min(1).optional().describe("Default: the latest."),
      overwrite: z.boolean().default(false).describe("Replace a file."),
      offset: z.number().int().min(0).default(0).describe("First character."),
    }),
    outputSchema: z.object({
      taskId: z.string(),
      attempt: z.number().int(),
      status: z.enum(statuses),
      format: z.string(),
      path: z.string().nullable(),
      bytes: z.number().int(),
      chars: z.number().int(),
      content: textWindowSchema.nullable(),
    }),
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    async execute(input, context) {
      const path = pathOf(input);
      const task = await taskFor(desk, context, input.task_id);
      const { store } = desk.backend(context);
      const attempt = await attemptOf(store, task, input.attempt);
      const exported: Exported = {
        task,
        attempt,
        result: await resultOf(store, task, attempt),
        prompt: input.include_prompt ? task.body : null,
        messages: input.include_messages ? await transcriptOf(store, task, attempt) : null,
        events: input.include_events ? await eventsOf(store, task, attempt, context) : null,
      };
      const text = input.format === "json" ? exportJson(exported) : exportMarkdown(exported);
      const data = {
        taskId: task.id,
        attempt: attempt.attempt,
        status: task.status,
        format: input.format,
        bytes: Buffer.byteLength(text),
        chars: lengthOf(text),
      };
      if (path === undefined)
        return { ...data, path: null, content: windowOf(text, input.offset, pageChars, data.chars) };
      const written = await writeExport(desk, context, { path, text, overwrite: input.overwrite });
      return toolOutput({ ...data, path: written.path, content: null }, { fileChanges: written.fileChanges });
    },
    render({ taskId: id, path, bytes, chars, content }, input, toolName) {
      if (content === null) return `Exported ${id} to ${path} (${bytes} bytes).`;
      const end = content.offset + content.chars;
      if (content.nextOffset === null && content.offset === 0) return content.text;
      const next =
        content.nextOffset === null ? "" : `; next: ${callText(toolName("task_export"), { ...input, offset: end })}`;
      return `${content.text}\n[characters ${content.offset}-${end} of ${chars}${next}]`;
    },
  });
}

function pathOf(input: { export_path?: string | undefined; output_path?: string | undefined }): string | undefined {
  const { export_path, output_path } = input;
  if (export_path !== undefined && output_path !== undefined && export_path !== output_path) {
    throw new ToolError("invalid_input", "export_path and output_path name two files", { hint: "give one of them" });
  }
  return export_path ?? output_path;
}

async function attemptOf(store: TaskStore, task: Task, wanted: number | undefined): Promise<Attempt> {
  const attempts = await store.attempts(task.id);
  const number = wanted ?? task.attempt;
  const found = attempts.find(({ attempt }) => attempt === number);
  if (found !== undefined) return found;
  if (wanted !== undefined) {
    throw new ToolError(
      "invalid_input",
      `this task has had ${attempts.length} attempts, and none with number ${wanted}`,
      {
        hint: "leave attempt out for the latest",
      },
    );
  }
  // Nobody has worked on it yet, or it ended before anybody could.
  const { id: taskId, state, sessionId, startedAt, endedAt, end, usage } = task;
  return { taskId, attempt: number, state, sessionId, startedAt, endedAt, end, result: null, usage };
}

async function resultOf(store: TaskStore, task: Task, attempt: Attempt): Promise<string | null> {
  if (attempt.result === null) return null;
  return (await store.readResult(task.id, attempt.attempt, { offset: 0, limit: wholeResult })).text;
}

async function transcriptOf(store: TaskStore, task: Task, attempt: Attempt): Promise<string> {
  const page = await store.events(task.id, { kinds: ["transcript"], limit: 10_000 });
  const last = page.items.filter((event) => event.attempt === attempt.attempt).at(-1);
  if (typeof last?.data.text === "string") return last.data.text;
  throw new ToolError("unsupported", "no transcript was kept of this attempt: its runner gives none", {
    hint: "export it without include_messages",
  });
}

async function eventsOf(store: TaskStore, task: Task, attempt: Attempt, context: ToolContext): Promise<TaskEvent[]> {
  const events: TaskEvent[] = [];
  for (let afterSeq = 0; ; ) {
    context.signal.throwIfAborted();
    const page = await store.events(task.id, { afterSeq, limit: eventsAtOnce });
    events.push(...page.items);
    if (page.nextCursor === null) break;
    afterSeq = Number(page.nextCursor);
  }
  return attempt.attempt === task.attempt ? events : events.filter((event) => event.attempt === attempt.attempt);
}

import type { NoticeKind, Remaining, StoredNotice, Task, TaskRow, TaskStore } from "@toolhaft/tasks";
import { taskRow } from "@toolhaft/tasks";
import { duration } from "../engine/stop.ts";

/** A message to the session that owns a task. Text and data are made when it is delivered. */
export interface Notice {
  /** `<task>:<attempt>:<kind>[:<n>]`: one per attempt and kind, for good. */
  id: string;
  to: string;
  kind: NoticeKind;
  taskId: string;
  attempt: number;
  remaining: Remaining;
  /** True exactly once: with the last of the owner's open tasks. */
  allSettled: boolean;
  /** Whether it is worth starting a turn. */
  wake: boolean;
  text: string;
  data: TaskRow;
}

/** The host's way to tell a session something. */
export interface Notifier {
  /** `later`, or an error: it is tried again. */
  deliver(notice: Notice, signal: AbortSignal): Promise<"delivered" | "later">;
  /** Whether a notice is there already: keeps a crash between delivering and noting from repeating it. */
  seen?(noticeId: string): Promise<boolean>;
}

const marks: Readonly<Record<NoticeKind, string>> = {
  completed: "TASK COMPLETED",
  failed: "TASK FAILED",
  timeout: "TASK TIMED OUT",
  cancelled: "TASK CANCELLED",
  budget: "BUDGET EXCEEDED",
  approval: "APPROVAL NEEDED",
  progress: "PROGRESS",
  task_posted: "TASK POSTED",
};

const shownChars = 4_000;

export type ToolName = (original: string) => string;

/** The notice as it is delivered; nothing for a task that is gone. */
export async function makeNotice(
  stored: StoredNotice,
  store: TaskStore,
  toolName: ToolName,
): Promise<Notice | undefined> {
  const task = await store.get(stored.taskId);
  if (task === undefined) return undefined;
  const { id, to, kind, taskId, attempt, remaining, allSettled, wake } = stored;
  const text = noticeText(stored, task, await bodyOf(stored, task, store, toolName));
  return { id, to, kind, taskId, attempt, remaining, allSettled, wake, text, data: taskRow(task) };
}

export function noticeText(notice: StoredNotice, task: Task, body: readonly string[]): string {
  const { id, kind, remaining, allSettled } = notice;
  const time = task.durationMs === null ? "" : `, ${duration(task.durationMs)}`;
  const mark = kind === "budget" && task.end?.reason !== "budget_exceeded" ? "BUDGET WARNING" : marks[kind];
  const who = task.agent ?? task.assignee ?? "board";
  return [
    `<system-reminder source="toolhaft.dispatch" id="${id}">`,
    `[${mark}] ${task.id} ${escaped(oneLine(who))} "${escaped(oneLine(task.title))}"${time}`,
    ...(allSettled ? ["ALL TASKS SETTLED"] : []),
    `Still open for this session: ${remaining.running} running, ${remaining.queued} queued, ${remaining.waiting} awaiting approval.`,
    ...body,
    "</system-reminder>",
  ].join("\n");
}

async function bodyOf(
  { kind, taskId, attempt }: StoredNotice,
  task: Task,
  store: TaskStore,
  toolName: ToolName,
): Promise<string[]> {
  switch (kind) {
    case "approval":
      return approvalBody(task, store, toolName);
    case "progress":
      return progressBody(task, store, toolName);
    case "task_posted":
      return [`Claim it with ${toolName("task_claim")} {"task_id":"${taskId}"}`];
    default:
      return endBody(attempt, task, store, toolName);
  }
}

async function endBody(attempt: number, task: Task, store: TaskStore, toolName: ToolName): Promise<string[]> {
  const attempts = await store.attempts(task.id);
  const own = attempts.find((one) => one.attempt === attempt);
  const end = own?.end ?? null;
  const result = own?.result ?? null;
  const lines: string[] = [];
  if (end !== null && end.reason !== "done") lines.push(`${end.reason}: ${escaped(end.message)}`);
  if (end === null) lines.push(`The task is ${task.status}.`);
  if (result === null || result.chars === 0) return lines;
  const { text } = await store.readResult(task.id, attempt, { offset: 0, limit: shownChars });
  const call = (more: object) =>
    `${toolName("dispatch_output")} ${JSON.stringify({ task_id: task.id, ...(task.attempt !== attempt && { attempt }), ...more })}`;
  const kind = result.partial ? "Partial result" : "Result";
  lines.push(
    result.chars > shownChars
      ? `${kind}, first ${shownChars} of ${result.chars} characters; rest: ${call({ offset: shownChars })}`
      : `${kind}, ${result.chars} characters:`,
    `<subagent-output>${escaped(text)}</subagent-output>`,
  );
  return lines;
}

async function approvalBody(task: Task, store: TaskStore, toolName: ToolName): Promise<string[]> {
  const open = await store.approvals({ taskId: task.id, open: true });
  if (open.length === 0) return ["It has been answered already."];
  return open.flatMap(({ id, title, approvers, expiresAt, detail }) => [
    `It asks: ${escaped(oneLine(title))} (answered by ${typeof approvers === "string" ? approvers : approvers.join(", ")}, until ${expiresAt})`,
    ...(detail === null || detail === undefined
      ? []
      : [`<subagent-output>${escaped(JSON.stringify(detail).slice(0, 2_000))}</subagent-output>`]),
    `Answer with ${toolName("dispatch_approve")} {"task_id":"${task.id}","approval_id":"${id}"} or ${toolName("dispatch_reject")} {"task_id":"${task.id}","approval_id":"${id}","reason":"…"}`,
  ]);
}

async function progressBody(task: Task, store: TaskStore, toolName: ToolName): Promise<string[]> {
  const last = await lastProgress(task, store);
  if (last === undefined) return [];
  const { stage, message, percentage } = last;
  return [
    `${escaped(oneLine(String(stage ?? "")))} ${String(percentage ?? 0)} %: ${escaped(String(message ?? ""))}`,
    `More: ${toolName("dispatch_stream")} {"task_id":"${task.id}"}`,
  ];
}

/** The newest progress report. */
export async function lastProgress(task: Task, store: TaskStore): Promise<Record<string, unknown> | undefined> {
  return (await lastEvent(task, store, "progress"))?.data;
}

/** The newest event of a kind; kinds are few per task, so the last page is soon there. */
export async function lastEvent(task: Task, store: TaskStore, kind: "progress" | "activity" | "checkpoint") {
  let last: Awaited<ReturnType<TaskStore["events"]>>["items"][number] | undefined;
  let afterSeq = 0;
  for (;;) {
    const page = await store.events(task.id, { kinds: [kind], afterSeq, limit: 500 });
    last = page.items.at(-1) ?? last;
    if (page.nextCursor === null || last === undefined) return last;
    afterSeq = last.seq;
  }
}

/** Foreign text cannot open or close the tags around it. */
export function escaped(text: string): string {
  return text.replace(/<(?=\/?(?:system-reminder|subagent-output)\b)/gi, "&lt;");
}

export function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

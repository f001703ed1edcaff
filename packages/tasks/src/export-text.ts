import { showDuration, showTime } from "./dates.ts";
import { isEnded } from "./edges.ts";
import type { Attempt, Task, TaskEvent } from "./model.ts";
import { cell, oneLine, table } from "./show.ts";
import { lengthOf } from "./text-window.ts";

/** All that an export may hold. */
export interface Exported {
  task: Task;
  attempt: Attempt;
  result: string | null;
  prompt: string | null;
  messages: string | null;
  events: readonly TaskEvent[] | null;
}

export function exportJson({ task, attempt, result, prompt, messages, events }: Exported): string {
  const { body: _body, result: _result, ...record } = task;
  const whole = {
    ...record,
    finished: isEnded(attempt.state),
    attemptRecord: {
      ...attempt,
      result: attempt.result === null ? null : { ...attempt.result, head: undefined, text: result },
    },
    ...(prompt !== null && { prompt }),
    ...(messages !== null && { messages }),
    ...(events !== null && { events }),
  };
  return `${JSON.stringify(whole, null, 2)}\n`;
}

export function exportMarkdown(exported: Exported): string {
  const { task, attempt, result, prompt, messages, events } = exported;
  const latest = attempt.attempt === task.attempt;
  const status = latest ? task.status : statusText(attempt);
  const finished = isEnded(attempt.state);
  const facts = [
    `# ${oneLine(task.title)}`,
    "",
    `Status: ${status}${finished ? "" : " (not finished)"}`,
    `Task: ${task.id}, attempt ${attempt.attempt} of ${Math.max(task.attempt, attempt.attempt)}`,
    `Agent: ${oneLine(task.agent ?? task.claimedBy?.agent ?? task.assignee ?? "–")}`,
    `Posted: ${showTime(task.createdAt)} UTC by ${oneLine(task.createdBy.agent)}`,
    `Started: ${showTime(attempt.startedAt)} UTC`,
    `Ended: ${showTime(attempt.endedAt)} UTC`,
    `Duration: ${showDuration(durationOf(attempt))}`,
  ];
  if (attempt.end !== null && attempt.end.reason !== "done")
    facts.push(`Reason: ${attempt.end.reason}${attempt.end.message === "" ? "" : `: ${oneLine(attempt.end.message)}`}`);
  if (attempt.usage !== null) {
    const { inputTokens, outputTokens, costUsd } = attempt.usage;
    facts.push(
      `Usage: input ${inputTokens ?? "unknown"}, output ${outputTokens ?? "unknown"}, cost ${costUsd ?? "unknown"}`,
    );
  }
  const parts = [facts.join("\n")];
  if (prompt !== null) parts.push(`## Prompt\n\n${fenced(prompt)}`);
  if (result !== null) {
    const kept = attempt.result;
    const partial = kept?.partial === true ? " (partial)" : "";
    const dropped =
      kept !== null && kept.droppedChars > 0 ? `The first ${kept.droppedChars} characters were not kept.\n\n` : "";
    parts.push(`## Result${partial}\n\n${dropped}${fenced(result)}`);
  }
  if (messages !== null) parts.push(`## Messages\n\n${fenced(messages)}`);
  if (events !== null) {
    const rows = events.map(({ seq, at, kind, data }) => [
      String(seq),
      showTime(at),
      kind,
      cell(JSON.stringify(data), 200),
    ]);
    parts.push(`## Events\n\n${table(["Seq", "Time (UTC)", "Kind", "Data"], rows)}`);
  }
  return `${parts.join("\n\n")}\n`;
}

function durationOf({ startedAt, endedAt }: Attempt): number | null {
  return startedAt === null || endedAt === null ? null : Date.parse(endedAt) - Date.parse(startedAt);
}

function statusText(attempt: Attempt): string {
  const shown: Partial<Record<Attempt["state"], string>> = { failed: "error", timed_out: "timeout" };
  return shown[attempt.state] ?? attempt.state;
}

/** In a fence that no run of backticks inside can close. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => lengthOf(run)));
  const mark = "`".repeat(longest + 1);
  return `${mark}text\n${text}\n${mark}`;
}

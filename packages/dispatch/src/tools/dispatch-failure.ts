import { ToolError } from "@toolhaft/core";
import type { Task, TextWindow } from "@toolhaft/tasks";

/** The end of a task as the error that a waiting call gives; always with its id. */
export function failureOf(task: Task, partial: TextWindow): ToolError {
  const reason = task.end?.reason ?? "cancelled";
  const message = `${task.id} (${task.agent}) ended with ${reason}: ${task.end?.message ?? "no message"}`;
  const kept = partial.totalChars === 0 ? "" : `; ${partial.totalChars} characters of output were kept`;
  const read = `dispatch_output {"task_id":"${task.id}"}`;
  return new ToolError(codeOf(reason), message + kept, {
    hint: partial.totalChars === 0 ? `task_retry {"task_id":"${task.id}"} runs it again` : `read it with ${read}`,
    retryable: false,
    details: { taskId: task.id, sessionId: task.sessionId, reason, partial },
  });
}

function codeOf(reason: string): "upstream" | "timeout" | "cancelled" | "denied" | "unavailable" {
  switch (reason) {
    case "wall_timeout":
    case "idle_timeout":
    case "queue_timeout":
    case "not_started":
      return "timeout";
    case "cancelled":
      return "cancelled";
    case "budget_exceeded":
    case "approval_rejected":
    case "approval_expired":
      return "denied";
    case "runner_unavailable":
      return "unavailable";
    default:
      return "upstream";
  }
}

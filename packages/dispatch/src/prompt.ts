import type { ApprovalDecision, Resume, Task, TaskEvent } from "@toolhaft/tasks";

/**
 * What the subagent is told. A session that goes on knows the prompt already: it gets what is new. Else the whole prompt
 * is run again, headed by what was saved of the earlier attempt.
 */
export function promptOf(task: Task, resume: Resume | null, goesOn: boolean): string {
  if (resume === null || resume.why === "continue") return task.body;
  const news = [resume.modifyPrompt, checkpointText(resume.checkpoint), whatHappened(resume)].filter(
    (part): part is string => part !== null && part !== "",
  );
  if (goesOn) return news.length === 0 ? "Go on." : news.join("\n\n");
  return [...news, task.body].join("\n\n");
}

function whatHappened({ why, decision, previous, modifyPrompt }: Resume): string | null {
  switch (why) {
    case "approval":
      return decision === null ? null : decisionText(decision);
    case "retry": {
      const end = previous?.end;
      if (end === null || end === undefined || end.reason === "done")
        return modifyPrompt === null ? "Do the task again." : null;
      return `The last attempt ended with ${end.reason}: ${end.message}`;
    }
    case "failed":
      return previous?.end === null || previous?.end === undefined
        ? "An earlier attempt failed."
        : `An earlier attempt failed: ${previous.end.message}`;
    case "lost":
    case "release":
      return "An earlier attempt at this task was interrupted. Look at what is already done before you go on.";
    default:
      return null;
  }
}

function decisionText({ decision, allowed, comment }: ApprovalDecision): string {
  const reason = comment === null || comment === "" ? "" : `: ${comment}`;
  if (decision === "expired")
    return `Nobody answered your request in time; it counts as ${allowed ? "approved" : "rejected"}.`;
  return allowed
    ? `Your request was approved${reason}. Go on.`
    : `Your request was rejected${reason}. Go on without it.`;
}

/** A checkpoint as words: what is done and what is left. */
export function checkpointText(checkpoint: TaskEvent | null): string | null {
  if (checkpoint === null) return null;
  const { phase, completedItems, remainingItems, metadata } = checkpoint.data;
  const lines = [`Last checkpoint: ${String(phase ?? "")}`];
  if (Array.isArray(completedItems) && completedItems.length > 0) lines.push(`Done: ${completedItems.join("; ")}`);
  if (Array.isArray(remainingItems) && remainingItems.length > 0) lines.push(`Remaining: ${remainingItems.join("; ")}`);
  if (typeof metadata === "object" && metadata !== null && Object.keys(metadata).length > 0)
    lines.push(`Notes: ${JSON.stringify(metadata)}`);
  return lines.join("\n");
}

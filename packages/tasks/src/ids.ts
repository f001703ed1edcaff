import { createId, ToolError } from "@toolhaft/core";

const form = /^task_[0-9A-HJKMNP-TV-Z]{26}$/;

export function createTaskId(now: number): string {
  return `task_${createId(now)}`;
}

/** @throws ToolError `invalid_input` for what is no id, before anything is looked up */
export function checkTaskId(field: string, id: string): void {
  if (form.test(id)) return;
  throw new ToolError("invalid_input", `${field} is not a task id`, {
    hint: "ids look like task_ and 26 letters and digits; copy them whole, as they are printed",
  });
}

/** The one answer for a task that never was, is pruned, or is not to be seen. */
export function noSuchTask(): ToolError {
  return new ToolError("not_found", "there is no such task on this store", {
    hint: "task_search and task_list print the ids there are",
  });
}

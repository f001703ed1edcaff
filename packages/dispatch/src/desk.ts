import { type ToolContext, ToolError } from "@toolhaft/core";
import { type Caller, checkTaskId, type Task } from "@toolhaft/tasks";
import type { Engine } from "./engine/engine.ts";
import type { Metrics } from "./metrics.ts";
import type { Settings } from "./options.ts";

/** What the tools work with. */
export interface Desk {
  readonly settings: Settings;
  readonly metrics: Metrics;
  /** The running engine of the call's store, which serves the calling session from now on, and who is calling. */
  open(context: ToolContext): Promise<{ engine: Engine; caller: Caller }>;
}

/**
 * A task by its id, when the caller may see it.
 *
 * @throws ToolError `invalid_input` for what is no id, `not_found` for one that is not there or not to be seen
 */
export async function taskFor(
  { settings }: Pick<Desk, "settings">,
  engine: Engine,
  caller: Caller,
  field: string,
  id: string,
): Promise<Task> {
  checkTaskId(field, id);
  const task = await engine.store.get(id);
  if (task !== undefined && (settings.tasks.api.visibility === "store" || task.rootSession === caller.rootSession))
    return task;
  throw new ToolError("not_found", "there is no such task on this store", {
    hint: "dispatch_status and task_search print the ids there are",
  });
}

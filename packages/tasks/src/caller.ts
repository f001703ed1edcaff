import { type ToolContext, ToolError } from "@toolhaft/core";
import type { Actor, Task } from "./model.ts";
import type { ClaimRef, TaskStore } from "./store.ts";

/** Who is calling, and for which task: parent, depth, root and budgets come from it. */
export interface Caller {
  actor: Actor;
  /** The session at the top. */
  rootSession: string;
  /** 0 at a root. */
  depth: number;
  /** The task the caller works on; null at a root. */
  task: Task | null;
  /** The claim it holds, when the context carries its token. */
  ref: ClaimRef | null;
}

/**
 * The caller from the context: by the token of its claim, else by the session of a task that runs, else a root.
 *
 * @throws ToolError `denied` for a wrong or outdated token
 */
export async function callerOf(
  context: Pick<ToolContext, "agent" | "sessionId" | "task">,
  store: TaskStore,
): Promise<Caller> {
  const actor: Actor = { agent: context.agent, sessionId: context.sessionId };
  if (context.task !== undefined) {
    const { id, token } = context.task;
    const ref = await store.claimOf(id, token);
    const task = ref && (await store.get(id));
    if (ref === undefined || task === undefined) {
      throw new ToolError("denied", "the task token of this call is wrong, or its claim is over", {
        hint: "work of a lost claim ends here: its task goes on elsewhere, or has ended",
        details: { by: "policy" },
      });
    }
    return { actor, rootSession: task.rootSession, depth: task.depth, task, ref };
  }
  const own = await store.find({
    sessionId: context.sessionId,
    statuses: ["pending", "running", "awaiting_approval"],
    limit: 1,
  });
  const task = own.items[0];
  if (task === undefined) return { actor, rootSession: context.sessionId, depth: 0, task: null, ref: null };
  return { actor, rootSession: task.rootSession, depth: task.depth, task, ref: null };
}

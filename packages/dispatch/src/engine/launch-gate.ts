import type { Claim } from "@toolhaft/tasks";
import type { AgentSpec } from "../agents.ts";
import { judge } from "../approval.ts";
import type { RunEnvironment } from "./environment.ts";
import { applyPersistently } from "./settle.ts";

/** Key of the question whether a task may start at all. */
export const launchKey = "launch";

/**
 * The policy's word on a launch, asked again at the claim: whatever happened between posting and claiming, nothing starts
 * without it. Gives whether the task has been put aside.
 */
export async function launchGate(env: RunEnvironment, claim: Claim, agent: AgentSpec): Promise<boolean> {
  const { task } = claim;
  if (task.metadata?.launchApproval !== true) return false;
  const known = (await env.store.approvals({ taskId: task.id })).find(({ kind }) => kind === "launch");
  if (known !== undefined) return false;
  const ref = { taskId: claim.taskId, fence: claim.fence };
  const ask = {
    kind: "launch" as const,
    key: launchKey,
    taskId: task.id,
    attempt: task.attempt,
    agent: agent.name,
    title: `Launch ${agent.name}: ${task.title}`,
  };
  const judged = await judge(env.settings.approval, ask, env.settings.interactive);
  if ("approval" in judged) {
    await applyPersistently(env.queue, task.id, {
      kind: "ask",
      key: `${task.id}:${claim.fence}:launch`,
      ref,
      approval: judged.approval,
      attached: false,
    });
    return true;
  }
  if (judged.decision.allowed) return false;
  await applyPersistently(env.queue, task.id, {
    kind: "fail",
    key: `${task.id}:${claim.fence}:settle`,
    ref,
    reason: "approval_rejected",
    message: judged.decision.comment ?? "the launch was rejected",
    retryable: false,
  });
  return true;
}

import { createId } from "@toolhaft/core";
import type { Claim } from "@toolhaft/tasks";
import type { AgentSpec } from "../agents.ts";
import type { RunEnvironment } from "./environment.ts";
import { launchGate } from "./launch-gate.ts";
import { applyPersistently } from "./settle.ts";

/**
 * The agent that a claimed task is for, when it may start: nothing starts that was cancelled meanwhile, has no agent any
 * more, comes to a dispatcher that closes, or waits for a yes. What does not is settled here.
 */
export async function agentFor(env: RunEnvironment, claim: Claim, closing: boolean): Promise<AgentSpec | undefined> {
  const { task } = claim;
  const ref = { taskId: claim.taskId, fence: claim.fence };
  if (closing) {
    await applyPersistently(env.queue, task.id, { kind: "release", key: createId(), ref });
    return undefined;
  }
  const agent = task.agent === null ? undefined : await env.settings.agents.get(task.agent);
  if (agent === undefined) {
    await applyPersistently(env.queue, task.id, {
      kind: "fail",
      key: `${task.id}:${claim.fence}:settle`,
      ref,
      reason: "runner_unavailable",
      message: `there is no agent ${task.agent} in the directory any more`,
      retryable: false,
    });
    return undefined;
  }
  if (task.cancelRequested !== null) {
    await applyPersistently(env.queue, task.id, { kind: "cancel", key: createId(), ref, ...task.cancelRequested });
    return undefined;
  }
  if (await launchGate(env, claim, agent)) return undefined;
  count(env, claim, agent);
  return agent;
}

function count({ metrics, settings }: RunEnvironment, { task, resume }: Claim, agent: AgentSpec): void {
  if (resume === null) metrics.queueWait(settings.clock.now() - Date.parse(task.createdAt));
  else if (resume.why === "retry" || resume.why === "failed" || resume.why === "lost")
    metrics.count("retried", { agent: agent.name });
  if (resume?.why === "lost") metrics.count("lease_lost");
}

import { createContext, type ToolContext } from "@toolhaft/core";
import type { Claim } from "@toolhaft/tasks";
import type { AgentSpec } from "../agents.ts";
import { promptOf } from "../prompt.ts";
import type { RunRequest } from "../runner.ts";
import type { RunEnvironment } from "./environment.ts";

/** What a request is made of. */
export interface Asked {
  claim: Claim;
  agent: AgentSpec;
  /** The session to go on with. */
  session: string | null;
  signal: AbortSignal;
  /** Of the wall limit, in milliseconds. */
  leftMs: number;
  /** Secret of the claim as it is now: it changes when a claim is renewed by approval. */
  readonly token: string;
}

/** What the runner is given. */
export async function requestOf(env: RunEnvironment, asked: Asked): Promise<RunRequest> {
  const { claim, agent, session } = asked;
  const { task, resume } = claim;
  return {
    taskId: task.id,
    attempt: task.attempt,
    depth: task.depth,
    agent,
    prompt: promptOf(task, resume, session !== null),
    directory: env.directory,
    env: { TOOLHAFT_TASK: task.id, TOOLHAFT_TASK_TOKEN: claim.token, TOOLHAFT_STORE: env.storeName },
    session,
    transcript: session === null ? null : (resume?.transcript ?? null),
    used: session === null ? null : await env.usedBefore(session, task),
    decision: resume?.decision ?? null,
    allowance: claim.reserved ?? claim.terms.budget,
    deadline: env.settings.clock.now() + asked.leftMs,
    context: contextOf(env, asked),
  };
}

/** The context of tools that the subagent calls in this process. */
function contextOf(env: RunEnvironment, asked: Asked): ToolContext {
  const { claim, agent, session, signal } = asked;
  const { task } = claim;
  return createContext({
    ...env.contextFor(task),
    directory: env.directory,
    sessionId: session ?? `session_${task.id.slice("task_".length)}`,
    agent: agent.name,
    task: {
      id: task.id,
      get token() {
        return asked.token;
      },
    },
    signal,
  });
}

import type { AgentCard, Task } from "@a2a-js/sdk";
import type { NetOptions } from "@toolhaft/net";
import { connector } from "./a2a/connect.ts";
import { cannotReach, firstPauseMs, follow, longestPauseMs, sleep } from "./a2a/follow.ts";
import { messageFor, parseSession } from "./a2a/message.ts";
import type { RunHandle, RunOutcome, RunRequest, RunSink, SubagentRunner } from "./runner.ts";

export interface A2aRunnerOptions {
  /** Where the agent is: its address, that of its card (ending in `.json`), or the card itself. */
  card: string | URL | AgentCard;
  /** In place of HTTP through `@toolhaft/net`, whose address policy then does not apply. */
  fetch?: typeof fetch;
  /** For `@toolhaft/net`: private addresses are refused unless `allow` names them. */
  net?: NetOptions;
  /** Sent to the card's origin, or the first one a given card names, and to no other. */
  headers?: Readonly<Record<string, string>> | (() => Promise<Readonly<Record<string, string>>>);
  /** @default "a2a" */
  name?: string;
  model?: string;
  /** Between two looks at an agent that cannot stream, in milliseconds. @default 1_000 */
  pollMs?: number;
}

/**
 * A subagent that another server runs, over the A2A protocol. What it streams is followed; a connection that breaks is
 * taken up again, by subscription or by asking for the task. A question of the agent pauses the task until it is answered;
 * stopping it cancels it there.
 *
 * @see https://a2a-protocol.org/latest/specification/
 */
export function a2aRunner(options: A2aRunnerOptions): SubagentRunner {
  const open = connector(options);
  const pollMs = options.pollMs ?? 1_000;
  if (!(pollMs > 0) || !Number.isFinite(pollMs))
    throw new TypeError(`a2aRunner: pollMs is ${pollMs}; it must be milliseconds above 0`);
  return {
    name: options.name ?? "a2a",
    ...(options.model !== undefined && { model: options.model }),
    caps: { resume: true, reattach: true, asks: true, usage: "none" },
    async run(request, sink, signal) {
      const opened = await open(request, signal);
      if ("outcome" in opened) return opened.outcome;
      await using connection = opened;
      const known = request.session === null ? undefined : parseSession(request.session);
      try {
        const message = await messageFor(connection, request, known, signal);
        return await follow(connection, { message }, { sink, signal, pollMs });
      } catch (error) {
        return cannotReach(error, signal);
      }
    },
    reattach: (handle, request, sink, signal) => pickUp(handle, request, sink, signal),
  };

  async function pickUp(
    handle: RunHandle,
    request: RunRequest,
    sink: RunSink,
    signal: AbortSignal,
  ): Promise<RunOutcome | "lost"> {
    const taskId = handle.data?.taskId;
    if (taskId === undefined) return "lost";
    // The work goes on over there: an agent that is away for a moment is waited for.
    for (let pause = firstPauseMs; ; pause = Math.min(longestPauseMs, pause * 2)) {
      const picked = await lookFor(taskId, request, sink, signal);
      const away = typeof picked === "object" && picked.kind === "failed" && picked.reason === "runner_unavailable";
      if (!away || !picked.retryable || signal.aborted) return picked;
      sink.activity({ kind: "status", text: `reconnecting: ${picked.message}` });
      await sleep(pause, signal);
    }
  }

  async function lookFor(
    taskId: string,
    request: RunRequest,
    sink: RunSink,
    signal: AbortSignal,
  ): Promise<RunOutcome | "lost"> {
    const opened = await open(request, signal);
    if ("outcome" in opened) return opened.outcome;
    await using connection = opened;
    const { sdk } = connection;
    let found: Task | undefined;
    try {
      found = await connection.find(taskId, signal);
    } catch (error) {
      return cannotReach(error, signal);
    }
    const state = found?.status?.state;
    // What was cancelled by whoever let it go is done again.
    const gone = state === sdk.TaskState.TASK_STATE_CANCELED || state === sdk.TaskState.TASK_STATE_REJECTED;
    if (found === undefined || gone) return "lost";
    return await follow(connection, { task: found }, { sink, signal, pollMs });
  }
}

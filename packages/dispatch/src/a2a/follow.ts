import { createHash } from "node:crypto";
import type { Message, Task } from "@a2a-js/sdk";
import { isToolError } from "@toolhaft/core";
import { RunStopped } from "../engine/stop.ts";
import type { RunOutcome, RunSink } from "../runner.ts";
import type { Connection } from "./connect.ts";
import { textOf } from "./message.ts";
import { Progress } from "./progress.ts";

interface Following {
  sink: RunSink;
  signal: AbortSignal;
  pollMs: number;
}

/** Longest pause before a broken connection is tried again, in milliseconds. */
export const longestPauseMs = 5_000;
export const firstPauseMs = 250;
/** How long an agent has to say that it cancelled, in milliseconds. */
const cancelMs = 5_000;

/** Starts or picks up a task and follows it until it has ended or asks. A stopped run is cancelled at the agent. */
export async function follow(
  connection: Connection,
  from: { message: Message } | { task: Task },
  following: Following,
): Promise<RunOutcome> {
  const { sink, signal } = following;
  const progress = new Progress(sink);
  try {
    if ("message" in from) await start(connection, from.message, progress, signal);
    else await progress.takeTask(from.task);
    await toTheEnd(connection, progress, following);
  } catch (error) {
    if (!signal.aborted) {
      // Nothing was heard: whether the agent has the message is not known, and another attempt may send it again.
      return { ...cannotReach(error, signal), ...partial(progress) };
    }
  }
  // Work of a lost claim has another follower by now, or soon.
  const taken = signal.reason instanceof RunStopped && signal.reason.kind === "lost";
  if (signal.aborted && !taken) await cancel(connection, progress);
  return outcomeOf(connection, progress, signal);
}

/** Sends the message. A stream that breaks after the task is known is no failure: it is taken up below. */
async function start(
  { client, streams }: Connection,
  message: Message,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  const params = { tenant: "", message, configuration: undefined, metadata: undefined };
  if (!streams) {
    const answer = await client.sendMessage(params, { signal });
    if ("status" in answer) await progress.takeTask(answer);
    else await progress.take({ payload: { $case: "message", value: answer } });
    return;
  }
  try {
    for await (const event of client.sendMessageStream(params, { signal })) await progress.take(event);
  } catch (error) {
    if (progress.taskId === undefined || signal.aborted) throw error;
  }
}

/** Subscribes again while the stream breaks; asks for the task where that cannot be done. */
async function toTheEnd(connection: Connection, progress: Progress, { sink, signal, pollMs }: Following) {
  const { client, sdk } = connection;
  let pause = firstPauseMs;
  let subscribes = connection.streams;
  while (!isSettled(connection, progress)) {
    signal.throwIfAborted();
    const { taskId } = progress;
    if (taskId === undefined) throw new Error("the agent sent neither a task nor an answer");
    try {
      if (subscribes) {
        for await (const event of client.resubscribeTask({ tenant: "", id: taskId }, { signal })) {
          pause = firstPauseMs;
          await progress.take(event);
        }
        if (isSettled(connection, progress)) return;
      }
      const task = await connection.find(taskId, signal);
      if (task === undefined) throw new TaskGone(taskId);
      await progress.takeTask(task);
      if (isSettled(connection, progress)) return;
      await sleep(pollMs, signal);
    } catch (error) {
      if (signal.aborted || error instanceof TaskGone) throw error;
      if (error instanceof sdk.errors.TaskNotFoundError) throw new TaskGone(taskId);
      if (isRefusal(error)) throw error;
      // An agent that cannot be subscribed to is asked; one that is away comes back, or the idle limit ends the task.
      if (subscribes && error instanceof sdk.errors.UnsupportedOperationError) {
        subscribes = false;
        continue;
      }
      sink.activity({ kind: "status", text: `reconnecting: ${wordsOf(error)}` });
      await sleep(pause, signal);
      pause = Math.min(longestPauseMs, pause * 2);
    }
  }
}

class TaskGone extends Error {
  constructor(taskId: string) {
    super(`the agent does not know its task ${taskId} any more`);
  }
}

function isSettled({ sdk: { TaskState } }: Connection, { state, answer }: Progress): boolean {
  if (answer !== undefined && state === undefined) return true;
  switch (state) {
    case TaskState.TASK_STATE_COMPLETED:
    case TaskState.TASK_STATE_FAILED:
    case TaskState.TASK_STATE_CANCELED:
    case TaskState.TASK_STATE_REJECTED:
    case TaskState.TASK_STATE_INPUT_REQUIRED:
    case TaskState.TASK_STATE_AUTH_REQUIRED:
      return true;
    default:
      return false;
  }
}

function outcomeOf({ sdk: { TaskState } }: Connection, progress: Progress, signal: AbortSignal): RunOutcome {
  const said = textOf(progress.status?.message?.parts);
  const failed = (message: string): RunOutcome => ({
    kind: "failed",
    message,
    retryable: false,
    ...partial(progress),
  });
  switch (progress.state) {
    case TaskState.TASK_STATE_COMPLETED:
      return { kind: "done", output: progress.output };
    case TaskState.TASK_STATE_FAILED:
      return failed(said || "the agent said that it failed, and not why");
    case TaskState.TASK_STATE_REJECTED:
      return failed(`the agent rejected the task${said === "" ? "" : `: ${said}`}`);
    case TaskState.TASK_STATE_CANCELED:
      return failed(
        signal.aborted ? "it was stopped" : `the agent cancelled the task${said === "" ? "" : `: ${said}`}`,
      );
    case TaskState.TASK_STATE_INPUT_REQUIRED:
      return signal.aborted ? failed("it was stopped") : paused(progress, said || "The agent asks for input");
    case TaskState.TASK_STATE_AUTH_REQUIRED:
      return signal.aborted ? failed("it was stopped") : paused(progress, said || "The agent asks for credentials");
    default:
      if (signal.aborted) return failed("it was stopped");
      return progress.answer === undefined
        ? failed("the agent sent neither a task nor an answer")
        : { kind: "done", output: progress.answer };
  }
}

/** The question is known by its message: put again after a restart it is the same one. */
function paused({ taskId = "", status }: Progress, title: string): RunOutcome {
  const key = status?.message?.messageId || createHash("sha256").update(`${status?.timestamp} ${title}`).digest("hex");
  return {
    kind: "paused",
    ask: {
      kind: "tool",
      key: `a2a:${taskId}:${key}`,
      taskId: "",
      attempt: 0,
      agent: "",
      title: [...title].slice(0, 500).join(""),
    },
  };
}

async function cancel({ client, sdk }: Connection, progress: Progress): Promise<void> {
  const { taskId } = progress;
  if (taskId === undefined) return;
  try {
    const task = await client.cancelTask(
      { tenant: "", id: taskId, metadata: undefined },
      { signal: AbortSignal.timeout(cancelMs) },
    );
    progress.status = task.status;
  } catch (error) {
    // One that has ended cannot be cancelled; an agent that is away cannot be told.
    if (!(error instanceof sdk.errors.TaskNotCancelableError)) progress.status = undefined;
  }
}

function partial(progress: Progress): { output?: string } {
  const { output } = progress;
  return output.trim() === "" ? {} : { output };
}

/** What a connection that cannot be had means for the attempt. */
export function cannotReach(error: unknown, signal: AbortSignal): RunOutcome & { kind: "failed" } {
  if (signal.aborted) return { kind: "failed", message: "it was stopped", retryable: false };
  if (error instanceof TaskGone) return { kind: "failed", message: error.message, retryable: false };
  const message = `the agent cannot be reached: ${wordsOf(error)}`;
  return { kind: "failed", message, retryable: !isRefusal(error), reason: "runner_unavailable" };
}

/** The address policy's no: it stays one however often it is asked. */
function isRefusal(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause)
    if (isToolError(at)) return at.code === "denied" || at.code === "invalid_input";
  return false;
}

function wordsOf(error: unknown): string {
  if (isToolError(error) && error.hint !== undefined) return `${error.message}; ${error.hint}`;
  return error instanceof Error ? error.message : String(error);
}

export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, ms);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}

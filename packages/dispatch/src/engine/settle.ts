import { createId, isToolError } from "@toolhaft/core";
import type { Applied, ClaimRef, Edge, NewResult, TaskQueue } from "@toolhaft/tasks";
import { judge } from "../approval.ts";
import type { RunOutcome } from "../runner.ts";
import type { RunEnvironment } from "./environment.ts";
import type { Run } from "./run.ts";

const tries = 12;

/** Writes how a run ended: one edge, tried again while the store cannot be reached. */
export async function settle(env: RunEnvironment, run: Run, outcome: RunOutcome, said: string): Promise<void> {
  if (run.stopped?.kind === "release" && run.stoppedWhile === "waiting") {
    // Its question stays open; without a lease the answer is free for whoever comes next.
    await env.queue.renew([run.ref], 1);
    return;
  }
  const text = outcome.kind === "done" ? outcome.output : outcome.kind === "failed" ? (outcome.output ?? said) : said;
  const clean = text.replace(/\p{Surrogate}/gu, "\ufffd");
  if (clean !== text) await noteReplaced(env, run);
  const edge = await edgeOf(env, run, outcome, { text: clean });
  if (edge === undefined) return;
  const applied = await applyPersistently(env.queue, run.taskId, edge);
  if (applied.ok) {
    env.ended(run, applied.task);
    return;
  }
  // The claim was over: what was worked out is kept as a late result.
  if (outcome.kind === "done") env.metrics.lateResult();
  if (run.stopped?.kind === "cancel" || applied.task?.cancelRequested) await cancelLate(env, run);
}

/** A cancel that came while the run ended by itself. */
async function cancelLate(env: RunEnvironment, run: Run): Promise<void> {
  const task = await env.store.get(run.taskId);
  if (task === undefined || task.fence !== run.ref.fence || task.cancelRequested === null) return;
  if (task.state !== "starting" && task.state !== "running") return;
  const { by, reason } = task.cancelRequested;
  const applied = await applyPersistently(env.queue, run.taskId, {
    kind: "cancel",
    key: createId(),
    ref: run.ref,
    by,
    reason,
  });
  if (applied.ok) env.ended(run, applied.task);
}

async function edgeOf(
  env: RunEnvironment,
  run: Run,
  outcome: RunOutcome,
  result: NewResult,
): Promise<Edge | undefined> {
  const { stopped, ref } = run;
  const key = `${run.taskId}:${ref.fence}:settle`;
  const partial = result.text.trim() === "" ? {} : { result };
  switch (stopped?.kind) {
    case "lost":
      return outcome.kind === "done" ? { kind: "complete", key, ref, result } : undefined;
    case "cancel":
      return { kind: "cancel", key, ref, by: stopped.by, reason: stopped.reason, ...partial };
    case "limit":
      return { kind: "time_out", key, ref, reason: stopped.reason, message: stopped.message, ...partial };
    case "exceed":
      return { kind: "exceed", key, ref, message: stopped.message, ...partial };
    case "release":
      return { kind: "release", key, ref, reason: "the dispatcher was closed" };
  }
  switch (outcome.kind) {
    case "done":
      return { kind: "complete", key, ref, result };
    case "paused":
      return pausedEdge(env, run, outcome, key);
    case "failed":
      return {
        kind: "fail",
        key,
        ref,
        reason: outcome.reason ?? "runner_failed",
        message: outcome.message.replace(/\p{Surrogate}/gu, "\ufffd").slice(0, 8_192),
        retryable: outcome.retryable,
        backoffMs: backoff(run.attempt),
        ...partial,
      };
  }
}

/** A run that ended with a question: it is put, and the task goes on when it is answered. */
async function pausedEdge(
  env: RunEnvironment,
  run: Run,
  { ask }: RunOutcome & { kind: "paused" },
  key: string,
): Promise<Edge | undefined> {
  const { ref } = run;
  const whole = { ...ask, taskId: run.taskId, attempt: run.attempt, agent: run.agent.name };
  const judged = await judge(env.settings.approval, whole, env.settings.interactive);
  const approval =
    "approval" in judged
      ? judged.approval
      : { kind: ask.kind, key: ask.key, title: ask.title, approvers: "human" as const };
  const edge: Edge = { kind: "ask", key, ref, approval, attached: false };
  if ("approval" in judged) return edge;
  // Decided at once: still a row, for the next run is given the decision by it.
  const applied = await applyPersistently(env.queue, run.taskId, edge);
  if (!applied.ok) return undefined;
  const [open] = await env.store.approvals({ taskId: run.taskId, open: true });
  if (open === undefined) return undefined;
  const { decision } = judged;
  await applyPersistently(env.queue, run.taskId, {
    kind: "decide",
    key: createId(),
    approvalId: open.id,
    decision: decision.allowed ? "approved" : "rejected",
    by: decision.by,
    comment: decision.comment,
  });
  return undefined;
}

async function noteReplaced(env: RunEnvironment, run: Run): Promise<void> {
  try {
    await env.store.append(run.taskId, run.ref, {
      key: `${run.taskId}:${run.ref.fence}:replaced`,
      kind: "activity",
      data: { kind: "status", text: "the answer held lone surrogates; they were replaced by U+FFFD" },
      activity: false,
    });
  } catch (error) {
    if (!isToolError(error)) throw error; // a claim that is over shows at the settle
  }
}

/** 1 s · 2ⁿ, at most 60 s, each a quarter more or less. */
function backoff(attempt: number): number {
  return Math.round(Math.min(60_000, 1_000 * 2 ** (attempt - 1)) * (0.75 + Math.random() * 0.5));
}

/** The same edge with the same key until the store has answered; it is applied once. */
export async function applyPersistently(queue: TaskQueue, taskId: string, edge: Edge): Promise<Applied> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await queue.apply(taskId, edge);
    } catch (error) {
      const passing = isToolError(error) && (error.code === "timeout" || error.code === "unavailable");
      if (!passing || attempt >= tries) throw error;
      await new Promise((resolve) => setTimeout(resolve, Math.min(2_000, 50 * 2 ** attempt)));
    }
  }
}

/** Work that came after its claim was over is kept with the task as a late result. */
export async function keepLate(queue: TaskQueue, taskId: string, ref: ClaimRef, text: string): Promise<void> {
  try {
    await queue.apply(taskId, { kind: "complete", key: createId(), ref, result: { text } });
  } catch (error) {
    if (!isToolError(error)) throw error; // a store that is closed by now keeps nothing
  }
}

import { type AnyTool, defineTool, type ToolContext, ToolError } from "@toolhaft/core";
import { type Approval, isEnded, type Task, textWindowSchema, usageSchema } from "@toolhaft/tasks";
import { z } from "zod";
import type { AgentSpec } from "../agents.ts";
import { cancelTree } from "../cancel.ts";
import { checkCharacters, checkText, lengthOf } from "../checks.ts";
import type { Desk } from "../desk.ts";
import type { Engine } from "../engine/engine.ts";
import { launch } from "../launch.ts";
import { approvalSchema, statusSchema, text } from "../schemas.ts";
import { duration, usageText, windowText } from "../show.ts";
import { endNotices, waitFor } from "../wait.ts";
import { fitWindow } from "../window.ts";
import { describe } from "./dispatch-description.ts";
import { failureOf } from "./dispatch-failure.ts";
import { queueOf, waits } from "./dispatch-queue.ts";

const maxPrompt = 1_000_000;
const inlineChars = 16_000;

const outputSchema = z.object({
  taskId: z.string(),
  sessionId: z.string().nullable(),
  status: statusSchema,
  agent: z.string(),
  continues: z.string().nullable(),
  outcome: z.enum(["finished", "launched", "promoted", "awaiting_approval"]),
  result: textWindowSchema.optional(),
  usage: usageSchema.optional(),
  durationMs: z.number().optional(),
  queue: z
    .object({ ahead: z.number().int(), waitsFor: z.enum(["slot", "budget", "dependency"]), lane: z.string() })
    .nullable()
    .optional(),
  waitedMs: z.number().optional(),
  approval: approvalSchema.optional(),
});
type Output = z.infer<typeof outputSchema>;

/** `dispatch`: hand work to a subagent. */
export function dispatchTool(desk: Desk): AnyTool {
  return defineTool({
    name: "dispatch",
    title: "Dispatch a subagent",
    description: describe(desk.settings.listed, desk.settings.topLevel),
    keywords: ["subagent", "delegate", "spawn", "parallel", "background", "task", "worker"],
    maxSchemaTokens: 900,
    inputSchema: z.object({
      subagent: z.string().min(1).describe("Name."),
      prompt: text("The whole assignment.", maxPrompt),
      run_in_background: z.boolean().describe("false waits for the answer."),
      description: text("A few words for lists.", 200).optional(),
      session_id: z.string().optional().describe("Ended task whose session goes on."),
      timeout_ms: z.number().int().min(1).max(604_800_000).optional().describe("Longest run."),
      idle_timeout_ms: z.number().int().min(1).max(604_800_000).optional().describe("Longest silence."),
      priority: z.number().int().min(-100).max(100).optional().describe("Higher first."),
      max_tokens: z.number().positive().optional().describe("For it and all below."),
      max_cost_usd: z.number().positive().optional().describe("For it and all below."),
      depends_on: z.array(z.string()).max(50).optional().describe("Must complete first."),
      dedupe_key: text("One open task per key.", 200).optional(),
    }),
    outputSchema,
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
    defaultRules: [{ effect: "allow", permission: "dispatch.run", reason: "listing an agent is the grant" }],
    effects: ({ subagent }) => [{ permission: "dispatch.run", resource: subagent }],
    async execute(input, context) {
      checkText("prompt", input.prompt, maxPrompt, "too_large");
      checkCharacters("subagent", input.subagent);
      if (input.description !== undefined) checkText("description", input.description, 200, "invalid_input");
      if (input.dedupe_key !== undefined) checkText("dedupe_key", input.dedupe_key, 200, "invalid_input");
      const opened = await desk.open(context);
      const { engine } = opened;
      const wish = {
        subagent: input.subagent,
        prompt: input.prompt,
        background: input.run_in_background,
        title: input.description ?? firstLine(input.prompt),
        continues: input.session_id,
        wallMs: input.timeout_ms,
        idleMs: input.idle_timeout_ms,
        priority: input.priority,
        maxTokens: input.max_tokens,
        maxCostUsd: input.max_cost_usd,
        dependsOn: input.depends_on,
        dedupeKey: input.dedupe_key,
      };
      const { task, agent } = await launch(desk, opened, wish, context);
      if (task.state === "waiting") return awaiting(engine, task, agent);
      if (input.run_in_background) return launched(engine, task, agent);
      return waitForAnswer(desk, opened, task, agent, context);
    },
    render: (output, _input, toolName) => render(output, toolName),
  });
}

async function waitForAnswer(
  desk: Desk,
  { engine, caller }: Awaited<ReturnType<Desk["open"]>>,
  posted: Task,
  agent: AgentSpec,
  context: ToolContext,
): Promise<Output> {
  const started = performance.now();
  let task: Task | undefined;
  try {
    task = await waitFor(
      engine,
      posted.id,
      desk.settings.maxWaitMs,
      context.signal,
      ({ state }) => state === "waiting",
    );
  } catch (error) {
    if (!context.signal.aborted) throw error;
    // The engine sees to the processes; the caller is told at once.
    void cancelTree(engine, posted.id, caller.actor, "the waiting call was stopped", true).catch((fault: unknown) =>
      engine.fault(String(fault)),
    );
    throw new ToolError("cancelled", `the wait for ${posted.id} was stopped, and the task asked to stop`, {
      hint: `dispatch_output {"task_id":"${posted.id}"} shows what was done`,
      details: { taskId: posted.id, sessionId: posted.sessionId, reason: "cancelled" },
    });
  }
  if (task === undefined) throw new ToolError("internal", `${posted.id} is gone from the store`);
  if (isEnded(task.state)) {
    await engine.store.ackNotices(endNotices(task));
    return finished(engine, task, agent);
  }
  const promoted = (await engine.store.promote(task.id)) ?? task;
  // It may have ended in the very moment the wait did.
  if (isEnded(promoted.state)) {
    await engine.store.ackNotices(endNotices(promoted));
    return finished(engine, promoted, agent);
  }
  if (promoted.state === "waiting") return awaiting(engine, promoted, agent);
  return { ...base(promoted, agent, "promoted"), waitedMs: Math.round(performance.now() - started) };
}

function base(task: Task, agent: AgentSpec, outcome: Output["outcome"]): Output {
  const { id, sessionId, status, continues } = task;
  return { taskId: id, sessionId, status, agent: agent.name, continues, outcome };
}

async function launched(engine: Engine, posted: Task, agent: AgentSpec): Promise<Output> {
  const task = (await engine.store.get(posted.id)) ?? posted;
  return { ...base(task, agent, "launched"), queue: await queueOf(engine, task) };
}

async function awaiting(engine: Engine, task: Task, agent: AgentSpec): Promise<Output> {
  const [approval] = await engine.store.approvals({ taskId: task.id, open: true });
  return { ...base(task, agent, "awaiting_approval"), ...(approval !== undefined && { approval: shown(approval) }) };
}

export function shown(approval: Approval): z.infer<typeof approvalSchema> {
  const { detail, approvers, decidedBy, ...rest } = approval;
  return { ...rest, detail: detail ?? null, approvers, decidedBy };
}

/** The answer, or the failure that the end of the task is. */
async function finished(engine: Engine, task: Task, agent: AgentSpec): Promise<Output> {
  const window = fitWindow(await engine.store.readResult(task.id, task.attempt, { offset: 0, limit: inlineChars }));
  if (task.state !== "completed") throw failureOf(task, window);
  return {
    ...base(task, agent, "finished"),
    result: window,
    ...(task.usage !== null && { usage: task.usage }),
    ...(task.durationMs !== null && { durationMs: task.durationMs }),
  };
}

function render(output: Output, toolName: (original: string) => string): string {
  const { taskId, sessionId, outcome, result, approval } = output;
  const read = `${toolName("dispatch_output")} {"task_id":"${taskId}"}`;
  switch (outcome) {
    case "finished": {
      const next = (offset: number) => `${toolName("dispatch_output")} {"task_id":"${taskId}","offset":${offset}}`;
      const rest = result === undefined ? "" : windowText(result, next);
      const facts = [
        taskId,
        ...(output.durationMs === undefined ? [] : [duration(output.durationMs)]),
        usageText(output.usage ?? null),
      ];
      return [result?.text ?? "", ...(rest === "" ? [] : [rest]), `(${facts.join(", ")})`].join("\n");
    }
    case "launched":
      return [
        "Background task launched.",
        `Task ID: ${taskId}`,
        `Session ID: ${sessionId ?? waits(output.queue, output.status)}`,
        `You will be told when it ends. Read it then with ${read}`,
      ].join("\n");
    case "promoted":
      return [
        `${taskId} is not finished; it goes on in the background.`,
        `You will be told when it ends. Read it then with ${read}`,
      ].join("\n");
    case "awaiting_approval":
      return [
        `${taskId} waits for an approval: ${approval?.title ?? "see dispatch_status"}`,
        ...(approval === undefined
          ? []
          : [
              `Answer with ${toolName("dispatch_approve")} {"task_id":"${taskId}","approval_id":"${approval.id}"} or ${toolName("dispatch_reject")}.`,
            ]),
      ].join("\n");
  }
}

function firstLine(prompt: string): string {
  const line = prompt.trim().split("\n")[0]?.trim() ?? "";
  return lengthOf(line) > 200 ? `${[...line].slice(0, 199).join("")}…` : line;
}

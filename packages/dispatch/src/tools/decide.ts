import { type AnyTool, createId, defineTool, type ToolContext, ToolError } from "@toolhaft/core";
import type { Approval, Caller, Decider, Task } from "@toolhaft/tasks";
import { z } from "zod";
import { severalOpen } from "../approval.ts";
import { checkText } from "../checks.ts";
import { type Desk, taskFor } from "../desk.ts";
import type { Engine } from "../engine/engine.ts";
import { isAtOrBelow, mayControl } from "../ownership.ts";
import { statusSchema, taskIdInput, text, writing } from "../schemas.ts";

const outputSchema = z.object({
  taskId: z.string(),
  approvalId: z.string(),
  decision: z.enum(["approved", "rejected"]),
  status: statusSchema,
  resumes: z.boolean(),
  comment: z.string().nullable(),
});
const approvalId = z.string().optional().describe("If several are open.");

/** `dispatch_approve`: a yes to what a subagent asks. */
export function approveTool(desk: Desk): AnyTool {
  return defineTool({
    name: "dispatch_approve",
    title: "Approve what a subagent asks",
    description:
      "Says yes to a subagent that waits with a question. A person is asked first unless it is yours to answer.",
    keywords: ["allow", "permit", "yes", "approval"],
    inputSchema: z.object({
      task_id: taskIdInput,
      approval_id: approvalId,
      comment: text("Told the subagent.", 2_000).optional(),
    }),
    outputSchema,
    annotations: writing,
    async execute({ task_id, approval_id, comment }, context) {
      if (comment !== undefined) checkText("comment", comment, 2_000, "invalid_input");
      return decide(desk, context, task_id, approval_id, "approved", comment);
    },
    render: ({ taskId }) => `Approved; ${taskId} resumes.`,
  });
}

/** `dispatch_reject`: a no. */
export function rejectTool(desk: Desk): AnyTool {
  return defineTool({
    name: "dispatch_reject",
    title: "Reject what a subagent asks",
    description: "Says no to a subagent that waits with a question, and why.",
    keywords: ["deny", "refuse", "no", "approval"],
    inputSchema: z.object({
      task_id: taskIdInput,
      reason: text("Told the subagent.", 2_000),
      approval_id: approvalId,
    }),
    outputSchema,
    annotations: writing,
    async execute({ task_id, approval_id, reason }, context) {
      checkText("reason", reason, 2_000, "invalid_input");
      return decide(desk, context, task_id, approval_id, "rejected", reason);
    },
    render: ({ taskId, resumes, comment }) =>
      `Rejected: ${comment ?? ""}; ${taskId} ${resumes ? "resumes with the reason" : "ends"}.`,
  });
}

async function decide(
  desk: Desk,
  context: ToolContext,
  taskId: string,
  wanted: string | undefined,
  decision: "approved" | "rejected",
  comment: string | undefined,
) {
  const { engine, caller } = await desk.open(context);
  const task = await taskFor(desk, engine, caller, "task_id", taskId);
  const approval = await openApproval(engine, task, wanted);
  const by = await approver(engine, caller, task, approval, decision, context);
  const applied = await engine.queue.apply(task.id, {
    kind: "decide",
    key: createId(),
    approvalId: approval.id,
    decision,
    by,
    comment: comment ?? null,
  });
  if (!applied.ok) throw await alreadyDecided(engine, task, approval.id);
  desk.metrics.count("approvals", { decision });
  engine.poke();
  return {
    taskId: task.id,
    approvalId: approval.id,
    decision,
    status: applied.task.status,
    resumes: applied.task.state === "queued",
    comment: comment ?? null,
  };
}

async function openApproval(engine: Engine, task: Task, wanted: string | undefined): Promise<Approval> {
  const all = await engine.store.approvals({ taskId: task.id });
  if (wanted !== undefined) {
    const one = all.find(({ id }) => id === wanted);
    if (one === undefined)
      throw new ToolError("not_found", `${task.id} has no approval ${wanted}`, {
        hint: `dispatch_status {"task_id":"${task.id}"} lists its open ones`,
      });
    if (one.state !== "open") throw decided(one);
    return one;
  }
  const open = all.filter(({ state }) => state === "open");
  const [first] = open;
  if (first !== undefined && open.length === 1) return first;
  if (open.length > 1)
    throw new ToolError("conflict", severalOpen(open.map(({ id }) => id)), {
      retryable: false,
      details: { approvals: open.map(({ id, title }) => ({ id, title })) },
    });
  const last = all.at(-1);
  throw last === undefined
    ? new ToolError("conflict", `${task.id} has asked nothing`, { hint: "there is nothing to do", retryable: false })
    : decided(last);
}

function decided(approval: Approval): ToolError {
  const { decidedBy, state, decidedAt } = approval;
  const who =
    decidedBy === "expiry" || decidedBy === null
      ? "nobody in time"
      : "human" in decidedBy
        ? decidedBy.human
        : `${decidedBy.agent} (${decidedBy.sessionId})`;
  return new ToolError(
    "conflict",
    `it was ${state} already, by ${who}${decidedAt === null ? "" : ` at ${decidedAt}`}`,
    {
      hint: "there is nothing to do",
      retryable: false,
      details: { approvalId: approval.id, state, decidedBy },
    },
  );
}

async function alreadyDecided(engine: Engine, task: Task, id: string): Promise<ToolError> {
  const now = (await engine.store.approvals({ taskId: task.id })).find((one) => one.id === id);
  if (now !== undefined && now.state !== "open") return decided(now);
  return new ToolError("conflict", `${task.id} no longer waits for an answer`, { retryable: false });
}

/** Who decides, once that is settled. The asking task and all below it never do. */
async function approver(
  engine: Engine,
  caller: Caller,
  task: Task,
  approval: Approval,
  decision: "approved" | "rejected",
  context: ToolContext,
): Promise<Decider> {
  if (await isAtOrBelow(engine.store, caller, task.id))
    throw denied("a task does not answer its own questions, nor do those it launched", approval);
  const { approvers } = approval;
  if (approvers === "human") {
    if (!(await mayControl(engine, caller, task)) && caller.depth > 0)
      throw denied(`${task.id} belongs to session ${task.ownerSession}`, approval);
    await context.ask({
      permission: "dispatch.approve",
      resources: [task.id],
      reason: `${decision === "approved" ? "Approve" : "Reject"} for ${approval.agent}: ${approval.title}`,
      fresh: true,
    });
    return caller.actor;
  }
  if (approvers === "owner") {
    const stale = approval.kind === "stale_resume" && caller.depth === 0;
    if (stale || caller.actor.sessionId === task.ownerSession || (await mayControl(engine, caller, task)))
      return caller.actor;
    throw denied(`only the owning session ${task.ownerSession} answers this`, approval);
  }
  if (approvers.includes(caller.actor.agent)) return caller.actor;
  throw denied(`only ${approvers.join(", ")} may answer this`, approval);
}

function denied(message: string, approval: Approval): ToolError {
  return new ToolError("denied", message, {
    hint: `a person can decide: toolhaft dispatch approve ${approval.taskId}, or the host's own dialog`,
    details: { by: "policy", approvalId: approval.id, approvers: approval.approvers },
  });
}

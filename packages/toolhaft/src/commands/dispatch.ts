import { userInfo } from "node:os";
import { resolve } from "node:path";
import { ToolError } from "@toolhaft/core";
import type { Approval } from "@toolhaft/tasks";
import { CommandFault, exitCodeOf, exitCodes, usageFault } from "../exit-codes.ts";
import { tasksPlace } from "../families.ts";
import type { Io } from "../io.ts";
import { columns } from "../table.ts";
import { taskOfEnvironment } from "../task-of-environment.ts";

export interface DispatchFlags {
  store?: string;
  json?: boolean;
  /** Needed where a task has several open questions. */
  approval?: string;
  comment?: string;
  /** Only questions below this session. */
  root?: string;
}

export type DispatchAction = "approvals" | "approve" | "reject";

/** What a person answers in place of a tool. It starts no dispatcher: one that runs on the store goes on with the decision. */
export async function dispatch(
  action: DispatchAction,
  taskId: string | undefined,
  flags: DispatchFlags,
  io: Io,
): Promise<number> {
  if (action !== "approvals" && taskId === undefined)
    throw usageFault(`${action} needs the task's id; "toolhaft dispatch approvals" lists what is open`);
  if (action === "reject" && (flags.comment ?? "").trim() === "")
    throw usageFault("reject needs a reason: the subagent goes on by it; say it with --comment");
  if (action !== "approvals" && taskOfEnvironment(io).task !== undefined)
    throw new CommandFault(
      exitCodes.denied,
      `${action} is a person's answer, and this shell belongs to a subagent: whoever dispatched it answers`,
    );
  const { createTasks, checkTaskId } = await import("@toolhaft/tasks");
  const { createDispatch } = await import("@toolhaft/dispatch");
  await using tasks = createTasks(await place(flags, io));
  await using family = createDispatch({ agents: [], tasks, directory: io.cwd });
  const { store } = tasks.api.backend(io.cwd);
  try {
    if (action === "approvals") {
      const open = await store.approvals({ open: true, ...(flags.root !== undefined && { root: flags.root }) });
      const mine = taskId === undefined ? open : open.filter((one) => one.taskId === taskId);
      io.out(flags.json ? `${JSON.stringify(mine, null, 2)}\n` : listText(mine, io));
      return exitCodes.done;
    }
    const id = taskId ?? "";
    checkTaskId("task", id);
    const by = { human: userInfo().username };
    const more = {
      ...(flags.approval !== undefined && { approvalId: flags.approval }),
      ...(flags.comment !== undefined && { comment: flags.comment }),
    };
    const applied = await (action === "approve" ? family.api.approve(id, by, more) : family.api.reject(id, by, more));
    if (applied.ok) {
      const { status } = applied.task;
      const word = action === "approve" ? "Approved" : "Rejected";
      io.out(flags.json ? `${JSON.stringify({ taskId: id, status, by }, null, 2)}\n` : `${word}; ${id} is ${status}\n`);
      return exitCodes.done;
    }
    if (applied.why === "not_found")
      throw new CommandFault(exitCodes.failed, `there is no such task or question: ${id}`);
    const decided = (await store.approvals({ taskId: id })).at(-1);
    const how = decided === undefined ? "it has asked nothing" : `its last question was ${decided.state}`;
    throw new CommandFault(
      exitCodes.failed,
      `nothing to decide: ${id} is ${applied.task?.status ?? "gone"}, and ${how}`,
    );
  } catch (error) {
    if (error instanceof ToolError)
      throw new CommandFault(
        exitCodeOf(error.code),
        error.hint === undefined ? error.message : `${error.message}; ${error.hint}`,
      );
    throw error;
  }
}

function listText(open: readonly Approval[], io: Io): string {
  if (open.length === 0) return "no open questions\n";
  const rows = open.map(({ taskId, id, agent, title, approvers, expiresAt }) => [
    taskId,
    id,
    agent,
    typeof approvers === "string" ? approvers : approvers.join(", "),
    expiresAt,
    title.replace(/\s+/g, " "),
  ]);
  return columns(["task", "question", "agent", "answered by", "until", "what"], rows, io);
}

function place({ store }: DispatchFlags, io: Io) {
  const folder = store ?? ".toolhaft";
  return tasksPlace({ store: /^postgres(ql)?:/.test(folder) ? folder : resolve(io.cwd, folder) });
}

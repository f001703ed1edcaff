import { type ToolContext, ToolError } from "@toolhaft/core";
import { type BudgetLimits, type Caller, isEnded, type NewTask, type Task } from "@toolhaft/tasks";
import { type AgentSpec, findAgent, type Grant, laneOf } from "./agents.ts";
import { judge } from "./approval.ts";
import { type Desk, taskFor } from "./desk.ts";
import { scopesOf } from "./engine/budget-warning.ts";
import type { Engine } from "./engine/engine.ts";
import { launchKey } from "./engine/launch-gate.ts";
import { chainOf, requireControl } from "./ownership.ts";

/** What a call wants to have done. */
export interface Wish {
  subagent: string;
  prompt: string;
  background: boolean;
  title: string;
  continues: string | undefined;
  wallMs: number | undefined;
  idleMs: number | undefined;
  priority: number | undefined;
  maxTokens: number | undefined;
  maxCostUsd: number | undefined;
  dependsOn: readonly string[] | undefined;
  dedupeKey: string | undefined;
}

export interface Launched {
  task: Task;
  /** False: another open task has the same dedupe key. */
  created: boolean;
  agent: AgentSpec;
}

/** Checks everything that can forbid a launch, asks for it, and posts the task. Nothing is left of a refused one. */
export async function launch(
  desk: Desk,
  { engine, caller }: { engine: Engine; caller: Caller },
  wish: Wish,
  context: ToolContext,
): Promise<Launched> {
  const { settings, metrics } = desk;
  const refuse = (reason: string, error: ToolError): never => {
    metrics.count("rejected", { reason });
    throw error;
  };
  const grant = await grantOf(desk, caller);
  const agent = await findAgent(settings.agents, grant, wish.subagent);
  const depth = caller.depth + 1;
  if (depth > settings.maxDepth)
    refuse(
      "depth",
      new ToolError("denied", `this would be depth ${depth}, and at most ${settings.maxDepth} is allowed`, {
        hint: "do the work yourself, or give it back to the one who dispatched you",
        details: { by: "policy", depth, limit: settings.maxDepth },
      }),
    );
  await refuseRecursion(engine, caller, agent, refuse);
  const source = wish.continues === undefined ? undefined : await sourceOf(desk, engine, caller, agent, wish.continues);
  await refuseSpent(desk, engine, caller, refuse);
  await context.ask({
    permission: agent.ask === true ? "dispatch.confirm" : "dispatch.run",
    resources: [agent.name],
    reason: `Launch the subagent ${agent.name}: ${wish.title}`,
  });
  for (const permission of agent.runner.permissions ?? [])
    await context.ask({
      permission,
      resources: [agent.name],
      reason: `${agent.name} runs without limits on its tools`,
    });
  const gate = await launchVerdict(desk, agent, wish, refuse);
  const [posted] = await engine.queue
    .post([newTask(desk, caller, agent, depth, wish, source, gate)])
    .catch((error: unknown) => {
      if (error instanceof ToolError && error.code === "unavailable")
        metrics.count("rejected", { reason: "queue_full" });
      throw withRetryAfter(error);
    });
  if (posted === undefined) throw new ToolError("internal", "the store posted nothing");
  if (posted.created) {
    metrics.count("launched", { agent: agent.name, mode: wish.background ? "background" : "sync" });
    engine.remember(posted.task.id, context);
    if (gate !== undefined) {
      // At once, so that the question does not wait for a slot; the claim asks again if this process dies here.
      const held = await engine.queue.apply(posted.task.id, {
        kind: "hold",
        key: `${posted.task.id}:launch`,
        approval: gate,
      });
      if (held.ok) return { task: held.task, created: true, agent };
    }
  }
  engine.poke();
  return { ...posted, agent };
}

export async function grantOf({ settings }: Pick<Desk, "settings">, caller: Caller): Promise<Grant> {
  if (caller.task === null || caller.task.kind === "board" || caller.task.agent === null)
    return { names: settings.topLevel };
  const own = await settings.agents.get(caller.task.agent);
  return { names: own?.dispatches ?? [] };
}

type Refuse = (reason: string, error: ToolError) => never;

async function refuseRecursion(engine: Engine, caller: Caller, agent: AgentSpec, refuse: Refuse): Promise<void> {
  if (caller.task === null || agent.allowRecursion === true) return;
  const chain = await chainOf(engine.store, caller.task);
  if (!chain.some((task) => task.agent === agent.name)) return;
  const names = chain.map((task) => task.agent ?? "board").reverse();
  refuse(
    "recursion",
    new ToolError("denied", `${agent.name} already works above you: ${[...names, agent.name].join(" → ")}`, {
      hint: "dispatch another agent, or give the result back",
      details: { by: "policy", chain: names },
    }),
  );
}

/** Nothing starts under a budget that is used up. */
async function refuseSpent({ settings }: Desk, engine: Engine, caller: Caller, refuse: Refuse): Promise<void> {
  const root = { root: caller.rootSession };
  if (settings.perRoot !== undefined && (await engine.store.budget(root)).limits === null)
    await engine.store.setBudget(root, settings.perRoot);
  const scopes = caller.task === null ? [root] : await scopesOf(engine.store, caller.task.id, caller.rootSession);
  for (const scope of scopes) {
    const { limits, used } = await engine.store.budget(scope);
    for (const [measure, limit] of Object.entries(limits ?? {})) {
      const spent = used[measure as keyof BudgetLimits];
      if (limit === undefined || spent === null || spent < limit) continue;
      refuse(
        "budget",
        new ToolError("denied", `the budget is used up: ${measure} ${spent} of ${limit}`, {
          hint: "finish with what is there; task_budget shows all of it",
          details: { by: "policy", budget: { scope, measure, used: spent, limit } },
        }),
      );
    }
  }
}

/** The ended task whose session is to go on. */
async function sourceOf(
  desk: Desk,
  engine: Engine,
  caller: Caller,
  agent: AgentSpec,
  id: string,
): Promise<Task & { sessionId: string }> {
  const task = await taskFor(desk, engine, caller, "session_id", id);
  if (task.kind !== "dispatch" || task.agent !== agent.name)
    throw new ToolError("invalid_input", `${id} was done by ${task.agent ?? "nobody"}, not by ${agent.name}`, {
      hint: `go on with subagent "${task.agent ?? ""}", or leave session_id out`,
    });
  await requireControl(engine, caller, task, "go on with");
  if (!isEnded(task.state))
    throw new ToolError("conflict", `${id} has not ended: it is ${task.status}`, {
      hint: `wait for it with dispatch_output {"task_id":"${id}","wait_ms":60000}`,
      retryable: false,
      details: { status: task.status },
    });
  const { sessionId } = task;
  if (!agent.runner.caps.resume || sessionId === null)
    throw new ToolError(
      "unsupported",
      sessionId === null ? `${id} never had a session` : `the runner of ${agent.name} cannot go on with a session`,
      { hint: "leave session_id out and put what matters into the prompt" },
    );
  const { items } = await engine.store.find({
    sessionId,
    statuses: ["pending", "running", "awaiting_approval"],
    limit: 1,
  });
  if (items[0] !== undefined)
    throw new ToolError("conflict", `its session is in use by ${items[0].id}`, {
      hint: "wait until that one has ended",
      retryable: false,
      details: { taskId: items[0].id },
    });
  return { ...task, sessionId };
}

async function launchVerdict({ settings }: Desk, agent: AgentSpec, wish: Wish, refuse: Refuse) {
  const judged = await judge(
    settings.approval,
    {
      kind: "launch",
      key: launchKey,
      taskId: "",
      attempt: 1,
      agent: agent.name,
      title: `Launch ${agent.name}: ${wish.title}`,
    },
    settings.interactive,
  );
  if ("approval" in judged) return judged.approval;
  if (judged.decision.allowed) return undefined;
  return refuse(
    "approval",
    new ToolError("denied", `the launch was rejected: ${judged.decision.comment ?? "by the policy"}`, {
      hint: "do not repeat this call unchanged",
      details: { by: "policy" },
    }),
  );
}

function newTask(
  { settings }: Desk,
  caller: Caller,
  agent: AgentSpec,
  depth: number,
  wish: Wish,
  source: (Task & { sessionId: string }) | undefined,
  gate: object | undefined,
): NewTask {
  const budget: BudgetLimits = { ...settings.perTask, ...agent.budget };
  if (wish.maxTokens !== undefined) budget.totalTokens = least(budget.totalTokens, wish.maxTokens);
  if (wish.maxCostUsd !== undefined) budget.costUsd = least(budget.costUsd, wish.maxCostUsd);
  return {
    kind: "dispatch",
    title: wish.title,
    body: wish.prompt,
    createdBy: caller.actor,
    ownerSession: caller.actor.sessionId,
    rootSession: caller.rootSession,
    agent: agent.name,
    mode: wish.background ? "background" : "sync",
    priority: wish.priority ?? 0,
    lane: laneOf(agent),
    parentTask: caller.task?.id ?? null,
    depth,
    continues: source?.id ?? null,
    sessionId: source?.sessionId ?? null,
    slotOf: !wish.background && caller.ref !== null ? (caller.task?.id ?? null) : null,
    dependsOn: wish.dependsOn ?? [],
    dedupeKey: wish.dedupeKey ?? null,
    maxAttempts: agent.maxAttempts ?? settings.maxAttempts,
    onLost: agent.onLost ?? settings.onLost,
    limits: {
      ...settings.limits,
      ...agent.limits,
      ...(wish.wallMs !== undefined && { wallMs: wish.wallMs }),
      ...(wish.idleMs !== undefined && { idleMs: wish.idleMs }),
    },
    budget: Object.keys(budget).length === 0 ? null : budget,
    allowEmptyOutput: agent.allowEmptyOutput ?? false,
    metadata: gate === undefined ? null : { launchApproval: true },
    maxQueued: settings.maxPerLane,
  };
}

function least(one: number | undefined, other: number): number {
  return one === undefined ? other : Math.min(one, other);
}

/** A full queue says when to come again. */
function withRetryAfter(error: unknown): unknown {
  if (!(error instanceof ToolError) || error.code !== "unavailable" || error.details?.limit === undefined) return error;
  if (typeof error.details.retryAfterMs === "number") return error;
  return new ToolError("unavailable", error.message, {
    hint: error.hint ?? "wait for running tasks to end, then call again",
    retryable: true,
    details: { ...error.details, retryAfterMs: 5_000 },
    cause: error,
  });
}

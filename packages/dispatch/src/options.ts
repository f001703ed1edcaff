import type { Clock } from "@toolhaft/core";
import { type BudgetLimits, createTasks, type LaneLimits, type Tasks, type TimeLimits } from "@toolhaft/tasks";
import { type AgentDirectory, type AgentSpec, directoryOf, isList } from "./agents.ts";
import { type ApprovalPolicy, defaultApproval } from "./approval.ts";
import {
  checkBudget,
  checkKnown,
  checkLanes,
  checkLimits,
  defaultLane,
  defaultLimits,
  defaultPerOwner,
  mergeLimits,
} from "./limits.ts";
import type { MetricsOptions } from "./metrics.ts";
import type { Notifier } from "./notices/notice.ts";
import type { PriceTable } from "./prices.ts";

export interface DispatchOptions {
  agents: AgentDirectory | readonly AgentSpec[];
  /** Where everything is written. @default `createTasks()` of each call's directory */
  tasks?: Tasks;
  /** Whom a session that is no subagent may dispatch. @default "*" */
  topLevel?: readonly string[] | "*";
  /** @default 4 a lane, 1 of them kept for waiting calls; 3 an owner */
  lanes?: LaneLimits;
  /** A root's tasks have depth 1. @default 5 */
  maxDepth?: number;
  queue?: {
    /** Most tasks that wait in a lane. @default 100 */
    maxPerLane?: number;
    /** Longest wait in the queue, in milliseconds. @default null */
    timeoutMs?: number | null;
  };
  limits?: Partial<TimeLimits>;
  /** Longest wait of any call, in milliseconds. @default 600_000 */
  maxWaitMs?: number;
  /** @default 2 */
  maxAttempts?: number;
  /** What a lost claim means while attempts are left. @default "requeue" */
  onLost?: "requeue" | "fail";
  /** Work interrupted longer ago waits for a yes, in milliseconds. @default 900_000 */
  resumeWithinMs?: number;
  budget?: {
    perRoot?: BudgetLimits;
    perTask?: BudgetLimits;
    /** What is set aside at a time. @default 50_000 tokens, 0.5 USD */
    step?: BudgetLimits;
    /** Share of a limit at which the owner is told. @default 0.8 */
    warnAt?: number;
    /** @default false */
    allowBudgetCredit?: boolean;
  };
  /** Prices for runners that tell tokens only. */
  prices?: PriceTable;
  approval?: ApprovalPolicy;
  /** `false`: nobody is there, questions to a person are rejected at once. @default true */
  interactive?: boolean;
  /** Whether a task that waits for an approval keeps its slot. @default false */
  holdSlotWhileWaiting?: boolean;
  /** Told of every notice to the sessions that call here. */
  notifier?: Notifier;
  /** @default "milestones" */
  progressNotices?: "milestones" | "none";
  /** What closing does with runs. @default "release" */
  onClose?: "release" | "cancel" | "wait";
  metrics?: MetricsOptions;
  /** Longest time between two looks at the store, in milliseconds. @default 250 */
  pollMs?: number;
  clock?: Clock;
  /** Where `start()` looks, and tasks run that say no directory. @default the working directory */
  directory?: string;
}

/** The options with every default in place. */
export interface Settings {
  agents: AgentDirectory;
  /** The agents when they are a plain list. */
  listed: readonly AgentSpec[] | undefined;
  tasks: Tasks;
  ownsTasks: boolean;
  topLevel: readonly string[] | "*";
  lanes: LaneLimits;
  maxDepth: number;
  maxPerLane: number;
  limits: TimeLimits;
  maxWaitMs: number;
  maxAttempts: number;
  onLost: "requeue" | "fail";
  resumeWithinMs: number;
  perRoot: BudgetLimits | undefined;
  perTask: BudgetLimits | undefined;
  step: BudgetLimits;
  warnAt: number;
  prices: PriceTable | undefined;
  approval: ApprovalPolicy;
  interactive: boolean;
  notifier: Notifier | undefined;
  progressNotices: "milestones" | "none";
  onClose: "release" | "cancel" | "wait";
  metrics: MetricsOptions;
  pollMs: number;
  clock: Clock;
  directory: string | undefined;
}

const known: readonly (keyof DispatchOptions)[] = [
  "agents",
  "tasks",
  "topLevel",
  "lanes",
  "maxDepth",
  "queue",
  "limits",
  "maxWaitMs",
  "maxAttempts",
  "onLost",
  "resumeWithinMs",
  "budget",
  "prices",
  "approval",
  "interactive",
  "holdSlotWhileWaiting",
  "notifier",
  "progressNotices",
  "onClose",
  "metrics",
  "pollMs",
  "clock",
  "directory",
];

/** @throws TypeError that names the field */
export function settingsOf(options: DispatchOptions): Settings {
  checkKnown("", options, known);
  const { queue = {}, budget = {}, holdSlotWhileWaiting } = options;
  checkKnown("queue.", queue, ["maxPerLane", "timeoutMs"]);
  checkKnown("budget.", budget, ["perRoot", "perTask", "step", "warnAt", "allowBudgetCredit"]);
  checkLimits("limits", options.limits ?? {});
  if (isList(options.agents)) for (const agent of options.agents) checkAgent(agent);
  const lanes: LaneLimits = {
    perOwner: defaultPerOwner,
    ...(options.lanes ?? { default: defaultLane }),
    ...(holdSlotWhileWaiting !== undefined && { holdSlotWhileWaiting }),
  };
  checkLanes("lanes", lanes);
  for (const name of ["perRoot", "perTask", "step"] as const) checkBudget(`budget.${name}`, budget[name]);
  for (const name of ["maxDepth", "maxWaitMs", "maxAttempts", "resumeWithinMs", "pollMs"] as const)
    checkPositive(name, options[name]);
  checkPositive("queue.maxPerLane", queue.maxPerLane);
  if (queue.timeoutMs !== null) checkPositive("queue.timeoutMs", queue.timeoutMs);
  checkChoice("onLost", options.onLost, ["requeue", "fail"]);
  checkChoice("onClose", options.onClose, ["release", "cancel", "wait"]);
  checkChoice("progressNotices", options.progressNotices, ["milestones", "none"]);
  if (budget.warnAt !== undefined && !(budget.warnAt > 0 && budget.warnAt <= 1))
    throw new TypeError(`createDispatch: budget.warnAt is ${budget.warnAt}; it must be above 0 and at most 1`);
  const tasks = options.tasks ?? createTasks(options.clock === undefined ? {} : { clock: options.clock });
  return {
    agents: directoryOf(options.agents),
    listed: isList(options.agents) ? options.agents : undefined,
    tasks,
    ownsTasks: options.tasks === undefined,
    topLevel: options.topLevel ?? "*",
    lanes,
    maxDepth: options.maxDepth ?? 5,
    maxPerLane: queue.maxPerLane ?? 100,
    limits: mergeLimits(defaultLimits, { queueMs: queue.timeoutMs ?? null }, options.limits),
    maxWaitMs: options.maxWaitMs ?? 600_000,
    maxAttempts: options.maxAttempts ?? 2,
    onLost: options.onLost ?? "requeue",
    resumeWithinMs: options.resumeWithinMs ?? 900_000,
    perRoot: budget.perRoot,
    perTask: budget.perTask,
    step: { totalTokens: 50_000, costUsd: 0.5, ...budget.step },
    warnAt: budget.warnAt ?? 0.8,
    prices: options.prices,
    approval: options.approval ?? defaultApproval,
    interactive: options.interactive ?? true,
    notifier: options.notifier,
    progressNotices: options.progressNotices ?? "milestones",
    onClose: options.onClose ?? "release",
    metrics: options.metrics ?? {},
    pollMs: options.pollMs ?? 250,
    clock: options.clock ?? tasks.api.clock,
    directory: options.directory,
  };
}

function checkAgent(agent: AgentSpec): void {
  checkKnown(`agents.${agent.name}.`, agent, [
    "name",
    "description",
    "runner",
    "lane",
    "dispatches",
    "allowRecursion",
    "limits",
    "budget",
    "maxAttempts",
    "onLost",
    "allowEmptyOutput",
    "ask",
  ]);
  if (typeof agent.runner?.run !== "function")
    throw new TypeError(`createDispatch: agents.${agent.name}.runner has no run()`);
  checkLimits(`agents.${agent.name}.limits`, agent.limits ?? {});
  checkBudget(`agents.${agent.name}.budget`, agent.budget);
  checkPositive(`agents.${agent.name}.maxAttempts`, agent.maxAttempts);
}

function checkPositive(name: string, value: number | null | undefined): void {
  if (value !== undefined && !(typeof value === "number" && Number.isFinite(value) && value > 0))
    throw new TypeError(`createDispatch: ${name} is ${String(value)}; it must be a number above 0`);
}

function checkChoice(name: string, value: string | undefined, choices: readonly string[]): void {
  if (value !== undefined && !choices.includes(value))
    throw new TypeError(`createDispatch: ${name} is "${value}"; it may be ${choices.join(", ")}`);
}

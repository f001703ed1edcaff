import type { ToolContext } from "@toolhaft/core";
import type { ApprovalDecision, BudgetLimits, Usage } from "@toolhaft/tasks";
import type { AgentSpec } from "./agents.ts";
import type { ApprovalAsk } from "./approval.ts";

/** What a runner can do beside running. */
export interface RunnerCaps {
  /** An ended session can be continued with a new prompt. */
  resume: boolean;
  /** A session that still runs elsewhere can be picked up again. */
  reattach: boolean;
  /** It may put questions through {@link RunSink.ask}. */
  asks: boolean;
  /** What its reports hold. */
  usage: "none" | "tokens" | "cost";
}

/** Runs one kind of subagent. */
export interface SubagentRunner {
  readonly name: string;
  /** Names the lane where the agent names none. */
  readonly model?: string;
  readonly caps: RunnerCaps;
  /** Permissions that a launch asks for beside its own, such as `dispatch.full_access`. */
  readonly permissions?: readonly string[];
  /** Settles once; on abort everything it started is gone by then. */
  run(request: RunRequest, sink: RunSink, signal: AbortSignal): Promise<RunOutcome>;
  /** Picks up a session that another process had started. */
  reattach?(handle: RunHandle, request: RunRequest, sink: RunSink, signal: AbortSignal): Promise<RunOutcome | "lost">;
  /** Stops what is left of a run whose engine is gone. */
  reap?(handle: RunHandle): Promise<void>;
}

/** Where a run can be found again; plain data, kept in the store. */
export interface RunHandle {
  /** Name of the machine. */
  host?: string;
  pid?: number;
  /** Start time of the process in the system's own unit: tells a recycled pid. */
  start?: string;
  group?: number;
  /** For runs that are no process here. */
  data?: Readonly<Record<string, string>>;
}

export interface RunRequest {
  taskId: string;
  attempt: number;
  depth: number;
  agent: AgentSpec;
  prompt: string;
  /** Absolute: where the subagent works. */
  directory: string;
  /** `TOOLHAFT_TASK`, `TOOLHAFT_TASK_TOKEN` and `TOOLHAFT_STORE`, for a child process. */
  env: Readonly<Record<string, string>>;
  /** The session to continue. */
  session: string | null;
  /** What an earlier run of this session kept by {@link RunSink.transcript}. */
  transcript: string | null;
  /** What earlier runs of this session used: for programs that report the total of the session. */
  used: Usage | null;
  /** The answer to a question that an earlier run of this attempt ended with. */
  decision: ApprovalDecision | null;
  /** What may be used at most, as far as known at the start. */
  allowance: BudgetLimits | null;
  /** When the wall limit is reached, in milliseconds since the epoch. */
  deadline: number;
  /** For tools that the subagent calls in this process: its `task`, session and signal are set. */
  context: ToolContext;
}

export interface RunSink {
  /** As early as known: makes the task `running`. */
  session(id: string, handle?: RunHandle): Promise<void>;
  /** Where the run can be found, before a session is known. */
  handle(handle: RunHandle): void;
  /** `text` and `tool` reset the idle clock, `status` does not. */
  activity(entry: { kind: "text" | "tool" | "status"; text: string }): void;
  /**
   * A running total under a key: reporting a key again replaces its value. Resolves when it is counted, and the signal has
   * fired if it was too much: who waits for it never spends more than one report beyond a budget.
   */
  usage(entry: { key: string; total: Usage }): Promise<void>;
  /** Puts a question and waits for its decision; the same key is put once. */
  ask(ask: Omit<ApprovalAsk, "taskId" | "attempt" | "agent">): Promise<ApprovalDecision>;
  /** Replaces what is kept of the conversation. */
  transcript(text: string): void;
}

export type RunOutcome =
  | { kind: "done"; output: string; data?: unknown }
  | { kind: "paused"; ask: ApprovalAsk }
  | {
      kind: "failed";
      message: string;
      retryable: boolean;
      reason?: "runner_failed" | "runner_unavailable";
      /** The part of the answer that was there. */
      output?: string;
    };

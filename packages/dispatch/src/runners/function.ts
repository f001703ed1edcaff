import type { RunnerCaps, RunOutcome, RunRequest, RunSink, SubagentRunner } from "../runner.ts";

export type AgentFunction = (
  request: RunRequest,
  sink: RunSink,
  signal: AbortSignal,
) => string | RunOutcome | Promise<string | RunOutcome>;

export interface FunctionRunnerOptions {
  /** @default "function" */
  name?: string;
  model?: string;
  /** @default no resume, no reattach, asks, tokens */
  caps?: Partial<RunnerCaps>;
  reap?: SubagentRunner["reap"];
  reattach?: SubagentRunner["reattach"];
}

/**
 * A subagent that is a function of this process. What it throws is `runner_failed`; a string is its answer.
 *
 * @example
 * functionRunner(async ({ prompt }, sink, signal) => {
 *   sink.activity({ kind: "status", text: "thinking" });
 *   return await answer(prompt, signal);
 * });
 */
export function functionRunner(fn: AgentFunction, options: FunctionRunnerOptions = {}): SubagentRunner {
  const { name = "function", model, caps, reap, reattach } = options;
  return {
    name,
    ...(model !== undefined && { model }),
    caps: { resume: false, reattach: reattach !== undefined, asks: true, usage: "tokens", ...caps },
    async run(request, sink, signal) {
      const given: unknown = await fn(request, sink, signal);
      if (isOutcome(given)) return given;
      // A function without a result has no answer; what the store makes of an empty one is decided there.
      if (given === undefined || given === null) return { kind: "done", output: "" };
      if (typeof given === "string") return { kind: "done", output: given };
      return { kind: "failed", message: `the function returned a ${typeof given}, not text`, retryable: false };
    },
    ...(reap !== undefined && { reap }),
    ...(reattach !== undefined && { reattach }),
  };
}

function isOutcome(value: unknown): value is RunOutcome {
  return (
    typeof value === "object" &&
    value !== null &&
    "kind" in value &&
    (value.kind === "done" || value.kind === "paused" || value.kind === "failed")
  );
}

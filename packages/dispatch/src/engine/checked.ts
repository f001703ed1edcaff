import type { RunHandle, RunOutcome } from "../runner.ts";

/** Runners may be written by anyone: what is no outcome is a failure. */
export function checked(outcome: RunOutcome): RunOutcome {
  const given: unknown = outcome;
  if (typeof given === "object" && given !== null && "kind" in given) {
    if (outcome.kind === "done" && typeof outcome.output === "string") return outcome;
    if (outcome.kind === "failed" || outcome.kind === "paused") return outcome;
  }
  return { kind: "failed", message: "the runner gave no outcome", retryable: false };
}

/** A handle as a runner gave it: it comes from the store as it went in. */
export function isHandle(value: unknown): value is RunHandle {
  return typeof value === "object" && value !== null;
}

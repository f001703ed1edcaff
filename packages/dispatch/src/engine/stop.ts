import type { Actor, TimeLimits } from "@toolhaft/tasks";

/** Why a run is stopped before its end. */
export type Stop =
  | { kind: "lost" }
  | { kind: "cancel"; by: Actor; reason: string | null }
  | { kind: "limit"; reason: "wall_timeout" | "idle_timeout" | "not_started"; message: string }
  | { kind: "exceed"; message: string }
  | { kind: "release" };

/** The reason of a run's signal. Of `lost` another dispatcher may have taken the work over where it stands. */
export class RunStopped extends DOMException {
  readonly kind: Stop["kind"];

  constructor(kind: Stop["kind"]) {
    super(`the run was stopped: ${kind}`, "AbortError");
    this.kind = kind;
  }
}

/** What the clocks of a run say; times in milliseconds of the injected clock. */
export interface RunClock {
  phase: "starting" | "running" | "waiting" | "ending";
  claimedAt: number;
  /** When the attempt began, moved on by what it spent waiting. */
  startedAt: number | null;
  /** Last text, tool or usage report. */
  lastSign: number;
}

/** The limit that a run is over, if any. */
export function overLimit(run: RunClock, limits: TimeLimits, now: number): (Stop & { kind: "limit" }) | undefined {
  if (run.phase === "starting" && now - run.claimedAt > limits.startMs)
    return {
      kind: "limit",
      reason: "not_started",
      message: `the subagent did not start within ${duration(limits.startMs)}`,
    };
  if (run.phase !== "running" || run.startedAt === null) return undefined;
  if (now - run.startedAt > limits.wallMs)
    return { kind: "limit", reason: "wall_timeout", message: `it ran longer than ${duration(limits.wallMs)}` };
  if (now - run.lastSign > limits.idleMs)
    return { kind: "limit", reason: "idle_timeout", message: `no output for ${duration(limits.idleMs)}` };
  return undefined;
}

/** `2m 14s`, `1h 3m`, `800 ms`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return seconds % 60 === 0 ? `${minutes}m` : `${minutes}m ${seconds % 60}s`;
  const hours = Math.floor(minutes / 60);
  return minutes % 60 === 0 ? `${hours}h` : `${hours}h ${minutes % 60}m`;
}

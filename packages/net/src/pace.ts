import { type Clock, ToolError } from "@toolhaft/core";
import { type Deadline, sleep } from "./deadline.ts";

export interface Pace {
  /**
   * Waits until this origin may be asked again, first come first served.
   *
   * @throws ToolError `unavailable` with `retryAfterMs` when the wait would pass the deadline
   */
  wait(origin: string, intervalMs: number, deadline: Deadline): Promise<void>;
}

export function createPace(clock: Clock): Pace {
  const free = new Map<string, number>();
  return {
    async wait(origin, intervalMs, deadline) {
      if (intervalMs <= 0) return;
      const now = clock.now();
      if (free.size > 1_000) for (const [key, at] of free) if (at <= now) free.delete(key);
      const start = Math.max(now, free.get(origin) ?? 0);
      const pause = start - now;
      if (pause > deadline.left()) {
        throw new ToolError(
          "unavailable",
          `${origin} is asked too often: its next turn is in ${Math.ceil(pause / 1000)} s`,
          {
            hint: "wait, or use a larger timeout",
            details: { retryAfterMs: pause },
          },
        );
      }
      free.set(origin, start + intervalMs);
      if (pause > 0) await sleep(pause, deadline.signal);
    },
  };
}

import type { Clock } from "@toolhaft/core";

export interface FakeClock extends Clock {
  /** Milliseconds forward. */
  advance(ms: number): void;
  set(now: number): void;
}

/** A clock that stands still until it is moved. @param start 2026-01-01T00:00:00Z unless given */
export function fakeClock(start: number = Date.UTC(2026, 0, 1)): FakeClock {
  let now = start;
  return {
    now: () => now,
    advance: (ms) => {
      now += ms;
    },
    set: (to) => {
      now = to;
    },
  };
}

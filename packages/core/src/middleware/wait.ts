import { roomForListeners } from "../abort.ts";
import type { Clock } from "../clock.ts";

/** Waits until a clock shows a time or the signal fires; tells whether it waited to the end. */
export async function waitUntil(clock: Clock, time: number, signal: AbortSignal): Promise<boolean> {
  for (let left = time - clock.now(); left > 0; left = time - clock.now()) {
    if (signal.aborted || !(await sleep(Math.min(left, 2 ** 31 - 1), signal))) return false;
  }
  return !signal.aborted;
}

function sleep(ms: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const onAbort = (): void => {
      clearTimeout(timer);
      resolve(false);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", onAbort);
      resolve(true);
    }, ms);
    roomForListeners(signal);
    signal.addEventListener("abort", onAbort, { once: true });
  });
}

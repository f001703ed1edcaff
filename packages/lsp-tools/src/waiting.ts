import { ToolError } from "@toolhaft/core";

/** A bound was reached before the answer. */
export class TimedOut extends Error {
  override readonly name = "TimedOut";
  readonly waitedMs: number;
  constructor(waitedMs: number) {
    super(`no answer within ${waitedMs} ms`);
    this.waitedMs = waitedMs;
  }
}

export function cancelled(): ToolError {
  return new ToolError("cancelled", "the call was cancelled");
}

/**
 * Waits for a promise, at most `ms` milliseconds and only while the signal allows. The caller is freed at once either way.
 *
 * @throws TimedOut, or ToolError `cancelled`
 */
export function bounded<T>(promise: Promise<T>, ms: number, signal?: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(cancelled());
      return;
    }
    const onAbort = () => finish(() => reject(cancelled()));
    const timer = setTimeout(() => finish(() => reject(new TimedOut(ms))), Math.max(0, Math.min(ms, 2 ** 31 - 1)));
    const finish = (settle: () => void) => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      settle();
    };
    signal?.addEventListener("abort", onAbort, { once: true });
    promise.then(
      (value) => finish(() => resolve(value)),
      (error) => finish(() => reject(error)),
    );
  });
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Lets everything the event loop holds ready run once: timers, sockets, file watchers. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Runs one piece of work after the other, in the order of the calls. */
export function createQueue(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work, work);
    last = next.catch(() => {});
    return next;
  };
}

import type { TaskQueue } from "./store.ts";

/** Longest time without a look, in milliseconds: a hint may be lost, a lease may end without one. */
const pollMs = 1_000;

/**
 * Asks until there is an answer, or the time is over: subscribe, ask, wait for a change, ask again. The last asking is
 * after the time, so an answer that is there is never missed.
 *
 * @param waitMs Milliseconds; 0 asks once.
 * @throws the signal's reason when it fires
 */
export async function waitFor<T>(
  queue: TaskQueue,
  waitMs: number,
  signal: AbortSignal,
  ask: () => Promise<T | undefined>,
): Promise<T | undefined> {
  signal.throwIfAborted();
  if (waitMs === 0) return ask();
  const end = performance.now() + waitMs;
  let wake = (): void => undefined;
  let changed = false;
  await using _subscription = await queue.onChange(() => {
    changed = true;
    wake();
  });
  for (;;) {
    changed = false;
    const answer = await ask();
    if (answer !== undefined) return answer;
    const left = end - performance.now();
    if (left <= 0) return undefined;
    if (!changed) await pause(Math.min(left, pollMs));
    signal.throwIfAborted();
  }

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal.addEventListener("abort", done, { once: true });
      wake = done;
    });
  }
}

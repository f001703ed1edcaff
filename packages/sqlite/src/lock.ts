import { ToolError } from "@toolhaft/core";
import { busyError } from "./faults.ts";

export interface LockWait {
  path: string;
  timeoutMs: number;
  signal: AbortSignal | undefined;
}

/**
 * Tries again every 5–50 ms, at random so that many processes do not step together, until `attempt` has the lock.
 *
 * @throws ToolError `timeout` when the time is over, `cancelled` when the signal fires
 */
export async function waitForLock(attempt: () => boolean, { path, timeoutMs, signal }: LockWait): Promise<void> {
  const start = performance.now();
  for (;;) {
    const waited = performance.now() - start;
    if (waited >= timeoutMs) throw busyError(path, waited, undefined);
    await pause(Math.min(5 + Math.random() * 45, timeoutMs - waited), signal);
    if (attempt()) return;
  }
}

export function cancelled(): ToolError {
  return new ToolError("cancelled", "the call was cancelled before anything was written");
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", aborted, { once: true });
    function done(): void {
      signal?.removeEventListener("abort", aborted);
      resolve();
    }
    function aborted(): void {
      clearTimeout(timer);
      reject(cancelled());
    }
  });
}

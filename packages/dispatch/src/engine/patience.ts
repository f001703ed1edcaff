import type { RunOutcome } from "../runner.ts";

/** A runner's outcome, or that of one which has not stopped `graceMs` after it was told to; it may still come `late`. */
export async function untilAbandoned(
  running: Promise<RunOutcome>,
  signal: AbortSignal,
  graceMs: number,
  late: (outcome: RunOutcome) => void,
): Promise<RunOutcome> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const abandoned = new Promise<"abandoned">((resolve) => {
    const onAbort = () => {
      timer = setTimeout(() => resolve("abandoned"), graceMs);
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
  });
  const first = await Promise.race([running, abandoned]);
  clearTimeout(timer);
  if (first !== "abandoned") return first;
  void running.then(late);
  return { kind: "failed", message: "the runner did not stop", retryable: false };
}

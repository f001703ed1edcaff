import { ToolError } from "@toolhaft/core";

/**
 * One limit over everything a request does, joined with the caller's signal. `reason` is the `ToolError` to throw once it has
 * ended; the phase is what was being waited for, so that a time-out can say it.
 */
export interface Deadline {
  /** Made on first use: a request over a waiting connection needs none. */
  readonly signal: AbortSignal;
  readonly reason: Error | undefined;
  /** Milliseconds that are left. */
  left(): number;
  enter(phase: string): void;
  /** Ends what runs under it, with this reason. */
  abort(reason: Error): void;
  /** Calls the listener at the end, at once if it has come; gives the function that takes it away. */
  onEnd(listener: (reason: Error) => void): () => void;
  throwIfEnded(): void;
  /** Takes the timer and the listener away. */
  clear(): void;
}

function cancelled(reason: unknown): ToolError {
  if (reason instanceof ToolError) return reason;
  if (reason instanceof Error && reason.name === "TimeoutError") {
    return new ToolError("timeout", "the call's own time limit ended the request", { cause: reason });
  }
  return new ToolError("cancelled", "the request was cancelled", { cause: reason });
}

export function startDeadline(
  ms: number,
  outer: AbortSignal | undefined,
  what: string,
  onClear?: (ended: Deadline) => void,
): Deadline {
  const ends = performance.now() + ms;
  const listeners = new Set<(reason: Error) => void>();
  let controller: AbortController | undefined;
  let reason: Error | undefined;
  let phase = "the start";

  function abort(given: Error): void {
    if (reason !== undefined) return;
    reason = given;
    controller?.abort(given);
    for (const listener of listeners) listener(given);
    listeners.clear();
  }
  const onAbort = (): void => abort(cancelled(outer?.reason));
  const timer = setTimeout(() => {
    abort(
      new ToolError("timeout", `${what} took longer than ${ms / 1000} s (waiting for ${phase})`, {
        hint: "use a larger timeout",
        details: { phase },
      }),
    );
  }, ms);
  if (outer?.aborted === true) onAbort();
  else outer?.addEventListener("abort", onAbort, { once: true });

  const deadline: Deadline = {
    get signal() {
      if (controller === undefined) {
        controller = new AbortController();
        if (reason !== undefined) controller.abort(reason);
      }
      return controller.signal;
    },
    get reason() {
      return reason;
    },
    left: () => ends - performance.now(),
    enter: (next) => {
      phase = next;
    },
    abort,
    onEnd(listener) {
      if (reason !== undefined) listener(reason);
      else listeners.add(listener);
      return () => listeners.delete(listener);
    },
    throwIfEnded() {
      if (reason !== undefined) throw reason;
    },
    clear() {
      clearTimeout(timer);
      outer?.removeEventListener("abort", onAbort);
      onClear?.(deadline);
    },
  };
  return deadline;
}

/** Waits for a promise, but not longer than the signal allows; what the promise does later is ignored. */
export async function underSignal<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) {
    work.catch(() => undefined);
    throw signal.reason;
  }
  return new Promise<T>((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

/** A pause that an abort ends at once. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  let timer: NodeJS.Timeout | undefined;
  const pause = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await underSignal(pause, signal).finally(() => clearTimeout(timer));
}

/** What stops a call that outlives its request: the end of whichever request stands for it. */
export interface CallSignal {
  readonly value: AbortSignal;
  /** From here on this request's end is the call's end. */
  follow(request: AbortSignal): void;
  /** No request's end is the call's end any more. */
  release(): void;
  abort(reason: Error): void;
}

export function movingSignal(): CallSignal {
  const controller = new AbortController();
  let release: () => void = () => undefined;
  return {
    value: controller.signal,
    follow(request) {
      release();
      const abort = () => controller.abort(request.reason);
      if (request.aborted) {
        abort();
        return;
      }
      request.addEventListener("abort", abort, { once: true });
      release = () => request.removeEventListener("abort", abort);
    },
    release: () => release(),
    abort: (reason) => controller.abort(reason),
  };
}

import type { ChangeHint, TaskBackend } from "@toolhaft/tasks";

/** Entries that change nothing for anybody who waits for work. */
export const quietKinds: ReadonlySet<ChangeHint["kind"]> = new Set([
  "activity",
  "usage",
  "progress",
  "checkpoint",
  "transcript",
  "started",
  "claimed",
  "notice",
]);

/** What changed in a store, for those who wait. Hints may be missed, so whoever waits also looks from time to time. */
export class Changes {
  readonly #listeners = new Set<(hint: ChangeHint) => void>();
  readonly #backend: TaskBackend;
  readonly #pollMs: number;
  #subscribed: Promise<AsyncDisposable> | undefined;
  #closed = false;

  constructor(backend: TaskBackend, pollMs: number) {
    this.#backend = backend;
    this.#pollMs = pollMs;
  }

  /** Calls back at each hint, until the returned function is called. */
  listen(listener: (hint: ChangeHint) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async subscribe(): Promise<void> {
    this.#subscribed ??= this.#backend.queue.onChange((hint) => {
      for (const listener of [...this.#listeners]) listener(hint);
    });
    await this.#subscribed;
  }

  /**
   * Waits until `look` gives something: subscribes, looks, waits, and looks again, so that nothing falls between. After
   * `ms` it gives what a last look gives.
   *
   * @throws the signal's reason when it fires
   */
  async until<T>(
    look: () => Promise<T | undefined>,
    ms: number,
    signal: AbortSignal,
    concerns: (hint: ChangeHint) => boolean = () => true,
  ): Promise<T | undefined> {
    const deadline = performance.now() + ms;
    if (ms > 0) await this.subscribe();
    for (;;) {
      signal.throwIfAborted();
      let wake = (): void => undefined;
      let woken = false;
      const stop = this.listen((hint) => {
        if (hint.taskId !== undefined && !concerns(hint)) return;
        woken = true;
        wake();
      });
      try {
        const found = await look();
        if (found !== undefined || performance.now() >= deadline || this.#closed) return found;
        if (!woken)
          await pause(Math.min(this.#pollMs, deadline - performance.now()), signal, (resolve) => {
            wake = resolve;
            if (woken) resolve();
          });
      } finally {
        stop();
      }
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    const subscribed = this.#subscribed;
    for (const listener of [...this.#listeners]) listener({ kind: "unknown" });
    this.#listeners.clear();
    if (subscribed === undefined) return;
    // One that never came to be needs no end.
    const [result] = await Promise.allSettled([subscribed]);
    if (result.status === "fulfilled") await result.value[Symbol.asyncDispose]();
  }
}

function pause(ms: number, signal: AbortSignal, onStart: (resolve: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    // Rounded up: timers may fire a fraction early.
    const timer = setTimeout(end, Math.max(1, Math.ceil(ms)));
    signal.addEventListener("abort", end, { once: true });
    onStart(end);
  });
}

import type { Clock } from "./clock.ts";
import type { ProgressUpdate } from "./context.ts";

/** One update per this many milliseconds. */
const intervalMs = 100;
/** The result comes no sooner than this after an update: clients lose updates that arrive together with the answer. */
const quietMs = 5;

export interface Progress {
  update(update: ProgressUpdate): void;
  /** Drops what is pending; resolves when the result may be sent, at once when nothing went out just now. */
  settle(): Promise<void> | undefined;
}

/**
 * Coalesces updates: at most one per 100 ms, the last value wins, numbers only rise, and none follows the result.
 *
 * @param clock Decides the interval; the wait before the result is real time, for it protects a real wire.
 */
export function throttleProgress(send: (update: ProgressUpdate) => void, clock: Clock): Progress {
  let settled = false;
  let pending: ProgressUpdate | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let sentAt: number | undefined;
  let sentReal: number | undefined;
  let highest = Number.NEGATIVE_INFINITY;

  // The timer keeps real time, the interval is the clock's: a clock that runs ahead of it is obeyed at once.
  const isDue = (): boolean => sentAt === undefined || clock.now() - sentAt >= intervalMs;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (settled || pending === undefined) return;
    const wait = sentAt === undefined ? 0 : sentAt + intervalMs - clock.now();
    // A clock that was set back must not silence the call.
    if (wait > 0 && wait <= intervalMs) {
      timer = setTimeout(flush, wait);
      return;
    }
    const update = pending;
    pending = undefined;
    sentAt = clock.now();
    sentReal = performance.now();
    send(update);
  };

  return {
    update(update) {
      if (settled) return;
      const number = update.progress;
      if (number !== undefined) {
        if (!(number > highest)) {
          // Old news as a number; its words may still be new.
          if (update.message === undefined && update.data === undefined) return;
          const { progress: _, ...rest } = update;
          pending = pending?.progress === undefined ? rest : { ...rest, progress: pending.progress };
        } else {
          highest = number;
          pending = { ...update };
        }
      } else {
        pending = pending?.progress === undefined ? { ...update } : { ...update, progress: pending.progress };
      }
      if (timer === undefined || isDue()) flush();
    },
    settle() {
      settled = true;
      pending = undefined;
      clearTimeout(timer);
      return sentReal === undefined || performance.now() - sentReal >= quietMs ? undefined : quiet(sentReal);
    },
  };
}

async function quiet(since: number): Promise<void> {
  for (let left = quietMs; left > 0; left = quietMs - (performance.now() - since)) {
    // Rounded up: timers may fire a fraction early.
    await new Promise((resolve) => setTimeout(resolve, Math.ceil(left)));
  }
}

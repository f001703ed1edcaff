import type { ProgressUpdate } from "@toolhaft/core";
import type { CallRequest } from "./types.ts";

/** Clients that lose their patience count from the last news. */
const heartbeatMs = 10_000;
/** A result that follows an update at once is handled first by some clients, and the update is lost. */
const quietMs = 5;

/** Progress of one call towards whichever request stands for it now. */
export interface ProgressChannel {
  /** Given to the tool; undefined when nobody listens, so that an update costs nothing. */
  readonly update: ((update: ProgressUpdate) => void) | undefined;
  /** Sends go through this request from now on, or nowhere. */
  attach(request: Pick<CallRequest, "notify" | "meta"> | undefined): void;
  /** Nothing is sent any more; resolves when the result may follow. */
  end(): Promise<void>;
}

const silent: ProgressChannel = { update: undefined, attach: () => undefined, end: () => Promise.resolve() };

export function createProgressChannel(
  first: Pick<CallRequest, "notify" | "meta">,
  onError: (error: Error) => void,
): ProgressChannel {
  if (tokenOf(first) === undefined) return silent;
  const started = performance.now();
  let request: Pick<CallRequest, "notify" | "meta"> | undefined = first;
  let ended = false;
  let number = 0;
  let lastNews = started;
  let lastSent = Number.NEGATIVE_INFINITY;
  let sending: Promise<void> = Promise.resolve();

  const quietLeft = () => quietMs - (performance.now() - lastSent);
  const send = (update: ProgressUpdate) => {
    const progressToken = request === undefined ? undefined : tokenOf(request);
    if (ended || request === undefined || progressToken === undefined) return;
    // The protocol wants a number that rises with every notification; words alone take a small step.
    number =
      update.progress !== undefined && update.progress > number ? update.progress : Number((number + 0.001).toFixed(3));
    lastNews = performance.now();
    const params = {
      progressToken,
      progress: number,
      ...(update.total !== undefined && { total: update.total }),
      ...(update.message !== undefined && { message: update.message }),
    };
    // Counted from when it is really out: on a busy machine that may be long after this line.
    sending = request.notify(params).then(() => {
      lastSent = performance.now();
    }, onError);
  };

  const timer = setInterval(() => {
    if (performance.now() - lastNews < heartbeatMs) return;
    send({ message: `running for ${Math.round((performance.now() - started) / 1_000)} s` });
  }, heartbeatMs / 10);
  timer.unref();

  return {
    update: send,
    attach(next) {
      request = next;
    },
    async end() {
      ended = true;
      clearInterval(timer);
      await sending;
      for (let left = quietLeft(); left > 0; left = quietLeft()) {
        await new Promise((resolve) => setTimeout(resolve, Math.ceil(left)));
      }
    },
  };
}

function tokenOf({ meta }: Pick<CallRequest, "meta">): string | number | undefined {
  const token = meta?.progressToken;
  return typeof token === "string" || typeof token === "number" ? token : undefined;
}

import type { TaskStore } from "@toolhaft/tasks";
import type { Metrics } from "../metrics.ts";
import { makeNotice, type Notifier, type ToolName } from "./notice.ts";

/** How long a notice is ours to deliver, in milliseconds. */
const leaseMs = 10_000;
/** How long one delivery may take. */
const deliverMs = 8_000;
/** After this a notice waits in the inbox only. */
const giveUpMs = 24 * 3_600_000;
const batch = 20;

interface Served {
  notifier: Notifier;
  toolName: ToolName;
  running: Promise<void> | undefined;
  again: boolean;
}

/** Brings the notices of the sessions that this process serves to their notifiers, in order, until each is taken. */
export class Delivery {
  readonly #store: TaskStore;
  readonly #metrics: Metrics;
  readonly #now: () => number;
  readonly #served = new Map<string, Served>();
  readonly #closing = new AbortController();

  constructor(store: TaskStore, metrics: Metrics, now: () => number) {
    this.#store = store;
    this.#metrics = metrics;
    this.#now = now;
  }

  attach(sessionId: string, notifier: Notifier, toolName: ToolName): Disposable {
    const served: Served = { notifier, toolName, running: undefined, again: false };
    this.#served.set(sessionId, served);
    void this.#run(sessionId, served);
    return {
      [Symbol.dispose]: () => {
        if (this.#served.get(sessionId) === served) this.#served.delete(sessionId);
      },
    };
  }

  serves(sessionId: string): boolean {
    return this.#served.has(sessionId);
  }

  /** Looks for every session. */
  pass(): Promise<void> {
    return Promise.all([...this.#served].map(([session, served]) => this.#run(session, served))).then(() => undefined);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([...this.#served.values()].map(({ running }) => running));
    this.#served.clear();
  }

  #run(session: string, served: Served): Promise<void> {
    if (served.running !== undefined) {
      served.again = true;
      return served.running;
    }
    served.running = this.#deliverAll(session, served).finally(() => {
      served.running = undefined;
    });
    return served.running;
  }

  async #deliverAll(session: string, served: Served): Promise<void> {
    try {
      do {
        served.again = false;
        const leased = performance.now();
        const notices = await this.#store.notices({ to: [session], limit: batch, leaseMs });
        for (const stored of notices) {
          // Another notifier may have taken the place of this one.
          const current = this.#served.get(session);
          if (this.#closing.signal.aborted || current === undefined) return;
          if (this.#now() - Date.parse(stored.createdAt) > giveUpMs) continue;
          const left = () => leaseMs - (performance.now() - leased);
          if (!(await this.#deliver(stored, current, left))) return; // those behind it wait, so that order is kept
        }
        if (notices.length === batch) served.again = true;
      } while (served.again);
    } catch {
      // The store cannot be reached: the next pass tries again, and the lease ends by itself.
    }
  }

  async #deliver(
    stored: Parameters<typeof makeNotice>[0],
    { notifier, toolName }: Served,
    left: () => number,
  ): Promise<boolean> {
    for (let tries = 0; ; tries++) {
      if (this.#closing.signal.aborted) return false;
      const notice = await makeNotice(stored, this.#store, toolName);
      const outcome = notice === undefined ? "delivered" : await this.#try(notifier, notice, stored.tries + tries > 0);
      this.#metrics.count("notices", { kind: stored.kind, outcome });
      if (outcome === "delivered" || outcome === "seen") {
        await this.#store.ackNotices([stored.id]);
        return true;
      }
      const wait = 100 * 2 ** tries;
      if (left() < wait + deliverMs / 4) return false;
      await pause(wait, this.#closing.signal);
    }
  }

  /** One delivery, with an end to patience. */
  async #try(
    notifier: Notifier,
    notice: NonNullable<Awaited<ReturnType<typeof makeNotice>>>,
    again: boolean,
  ): Promise<"delivered" | "seen" | "later" | "failed"> {
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(deliverMs)]);
    const over = new Promise<never>((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
    over.catch(() => undefined);
    try {
      if (again && notifier.seen !== undefined && (await Promise.race([notifier.seen(notice.id), over]))) return "seen";
      return await Promise.race([notifier.deliver(notice, signal), over]);
    } catch {
      return "failed"; // counted as such, and tried again
    }
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(end, ms);
    function end(): void {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    }
    signal.addEventListener("abort", end, { once: true });
  });
}

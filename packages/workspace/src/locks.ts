import { setTimeout as sleep } from "node:timers/promises";
import { roomForListeners, ToolError } from "@toolhaft/core";
import { KeyQueue } from "./key-queue.ts";
import { type Found, type LockFolder, TOUCH_MS, type Token } from "./lock-files.ts";

/** What is locked, and its name for people. */
export interface LockKey {
  readonly key: string;
  readonly shown: string;
}

export interface Held {
  readonly token: Token;
  readonly keys: readonly string[];
  /** Whether every lock is still ours. */
  verify(): Promise<boolean>;
  release(): Promise<void>;
}

export interface LocksOptions {
  readonly folder: LockFolder;
  readonly timeoutMs: number;
  /** Breaks a dead lock, after the journal it names is recovered; false while another process does. */
  settle(dead: Found, token: Token): Promise<boolean>;
}

/** Locks of several keys at once, within the process and across processes. */
export class Locks {
  readonly #options: LocksOptions;
  readonly #queue = new KeyQueue();

  constructor(options: LocksOptions) {
    this.#options = options;
  }

  /**
   * Keys are taken in sorted order, so no two callers wait for each other in a circle. Whoever meets a dead lock frees
   * all it has before that lock's journal is recovered, and begins anew.
   *
   * @throws ToolError `timeout` naming the holder, `cancelled`
   */
  async acquire(wanted: readonly LockKey[], journal: string, signal: AbortSignal | undefined): Promise<Held> {
    const { folder, timeoutMs, settle } = this.#options;
    const keys = [...new Map(wanted.map((key) => [key.key, key])).values()].sort((a, b) => (a.key < b.key ? -1 : 1));
    const wait = new Wait(timeoutMs, signal);
    try {
      wait.check(undefined);
      await folder.ensure();
      const token = await folder.createToken(journal);
      try {
        for (;;) {
          const taken = await this.#take(keys, token, wait);
          if ("held" in taken) return taken.held;
          if (!(await settle(taken.dead, token))) await wait.pause(taken.dead, keys[0]?.shown ?? "");
        }
      } catch (error) {
        await folder.removeToken(token);
        throw error;
      }
    } finally {
      wait.end();
    }
  }

  async #take(keys: readonly LockKey[], token: Token, wait: Wait): Promise<{ held: Held } | { dead: Found }> {
    const { folder } = this.#options;
    const free: (() => void | Promise<void>)[] = [];
    const freeAll = () => allOf(free.splice(0).reverse());
    try {
      for (const { key, shown } of keys) free.push(await wait.during(this.#queue.take(key, wait.signal), shown));
      for (const { key, shown } of keys) {
        const path = folder.lockPath(key);
        while (!(await folder.place(token, path))) {
          const found = await folder.look(path);
          if (found?.liveness === "dead") {
            await freeAll();
            return { dead: found };
          }
          if (found) await wait.pause(found, shown);
        }
        free.push(() => folder.remove(token, path));
      }
    } catch (error) {
      await freeAll();
      throw error;
    }
    return { held: this.#held(keys, token, freeAll) };
  }

  #held(keys: readonly LockKey[], token: Token, freeAll: () => Promise<void>): Held {
    const { folder } = this.#options;
    const paths = keys.map(({ key }) => folder.lockPath(key));
    let lost = false;
    const touching = setInterval(() => {
      folder.touch(token, paths).catch(() => {
        lost = true;
      });
    }, TOUCH_MS);
    touching.unref();
    return {
      token,
      keys: keys.map(({ key }) => key),
      async verify() {
        for (const path of paths) if (lost || !(await folder.isOwn(token, path))) return false;
        return true;
      },
      async release() {
        clearInterval(touching);
        await allOf([freeAll, () => folder.removeToken(token)]);
      },
    };
  }
}

/** Does every step, each a second time when it fails, and then rejects with the first failure that stayed. */
async function allOf(steps: readonly (() => void | Promise<void>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const step of steps) {
    try {
      await step();
    } catch {
      await Promise.resolve(step()).catch((error: unknown) => failures.push(error));
    }
  }
  if (failures.length > 0) throw failures[0];
}

/** Waiting for locks: bounded by time and by the caller's signal. */
class Wait {
  readonly #started = performance.now();
  readonly #timeoutMs: number;
  readonly #caller: AbortSignal | undefined;
  readonly #stop = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #onAbort = () => this.#stop.abort();

  constructor(timeoutMs: number, caller: AbortSignal | undefined) {
    this.#timeoutMs = timeoutMs;
    this.#caller = caller;
    this.#timer = setTimeout(this.#onAbort, timeoutMs);
    if (caller === undefined) return;
    roomForListeners(caller);
    caller.addEventListener("abort", this.#onAbort, { once: true });
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  check(found: Found | undefined, shown = ""): void {
    refuseAborted(this.#caller);
    if (this.#stop.signal.aborted || performance.now() - this.#started >= this.#timeoutMs)
      throw this.#timeout(found, shown);
  }

  async pause(found: Found, shown: string): Promise<void> {
    this.check(found, shown);
    const ms = 5 + Math.random() * 45;
    await sleep(ms, undefined, { signal: this.signal }).catch((error: unknown) => {
      if (!this.signal.aborted) throw error;
    });
    this.check(found, shown);
  }

  async during<T>(turn: Promise<T>, shown: string): Promise<T> {
    try {
      return await turn;
    } catch (error) {
      if (this.signal.aborted) this.check(undefined, shown);
      throw error;
    }
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#caller?.removeEventListener("abort", this.#onAbort);
  }

  #timeout(found: Found | undefined, shown: string): ToolError {
    const seconds = Math.round((found?.ageMs ?? 0) / 1000);
    const holder = !found
      ? "another call of this process"
      : found.holder
        ? `process ${found.holder.pid} on ${found.holder.host}, which touched its lock ${seconds} s ago`
        : `an unreadable lock ${found.path}, ${seconds} s old`;
    return new ToolError("timeout", `waited ${this.#timeoutMs} ms for the lock of ${shown}, held by ${holder}`, {
      hint: "repeat the call; nothing was written",
      retryable: true,
      details: found?.holder ? { pid: found.holder.pid, host: found.holder.host, ageMs: found.ageMs } : {},
    });
  }
}

/** @throws ToolError `cancelled` */
export function refuseAborted(signal: AbortSignal | undefined): void {
  if (!signal?.aborted) return;
  throw new ToolError("cancelled", "the call was cancelled; nothing was written", { cause: signal.reason });
}

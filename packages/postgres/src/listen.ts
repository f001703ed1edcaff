import { createHash } from "node:crypto";
import type { PoolClient } from "pg";
import type { PostgresDatabase } from "./database.ts";

/** How often a listener looks again although nothing was heard: a pooler may swallow notifications. */
const pollMs = 2_000;
/** Between two words to others; the first goes at once. */
const spacingMs = 10;

/** Word from other processes that something of a family has changed. */
export interface Wakeup {
  /** Told of each word, and every two seconds; gives the way to stop. */
  listen(listener: () => void): Promise<() => void>;
  /** Tells the others, soon. Words of one moment become one. */
  tell(): void;
  close(): Promise<void>;
}

/** `LISTEN` on a connection of its own, taken up again when it breaks; with nobody listening there is none. */
export function wakeup(database: PostgresDatabase, family: string): Wakeup {
  const channel = `th_${createHash("sha256").update(`${database.schema}.${family}`).digest("hex").slice(0, 24)}`;
  const self = Math.random().toString(36).slice(2);
  const listeners = new Set<() => void>();
  let client: PoolClient | undefined;
  let connecting: Promise<void> | undefined;
  let poll: NodeJS.Timeout | undefined;
  let soon: NodeJS.Timeout | undefined;
  let telling: Promise<unknown> = Promise.resolve();
  let lastTold = 0;
  let closed = false;
  const wake = (): void => {
    for (const listener of [...listeners]) listener();
  };

  return {
    async listen(listener) {
      listeners.add(listener);
      poll ??= setInterval(() => {
        wake();
        if (client === undefined) void connect();
      }, pollMs).unref();
      await connect();
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0) leave();
      };
    },
    tell() {
      if (closed || soon !== undefined) return;
      soon = setTimeout(send, Math.max(0, lastTold + spacingMs - Date.now())).unref();
    },
    async close() {
      closed = true;
      const pending = soon !== undefined;
      clearTimeout(soon);
      if (pending) send();
      await telling;
      listeners.clear();
      await connecting;
      leave();
    },
  };

  function send(): void {
    soon = undefined;
    lastTold = Date.now();
    telling = database
      .run("SELECT pg_notify(?, ?)", [channel, self])
      // Who waits looks again by itself every two seconds.
      .catch(() => undefined);
  }

  function connect(): Promise<void> {
    connecting ??= (client === undefined ? take() : Promise.resolve())
      // The poll tries again.
      .catch(() => undefined)
      .finally(() => {
        connecting = undefined;
      });
    return connecting;
  }

  async function take(): Promise<void> {
    const taken = await database.connection();
    const drop = (): void => {
      if (client !== taken) return;
      client = undefined;
      taken.release(true);
      wake();
      if (listeners.size > 0) void connect();
    };
    taken.on("error", drop);
    taken.on("end", drop);
    taken.on("notification", ({ payload }) => {
      if (payload !== self) wake();
    });
    try {
      await taken.query(`LISTEN ${channel}`);
    } catch (error) {
      taken.release(true);
      throw error;
    }
    if (listeners.size === 0) taken.release(true);
    else client = taken;
  }

  function leave(): void {
    clearInterval(poll);
    poll = undefined;
    const taken = client;
    client = undefined;
    taken?.release(true);
  }
}

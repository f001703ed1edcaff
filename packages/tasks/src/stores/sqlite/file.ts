import { isToolError, systemClock, ToolError } from "@toolhaft/core";
import { type Database, openDatabase } from "@toolhaft/sqlite";
import type { SqliteTasksOptions } from "../../options.ts";
import type { ChangeHint } from "../../store.ts";
import { migrations } from "./schema.ts";
import { openTally, type Tally } from "./tally.ts";

/** Milliseconds a write waits for another process. */
const busyTimeoutMs = 10_000;

/** What a job of a write is given. */
export interface WriteJob {
  db: Database;
  /** Milliseconds, by the clock of the store. */
  now: number;
  tally: Tally;
  /** Whether the rows show all that time has done until `now`. */
  caughtUp: boolean;
  /** The newest task the search index knows, once somebody has asked. */
  indexedTo: number | undefined;
  /** Told to listeners once the transaction is there. */
  hint(hint: ChangeHint): void;
}

/** The file behind a backend: opened on first use, and anew after it was found damaged or gone. */
export interface TasksFile {
  now(): number;
  /** Reads of one tick. */
  read<T>(job: (db: Database) => T): Promise<T>;
  /** One transaction. Jobs that come in the same moment share one, each as a whole or not at all. */
  write<T>(job: (write: WriteJob) => T): Promise<T>;
  listen(listener: (hint: ChangeHint) => void): void;
  close(): Promise<void>;
}

interface Waiting {
  job(write: WriteJob): unknown;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

export function tasksFile(
  options: Required<Pick<SqliteTasksOptions, "path">> & SqliteTasksOptions,
  tap?: (db: Database) => Database,
): TasksFile {
  const clock = options.clock ?? systemClock;
  const now = () => Math.floor(clock.now());
  const listeners: ((hint: ChangeHint) => void)[] = [];
  let opened: Promise<Database> | undefined;
  let closed = false;
  let queue: Waiting[] = [];
  let flushing: Promise<void> | undefined;

  return {
    now,
    async read(job) {
      const found = await db();
      try {
        return job(found);
      } catch (error) {
        forget(error);
        throw error;
      }
    },
    write: <T>(job: (write: WriteJob) => T) =>
      new Promise<T>((resolve, reject) => {
        queue.push({ job, resolve: resolve as (value: unknown) => void, reject });
        // Everything that is asked for in this tick goes along.
        flushing ??= Promise.resolve()
          .then(() => undefined)
          .then(flushAll);
      }),
    listen: (listener) => void listeners.push(listener),
    async close() {
      await flushing;
      closed = true;
      const db = await opened?.catch(() => undefined);
      db?.close();
    },
  };

  async function db(): Promise<Database> {
    if (closed) throw closedError(options.path);
    opened ??= open();
    return opened;
  }

  /** A file found damaged, full or gone: the next call starts with what is there then. */
  function forget(error: unknown): void {
    if (isToolError(error) && error.code === "unavailable") opened = undefined;
  }

  function open(): Promise<Database> {
    const opening = openDatabase({
      path: options.path,
      migrations,
      family: "tasks",
      busyTimeoutMs,
      durability: options.durability ?? "normal",
      clock,
    }).then((found) => tap?.(found) ?? found);
    opening.catch(() => {
      // The next call tries again: what stood in the way may be gone.
      if (opened === opening) opened = undefined;
    });
    return opening;
  }

  async function flushAll(): Promise<void> {
    while (queue.length > 0) {
      const jobs = queue;
      queue = [];
      await flush(jobs);
    }
    flushing = undefined;
  }

  async function flush(jobs: readonly Waiting[]): Promise<void> {
    const hints: ChangeHint[] = [];
    let answers: unknown[];
    try {
      const found = await db();
      answers = await found.write(() => {
        const write: WriteJob = {
          db: found,
          now: now(),
          tally: openTally(found),
          caughtUp: false,
          indexedTo: undefined,
          hint: (hint) => void hints.push(hint),
        };
        const done = jobs.map(({ job }) => job(write));
        write.tally.save();
        return done;
      });
    } catch (error) {
      forget(error);
      const [only] = jobs;
      if (jobs.length === 1) only?.reject(error);
      // One of them failed, so nothing is written: each goes alone, and only the bad one fails.
      else for (const one of jobs) await flush([one]);
      return;
    }
    for (const [index, { resolve }] of jobs.entries()) resolve(answers[index]);
    for (const hint of hints) for (const listener of listeners) listener(hint);
  }
}

function closedError(path: string): ToolError {
  return new ToolError("unavailable", `the task store at ${path} is closed`, { hint: "make a new family or backend" });
}

import { join } from "node:path";
import type { Database } from "@toolhaft/sqlite";
import { noSuchTask } from "../../ids.ts";
import type { Task } from "../../model.ts";
import type { SqliteTasksOptions } from "../../options.ts";
import type { TaskBackend, TaskQueue, TaskStore } from "../../store.ts";
import { appendEvent } from "./append.ts";
import { applyEdge } from "./apply.ts";
import { findApprovals } from "./approvals.ts";
import { readBuckets } from "./buckets.ts";
import { readBudget, writeLimits } from "./budget.ts";
import { watchChanges } from "./changes.ts";
import { claimTasks, hashToken, termsOf } from "./claim.ts";
import { catchUp, isAnythingDue, moveDue } from "./due.ts";
import { beat, readEngines } from "./engines.ts";
import { type TasksFile, tasksFile, type WriteJob } from "./file.ts";
import { findTasks } from "./find.ts";
import { ackNotices, deliverNow, leaseNotices } from "./notices.ts";
import { postTasks } from "./post.ts";
import { pruneSome } from "./prune.ts";
import { claimOfHash, readAttempts, readEvents, readLanes, readOwners } from "./read.ts";
import { renewClaim } from "./renew.ts";
import { readWindow } from "./results.ts";
import { readRecord, readTask, toTask, updateTask } from "./rows.ts";
import { idleIndex, indexAll } from "./search.ts";
import { readTree } from "./tree.ts";

/** Tasks moved by one sweep, and before a read. */
const sweepLimit = 1_000;

/** @internal What tests put between the backend and the file. */
export interface SqliteHooks {
  tap?(db: Database): Database;
}

/** The backend, and for tests a way to stand between it and its file. */
export function sqliteBackend(options: SqliteTasksOptions = {}, hooks: SqliteHooks = {}): TaskBackend {
  const path = options.path ?? join(process.cwd(), ".toolhaft", "tasks.db");
  const file = tasksFile({ ...options, path }, hooks.tap);
  const changes = watchChanges(file);
  const idle = idleIndex(file);
  const close = async () => {
    changes.close();
    await idle.stop();
    await file.close();
  };
  return {
    queue: queueOf(file, changes),
    store: storeOf(file),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function queueOf(file: TasksFile, changes: ReturnType<typeof watchChanges>): TaskQueue {
  return {
    post: (tasks) => file.write((write) => postTasks(write, tasks)),
    async claim(query) {
      if (!(query.leaseMs > 0)) throw new TypeError("claim: leaseMs must be above 0");
      return file.write((write) => claimTasks(write, query));
    },
    async renew(refs, leaseMs) {
      if (!(leaseMs > 0)) throw new TypeError("renew: leaseMs must be above 0");
      return file.write((write) => refs.map((ref) => renewClaim(write, ref, leaseMs)));
    },
    apply: (taskId, edge) =>
      file.write((write) => {
        catchUp(write, sweepLimit);
        return applyEdge(write, taskId, edge);
      }),
    sweep: (limit = sweepLimit) =>
      file.write((write) => {
        const moved = moveDue(write, limit);
        return { moved, more: isAnythingDue(write.db, write.now) };
      }),
    onChange: (listener) => changes.listen(listener),
  };
}

function storeOf(file: TasksFile): TaskStore {
  /** What time has done is true for every reader, whether or not a sweep has run. */
  const read = async <T>(job: (db: Database) => T): Promise<T> => {
    while (await file.read((db) => isAnythingDue(db, file.now())))
      await file.write((write) => moveDue(write, sweepLimit));
    return file.read(job);
  };
  return {
    get: (id) => read((db) => taskById(db, id)),
    attempts: (id) => read((db) => readAttempts(db, id)),
    async find(query) {
      if (query.text !== undefined) await indexAll(file);
      return read((db) => findTasks(db, query));
    },
    tree: (query) => read((db) => readTree(db, query)),
    buckets: (query) => read((db) => readBuckets(db, query)),
    append: (id, ref, entry) => file.write((write) => appendEvent(write, id, ref, entry)),
    events: (id, query) => read((db) => readEvents(db, id, query)),
    readResult: (id, attempt, window) =>
      file.read((db) => {
        const row = readRecord(db, id);
        if (row === undefined) throw noSuchTask();
        return readWindow(db, row.seq, attempt, window);
      }),
    terms: (id) =>
      file.read((db) => {
        const row = readRecord(db, id);
        return row && termsOf(db, row);
      }),
    claimOf: (id, token) => file.read((db) => claimOfHash(db, id, hashToken(token), file.now())),
    promote: (id) => file.write((write) => promote(write, id)),
    budget: (scope) => file.read((db) => readBudget(db, scope)),
    setBudget: (scope, limits) => file.write(({ db }) => writeLimits(db, scope, limits)),
    approvals: (query) => read((db) => findApprovals(db, query)),
    notices: (query) =>
      file.write((write) => {
        catchUp(write, sweepLimit);
        return leaseNotices(write, query);
      }),
    ackNotices: (ids) => file.write((write) => ackNotices(write, ids)),
    lanes: () => read((db) => readLanes(db, file.now())),
    owners: () => read((db) => readOwners(db, file.now())),
    beat: (engine) =>
      file.write((write) => {
        beat(write, engine);
        return readEngines(write.db, write.now).filter(({ alive }) => alive);
      }),
    engines: () => file.read((db) => readEngines(db, file.now())),
    retire: (engineId) => file.write(({ db }) => void db.run("DELETE FROM engine WHERE id = ?", [engineId])),
    async prune(policy = {}) {
      let tasks = 0;
      for (;;) {
        const pruned = await file.write((write) => pruneSome(write, policy));
        if (pruned === 0) return { tasks };
        tasks += pruned;
      }
    },
  };
}

function promote(write: WriteJob, id: string) {
  const { db, now } = write;
  const row = readRecord(db, id);
  if (row === undefined) return undefined;
  if (row.mode === "sync") updateTask(db, row, { mode: "background", slot_of: null });
  deliverNow(db, row.seq, now);
  return taskById(db, id);
}

function taskById(db: Database, id: string): Task | undefined {
  const row = readTask(db, id);
  return row && toTask(row);
}

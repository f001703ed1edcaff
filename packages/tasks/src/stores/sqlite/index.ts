import { join } from "node:path";
import type { Database } from "@toolhaft/sqlite";
import { noSuchTask } from "../../ids.ts";
import type { SqliteTasksOptions } from "../../options.ts";
import { dueOf } from "../../record.ts";
import type { TaskBackend, TaskQueue, TaskStore } from "../../store.ts";
import { appendEvent } from "./append.ts";
import { applyEdge, taskOf } from "./apply.ts";
import { findApprovals } from "./approvals.ts";
import { readBuckets } from "./buckets.ts";
import { readBudget, writeLimits } from "./budget.ts";
import { watchChanges } from "./changes.ts";
import { claimTasks, hashToken, termsOf } from "./claim.ts";
import { isAnythingDue, moveDue } from "./due.ts";
import { beat, readEngines } from "./engines.ts";
import { type TasksFile, tasksFile, type WriteJob } from "./file.ts";
import { findTasks } from "./find.ts";
import { ackNotices, deliverNow, leaseNotices } from "./notices.ts";
import { postTask } from "./post.ts";
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
    post: (tasks) => file.write((write) => tasks.map((task) => postTask(write, task))),
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
        catchUp(write);
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
  const current = async (): Promise<Database> => {
    const db = await file.db();
    while (isAnythingDue(db, file.now())) await file.write((write) => moveDue(write, sweepLimit));
    return db;
  };
  return {
    async get(id) {
      const row = readTask(await current(), id);
      return row && toTask(row);
    },
    attempts: async (id) => readAttempts(await current(), id),
    async find(query) {
      if (query.text !== undefined) await indexAll(file);
      return findTasks(await current(), query);
    },
    tree: async (query) => readTree(await current(), query),
    buckets: async (query) => readBuckets(await current(), query),
    append: (id, ref, entry) => file.write((write) => appendEvent(write, id, ref, entry)),
    events: async (id, query) => readEvents(await current(), id, query),
    async readResult(id, attempt, window) {
      const db = await file.db();
      const row = readRecord(db, id);
      if (row === undefined) throw noSuchTask();
      return readWindow(db, row.seq, attempt, window);
    },
    async terms(id) {
      const db = await file.db();
      const row = readRecord(db, id);
      return row && termsOf(db, row);
    },
    claimOf: async (id, token) => claimOfHash(await file.db(), id, hashToken(token), file.now()),
    promote: (id) => file.write((write) => promote(write, id)),
    budget: async (scope) => readBudget(await file.db(), scope),
    setBudget: (scope, limits) => file.write(({ db }) => writeLimits(db, scope, limits)),
    approvals: async (query) => findApprovals(await current(), query),
    async notices(query) {
      await current();
      return file.write((write) => leaseNotices(write, query));
    },
    ackNotices: (ids) => file.write((write) => ackNotices(write, ids)),
    lanes: async () => readLanes(await current(), file.now()),
    owners: async () => readOwners(await current(), file.now()),
    beat: (engine) =>
      file.write((write) => {
        beat(write, engine);
        return readEngines(write.db, write.now).filter(({ alive }) => alive);
      }),
    engines: async () => readEngines(await file.db(), file.now()),
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

/** An edge meets the row as it truly is. */
function catchUp(write: WriteJob): void {
  if (isAnythingDue(write.db, write.now)) moveDue(write, sweepLimit);
}

function promote(write: WriteJob, id: string) {
  const { db, now } = write;
  const row = readRecord(db, id);
  if (row === undefined) return undefined;
  if (row.mode === "sync") updateTask(db, row, { mode: "background", slot_of: null });
  deliverNow(db, row.seq, now);
  return taskOf(write, { ...row, mode: row.mode === "sync" ? "background" : row.mode, due_at: dueOf(row) });
}

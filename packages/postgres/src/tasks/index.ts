import { createId } from "@toolhaft/core";
import type { ChangeHint, ClaimQuery, Edge, NewTask, Task, TaskBackend, TaskQueue, TaskStore } from "@toolhaft/tasks";
import { createTaskId, noSuchTask, toTask } from "@toolhaft/tasks/adapter";
import {
  type PostgresDatabase,
  type PostgresOptions,
  postgresDatabase,
  type Sql,
  type Transaction,
} from "../database.ts";
import { type Wakeup, wakeup } from "../listen.ts";
import { appendEvent } from "./append.ts";
import { applyEdge } from "./apply.ts";
import { findApprovals } from "./approvals.ts";
import { readBuckets } from "./buckets.ts";
import { readBudget, writeLimits } from "./budget.ts";
import { claimTasks, hashToken, termsOf } from "./claim.ts";
import { isAnythingDue, moveDue, moveOne } from "./due.ts";
import { beat, readEngines } from "./engines.ts";
import { findTasks } from "./find.ts";
import { ackNotices, deliverNow, leaseNotices } from "./notices.ts";
import { isPlain, type Posted, postPlain, postTask } from "./post.ts";
import { pruneSome } from "./prune.ts";
import { claimOfHash, readAttempts, readEvents, readLanes, readOwners } from "./read.ts";
import { renewClaim } from "./renew.ts";
import { readWindow } from "./results.ts";
import { lockRecord, readRecord, readTask, updateTask } from "./rows.ts";
import { migrations } from "./schema.ts";
import { idleIndex, indexAll } from "./search.ts";
import { Tally } from "./tally.ts";
import { readTree } from "./tree.ts";
import type { WriteJob } from "./write-job.ts";

/** Tasks moved by one sweep, and before a read. */
const sweepLimit = 1_000;

/** What the methods of one backend share. */
interface Bench {
  db: PostgresDatabase;
  /** One transaction whose hints go out when it is there. `again` says that an earlier try may have been. */
  write<T>(job: (write: WriteJob, again: boolean) => Promise<T>): Promise<T>;
  tell(hints: readonly ChangeHint[]): void;
}

export function postgresBackend(options: PostgresOptions): TaskBackend {
  const db = postgresDatabase(options, "tasks", migrations);
  const others = wakeup(db, "tasks");
  const idle = idleIndex(db);
  const listeners = new Set<(hint: ChangeHint) => void>();
  const bench: Bench = {
    db,
    async write(job) {
      let tries = 0;
      let hints: ChangeHint[] = [];
      const answer = await db.transaction(async (sql) => {
        hints = [];
        const tally = new Tally(sql);
        const answer = await job({ db: sql, tally, hint: (hint) => void hints.push(hint) }, tries++ > 0);
        await tally.write();
        return answer;
      });
      bench.tell(hints);
      return answer;
    },
    tell(hints) {
      if (hints.length === 0) return;
      for (const hint of hints) for (const listener of [...listeners]) listener(hint);
      others.tell();
      idle.touch();
    },
  };
  const close = async (): Promise<void> => {
    listeners.clear();
    await idle.stop();
    await others.close();
    await db.close();
  };
  return {
    queue: queueOf(bench, listeners, others),
    store: storeOf(bench),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function queueOf(bench: Bench, listeners: Set<(hint: ChangeHint) => void>, others: Wakeup): TaskQueue {
  return {
    post: (tasks) => post(bench, tasks),
    async claim(query) {
      checkLease("claim", query.leaseMs);
      const tokens = Array.from({ length: query.n ?? 1 }, () => createId(Date.now()));
      return bench.write((write, again) => claimTasks(write, { query, tokens }, again));
    },
    async renew(refs, leaseMs) {
      checkLease("renew", leaseMs);
      return bench.write(async (write) => {
        const answers: ("ok" | "cancel_requested" | "lost")[] = [];
        for (const ref of refs) answers.push(await renewClaim(write, ref, leaseMs));
        return answers;
      });
    },
    apply: (taskId, edge) => bench.write((write) => applyNow(write, taskId, edge)),
    sweep: (limit = sweepLimit) =>
      bench.write(async (write) => {
        const moved = await moveDue(write, limit);
        return { moved, more: await isAnythingDue(write.db) };
      }),
    async onChange(listener) {
      const own = (hint: ChangeHint): void => listener(hint);
      listeners.add(own);
      const stop = await others.listen(() => own({ kind: "unknown" }));
      return {
        async [Symbol.asyncDispose]() {
          listeners.delete(own);
          stop();
        },
      };
    },
  };
}

function checkLease(method: string, leaseMs: ClaimQuery["leaseMs"]): void {
  if (!(leaseMs > 0)) throw new TypeError(`${method}: leaseMs must be above 0`);
}

/** An edge meets the row as it truly is. */
async function applyNow(write: WriteJob, taskId: string, edge: Edge) {
  const row = await lockRecord(write.db, taskId);
  if (row?.due_at != null && row.due_at <= write.db.now) await moveOne(write, row);
  return applyEdge(write, taskId, edge);
}

async function post(bench: Bench, tasks: readonly NewTask[]): Promise<readonly Posted[]> {
  const ids = tasks.map(() => createTaskId(Date.now()));
  if (tasks.length > 0 && tasks.every(isPlain)) {
    const posted = await postPlain(bench.db, tasks, ids);
    bench.tell(posted.map(({ task }) => ({ taskId: task.id, kind: "posted" })));
    return posted;
  }
  return bench.write(async (write, again) => {
    const posted: Posted[] = [];
    for (const [index, task] of tasks.entries()) posted.push(await postTask(write, task, ids[index] ?? "", again));
    return posted;
  });
}

function storeOf(bench: Bench): TaskStore {
  const { db } = bench;
  /** What time has done is true for every reader, whether or not a sweep has run. */
  const read = async <T>(job: (sql: PostgresDatabase) => Promise<T>): Promise<T> => {
    while (await isAnythingDue(db)) if ((await bench.write((write) => moveDue(write, sweepLimit))).length === 0) break;
    return job(db);
  };
  /** With the server's time, in one transaction. */
  const timed = <T>(job: (sql: Transaction) => Promise<T>): Promise<T> => db.transaction(job);
  const caughtUp = <T>(job: (sql: Transaction) => Promise<T>): Promise<T> => read(() => timed(job));
  return {
    get: (id) => read((sql) => taskById(sql, id)),
    attempts: (id) => read((sql) => readAttempts(sql, id)),
    async find(query) {
      if (query.text !== undefined) await indexAll(db);
      return read((sql) => findTasks(sql, query));
    },
    tree: (query) => read((sql) => readTree(sql, query)),
    buckets: (query) => read((sql) => readBuckets(sql, query)),
    append: (id, ref, entry) => bench.write((write) => appendEvent(write, id, ref, entry)),
    events: (id, query) => read((sql) => readEvents(sql, id, query)),
    async readResult(id, attempt, window) {
      const row = await readRecord(db, id);
      if (row === undefined) throw noSuchTask();
      return readWindow(db, row.seq, attempt, window);
    },
    async terms(id) {
      const row = await readRecord(db, id);
      return row && termsOf(db, row);
    },
    claimOf: (id, token) => timed((sql) => claimOfHash(sql, id, hashToken(token), sql.now)),
    promote: (id) => bench.write((write) => promote(write.db, id)),
    budget: (scope) => readBudget(db, scope),
    setBudget: (scope, limits) => writeLimits(db, scope, limits),
    approvals: (query) => read((sql) => findApprovals(sql, query)),
    notices: (query) => caughtUp((sql) => leaseNotices(sql, query)),
    ackNotices: (ids) => ackNotices(db, ids),
    lanes: () => caughtUp((sql) => readLanes(sql, sql.now)),
    owners: () => caughtUp((sql) => readOwners(sql, sql.now)),
    beat: (engine) =>
      timed(async (sql) => {
        await beat(sql, engine);
        return (await readEngines(sql, sql.now)).filter(({ alive }) => alive);
      }),
    engines: () => timed((sql) => readEngines(sql, sql.now)),
    async retire(engineId) {
      await db.run("DELETE FROM @engine WHERE id = ?", [engineId]);
    },
    async prune(policy = {}) {
      let tasks = 0;
      for (;;) {
        const pruned = await timed((sql) => pruneSome(sql, policy));
        if (pruned === 0) return { tasks };
        tasks += pruned;
      }
    },
  };
}

async function promote(db: Transaction, id: string): Promise<Task | undefined> {
  const row = await lockRecord(db, id);
  if (row === undefined) return undefined;
  if (row.mode === "sync") await updateTask(db, row, { mode: "background", slot_of: null });
  await deliverNow(db, row.seq, db.now);
  return taskById(db, id);
}

async function taskById(db: Sql, id: string): Promise<Task | undefined> {
  const row = await readTask(db, id);
  return row && toTask(row);
}

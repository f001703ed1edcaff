import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { type Database, openDatabase } from "@toolhaft/sqlite";
import { runs } from "@toolhaft/testing";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { claimQuery, complete, eventsOf, leaseMs, postOne, runTask, worker } from "../src/contract/setting.ts";
import { isEnded, sqliteTasks, type TaskBackend } from "../src/index.ts";
import { sqliteBackend } from "../src/stores/sqlite/index.ts";
import { migrations } from "../src/stores/sqlite/schema.ts";
import { buildWorker, startWorker } from "./processes.ts";
import { openSqlite, temporaryFolder } from "./setting.ts";

let removeWorker = (): void => undefined;
beforeAll(async () => {
  removeWorker = await buildWorker();
}, 120_000);
afterAll(() => removeWorker());

function openStore(): { path: string; backend: TaskBackend } {
  const path = join(temporaryFolder(), "tasks.db");
  const backend = sqliteTasks({ path });
  onTestFinished(() => backend.close());
  return { path, backend };
}

/** Asks again until there is an answer: what has to happen takes as long as the machine needs. */
async function until<T>(ask: () => Promise<T | undefined | false>): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe("killed at any moment", () => {
  it(`no notice is lost or told twice over ${runs(1_000)} kills at random points`, { timeout: 1_800_000 }, async () => {
    const { path, backend } = openStore();
    const told = join(path, "..", "told");
    mkdirSync(told);
    const owner = "the owner";
    // Each process that is killed takes four workers with it, all at their own place in their work.
    const workersEach = 4;
    let processes = Math.ceil(runs(1_000) / workersEach);
    const killing = async (): Promise<void> => {
      while (processes-- > 0) {
        const victim = startWorker("churn", path, told, owner, workersEach);
        await victim.hasLines(1 + Math.floor(Math.random() * 8));
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 4));
        victim.process.kill("SIGKILL");
        expect(await victim.ended, victim.stderr()).toBe("SIGKILL");
      }
    };
    await Promise.all([killing(), killing()]);
    // What the last ones left: claims that run out, notices whose lease runs out.
    await until(async () => {
      const claims = await backend.queue.claim(claimQuery("board", { n: 100, leaseMs: 600_000 }));
      await Promise.all(claims.map((claim) => complete(backend, claim)));
      return (await backend.store.find({ statuses: ["pending", "running"], limit: 1 })).total === 0;
    });
    const ids = new Set(readdirSync(told));
    await until(async () => {
      const left = await backend.store.notices({ to: [owner], limit: 1_000, leaseMs: 600_000 });
      // A kill between telling and acknowledging brings it again, under the same id.
      for (const { id } of left) ids.add(id);
      expect(await backend.store.ackNotices(left.map(({ id }) => id))).toBe(left.length);
      return (await pendingNotices(path)) === 0;
    });
    expect([...ids].sort()).toEqual((await endings(backend)).sort());
    expect(ids.size).toBeGreaterThan(runs(1_000) / 2);
  });

  it("crash-1: after the host has died nothing runs without a lease, and all of it goes on as it should", {
    timeout: 300_000,
  }, async () => {
    const { path, backend } = openStore();
    const first = await postOne(backend, runTask({ priority: 9, maxAttempts: 2 }));
    const second = await postOne(backend, runTask({ priority: 8, maxAttempts: 2, onLost: "fail" }));
    const rest = await backend.queue.post([runTask(), runTask(), runTask()]);
    const host = startWorker("crowd", path, 2, 1_000);
    await host.hasLines(1);
    expect(host.lines[0]).toBe(`holds ${first.id} ${second.id}`);
    host.process.kill("SIGKILL");
    expect(await host.ended).toBe("SIGKILL");
    await until(async () => (await backend.store.find({ statuses: ["running"], limit: 1 })).total === 0);
    expect((await backend.store.get(first.id))?.state).toBe("queued");
    expect((await backend.store.get(second.id))?.end?.reason).toBe("lease_lost");
    const lanes = { default: { limit: 9, reservedSync: 0 }, perOwner: null };
    const claims = await backend.queue.claim(claimQuery("dispatch", { n: 9, lanes, leaseMs: 60_000 }));
    expect(claims.map(({ taskId }) => taskId)).toEqual([first.id, ...rest.map(({ task }) => task.id)]);
    expect(claims[0]?.task.attempt).toBe(2);
    expect(claims[0]?.resume?.why).toBe("lost");
  });

  it("crash-5: tasks that waited when the process ended still wait, in their order, and each runs", {
    timeout: 300_000,
  }, async () => {
    const { path, backend } = openStore();
    const lanes = { default: { limit: 1, reservedSync: 0 }, perOwner: null };
    await postOne(backend, runTask({ priority: 50, maxAttempts: 1 }));
    const posted = await backend.queue.post([3, 1, 3, 0, 2].map((priority) => runTask({ priority })));
    const host = startWorker("crowd", path, 1, 1_000);
    await host.hasLines(1);
    host.process.kill("SIGKILL");
    expect(await host.ended).toBe("SIGKILL");
    const again = sqliteTasks({ path });
    onTestFinished(() => again.close());
    const order = [0, 2, 4, 1, 3].map((index) => posted[index]?.task.id);
    for (const id of order) {
      const found = await again.store.get(id ?? "");
      expect(found).toMatchObject({ state: "queued", attempt: 0, lastEventSeq: 1 });
    }
    const ran: string[] = [];
    await until(async () => {
      const [claim] = await again.queue.claim(claimQuery("dispatch", { lanes, leaseMs: 60_000 }));
      if (claim === undefined) return false;
      ran.push(claim.taskId);
      await complete(again, claim);
      return ran.length === order.length;
    });
    expect(ran).toEqual(order);
    const notices = await again.store.notices({ to: ["root"], limit: 99, leaseMs: 1_000 });
    expect(notices.filter(({ kind }) => kind === "failed")).toHaveLength(1);
    expect(notices.filter(({ kind }) => kind === "completed")).toHaveLength(5);
  });

  it("a holder whose event loop stood still for two leases finds its claim lost, and its result kept as late", {
    timeout: 300_000,
  }, async () => {
    const { path, backend } = openStore();
    const { id } = await postOne(backend, { ...runTask(), kind: "board", maxAttempts: 3 });
    const holder = startWorker("block", path, 500);
    await holder.hasLines(1);
    holder.tell("block");
    const claim = await until(
      async () => (await backend.queue.claim(claimQuery("board", { by: worker("B"), leaseMs: 600_000 })))[0],
    );
    expect([claim.taskId, claim.task.attempt, claim.fence]).toEqual([id, 2, 2]);
    await holder.hasLines(2);
    holder.tell("go on");
    await holder.hasLines(4);
    expect(holder.lines.slice(2)).toEqual(["lost", "stale"]);
    expect(await holder.ended, holder.stderr()).toBe(0);
    expect((await complete(backend, claim, "B's")).ok).toBe(true);
    expect((await backend.store.get(id))?.result?.head).toBe("B's");
    const late = await backend.store.events(id, { kinds: ["late_result"], limit: 9 });
    expect(late.items.map(({ data }) => data.text)).toEqual(["mine"]);
  });
});

describe("two that recover at once", () => {
  it("crash-4: the database fails one of them half-way; each lost task is moved on once, none is stranded", async () => {
    const { path, backend, clock, close } = await openSqlite();
    onTestFinished(close);
    const posted = await backend.queue.post(Array.from({ length: 20 }, () => runTask({ maxAttempts: 2 })));
    const lanes = { default: { limit: 99, reservedSync: 0 }, perOwner: null };
    await backend.queue.claim(claimQuery("dispatch", { n: 20, lanes }));
    clock.advance(leaseMs + 1);
    let left = 40;
    const failing = sqliteBackend({ path, clock }, { tap: (db) => failingAfter(db, () => left-- <= 0) });
    onTestFinished(() => failing.close());
    await expect(failing.queue.sweep()).rejects.toThrow(/the connection is gone/);
    const other = sqliteTasks({ path, clock });
    onTestFinished(() => other.close());
    expect((await other.queue.sweep(7)).moved).toHaveLength(7);
    left = Number.POSITIVE_INFINITY;
    const [one, two] = await Promise.all([failing.queue.sweep(), other.queue.sweep()]);
    expect(one.moved.length + two.moved.length).toBe(13);
    for (const { task } of posted) {
      expect(await eventsOf(backend, task.id)).toEqual(["posted", "claimed", "lease_lost"]);
      expect((await backend.store.get(task.id))?.state).toBe("queued");
    }
  });

  it("fence-2: a task ten leases long runs once, by the one that renews", async () => {
    const { backend, another, clock, close } = await openSqlite();
    onTestFinished(close);
    const { id } = await postOne(backend, runTask());
    const [claim] = await backend.queue.claim(claimQuery("dispatch"));
    const idle = await another();
    for (let third = 0; third < 30; third++) {
      clock.advance(leaseMs / 3);
      expect(await backend.queue.renew([claim ?? { taskId: id, fence: 0 }], leaseMs)).toEqual(["ok"]);
      expect(await idle.queue.claim(claimQuery("dispatch", { by: worker("B"), engine: "engine-B" }))).toEqual([]);
    }
    expect((await backend.store.get(id))?.attempt).toBe(1);
  });
});

describe("what a power cut may take", () => {
  for (const [durability, synchronous] of [
    ["normal", 1],
    ["full", 2],
  ] as const) {
    it(`durability ${durability} syncs ${synchronous === 2 ? "with every change" : "at checkpoints"}`, async () => {
      let open: Database | undefined;
      const path = join(temporaryFolder(), "tasks.db");
      const backend = sqliteBackend(
        { path, durability },
        {
          tap(db) {
            open = db;
            return db;
          },
        },
      );
      onTestFinished(() => backend.close());
      await postOne(backend, runTask());
      expect(open?.get("PRAGMA synchronous")).toEqual({ synchronous });
      expect(open?.get("PRAGMA journal_mode")).toEqual({ journal_mode: "wal" });
    });
  }
});

/** Ids of the notices that every ended attempt of the store has to have. */
async function endings(backend: TaskBackend): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await backend.store.find({ limit: 500, ...(cursor !== undefined && { cursor }) });
    for (const task of page.items) {
      expect(isEnded(task.state), `${task.id} is ${task.state}`).toBe(true);
      ids.push(`${task.id}:${task.attempt}:${task.state}`);
    }
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return ids;
}

async function pendingNotices(path: string): Promise<number> {
  await using db = await openDatabase({ path, family: "tasks", migrations });
  return db.get<{ n: number }>("SELECT count(*) AS n FROM notice WHERE acked_at IS NULL")?.n ?? 0;
}

/** A database whose connection fails once the condition says so. */
function failingAfter(db: Database, fails: () => boolean): Database {
  const check = () => {
    if (fails()) throw new Error("the connection is gone");
  };
  return {
    ...db,
    path: db.path,
    driver: db.driver,
    version: db.version,
    run(sql, parameters) {
      check();
      return db.run(sql, parameters);
    },
    get(sql, parameters) {
      check();
      return db.get(sql, parameters);
    },
    all(sql, parameters) {
      check();
      return db.all(sql, parameters);
    },
  };
}

import { join } from "node:path";
import { openDatabase } from "@toolhaft/sqlite";
import { long, runs } from "@toolhaft/testing";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import {
  applied,
  boardTask,
  claimOne,
  claimQuery,
  newKey,
  poster,
  postOne,
  runningTask,
  runTask,
} from "../src/contract/setting.ts";
import { type ClaimRef, isEnded, sqliteTasks, type TaskBackend } from "../src/index.ts";
import { migrations } from "../src/stores/sqlite/schema.ts";
import { type Wish, wishes, wishOf } from "./fixtures/wishes.ts";
import { buildWorker, startWorker } from "./processes.ts";
import { temporaryFolder } from "./setting.ts";

const wide = { default: { limit: 1_000, reservedSync: 0 }, perOwner: null };

function openStore(): { path: string; backend: TaskBackend } {
  const path = join(temporaryFolder(), "tasks.db");
  const backend = sqliteTasks({ path });
  onTestFinished(() => backend.close());
  return { path, backend };
}

/** What must hold of a store at every moment, whoever was killed on it. */
async function audit(backend: TaskBackend, path: string): Promise<void> {
  const tasks = (await backend.store.find({ limit: 1_000 })).items;
  for (const task of tasks) {
    const events = (await backend.store.events(task.id, { limit: 10_000 })).items;
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(events.length).toBe(task.lastEventSeq);
    if (task.status === "completed") {
      const read = await backend.store.readResult(task.id, task.attempt, { offset: 0, limit: 1_000_000 });
      expect(read.chars).toBe(task.result?.chars);
      expect(read.totalChars).toBe(task.result?.chars);
    } else if (!isEnded(task.state)) expect(task.result).toBeNull();
  }
  const db = await openDatabase({ path, family: "tasks", migrations });
  const ended = db.all<{ n: number }>(
    `SELECT count(*) AS n FROM task t WHERE t.ended_at IS NOT NULL AND NOT EXISTS (
       SELECT 1 FROM notice n WHERE n.task = t.seq AND n.attempt = t.attempt AND n.kind IN ('completed', 'failed', 'timeout', 'cancelled', 'budget'))`,
  );
  expect(ended[0]?.n, "each end has its notice").toBe(0);
  const counted = db.all(
    `SELECT owner, kind, sum(state = 'running') AS running, sum(state IN ('blocked', 'queued', 'starting')) AS queued, sum(state = 'waiting') AS waiting
     FROM task WHERE ended_at IS NULL GROUP BY owner, kind ORDER BY owner, kind`,
  );
  expect(
    db.all(
      "SELECT owner, kind, running, queued, waiting FROM tally WHERE running + queued + waiting > 0 ORDER BY owner, kind",
    ),
  ).toEqual(counted);
  expect(db.all("SELECT r.task FROM reservation r JOIN task t ON t.seq = r.task WHERE t.reserved = 0")).toEqual([]);
  expect(db.all("PRAGMA integrity_check")).toEqual([{ integrity_check: "ok" }]);
  db.close();
}

let removeWorker = (): void => undefined;
beforeAll(async () => {
  removeWorker = await buildWorker();
}, 120_000);
afterAll(() => removeWorker());

describe("many processes on one store", () => {
  it("claim-1: 32 processes race for one task, and one of them gets it, every time", { timeout: 300_000 }, async () => {
    const { path, backend } = openStore();
    await backend.queue.sweep();
    const workers = Array.from({ length: 32 }, () => startWorker("race", path));
    for (const worker of workers) await worker.hasLines(1);
    for (let round = 1; round <= (long ? 50 : 3); round++) {
      const { id } = await postOne(backend, boardTask());
      for (const worker of workers) worker.tell(id);
      for (const worker of workers) await worker.hasLines(round + 1);
      expect(workers.filter(({ lines }) => lines[round] === "won")).toHaveLength(1);
      expect((await backend.store.events(id, { limit: 9 })).items.map(({ kind }) => kind)).toEqual([
        "posted",
        "claimed",
      ]);
    }
    for (const worker of workers) worker.tell("end");
    for (const worker of workers) expect(await worker.ended, worker.stderr()).toBe(0);
  });

  it(`claim-2: 4 processes do ${runs(10_000)} tasks, each once`, { timeout: 300_000 }, async () => {
    const { path, backend } = openStore();
    const count = runs(10_000);
    for (let from = 0; from < count; from += 500)
      await backend.queue.post(
        Array.from({ length: Math.min(500, count - from) }, (_, index) => boardTask({ title: `t${from + index}` })),
      );
    const workers = [1, 2, 5, 10].map((batch) => startWorker("work", path, "board", batch));
    for (const worker of workers) expect(await worker.ended, worker.stderr()).toBe(0);
    const done = workers.flatMap(({ lines }) => lines);
    expect(new Set(done).size).toBe(count);
    expect(done).toHaveLength(count);
    const page = await backend.store.find({ statuses: ["completed"], limit: 1 });
    expect(page.total).toBe(count);
    expect(page.items[0]?.result?.head).toMatch(new RegExp(`^by \\d+: ${page.items[0]?.title}$`));
    await audit(backend, path);
  });

  it("claim-3: 4 processes never hold more than a lane of 2 allows", { timeout: 300_000 }, async () => {
    const { path, backend } = openStore();
    await backend.store.beat({
      id: "e",
      host: "h",
      pid: 1,
      startedAt: new Date().toISOString(),
      lanes: { default: { limit: 2, reservedSync: 0 }, perOwner: null },
      sessions: [],
    });
    await backend.queue.post(Array.from({ length: runs(600) }, () => runTask()));
    const workers = [1, 2, 3, 3].map((batch) => startWorker("work", path, "dispatch", batch, 2));
    for (const worker of workers) expect(await worker.ended, worker.stderr()).toBe(0);
    expect(workers.flatMap(({ lines }) => lines).filter((line) => line.startsWith("over"))).toEqual([]);
    await audit(backend, path);
  });

  it("crash-2: a worker that was killed loses its claim, and the next one goes on", { timeout: 120_000 }, async () => {
    const { path, backend } = openStore();
    const { id } = await postOne(backend, boardTask());
    const worker = startWorker("hold", path, 1_500);
    await worker.hasLines(1);
    worker.process.kill("SIGKILL");
    expect(await worker.ended).toBe("SIGKILL");
    let claim = (await backend.queue.claim(claimQuery("board", { leaseMs: 60_000 })))[0];
    while (claim === undefined) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      claim = (await backend.queue.claim(claimQuery("board", { leaseMs: 60_000 })))[0];
    }
    expect([claim.taskId, claim.task.attempt, claim.fence]).toEqual([id, 2, 2]);
    const events = (await backend.store.events(id, { limit: 99 })).items.map(({ kind }) => kind);
    expect(events).toEqual(["posted", "claimed", "lease_lost", "claimed"]);
    await audit(backend, path);
  });

  it("crash-3: the last attempt of a task in a lane of one is lost, and the lane is free", {
    timeout: 120_000,
  }, async () => {
    const { backend } = openStore();
    const lanes = { default: { limit: 1, reservedSync: 0 }, perOwner: null };
    const first = await postOne(backend, runTask({ maxAttempts: 1 }));
    const second = await postOne(backend, runTask());
    await claimOne(backend, claimQuery("dispatch", { lanes, leaseMs: 1 }));
    let claims = await backend.queue.claim(claimQuery("dispatch", { lanes, leaseMs: 60_000 }));
    while (claims.length === 0) claims = await backend.queue.claim(claimQuery("dispatch", { lanes, leaseMs: 60_000 }));
    expect(claims[0]?.taskId).toBe(second.id);
    expect((await backend.store.get(first.id))?.end?.reason).toBe("lease_lost");
  });
});

/** A task that stands ready for what is to happen to it. */
async function prepare(backend: TaskBackend, wish: Wish): Promise<ClaimRef> {
  await backend.store.setBudget({ root: "root" }, { totalTokens: 1_000_000 });
  const task = runTask({ maxAttempts: 2, ...(wish === "expire" && { limits: { queueMs: 1_000 } }) });
  if (["post", "claim", "cancel", "hold", "expire"].includes(wish))
    return { taskId: (await postOne(backend, task)).id, fence: 0 };
  if (wish === "start") {
    const { id } = await postOne(backend, task);
    return claimOne(backend, claimQuery("dispatch", { taskId: id, leaseMs: 600_000, lanes: wide }));
  }
  const leaseMs = wish === "lose" ? 1_000 : 600_000;
  const claim = await runningTask(backend, task, { leaseMs, lanes: wide });
  const approval = { kind: "tool", key: "k", title: "t", approvers: "human" } as const;
  if (wish === "decide")
    await applied(backend, claim.taskId, { kind: "ask", key: newKey(), ref: claim, approval, attached: false });
  if (wish === "retry")
    await applied(backend, claim.taskId, { kind: "complete", key: newKey(), ref: claim, result: { text: "x" } });
  if (wish === "unblock")
    for (let times = 0; times < 2; times++) await postOne(backend, runTask({ dependsOn: [claim.taskId] }));
  return claim;
}

/** Rows, events, attempts and budget: all that may be written but tokens, times and the ids of new tasks. */
async function picture(backend: TaskBackend) {
  const tasks = (await backend.store.find({ limit: 99, sort: "board" })).items.map(async (task) => ({
    title: task.title,
    state: task.state,
    fence: task.fence,
    waitsFor: task.dependsOn.length,
    chars: task.result?.chars,
    events: (await backend.store.events(task.id, { limit: 99 })).items.map(({ seq, kind, attempt }) => [
      seq,
      kind,
      attempt,
    ]),
    attempts: (await backend.store.attempts(task.id)).map(({ attempt, state, end }) => [attempt, state, end?.reason]),
    asked: (await backend.store.approvals({ taskId: task.id })).map(({ state }) => state),
  }));
  const { used, reserved } = await backend.store.budget({ root: "root" });
  return { tasks: await Promise.all(tasks), used, reserved };
}

/** Kills a process before its n-th statement; true when it had fewer and came to its end. */
async function killAt(wish: Wish, n: number, chars: number): Promise<boolean> {
  const path = join(temporaryFolder(), "tasks.db");
  // Its clock is behind: what time decides is decided by the process that is killed.
  const earlier = Date.now() - 10_000;
  const backend = sqliteTasks({
    path,
    ...((wish === "lose" || wish === "expire") && { clock: { now: () => earlier } }),
  });
  onTestFinished(() => backend.close());
  const { taskId, fence } = await prepare(backend, wish);
  const before = await picture(backend);
  const worker = startWorker("die", path, n, wish, taskId, fence, chars);
  const code = await worker.ended;
  const after = await picture(backend);
  if (code === 0) expect(after).not.toEqual(before);
  else expect(code, worker.stderr()).toBe("SIGKILL");
  await audit(backend, path);
  // Either nothing was written, or all of it; then the same wish again completes it, and only once.
  const second = sqliteTasks({ path });
  onTestFinished(() => second.close());
  await (await wishOf(second, wish, { taskId, fence }, chars))();
  const finished = await picture(backend);
  expect(finished).not.toEqual(before);
  expect([before, finished]).toContainEqual(after);
  if (wish === "complete") expect(finished.tasks[0]).toMatchObject({ state: "completed", chars });
  if (wish === "post") expect(finished.tasks.map(({ state }) => state)).toEqual(["queued", "blocked", "queued"]);
  if (wish === "unblock") expect(finished.tasks.map(({ state }) => state)).toEqual(["completed", "queued", "queued"]);
  if (wish === "lose")
    expect(finished.tasks[0]).toMatchObject({ state: "queued", attempts: [[1, "failed", "lease_lost"]] });
  if (wish === "expire") expect(finished.tasks[0]).toMatchObject({ state: "failed", attempts: [] });
  await audit(backend, path);
  return code === 0;
}

describe("killed in the middle of an edge", () => {
  for (const wish of long ? wishes : (["post", "complete", "lose", "retry"] as const)) {
    it(`${wish}: SIGKILL at ${long ? "every statement" : "a statement"} leaves the old state or the new, never a part`, {
      timeout: 600_000,
    }, async () => {
      // The first number that is beyond the last statement lets the edge come to its end.
      const first = long ? 1 : 1 + Math.floor(Math.random() * 6);
      for (let at = first; !(await killAt(wish, at, 10)) && long; at++);
    });
  }

  it("crash-6: a completion with a result of 200 KB is there as a whole, or not at all", {
    timeout: 600_000,
  }, async () => {
    for (let at = long ? 1 : 9; !(await killAt("complete", at, 200_000)); at += long ? 1 : 7);
  });

  it(`a worker of four is killed under load, ${runs(60)} times: every task is done once, none is stranded`, {
    timeout: 600_000,
  }, async () => {
    for (let round = 0; round < runs(60); round++) {
      const { path, backend } = openStore();
      await backend.queue.post(
        Array.from({ length: 60 }, (_, index) =>
          boardTask({ title: `t${index}`, maxAttempts: 5, limits: { leaseMs: 500 } }),
        ),
      );
      const victim = startWorker("hold", path, 500);
      const workers = Array.from({ length: 3 }, () => startWorker("work", path, "board", 3));
      await victim.hasLines(1).catch(() => undefined);
      victim.process.kill("SIGKILL");
      for (const worker of workers) expect(await worker.ended, worker.stderr()).toBe(0);
      const page = await backend.store.find({ statuses: ["completed"], limit: 1 });
      expect(page.total).toBe(60);
      await audit(backend, path);
      const notices = await backend.store.notices({ to: [poster.sessionId], limit: 1_000, leaseMs: 1 });
      expect(notices).toHaveLength(60);
      expect(notices.filter(({ allSettled }) => allSettled)).toHaveLength(1);
    }
  });
});

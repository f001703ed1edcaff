import { connect, createServer, type Server, type Socket } from "node:net";
import { isToolError } from "@toolhaft/core";
import type { NewTask, TaskBackend } from "@toolhaft/tasks";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { postgresTasks } from "../src/tasks.ts";
import { startServer, type TestServer } from "./server.ts";
import { newSchema } from "./setting.ts";

/** A server of this file: it is stopped and started again. */
let server: TestServer | undefined;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server?.dispose());

function running(): TestServer {
  if (server === undefined) throw new Error("no server can run here");
  return server;
}

function open(schema: string, url = running().url): TaskBackend {
  const backend = postgresTasks({
    connectionString: url,
    schema,
    max: 4,
    statementTimeoutMs: 5_000,
    connectTimeoutMs: 5_000,
  });
  onTestFinished(() => backend.close());
  return backend;
}

const actor = (name: string) => ({ agent: name, sessionId: name });
const task = (title: string): NewTask => ({
  kind: "board",
  title,
  body: "do it",
  createdBy: actor("poster"),
  ownerSession: "owner",
  rootSession: "owner",
  maxAttempts: 20,
});

/** Repeats what a fault broke, as a caller does that was told it may. */
async function insist<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isToolError(error) || !error.retryable) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/** Claims and completes until every task has ended. */
async function workOff(backend: TaskBackend, name: string): Promise<void> {
  for (let key = 0; ; key++) {
    const claims = await insist(() => backend.queue.claim({ by: actor(name), kind: "board", leaseMs: 3_000 }));
    for (const ref of claims) {
      const edge = { kind: "complete", key: `${name}-${key}`, ref, result: { text: name } } as const;
      await insist(() => backend.queue.apply(ref.taskId, edge));
    }
    if (claims.length > 0) continue;
    const open = await insist(() => backend.store.find({ statuses: ["pending", "running"], limit: 1 }));
    if (open.total === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Each task completed once, with one notice, and events without a gap. */
async function checkAll(backend: TaskBackend, count: number): Promise<void> {
  const found = await backend.store.find({ statuses: ["completed"], limit: 1_000 });
  expect(found.total).toBe(count);
  const notices = await backend.store.notices({ to: ["owner"], limit: 10_000, leaseMs: 1_000 });
  expect(new Set(notices.map(({ taskId }) => taskId)).size).toBe(count);
  expect(notices).toHaveLength(count);
  expect(notices.filter(({ allSettled }) => allSettled)).toHaveLength(1);
  for (const { id, lastEventSeq } of found.items) {
    const events = await backend.store.events(id, { limit: 1_000 });
    expect(events.items.map(({ seq }) => seq)).toEqual(Array.from({ length: lastEventSeq }, (_, index) => index + 1));
    expect(events.items.filter(({ kind }) => kind === "completed")).toHaveLength(1);
  }
}

/** A way to the server that can be cut, or that swallows what is sent. */
async function relay(): Promise<{ url: string; cut(): void; swallow(on: boolean): void }> {
  const pairs = new Set<[Socket, Socket]>();
  let swallowing = false;
  const listener: Server = createServer((near) => {
    const far = connect(running().port, "127.0.0.1");
    const pair: [Socket, Socket] = [near, far];
    pairs.add(pair);
    const end = (): void => {
      near.destroy();
      far.destroy();
      pairs.delete(pair);
    };
    near
      .on("data", (bytes) => swallowing || far.write(bytes))
      .on("error", end)
      .on("close", end);
    far
      .on("data", (bytes) => swallowing || near.write(bytes))
      .on("error", end)
      .on("close", end);
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const cut = (): void => {
    for (const [near] of pairs) near.resetAndDestroy();
  };
  onTestFinished(() => {
    cut();
    listener.close();
  });
  const address = listener.address();
  const url = new URL(running().url);
  url.port = String(typeof address === "object" ? address?.port : 0);
  return {
    url: url.href,
    cut,
    swallow: (on) => {
      swallowing = on;
    },
  };
}

describe("a task store whose server and connections fail", () => {
  it("the server is restarted in the middle, twice: nothing is lost or doubled", async ({ skip }) => {
    if (server === undefined) return skip("no server can run here");
    const schema = newSchema();
    const [first, second] = [open(schema), open(schema)];
    await first.queue.post(Array.from({ length: 60 }, (_, index) => task(`t${index}`)));
    const work = Promise.all([workOff(first, "A"), workOff(second, "B")]);
    for (const how of ["fast", "immediate"] as const) {
      await new Promise((resolve) => setTimeout(resolve, 150));
      await running().stop(how);
      await running().start();
    }
    await work;
    await checkAll(first, 60);
  });

  it("connections are reset again and again: nothing is lost or doubled", async ({ skip }) => {
    if (server === undefined) return skip("no server can run here");
    const schema = newSchema();
    const direct = open(schema);
    await direct.queue.post(Array.from({ length: 60 }, (_, index) => task(`t${index}`)));
    const way = await relay();
    const backend = open(schema, way.url);
    let done = false;
    const work = workOff(backend, "A").finally(() => {
      done = true;
    });
    while (!done) {
      await new Promise((resolve) => setTimeout(resolve, 40));
      way.cut();
      await new Promise((resolve) => setTimeout(resolve, 400));
    }
    await work;
    await checkAll(direct, 60);
  });

  it("an error of a taken connection that no statement waits for ends nothing", async ({ skip }) => {
    if (server === undefined) return skip("no server can run here");
    const pool = new pg.Pool({ connectionString: server.url, max: 2 });
    onTestFinished(() => pool.end());
    pool.on("error", () => undefined);
    // Between being taken and being used.
    pool.once("acquire", (client) => process.nextTick(() => client.emit("error", new Error("write ECONNRESET"))));
    const backend = postgresTasks({ pool, schema: newSchema() });
    onTestFinished(() => backend.close());
    await backend.queue.post([task("one")]);
    expect(await backend.queue.claim({ by: actor("A"), kind: "board", leaseMs: 60_000 })).toHaveLength(1);
  });

  it("a connection that swallows what is sent ends in an error that may be repeated, not in a hang", async ({
    skip,
  }) => {
    if (server === undefined) return skip("no server can run here");
    const schema = newSchema();
    const way = await relay();
    const backend = open(schema, way.url);
    await backend.queue.post([task("one")]);
    way.swallow(true);
    const failure = await backend.queue
      .claim({ by: actor("A"), kind: "board", leaseMs: 1_000 })
      .catch((error) => error);
    expect(isToolError(failure) && failure.retryable).toBe(true);
    way.swallow(false);
    way.cut();
    expect(await insist(() => backend.queue.claim({ by: actor("A"), kind: "board", leaseMs: 60_000 }))).toHaveLength(1);
  });

  it("P13: the server's clock decides: a worker whose own is an hour ahead or behind sees the same", async ({
    skip,
  }) => {
    if (server === undefined) return skip("no server can run here");
    const schema = newSchema();
    const backend = open(schema);
    const real = Date.now.bind(Date);
    const shifted = vi.spyOn(Date, "now");
    onTestFinished(() => shifted.mockRestore());
    for (const hours of [1, -1]) {
      await backend.queue.post([task(`at ${hours}`)]);
      const [held] = await backend.queue.claim({ by: actor("A"), kind: "board", leaseMs: 600_000 });
      if (held === undefined) throw new Error("nothing to claim");
      shifted.mockImplementation(() => real() + hours * 3_600_000);
      expect(await backend.queue.claim({ by: actor("B"), kind: "board", leaseMs: 1_000 })).toEqual([]);
      expect(await backend.queue.renew([held], 600_000)).toEqual(["ok"]);
      const until = Date.parse((await backend.store.get(held.taskId))?.leaseUntil ?? "");
      expect(Math.abs(until - real() - 600_000)).toBeLessThan(300_000);
      const edge = { kind: "complete", key: `done ${hours}`, ref: held, result: { text: "x" } } as const;
      expect(await backend.queue.apply(held.taskId, edge)).toMatchObject({ ok: true });
      shifted.mockImplementation(real);
    }
  });
});

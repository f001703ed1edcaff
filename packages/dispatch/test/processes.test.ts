import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { processRunner } from "../src/index.ts";
import { agent, openDesk } from "./desk.ts";
import { host } from "./programs.ts";
import { agentProgram, eventually, isAlive } from "./runs.ts";

const launched = (lines: readonly string[]) =>
  lines.filter((line) => line.startsWith("launched ")).map((line) => line.slice("launched ".length));
const isRun = (line: string) => line.startsWith("run ");
const quick = [agent("work", ({ taskId }) => `done ${taskId}`), agent("hang", () => "ended", { lane: "work" })];

describe("crash: killed at the wrong moment", () => {
  it("crash-1 what ran is taken up again, what waited is run, and nothing stays running", async () => {
    const desk = await openDesk({ agents: quick, limits: { leaseMs: 500 } });
    const lanes = { default: { limit: 2, reservedSync: 0 }, perOwner: null };
    const first = host(desk.workspace.directory, {
      launch: ["hang", "hang", "work", "work", "work"],
      lanes,
      limits: { leaseMs: 500 },
    });
    await first.said((line) => line === "ready");
    await first.said(isRun, 2);
    await first.kill();
    const killed = performance.now();
    const ids = launched(first.lines);
    await desk.dispatch.api.start();
    for (const id of ids) await desk.until(id, "completed", "error");
    // Two leases, and what the machine takes to do the work.
    expect(performance.now() - killed).toBeLessThan(500 * 2 + 10_000);
    const tasks = await Promise.all(ids.map((id) => desk.task(id)));
    expect(tasks.map(({ status, attempt }) => [status, attempt])).toEqual([
      ["completed", 2],
      ["completed", 2],
      ["completed", 1],
      ["completed", 1],
      ["completed", 1],
    ]);
    const { store } = desk.tasks.api.backend(desk.workspace.directory);
    const { items } = await store.events(ids[0] ?? "", { kinds: ["lease_lost"], limit: 10 });
    expect(items).toHaveLength(1);
  });

  it("crash-1 work that must not be repeated ends as lost", async () => {
    const desk = await openDesk({ agents: quick, limits: { leaseMs: 500 } });
    const first = host(desk.workspace.directory, { launch: ["hang"], onLost: "fail", limits: { leaseMs: 500 } });
    await first.said(isRun);
    await first.said((line) => line === "ready");
    await first.kill();
    await desk.dispatch.api.start();
    expect((await desk.until(launched(first.lines)[0] ?? "", "error")).end?.reason).toBe("lease_lost");
  });

  it("crash-3 the last attempt of a task dies with its lane of one, and the next one starts", async () => {
    const lanes = { default: { limit: 1, reservedSync: 0 } };
    const desk = await openDesk({ agents: quick, lanes, limits: { leaseMs: 500 } });
    const first = host(desk.workspace.directory, {
      launch: ["hang", "work"],
      lanes,
      maxAttempts: 1,
      limits: { leaseMs: 500 },
    });
    await first.said((line) => line === "ready");
    await first.said(isRun);
    await first.kill();
    const [lost = "", next = ""] = launched(first.lines);
    await desk.dispatch.api.start();
    expect((await desk.until(lost, "error")).end?.reason).toBe("lease_lost");
    await desk.until(next, "completed");
  });

  it("crash-5 what waited keeps its place over a restart, and no one is told it was dropped", async () => {
    const lanes = { default: { limit: 1, reservedSync: 0 } };
    const order: string[] = [];
    const desk = await openDesk({
      agents: [
        agent("work", ({ taskId }) => {
          order.push(taskId);
          return "ok";
        }),
        agent("hang", () => "ok", { lane: "work" }),
      ],
      lanes,
      limits: { leaseMs: 500 },
    });
    const first = host(desk.workspace.directory, {
      launch: ["hang", "work", "work", "work", "work", "work"],
      lanes,
      limits: { leaseMs: 500 },
    });
    await first.said((line) => line === "ready");
    await first.kill();
    const [, ...waiting] = launched(first.lines);
    for (const id of waiting) expect((await desk.task(id)).status).toBe("pending");
    await desk.dispatch.api.start();
    for (const id of waiting) await desk.until(id, "completed");
    expect(order).toEqual(waiting);
    const { notices } = await desk.data<{ notices: { kind: string }[] }>("dispatch_inbox", { limit: 50 });
    expect(new Set(notices.map(({ kind }) => kind))).toEqual(new Set(["completed"]));
  });

  it("what was interrupted long ago waits for a yes, from its owner or any root session", async () => {
    const desk = await openDesk({ agents: quick, resumeWithinMs: 1_000, limits: { leaseMs: 300 } });
    const lanes = { default: { limit: 1, reservedSync: 0 } };
    const first = host(desk.workspace.directory, { launch: ["hang", "work"], lanes, limits: { leaseMs: 300 } });
    await first.said((line) => line === "ready");
    await first.kill();
    const ids = launched(first.lines);
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    const report = await desk.dispatch.api.start();
    expect([...report.held].sort()).toEqual([...ids].sort());
    for (const id of ids) {
      expect((await desk.task(id)).status).toBe("awaiting_approval");
      const approved = await desk.call("dispatch_approve", { task_id: id }, { sessionId: "another-root" });
      expect(approved, approved.text).toMatchObject({ ok: true });
      await desk.until(id, "completed");
    }
  });

  it("a dispatcher whose event loop stood still gives up its run, which goes on elsewhere", async () => {
    const desk = await openDesk({ agents: [agent("blocks", () => "from the other one")], limits: { leaseMs: 400 } });
    const first = host(desk.workspace.directory, { launch: ["blocks"], limits: { leaseMs: 400 }, workMs: 1_500 });
    await first.said(isRun);
    await desk.dispatch.api.start();
    await eventually(async () => {
      const { items } = await desk.tasks.api
        .backend(desk.workspace.directory)
        .store.find({ limit: 1, statuses: ["completed"] });
      return items.length === 1;
    });
    const { items } = await desk.tasks.api.backend(desk.workspace.directory).store.find({ limit: 1 });
    expect(items[0]).toMatchObject({ attempt: 2, result: { head: "from the other one" } });
  });

  it("the program of a killed dispatcher is gone before the work is done again", async () => {
    const desk = await openDesk();
    const file = desk.workspace.path("alive");
    const runner = () => processRunner({ command: process.execPath, args: [agentProgram], graceMs: 200 });
    const one = await openDesk({ agents: [{ name: "cli", description: "x", runner: runner() }] }, {}, desk.workspace);
    const id = await one.launch("cli", `grandchild ${file}\ntext up\nhang`);
    await one.until(id, "running");
    await eventually(async () => (await one.tasks.api.backend(desk.workspace.directory).store.terms(id))?.handle);
    const handle = (await one.tasks.api.backend(desk.workspace.directory).store.terms(id))?.handle as { pid: number };
    expect(isAlive(handle.pid)).toBe(true);
    await eventually(() => existsSync(file));
    await one.dispatch.close();
    expect(isAlive(handle.pid)).toBe(false);
    const grandchild = Number(readFileSync(`${file}.pid`, "utf8"));
    expect(isAlive(grandchild)).toBe(false);
  });
});

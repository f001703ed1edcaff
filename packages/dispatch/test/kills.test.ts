import { existsSync, readFileSync } from "node:fs";
import type { NewTask } from "@toolhaft/tasks";
import { runs } from "@toolhaft/testing";
import { describe, expect, it } from "vitest";
import { agent, openDesk, session } from "./desk.ts";
import { host } from "./programs.ts";

const dispatchersEach = 4;

describe("many kills", () => {
  it("no task is lost or stuck, and no notice lost or repeated, whenever dispatchers are killed", {
    timeout: 1_800_000,
  }, async () => {
    // Each process that is killed takes four dispatchers with it, all at their own place in their work.
    const kills = runs(1_000) / dispatchersEach;
    const desk = await openDesk({
      agents: [agent("work", ({ taskId }) => `done ${taskId}`)],
      limits: { leaseMs: 400 },
      lanes: { default: { limit: 8, reservedSync: 0 }, perOwner: null },
      resumeWithinMs: 3_600_000,
    });
    const { queue, store } = desk.tasks.api.backend(desk.workspace.directory);
    const posted: string[] = [];
    const post = async (count: number) => {
      const task: NewTask = {
        kind: "dispatch",
        title: "work",
        body: "x",
        agent: "work",
        lane: "work",
        mode: "background",
        maxAttempts: 1_000,
        createdBy: { agent: "main", sessionId: session },
        ownerSession: session,
        rootSession: session,
        depth: 1,
      };
      for (const { task: made } of await queue.post(Array.from({ length: count }, () => task))) posted.push(made.id);
    };
    const log = desk.workspace.path("delivered");
    const options = {
      limits: { leaseMs: 400 },
      lanes: { default: { limit: 8, reservedSync: 0 }, perOwner: null },
      resumeWithinMs: 3_600_000,
      workMs: 60,
      log,
      dispatchers: dispatchersEach,
    };
    let done = 0;
    const loop = async () => {
      while (done < kills) {
        done += 1;
        await post(3);
        const victim = host(desk.workspace.directory, options);
        await victim.said((line) => line === "ready");
        // Anywhere from the first claim on: whatever a dispatcher does, it is killed there.
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 300));
        await victim.kill();
      }
    };
    await Promise.all([loop(), loop(), loop()]);
    await desk.dispatch.api.start();
    for (const id of posted) await desk.until(id, "completed", "error", "timeout", "cancelled");
    const { total } = await store.find({
      kind: "dispatch",
      statuses: ["pending", "running", "awaiting_approval"],
      limit: 1,
    });
    expect(total).toBe(0);
    for (const id of posted) {
      const task = await desk.task(id);
      expect(task).toMatchObject({ status: "completed", result: { head: `done ${id}` } });
      const { items } = await store.events(id, { kinds: ["completed"], limit: 10 });
      expect(items).toHaveLength(1);
    }
    // Each end is announced by one notice: delivered before, or still in the inbox, where one that a killed dispatcher had
    // taken comes back when its lease is over.
    const delivered = existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : [];
    const ended = (ids: readonly string[]) =>
      ids.filter((id) => id.endsWith(":completed")).map((id) => id.split(":")[0] ?? "");
    const missing = new Set(posted);
    for (const id of ended(delivered)) missing.delete(id);
    const left: string[] = [];
    for (let ack: string[] = []; ; ) {
      const { notices } = await desk.data<{ notices: { id: string }[] }>("dispatch_inbox", { limit: 50, ack });
      ack = notices.map(({ id }) => id);
      left.push(...ack);
      for (const id of ended(ack)) missing.delete(id);
      if (ack.length > 0) continue;
      if (missing.size === 0) break;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(ended([...delivered, ...left]).filter((id) => !posted.includes(id))).toEqual([]);
    expect(new Set(left).size).toBe(left.length);
  });
});

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { NewTask, TaskBackend } from "@toolhaft/tasks";
import { long, runs } from "@toolhaft/testing";
import { afterAll, expect, it, onTestFinished } from "vitest";
import { postgresTasks } from "../src/tasks.ts";
import { asAdmin, databaseUrl, describeServer, newSchema, sharedPool } from "./setting.ts";

const worker = fileURLToPath(new URL("./fixtures/worker.ts", import.meta.url));
const loader = new URL("../../testing/run/typescript-loader.mjs", import.meta.url).href;
const schema = newSchema();
const owners = 5;

const task = (index: number): NewTask => ({
  kind: "board",
  title: `Task ${index}`,
  body: "do it",
  createdBy: { agent: "poster", sessionId: "poster" },
  ownerSession: `owner-${index % owners}`,
  rootSession: `owner-${index % owners}`,
  maxAttempts: 50,
});

/** A worker that does not answer for its own end: it may be killed. */
async function start(name: string, loops: number): Promise<ChildProcess> {
  const child = fork(worker, [databaseUrl, schema, name, String(loops)], { execArgv: ["--import", loader] });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child, "message");
  return child;
}

async function completedOf(backend: TaskBackend): Promise<number> {
  return (await backend.store.find({ statuses: ["completed"], limit: 1 })).total;
}

describeServer("worker processes on one PostgreSQL", () => {
  afterAll(async () => void (await asAdmin(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`)));

  it("P1, P3: workers are killed in the middle: each task is completed once, no event or notice lost or doubled", async () => {
    const backend = postgresTasks({ pool: sharedPool, schema });
    onTestFinished(() => backend.close());
    const count = runs(2_000);
    const kills = runs(20);
    const loops = long ? 12 : 2;
    for (let at = 0; at < count; at += 500)
      await backend.queue.post(Array.from({ length: Math.min(500, count - at) }, (_, index) => task(at + index)));
    const working = new Set<ChildProcess>();
    let started = 0;
    const startOne = async (): Promise<void> => {
      const child = await start(`w${started++}`, loops);
      working.add(child);
    };
    await Promise.all(Array.from({ length: long ? 4 : 3 }, startOne));
    for (let n = 1; n <= kills; n++) {
      // At a moment when work is under way, however fast the machine is.
      const enough = Math.floor((count * n) / (kills + 2));
      while ((await completedOf(backend)) < enough) await new Promise((resolve) => setTimeout(resolve, 20));
      const [victim] = working;
      if (victim === undefined) break;
      working.delete(victim);
      const gone = victim.exitCode === null ? once(victim, "exit") : undefined;
      victim.kill("SIGKILL");
      await gone;
      await startOne();
    }
    const ends = [...working].map((child) => (child.exitCode === null ? once(child, "exit") : [child.exitCode]));
    expect((await Promise.all(ends)).map(([code]) => code)).toEqual(Array.from(working, () => 0));

    expect(await completedOf(backend)).toBe(count);
    const [facts] = await asAdmin(`SELECT
      (SELECT count(*)::int FROM "${schema}".task WHERE state <> 'completed') AS open,
      (SELECT count(*)::int FROM "${schema}".event WHERE kind = 'completed') AS completed,
      (SELECT count(DISTINCT task)::int FROM "${schema}".event WHERE kind = 'completed') AS tasks,
      (SELECT count(*)::int FROM (SELECT task FROM "${schema}".event GROUP BY task HAVING max(seq) <> count(*)) AS gap) AS gaps,
      (SELECT count(*)::int FROM "${schema}".notice WHERE kind = 'completed') AS notices,
      (SELECT count(*)::int FROM "${schema}".notice WHERE settled = 1) AS settled,
      (SELECT coalesce(sum(running + queued + waiting), 0)::int FROM "${schema}".tally) AS left`);
    expect(facts).toEqual({
      open: 0,
      completed: count,
      tasks: count,
      gaps: 0,
      notices: count,
      settled: Math.min(owners, count),
      left: 0,
    });
  });

  it("claims of ten by many at once, of tasks of several owners, never wait for each other in a circle", async () => {
    const backend = postgresTasks({ pool: sharedPool, schema: newSchema() });
    onTestFinished(() => backend.close());
    await backend.queue.post(Array.from({ length: 120 }, (_, index) => task((index * 7) % 41)));
    const by = (loop: number) => ({ agent: `a${loop}`, sessionId: `s${loop}` });
    const taken = await Promise.all(
      Array.from({ length: 10 }, (_, loop) =>
        backend.queue.claim({ by: by(loop), kind: "board", n: 12, leaseMs: 60_000 }),
      ),
    );
    expect(new Set(taken.flat().map(({ taskId }) => taskId)).size).toBe(taken.flat().length);
  });
});

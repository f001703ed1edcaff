import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createContext, createId } from "@toolhaft/core";
import { createTasks, type NewTask, type TaskBackend } from "@toolhaft/tasks";
import { defineBench } from "@toolhaft/testing";
import pLimit from "p-limit";
import { type AgentSpec, createDispatch, functionRunner, processRunner } from "../src/index.ts";

const session = "bench";
const wide = { default: { limit: 20, reservedSync: 0 }, perOwner: null };
const agent = (name: string, runner: AgentSpec["runner"]): AgentSpec => ({
  name,
  description: "Of the bench.",
  runner,
});

/** A dispatcher over a new store, for one sample. */
async function withDispatch<T>(
  agents: readonly AgentSpec[],
  lanes: typeof wide,
  work: (run: (count: number, prompt: string) => Promise<void>, backend: TaskBackend, directory: string) => Promise<T>,
): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), "toolhaft-bench-dispatch-"));
  const tasks = createTasks();
  const dispatch = createDispatch({ agents, tasks, lanes, directory, queue: { maxPerLane: 100_000 } });
  const tool = dispatch.tools.find(({ name }) => name === "dispatch");
  const backend = tasks.api.backend(directory);
  const context = createContext({ directory, sessionId: session });
  const run = async (count: number, prompt: string) => {
    const input = { subagent: agents[0]?.name, prompt, run_in_background: true };
    await Promise.all(Array.from({ length: count }, () => tool?.call(input, context)));
    await dispatch.api.drain();
  };
  try {
    await dispatch.api.start();
    return await work(run, backend, directory);
  } finally {
    await dispatch.close();
    await tasks.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Post, claim, start, complete on the queue alone. */
async function rawQueue(count: number): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "toolhaft-bench-raw-"));
  const tasks = createTasks();
  const { queue } = tasks.api.backend(directory);
  const by = { agent: "bench", sessionId: session };
  const task: NewTask = {
    kind: "dispatch",
    title: "x",
    body: "x",
    agent: "echo",
    lane: "echo",
    mode: "background",
    createdBy: by,
    ownerSession: session,
    rootSession: session,
    depth: 1,
  };
  try {
    for (let at = 0; at < count; at++) await queue.post([task]);
    for (let left = count; left > 0; ) {
      const claims = await queue.claim({ by, kind: "dispatch", n: 10, lanes: wide, leaseMs: 30_000 });
      for (const { taskId, fence } of claims) {
        const ref = { taskId, fence };
        await queue.apply(taskId, { kind: "start", key: createId(), ref });
        await queue.apply(taskId, { kind: "complete", key: createId(), ref, result: { text: "ok" } });
      }
      left -= claims.length;
    }
  } finally {
    await tasks.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

function bareProcess(): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ["-e", "process.stdout.write('ok')"], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    child.stdout.resume();
    child.once("error", reject);
    child.once("close", () => resolve());
  });
}

export default defineBench(async (bench) => {
  const quick = bench.flags.includes("--quick") || bench.flags.includes("--small");
  const tasks = quick ? 50 : 1_000;
  const timed = quick ? 40 : 400;
  const processes = quick ? 3 : 20;
  const rounds = quick ? 2 : 5;
  await withDispatch(
    [
      agent(
        "echo",
        functionRunner(() => "ok"),
      ),
    ],
    wide,
    async (run) => {
      await bench.compare({
        name: `${tasks} function tasks that return at once`,
        ours: () => run(tasks, "x"),
        baseline: { name: "post, claim, start, complete on the raw queue", run: () => rawQueue(tasks) },
        target: { max: 2 },
        by: "wall",
        rounds,
        batch: 1,
      });
    },
  );
  const four = { default: { limit: 4, reservedSync: 0 }, perOwner: null };
  const sleeper = functionRunner(async () => {
    await pause(50);
    return "ok";
  });
  await withDispatch([agent("sleep", sleeper)], four, async (run) => {
    const limit = pLimit(4);
    await bench.compare({
      name: `${timed} function tasks of 50 ms in 4 slots`,
      ours: () => run(timed, "x"),
      baseline: {
        name: "the same calls under p-limit(4)",
        run: () => Promise.all(Array.from({ length: timed }, () => limit(() => pause(50)))),
      },
      target: { max: 1.25 },
      by: "wall",
      rounds: Math.min(rounds, 3),
      batch: 1,
    });
  });
  const program = processRunner({ command: process.execPath, args: ["-e", "process.stdout.write('ok')"] });
  await withDispatch([agent("program", program)], wide, async (run) => {
    await bench.compare({
      name: `${processes} processes`,
      ours: () => run(processes, "x"),
      baseline: { name: "bare spawn", run: () => Promise.all(Array.from({ length: processes }, bareProcess)) },
      target: { max: 1.25 },
      by: "wall",
      rounds,
      batch: 1,
    });
  });
  await wakeUp(bench, quick ? 5 : 40);
});

/** From the end of a task to the answer of a call that waits for it, in poll intervals. */
async function wakeUp(bench: Parameters<Parameters<typeof defineBench>[0]>[0], rounds: number): Promise<void> {
  const times: number[] = [];
  let end = 0;
  const runner = functionRunner(async () => {
    await pause(20);
    end = performance.now();
    return "ok";
  });
  const directory = mkdtempSync(join(tmpdir(), "toolhaft-bench-wait-"));
  const dispatch = createDispatch({ agents: [agent("timed", runner)], directory, lanes: wide });
  try {
    const tool = dispatch.tools.find(({ name }) => name === "dispatch");
    for (let round = 0; round < rounds; round++) {
      await tool?.call({ subagent: "timed", prompt: "x", run_in_background: false }, { directory, sessionId: session });
      times.push(performance.now() - end);
    }
  } finally {
    await dispatch.close();
    rmSync(directory, { recursive: true, force: true });
  }
  times.sort((a, b) => a - b);
  bench.figure({
    name: "end of a task to wake-up of a waiting call, same process",
    ours: times[times.length >> 1] ?? Number.NaN,
    baseline: { name: "poll interval", value: 250 },
    unit: "ms",
    target: { max: 0.1 },
  });
}

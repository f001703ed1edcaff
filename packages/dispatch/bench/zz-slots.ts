import { mkdtempSync } from "node:fs"; import { tmpdir } from "node:os"; import { join } from "node:path";
import { createContext } from "@toolhaft/core"; import { createTasks } from "@toolhaft/tasks";
import { createDispatch, functionRunner } from "../src/index.ts";
const n = Number(process.argv[2] ?? 100);
const directory = mkdtempSync(join(tmpdir(), "zz-"));
const tasks = createTasks();
const ends: number[] = [], starts: number[] = []; let active = 0, busy = 0, last = performance.now(), idle = 0;
const mark = (d: number) => { const t = performance.now(); busy += active * (t - last); if (active === 0) idle += t - last; last = t; active += d; };
const dispatch = createDispatch({ agents: [{ name: "s", description: "x", runner: functionRunner(async () => { mark(1); starts.push(performance.now()); await new Promise(r => setTimeout(r, 50)); ends.push(performance.now()); mark(-1); return "ok"; }) }], tasks, directory, lanes: { default: { limit: 4, reservedSync: 0 }, perOwner: null }, queue: { maxPerLane: 100_000 } });
const tool = dispatch.tools.find(t => t.name === "dispatch")!;
const context = createContext({ directory, sessionId: "bench" });
await dispatch.api.start();
for (let round = 0; round < 2; round++) {
  const t0 = performance.now(); const c0 = process.cpuUsage(); starts.length = ends.length = 0; busy = 0; last = t0; idle = 0;
  await Promise.all(Array.from({ length: n }, () => tool.call({ subagent: "s", prompt: "x", run_in_background: true }, context)));
  const t1 = performance.now(); const c1 = process.cpuUsage(c0);
  const startedBefore = starts.length;
  await dispatch.api.drain();
  const t2 = performance.now(); const c = process.cpuUsage(c0);
  console.log({ n, ideal: n * 50 / 4, total: Math.round(t2 - t0), launch: Math.round(t1 - t0), launchCpu: Math.round((c1.user + c1.system) / 1000), cpu: Math.round((c.user + c.system) / 1000), startedBefore, lastEnd: Math.round(t2 - Math.max(...ends)), meanActive: (busy / (t2 - t0)).toFixed(2), idle: Math.round(idle) });
  const gaps = starts.slice(4).map((s, i) => s - (ends[i] ?? s)).sort((a, b) => a - b);
  console.log("gap median", gaps[gaps.length >> 1]?.toFixed(1), "p90", gaps[Math.floor(gaps.length * 0.9)]?.toFixed(1));
}
await dispatch.close(); await tasks.close();

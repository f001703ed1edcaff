import { type Child, long, runs, tempWorkspace } from "@toolhaft/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  createFunctions,
  directorySpecs,
  emptyState,
  reduceStep,
  type SessionState,
  sqliteStore,
} from "../src/index.ts";
import { startFixture } from "./processes.ts";
import { databaseOf, filesOf } from "./setting.ts";

const specs = {
  f: "gate: {not: evidence_met}\ncontinue_until: turn_count(5)\nrequires_evidence: [done]\nobserve: [{on: tool_after, tool: bash, when_output: {contains: green}, set_evidence: green, capture_artifact: log}]\ntransitions: [{when: artifact_exists(log), activate: [g]}]",
  g: "requires: [f]",
};

async function workspaceOf() {
  const workspace = await tempWorkspace(filesOf(specs));
  onTestFinished(() => workspace.remove());
  return workspace.directory;
}

async function start(...args: readonly (string | number)[]): Promise<Child> {
  const child = startFixture("stepper.mjs", args.map(String));
  await child.hasLines(1);
  if (child.lines[0] !== "ready") throw new Error(child.stderr());
  return child;
}

const go = (children: readonly Child[]) => {
  for (const { process } of children) process.stdin?.write("go\n");
};

/** Doing every logged step again gives the stored state, value for value. */
async function replayed(
  directory: string,
  session: string,
): Promise<{ stored: SessionState; again: SessionState; steps: number }> {
  const store = sqliteStore({ path: databaseOf(directory) });
  onTestFinished(() => store.close());
  const list = await directorySpecs(directory).list();
  const steps = await store.steps(session);
  let again = emptyState(session);
  for (const { event, facts } of steps) again = reduceStep(again, event, list, facts).state;
  return { stored: await store.read(session), again, steps: steps.length };
}

/** Starting a process is what takes time here. */
const writers = long ? 8 : 4;

describe("processes that share a file", () => {
  it(`${writers} processes, ${runs(200)} signals each: all are there, in order`, { timeout: 300_000 }, async () => {
    const directory = await workspaceOf();
    const each = runs(200);
    const children = await Promise.all(
      Array.from({ length: writers }, (_, n) =>
        start(directory, n % 2 === 0 ? "even" : "odd", "signal", each, `p${n}`),
      ),
    );
    go(children);
    for (const child of children) expect([await child.ended, child.stderr()]).toEqual([0, ""]);
    const family = createFunctions({ directory });
    onTestFinished(() => family.close());
    const all = [...(await family.signals.since("even")), ...(await family.signals.since("odd"))];
    expect(all).toHaveLength(writers * each);
    expect(new Set(all.map(({ seq }) => seq)).size).toBe(writers * each);
    for (const [n, child] of children.entries()) {
      const told = child.lines.slice(1).map(Number);
      expect(told).toEqual([...told].sort((a, b) => a - b));
      const own = all.filter(({ agent }) => agent === `p${n}`).sort((a, b) => a.seq - b.seq);
      expect(own.map(({ seq }) => seq)).toEqual(told);
      expect(own.map(({ payload }) => payload?.n)).toEqual(Array.from({ length: each }, (_, i) => i));
    }
  });

  it("two processes that step one session do so one after another", { timeout: 120_000 }, async () => {
    const directory = await workspaceOf();
    const children = await Promise.all([start(directory, "s", "turn", 40), start(directory, "s", "turn", 40)]);
    go(children);
    for (const child of children) expect([await child.ended, child.stderr()]).toEqual([0, ""]);
    const { stored, again } = await replayed(directory, "s");
    expect(stored.turn).toBe(80);
    expect(again).toEqual(stored);
  });

  it(`killed at any moment, ${runs(60)} times: each step happened or not, and the log gives the state`, {
    timeout: 600_000,
  }, async () => {
    const directory = await workspaceOf();
    let acknowledged = 0;
    for (let time = 0; time < runs(60); time++) {
      const child = await start(directory, "s", "mixed", 1_000);
      go([child]);
      await child.hasLines(2 + (time % 4));
      // Somewhere in the middle of what comes next.
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 20));
      child.process.kill("SIGKILL");
      await child.ended;
      acknowledged += child.lines.length - 1;
      const { stored, again, steps } = await replayed(directory, "s");
      expect(again).toEqual(stored);
      expect(stored.step).toBe(steps);
      expect(steps).toBeGreaterThanOrEqual(acknowledged * 8);
    }
  });

  it("a pause outlives the process that sent the signal, and is resolved by another", {
    timeout: 120_000,
  }, async () => {
    const directory = await workspaceOf();
    const first = createFunctions({ directory });
    await first.engine.step("s", { type: "activate", function: "f" });
    const { signal } = await first.engine.step("s", { type: "signal", signal: "need_approval", by: "worker" });
    await first.close();
    const second = createFunctions({ directory });
    expect((await second.signals.openPause("s"))?.seq).toBe(signal?.seq);
    expect((await second.engine.state("s")).functions).toMatchObject([{ phase: "paused" }]);
    await second.engine.step("s", { type: "resolve", seq: signal?.seq ?? -1, by: "human" });
    await second.close();
    const third = createFunctions({ directory });
    onTestFinished(() => third.close());
    expect(await third.signals.openPause("s")).toBeUndefined();
    expect((await third.engine.state("s")).functions).toMatchObject([{ phase: "active" }]);
    expect(await third.signals.resolutions("s")).toMatchObject([{ of: signal?.seq, kind: "resolved", by: "human" }]);
  });
});

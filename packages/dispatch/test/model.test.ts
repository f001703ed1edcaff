import { runs } from "@toolhaft/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type AgentFunction, type AgentSpec, functionRunner } from "../src/index.ts";
import { type Desk, openDesk, session } from "./desk.ts";
import { eventually } from "./runs.ts";

/** What may happen to a store with two dispatchers; `which` picks among the tasks or runs there are. */
type Step =
  | { do: "launch"; agent: "one" | "two" | "parent"; priority: number; after: number | null; tokens: number | null }
  | { do: "end"; which: number; how: "answer" | "fail" | "nothing" }
  | { do: "spend"; which: number }
  | { do: "cancel" | "retry" | "lose"; which: number }
  | { do: "swap" };

const rootTokens = 3_000;
const report = 200;
const lanes = {
  default: { limit: 1, reservedSync: 0 },
  lanes: { two: { limit: 2, reservedSync: 1 } },
  perOwner: null,
};
const limitOf: Readonly<Record<string, number>> = { one: 1, two: 2, parent: 1 };

const which = fc.nat({ max: 30 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("launch" as const),
      agent: fc.constantFrom("one" as const, "two" as const, "parent" as const),
      priority: fc.integer({ min: -2, max: 2 }),
      after: fc.option(which, { freq: 3 }),
      tokens: fc.option(fc.integer({ min: 1, max: 900 }), { freq: 3 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("end" as const),
      which,
      how: fc.constantFrom("answer" as const, "fail" as const, "nothing" as const),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("spend" as const), which }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constantFrom("cancel" as const, "retry" as const, "lose" as const), which }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("swap" as const) }) },
);

interface Running {
  taskId: string;
  lane: string;
  end(how: "answer" | "fail" | "nothing"): void;
  spend(): Promise<void>;
}

/** Subagents that do nothing but what the model tells them, and the most that ran at once in each lane. */
function puppets() {
  const running = new Set<Running>();
  const most = new Map<string, number>();
  let released = false;
  const puppet =
    (lane: string, callChild?: Desk["call"]): AgentFunction =>
    async ({ taskId, context }, sink, signal) => {
      sink.activity({ kind: "text", text: "at work" });
      // The child of a waiting call works in the slot that its parent lends.
      if (callChild !== undefined)
        await callChild("dispatch", { subagent: "child", prompt: "x", run_in_background: false }, context);
      let spent = 0;
      return new Promise<string>((resolve, reject) => {
        const one: Running = {
          taskId,
          lane,
          end(how) {
            running.delete(one);
            if (how === "fail") reject(new Error("told to fail"));
            else resolve(how === "answer" ? "an answer" : "");
          },
          async spend() {
            spent += report;
            const usage = { inputTokens: spent, outputTokens: 0, reasoningTokens: null, cacheReadTokens: 0 };
            await sink.usage({ key: "run", total: { ...usage, cacheWriteTokens: 0, costUsd: null, complete: true } });
          },
        };
        signal.addEventListener("abort", () => {
          running.delete(one);
          reject(new Error("stopped"));
        });
        if (signal.aborted) return reject(new Error("stopped"));
        running.add(one);
        most.set(lane, Math.max(most.get(lane) ?? 0, [...running].filter((other) => other.lane === lane).length));
        if (released) one.end("answer");
      });
    };
  return {
    running,
    most,
    puppet,
    /** From here on every run ends as soon as it begins. */
    release() {
      released = true;
      for (const one of [...running]) one.end("answer");
    },
  };
}

async function play(steps: readonly Step[]): Promise<void> {
  const { running, most, puppet, release } = puppets();
  let call: Desk["call"] = () => Promise.reject(new Error("not yet"));
  const spec = (name: string, fn: AgentFunction, more: Partial<AgentSpec> = {}): AgentSpec => ({
    name,
    description: "Of the model.",
    runner: functionRunner(fn),
    ...more,
  });
  const agents = [
    spec("one", puppet("one")),
    spec("two", puppet("two")),
    spec(
      "parent",
      puppet("parent", (...given) => call(...given)),
      { dispatches: ["child"] },
    ),
    spec("child", () => "done", { lane: "parent" }),
  ];
  const options = {
    agents,
    lanes,
    pollMs: 20,
    maxAttempts: 4,
    budget: { perRoot: { totalTokens: rootTokens }, step: { totalTokens: 500 } },
  };
  const desk = await openDesk(options);
  let other = await desk.another();
  call = desk.call;
  const { store, queue } = desk.tasks.api.backend(desk.workspace.directory);
  await other.dispatch.api.start();
  const ids: string[] = [];
  const pick = <T>(from: readonly T[], n: number): T | undefined => from[n % Math.max(1, from.length)];
  for (const one of steps) {
    switch (one.do) {
      case "launch": {
        const after = one.after === null ? undefined : pick(ids, one.after);
        const made = await desk.call("dispatch", {
          subagent: one.agent,
          prompt: "x",
          run_in_background: true,
          priority: one.priority,
          ...(after !== undefined && { depends_on: [after] }),
          ...(one.tokens !== null && { max_tokens: one.tokens }),
        });
        if (made.ok) ids.push((made.data as { taskId: string }).taskId);
        else expect(made.error.code).toBe("denied"); // the budget is used up
        break;
      }
      case "end":
        pick([...running], one.which)?.end(one.how);
        break;
      case "spend":
        await pick([...running], one.which)?.spend();
        break;
      case "cancel": {
        const id = pick(ids, one.which);
        if (id !== undefined) await desk.data("dispatch_cancel", { task_id: id });
        break;
      }
      case "retry": {
        const id = pick(ids, one.which);
        if (id !== undefined) await desk.call("task_retry", { task_id: id });
        break;
      }
      case "lose": {
        const held = pick([...running], one.which);
        const task = held && (await store.get(held.taskId));
        // Whoever has lost its claim works on until it sees that; it holds no slot any more.
        if (held !== undefined) running.delete(held);
        if (task !== undefined) await queue.renew([{ taskId: task.id, fence: task.fence }], 1);
        break;
      }
      case "swap":
        await other.dispatch.close();
        other = await desk.another();
        await other.dispatch.api.start();
    }
    const { used, reserved } = await store.budget({ root: session });
    expect((used.totalTokens ?? 0) + reserved.totalTokens).toBeLessThanOrEqual(rootTokens + report * 4);
  }
  release();
  const isOpen = async () =>
    (await store.find({ kind: "dispatch", statuses: ["pending", "running", "awaiting_approval"], limit: 1 })).total > 0;
  await eventually(async () => !(await isOpen()));
  for (const [lane, count] of most) expect(count).toBeLessThanOrEqual(limitOf[lane] ?? 0);
  for (const { active } of await store.lanes()) expect(active).toEqual({ sync: 0, background: 0 });
  expect((await store.budget({ root: session })).reserved.totalTokens).toBe(0);
  await oneNoticeEach(desk, ids);
  await other.dispatch.close();
  await desk.dispatch.close();
  await desk.tasks.close();
}

/** Each end of an attempt is told once, and the owner hears once more than never that all is settled. */
async function oneNoticeEach(desk: Desk, ids: readonly string[]): Promise<void> {
  const { store } = desk.tasks.api.backend(desk.workspace.directory);
  const told: string[] = [];
  for (;;) {
    const notices = await store.notices({ to: [session], limit: 50, leaseMs: 60_000 });
    if (notices.length === 0) break;
    told.push(...notices.map(({ id }) => id));
  }
  expect(new Set(told).size).toBe(told.length);
  for (const id of ids) {
    const task = await desk.task(id);
    const ends = told.filter((one) => one.startsWith(`${id}:${task.attempt}:`) && !one.endsWith(":1"));
    expect({ id, state: task.state, ends }).toMatchObject({ ends: [expect.any(String)] });
  }
}

describe("any order of events", () => {
  it("no task waits for ever, caps hold, no budget is passed, and each end is told once", {
    timeout: 900_000,
  }, async () => {
    await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), play), {
      numRuns: runs(100),
      endOnFailure: true,
    });
  });
});

import assert from "node:assert/strict";
import type { Usage } from "../model.ts";
import type { Claim, TaskBackend } from "../store.ts";
import {
  applied,
  type ContractCase,
  claimQuery,
  complete,
  leaseMs,
  newKey,
  poster,
  postOne,
  runningTask,
  runTask,
} from "./setting.ts";

const lanes = { default: { limit: 100, reservedSync: 0 }, perOwner: null };

export function usage(input: number | null, output: number | null, costUsd: number | null = null): Usage {
  return {
    inputTokens: input,
    outputTokens: output,
    reasoningTokens: null,
    cacheReadTokens: null,
    cacheWriteTokens: null,
    costUsd,
    complete: false,
  };
}

function report({ store }: TaskBackend, claim: Claim, key: string, total: Usage): Promise<number> {
  return store.append(claim.taskId, claim, { key, kind: "usage", data: { total } });
}

export function budgetCases(): ContractCase[] {
  return [
    {
      title: "budget-1: a running total under one key is counted once, however often it is reported",
      async run({ backend }) {
        await backend.store.setBudget({ root: "root" }, { totalTokens: 1_500 });
        const claim = await runningTask(backend, runTask(), { leaseMs: 60_000, lanes });
        for (let time = 0; time < 100; time++) await report(backend, claim, "thread", usage(900, 100));
        const state = await backend.store.budget({ root: "root" });
        assert.equal(state.used.totalTokens, 1_000);
        assert.equal((await backend.store.budget({ task: claim.taskId })).claim?.exceeded, null);
        await complete(backend, claim);
        const after = await backend.store.budget({ root: "root" });
        assert.deepEqual([after.used.totalTokens, after.reserved.totalTokens], [1_000, 0]);
        assert.deepEqual((await backend.store.get(claim.taskId))?.usage, { ...usage(900, 100), complete: true });
      },
    },
    {
      title: "usage rolls up to every ancestor and the root",
      async run({ backend }) {
        const top = await runningTask(backend, runTask(), { leaseMs: 60_000, lanes });
        const middle = await runningTask(backend, runTask({ parentTask: top.taskId, ownerSession: "s1" }), {
          leaseMs: 60_000,
          lanes,
        });
        const low = await runningTask(backend, runTask({ parentTask: middle.taskId, ownerSession: "s2" }), {
          leaseMs: 60_000,
          lanes,
        });
        await report(backend, low, "u", usage(10, 5, 0.25));
        await report(backend, middle, "u", usage(1, 1, 0.5));
        for (const [scope, tokens, cost] of [
          [{ root: "root" }, 17, 0.75],
          [{ task: top.taskId }, 17, 0.75],
          [{ task: middle.taskId }, 17, 0.75],
          [{ task: low.taskId }, 15, 0.25],
        ] as const) {
          const { used } = await backend.store.budget(scope);
          assert.deepEqual([used.totalTokens, used.costUsd], [tokens, cost]);
        }
        assert.equal((await backend.store.budget({ root: "root" })).used.sessions, 3);
      },
    },
    {
      title: "budget-2: launches stop when nothing is left: used and reserved are never above a limit",
      async run({ backend }) {
        await backend.store.setBudget({ root: "root" }, { totalTokens: 100_000 });
        for (let index = 0; index < 5; index++) await postOne(backend, runTask({ budget: { totalTokens: 40_000 } }));
        const held: Claim[] = [];
        let ended = 0;
        for (let round = 0; round < 20; round++) {
          held.push(...(await backend.queue.claim(claimQuery("dispatch", { n: 5, lanes, leaseMs: 60_000 }))));
          const { used, reserved } = await backend.store.budget({ root: "root" });
          assert.ok((used.totalTokens ?? 0) + reserved.totalTokens <= 100_000);
          const claim = held.shift();
          if (claim === undefined) break;
          await applied(backend, claim.taskId, { kind: "start", key: newKey(), ref: claim });
          for (let spent = 10_000; ; spent += 10_000) {
            await report(backend, claim, "thread", usage(spent, 0));
            if ((await backend.store.budget({ task: claim.taskId })).claim?.exceeded !== null) break;
          }
          await applied(backend, claim.taskId, {
            kind: "exceed",
            key: newKey(),
            ref: claim,
            message: "used up",
            result: { text: "half" },
          });
          ended++;
        }
        const { used } = await backend.store.budget({ root: "root" });
        assert.ok((used.totalTokens ?? 0) <= 110_000, `${used.totalTokens} used`);
        const tasks = (await backend.store.find({ limit: 10 })).items;
        assert.ok(tasks.every(({ end }) => end?.reason === "budget_exceeded"));
        assert.deepEqual(tasks.filter(({ result }) => result?.partial).length, ended);
      },
    },
    {
      title: "a limit of sessions counts attempts that began: three of five launches run",
      async run({ backend }) {
        await backend.store.setBudget({ root: "root" }, { sessions: 3 });
        for (let index = 0; index < 5; index++) await postOne(backend, runTask());
        const claims = await backend.queue.claim(claimQuery("dispatch", { n: 5, lanes, leaseMs: 60_000 }));
        assert.equal(claims.length, 3);
        const ended = (await backend.store.find({ statuses: ["cancelled"], limit: 10 })).items;
        assert.deepEqual(
          ended.map(({ end }) => end?.reason),
          ["budget_exceeded", "budget_exceeded"],
        );
      },
    },
    {
      title: "while others hold what is left a task waits; a lost claim gives its reservation back",
      async run({ backend, pass }) {
        await backend.store.setBudget({ root: "root" }, { totalTokens: 50_000 });
        await runningTask(backend, runTask({ maxAttempts: 1 }), { lanes });
        const next = await postOne(backend, runTask());
        assert.deepEqual(await backend.queue.claim(claimQuery("dispatch", { lanes })), []);
        assert.equal((await backend.store.get(next.id))?.state, "queued");
        await pass(leaseMs + 50);
        const [claim] = await backend.queue.claim(claimQuery("dispatch", { lanes }));
        assert.deepEqual([claim?.taskId, claim?.reserved], [next.id, { totalTokens: 50_000 }]);
      },
    },
    {
      title: "a parent that holds all that is left lends its child half of it, and no more is held than before",
      async run({ backend }) {
        await backend.store.setBudget({ root: "root" }, { totalTokens: 1_000 });
        const all = { totalTokens: 1_000 };
        const parent = await runningTask(backend, runTask({ budget: all }), { leaseMs: 60_000, lanes });
        assert.equal(parent.reserved?.totalTokens, 1_000);
        const child = runTask({ parentTask: parent.taskId, ownerSession: "s1", depth: 2, budget: all });
        const claim = await runningTask(backend, child, { leaseMs: 60_000, lanes });
        assert.equal(claim.reserved?.totalTokens, 500);
        const { reserved } = await backend.store.budget({ root: "root" });
        assert.equal(reserved.totalTokens, 1_000);
        // A stranger is lent nothing.
        await postOne(backend, runTask({ ownerSession: "s2", budget: all }));
        assert.deepEqual(await backend.queue.claim(claimQuery("dispatch", { lanes, leaseMs: 60_000 })), []);
      },
    },
    {
      title: "a runner that says nothing counts as unknown, not as zero",
      async run({ backend }) {
        await complete(backend, await runningTask(backend, runTask(), { leaseMs: 60_000, lanes }));
        const state = await backend.store.budget({ root: "root" });
        assert.deepEqual(
          [state.used.totalTokens, state.used.costUsd, state.used.sessions, state.unknownUsage],
          [null, null, 1, 1],
        );
      },
    },
    {
      title: "a retry may start with the task's own counters at zero; the root keeps what was spent",
      async run({ backend }) {
        const claim = await runningTask(backend, runTask({ budget: { totalTokens: 100 } }), { leaseMs: 60_000, lanes });
        await report(backend, claim, "u", usage(100, 0));
        await complete(backend, claim);
        const retry = { kind: "retry", by: poster } as const;
        await applied(backend, claim.taskId, { ...retry, key: newKey(), resetBudget: true });
        assert.equal((await backend.store.budget({ task: claim.taskId })).used.totalTokens, 0);
        assert.equal((await backend.store.budget({ root: "root" })).used.totalTokens, 100);
        const [again] = await backend.queue.claim(claimQuery("dispatch", { lanes, leaseMs: 60_000 }));
        assert.equal(again?.reserved?.totalTokens, 100);
      },
    },
  ];
}

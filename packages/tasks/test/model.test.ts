import { runs } from "@toolhaft/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { boardTask, claimQuery, leaseMs, newKey, poster, postOne, runTask } from "../src/contract/setting.ts";
import { type ClaimRef, matchesTask, type TaskState } from "../src/index.ts";
import { openSqlite } from "./setting.ts";

type Step =
  | { do: "post"; priority: number; needs: number | null }
  | { do: "claim" | "sweep" }
  | { do: "complete" | "fail" | "release" | "renew"; claim: number }
  | { do: "cancel" | "retry"; task: number }
  | { do: "pass"; ms: number };

const index = fc.nat(7);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("post" as const),
      priority: fc.integer({ min: -1, max: 1 }),
      needs: fc.option(index),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom("claim" as const, "sweep" as const) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constantFrom("complete" as const, "fail" as const, "release" as const, "renew" as const),
      claim: index,
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("cancel" as const, "retry" as const), task: index }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("pass" as const), ms: fc.constantFrom(leaseMs / 2, leaseMs + 1, 10_001) }),
  },
);

/** The same rules in plain words and plain memory. */
interface Model {
  id: string;
  state: TaskState;
  priority: number;
  needs: Model | null;
  attempt: number;
  open: boolean;
  max: number;
  fence: number;
  lease: number;
  cancelAt: number | null;
}
const ended = ({ state }: Model) => ["completed", "failed", "cancelled"].includes(state);

class Oracle {
  now = 0;
  readonly tasks: Model[] = [];

  settle(): void {
    for (let moved = true; moved; ) {
      moved = false;
      for (const task of this.tasks) {
        if (
          task.state === "running" &&
          task.cancelAt !== null &&
          (task.lease <= this.now || task.cancelAt + 10_000 <= this.now)
        ) {
          this.end(task, "cancelled");
          moved = true;
        } else if (task.state === "running" && task.lease <= this.now) {
          if (task.attempt < task.max) {
            task.state = "queued";
            task.open = false;
          } else this.end(task, "failed");
          moved = true;
        } else if (task.state === "blocked" && task.needs !== null && ended(task.needs)) {
          if (task.needs.state === "completed") task.state = "queued";
          else this.end(task, "failed");
          moved = true;
        }
      }
    }
  }

  end(task: Model, state: TaskState): void {
    task.state = state;
    task.open = false;
  }

  next(): Model | undefined {
    return this.tasks
      .filter(({ state }) => state === "queued")
      .sort((a, b) => b.priority - a.priority || this.tasks.indexOf(a) - this.tasks.indexOf(b))[0];
  }

  holds(ref: ClaimRef): Model | undefined {
    return this.tasks.find(
      ({ id, fence, state, lease }) =>
        id === ref.taskId && fence === ref.fence && state === "running" && lease > this.now,
    );
  }
}

describe("random orders of everything", () => {
  it(`the store and plain memory agree after ${runs(400)} stories, and no task is pending for ever`, {
    timeout: 600_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const { backend, clock, close } = await openSqlite();
        try {
          const oracle = new Oracle();
          oracle.now = clock.now();
          const claims: ClaimRef[] = [];
          for (const one of steps) await run(one, oracle, claims);
          for (let turn = 0; turn < 200 && oracle.tasks.some((task) => !ended(task)); turn++) {
            await run({ do: "claim" }, oracle, claims);
            await run({ do: "complete", claim: claims.length - 1 }, oracle, claims);
            if (turn % 5 === 4) await run({ do: "pass", ms: 10_001 }, oracle, claims);
          }
          expect(oracle.tasks.filter((task) => !ended(task))).toEqual([]);
          const notices = await backend.store.notices({ to: ["root"], limit: 10_000, leaseMs: 1 });
          expect(new Set(notices.map(({ id }) => id)).size).toBe(notices.length);
        } finally {
          await close();
        }

        async function run(one: Step, oracle: Oracle, claims: ClaimRef[]): Promise<void> {
          oracle.settle();
          switch (one.do) {
            case "post": {
              const needs = one.needs === null ? null : (oracle.tasks[one.needs] ?? null);
              const task = await postOne(
                backend,
                boardTask({ priority: one.priority, maxAttempts: 2, dependsOn: needs === null ? [] : [needs.id] }),
              );
              oracle.tasks.push({
                id: task.id,
                state: needs === null ? "queued" : "blocked",
                priority: one.priority,
                needs,
                attempt: 0,
                open: false,
                max: 2,
                fence: 0,
                lease: 0,
                cancelAt: null,
              });
              break;
            }
            case "claim": {
              const [claim] = await backend.queue.claim(claimQuery("board"));
              const next = oracle.next();
              expect(claim?.taskId).toBe(next?.id);
              if (next === undefined || claim === undefined) break;
              next.state = "running";
              next.fence++;
              if (!next.open) next.attempt++;
              next.open = true;
              next.lease = oracle.now + leaseMs;
              claims.push(claim);
              break;
            }
            case "complete":
            case "fail":
            case "release": {
              const ref = claims[one.claim];
              if (ref === undefined) break;
              const held = oracle.holds(ref);
              const answer = await backend.queue.apply(
                ref.taskId,
                one.do === "complete"
                  ? { kind: "complete", key: newKey(), ref, result: { text: "x" } }
                  : one.do === "release"
                    ? { kind: "release", key: newKey(), ref }
                    : { kind: "fail", key: newKey(), ref, reason: "runner_failed", message: "m", retryable: true },
              );
              expect(answer.ok).toBe(held !== undefined);
              if (held === undefined) break;
              if (one.do === "complete") oracle.end(held, "completed");
              else if (one.do === "release") held.state = "queued";
              else if (held.attempt < held.max && held.cancelAt === null) {
                held.state = "queued";
                held.open = false;
              } else oracle.end(held, "failed");
              break;
            }
            case "renew": {
              const ref = claims[one.claim];
              if (ref === undefined) break;
              const held = oracle.holds(ref);
              const [answer] = await backend.queue.renew([ref], leaseMs);
              expect(answer).toBe(held === undefined ? "lost" : held.cancelAt === null ? "ok" : "cancel_requested");
              if (held !== undefined) held.lease = oracle.now + leaseMs;
              break;
            }
            case "cancel": {
              const task = oracle.tasks[one.task];
              if (task === undefined) break;
              const kind = task.state === "running" ? "request_cancel" : "cancel";
              const answer = await backend.queue.apply(task.id, { kind, key: newKey(), by: poster, reason: null });
              expect(answer.ok).toBe(kind === "cancel" ? !ended(task) : task.cancelAt === null);
              if (!answer.ok) break;
              if (kind === "cancel") oracle.end(task, "cancelled");
              else task.cancelAt = oracle.now;
              break;
            }
            case "retry": {
              const task = oracle.tasks[one.task];
              if (task === undefined) break;
              const answer = await backend.queue.apply(task.id, { kind: "retry", key: newKey(), by: poster });
              expect(answer.ok).toBe(ended(task));
              if (!answer.ok) break;
              task.state = "queued";
              task.attempt++;
              task.open = true;
              task.max = Math.max(task.max, task.attempt);
              task.cancelAt = null;
              break;
            }
            case "pass":
              clock.advance(one.ms);
              oracle.now += one.ms;
              break;
            case "sweep":
              await backend.queue.sweep();
          }
          oracle.settle();
          for (const task of oracle.tasks) {
            const found = await backend.store.get(task.id);
            expect({ state: found?.state, attempt: found?.attempt, fence: found?.fence }).toEqual({
              state: task.state,
              attempt: task.attempt,
              fence: task.fence,
            });
          }
        }
      }),
      { numRuns: runs(400) },
    );
  });

  it(`caps hold and no slot leaks over ${runs(10_000)} random claims and ends`, { timeout: 600_000 }, async () => {
    const { backend, clock, close } = await openSqlite();
    const lanes = { default: { limit: 4, reservedSync: 1 }, perOwner: 3, total: 6 };
    await backend.store.beat({ id: "e", host: "h", pid: 1, startedAt: new Date().toISOString(), lanes, sessions: [] });
    const random = fc.sample(fc.nat(99), { numRuns: runs(10_000), seed: 7 });
    const held: ClaimRef[] = [];
    for (const [turn, dice] of random.entries()) {
      if (dice < 40)
        await postOne(
          backend,
          runTask({ lane: `l${dice % 3}`, ownerSession: `o${dice % 4}`, mode: dice % 5 === 0 ? "sync" : "background" }),
        );
      else if (dice < 70)
        held.push(...(await backend.queue.claim(claimQuery("dispatch", { n: 1 + (dice % 3), lanes }))));
      else if (dice < 95) {
        const ref = held.splice(dice % Math.max(1, held.length), 1)[0];
        if (ref !== undefined)
          await backend.queue.apply(ref.taskId, {
            kind: dice % 2 === 0 ? "complete" : "release",
            key: newKey(),
            ref,
            result: { text: "x" },
          });
      } else clock.advance(leaseMs / 3);
      if (turn % 10 !== 0) continue;
      const snapshot = await backend.store.lanes();
      const active = snapshot.map(({ active: { sync, background } }) => sync + background);
      expect(Math.max(0, ...active)).toBeLessThanOrEqual(4);
      expect(Math.max(0, ...snapshot.map(({ active: { background } }) => background))).toBeLessThanOrEqual(3);
      expect(active.reduce((sum, n) => sum + n, 0)).toBeLessThanOrEqual(6);
      for (const { active: mine } of await backend.store.owners()) expect(mine).toBeLessThanOrEqual(3);
    }
    clock.advance(leaseMs + 1);
    await backend.queue.sweep();
    expect((await backend.store.lanes()).every(({ active }) => active.sync + active.background === 0)).toBe(true);
    await close();
  });

  it(`search equals matchesTask on ${runs(400)} random stores`, { timeout: 600_000 }, async () => {
    const piece = fc.constantFrom(
      "parser",
      "Cache",
      "解析器",
      "解",
      '"',
      "%",
      "_",
      "*",
      "ß",
      "İ",
      " ",
      "-",
      "ﬁ",
      "e\u0301",
      "👍",
      "x",
    );
    const words = fc
      .array(piece, { minLength: 1, maxLength: 6 })
      .map((parts) => parts.join(""))
      .filter((text) => text.trim() !== "");
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(words, words), { minLength: 1, maxLength: 6 }),
        fc.array(words, { minLength: 1, maxLength: 4 }),
        async (texts, queries) => {
          const { backend, close } = await openSqlite();
          try {
            for (const [title, body] of texts) await postOne(backend, boardTask({ title, body }));
            const tasks = (await backend.store.find({ limit: 100 })).items;
            for (const text of queries) {
              const found = await backend.store.find({ text, limit: 100 });
              expect(
                found.items.map(({ id }) => id),
                text,
              ).toEqual(tasks.filter((task) => matchesTask(task, text)).map(({ id }) => id));
            }
          } finally {
            await close();
          }
        },
      ),
      { numRuns: runs(400) },
    );
  });
});

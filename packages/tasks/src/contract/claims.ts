import assert from "node:assert/strict";
import type { LaneLimits, TaskBackend } from "../store.ts";
import {
  applied,
  boardTask,
  type ContractCase,
  claimOne,
  claimQuery,
  complete,
  eventsOf,
  leaseMs,
  newKey,
  postOne,
  runTask,
  type StoreUnderTest,
  worker,
} from "./setting.ts";

const lane = (limit: number, reservedSync = 0): LaneLimits => ({ default: { limit, reservedSync }, perOwner: null });

async function race({ backend, another }: StoreUnderTest, count: number): Promise<void> {
  const handles: TaskBackend[] = [backend];
  while (handles.length < Math.min(count, 8)) handles.push(await another());
  const { id } = await postOne(backend, boardTask());
  const claims = await Promise.all(
    Array.from({ length: count }, (_, index) => {
      const handle = handles[index % handles.length] ?? backend;
      return handle.queue.claim(claimQuery("board", { taskId: id, by: worker(`w${index}`), leaseMs: 60_000 }));
    }),
  );
  const won = claims.flat();
  assert.equal(won.length, 1);
  assert.equal(won[0]?.fence, 1);
  assert.deepEqual(await eventsOf(backend, id), ["posted", "claimed"]);
}

export function claimCases(): ContractCase[] {
  return [
    ...[8, 32].map(
      (count): ContractCase => ({
        title: `of ${count} parallel claims of one task exactly one wins`,
        async run(store) {
          for (let round = 0; round < 10; round++) await race(store, count);
        },
      }),
    ),
    {
      title: "claims take the highest priority, then the oldest; skip what is deferred or somebody else's",
      async run({ backend, pass }) {
        const soon = Date.now() + 3_600_000;
        const [low, high, old] = [
          await postOne(backend, boardTask({ priority: -5 })),
          await postOne(backend, boardTask({ priority: 9 })),
          await postOne(backend, boardTask()),
        ];
        const young = await postOne(backend, boardTask());
        await postOne(backend, boardTask({ priority: 50, assignee: "somebody" }));
        await postOne(backend, boardTask({ priority: 60, notBefore: soon * 2 }));
        const claims = await backend.queue.claim(claimQuery("board", { n: 10, leaseMs: 60_000 }));
        assert.deepEqual(
          claims.map(({ taskId }) => taskId),
          [high.id, old.id, young.id, low.id],
        );
        assert.equal((await claimOne(backend, claimQuery("board", { by: worker("somebody") }))).task.priority, 50);
        assert.deepEqual(await backend.queue.claim(claimQuery("board", { minPriority: 1 })), []);
        await pass(1);
      },
    },
    {
      title: "claim-3: a lane's limit holds at every instant, whoever claims",
      async run({ backend, another }) {
        const handles = [backend, await another(), await another()];
        const ids: string[] = [];
        for (let index = 0; index < 10; index++) ids.push((await postOne(backend, runTask())).id);
        const order: string[] = [];
        for (let round = 0; round < 10; round++) {
          const claims = (
            await Promise.all(
              handles.map((handle, at) =>
                handle.queue.claim(claimQuery("dispatch", { n: 3, lanes: lane(2), engine: `e${at}`, leaseMs: 60_000 })),
              ),
            )
          ).flat();
          const [snapshot] = await backend.store.lanes();
          const active = snapshot === undefined ? 0 : snapshot.active.sync + snapshot.active.background;
          assert.ok(active <= 2, `${active} are active`);
          order.push(...claims.map(({ taskId }) => taskId));
          const [first] = claims;
          if (first !== undefined) await complete(backend, first);
        }
        assert.deepEqual(order, ids.slice(0, order.length));
        assert.ok(order.length >= 8);
      },
    },
    {
      title: "slots-2: background tasks never take the slots that are kept for sync ones",
      async run({ backend }) {
        const lanes = lane(5, 1);
        for (let index = 0; index < 7; index++) await postOne(backend, runTask());
        const background = await backend.queue.claim(claimQuery("dispatch", { n: 10, lanes, leaseMs: 60_000 }));
        assert.equal(background.length, 4);
        await postOne(backend, runTask({ mode: "sync" }));
        const [sync] = await backend.queue.claim(claimQuery("dispatch", { n: 10, lanes, leaseMs: 60_000 }));
        assert.equal(sync?.task.mode, "sync");
        if (sync !== undefined) await complete(backend, sync);
        assert.deepEqual(await backend.queue.claim(claimQuery("dispatch", { n: 10, lanes, leaseMs: 60_000 })), []);
      },
    },
    {
      title: "slots-5: what is free is shown with the reserve taken off",
      async run({ backend }) {
        const lanes = lane(5, 1);
        await backend.store.beat({
          id: "e",
          host: "h",
          pid: 1,
          startedAt: new Date(0).toISOString(),
          lanes,
          sessions: [],
        });
        for (let index = 0; index < 3; index++) await postOne(backend, runTask());
        await backend.queue.claim(claimQuery("dispatch", { n: 3, lanes, leaseMs: 60_000 }));
        const [snapshot] = await backend.store.lanes();
        assert.deepEqual(snapshot?.available, { sync: 2, background: 1 });
      },
    },
    {
      title: "a full lane holds up no other, and an owner has its own limit",
      async run({ backend }) {
        const lanes: LaneLimits = { default: { limit: 1, reservedSync: 0 }, perOwner: 2 };
        for (const name of ["a", "a", "b", "c"]) await postOne(backend, runTask({ lane: name }));
        const claims = await backend.queue.claim(claimQuery("dispatch", { n: 10, lanes, leaseMs: 60_000 }));
        assert.deepEqual(
          claims.map(({ task }) => task.lane),
          ["a", "b"],
        );
      },
    },
    {
      title: "a parent that waits lends its slot to one child, so that a chain in a lane of one ends",
      async run({ backend }) {
        const lanes = lane(1);
        const claims = [];
        let parent: string | null = null;
        for (let depth = 1; depth <= 3; depth++) {
          const task = await postOne(backend, runTask({ mode: "sync", parentTask: parent, slotOf: parent, depth }));
          const claim = await claimOne(backend, claimQuery("dispatch", { lanes, leaseMs: 60_000 }));
          assert.equal(claim.taskId, task.id);
          claims.push(claim);
          parent = task.id;
        }
        await postOne(
          backend,
          runTask({ mode: "sync", parentTask: claims[0]?.taskId ?? null, slotOf: claims[0]?.taskId ?? null }),
        );
        await postOne(backend, runTask());
        assert.deepEqual(await backend.queue.claim(claimQuery("dispatch", { lanes, n: 5 })), []);
        const [snapshot] = await backend.store.lanes();
        assert.equal((snapshot?.active.sync ?? 0) + (snapshot?.active.background ?? 0), 1);
        for (const claim of claims.reverse()) assert.ok((await complete(backend, claim)).ok);
      },
    },
    {
      title: "slots-3: a wait for an approval frees the slot, or holds it, as it was set",
      async run({ backend }) {
        for (const hold of [false, true]) {
          const name = `lane-${hold}`;
          const lanes: LaneLimits = { ...lane(1), holdSlotWhileWaiting: hold };
          await postOne(backend, runTask({ lane: name }));
          const claim = await claimOne(backend, claimQuery("dispatch", { lanes, leaseMs: 60_000 }));
          const next = await postOne(backend, runTask({ lane: name }));
          const approval = { kind: "tool", key: "k", title: "t", approvers: "human" } as const;
          await applied(backend, claim.taskId, { kind: "ask", key: newKey(), ref: claim, approval, attached: true });
          const meanwhile = await backend.queue.claim(claimQuery("dispatch", { lanes, leaseMs: 60_000, n: 5 }));
          assert.deepEqual(
            meanwhile.map(({ taskId }) => taskId),
            hold ? [] : [next.id],
          );
          const [open] = await backend.store.approvals({ open: true, taskId: claim.taskId });
          await applied(backend, claim.taskId, {
            kind: "decide",
            key: newKey(),
            approvalId: open?.id ?? "",
            decision: "approved",
            by: worker("x"),
          });
          const after = await backend.queue.claim(claimQuery("dispatch", { lanes, leaseMs: 60_000, n: 5 }));
          assert.deepEqual(
            after.map(({ taskId }) => taskId),
            hold ? [claim.taskId] : [],
          );
          for (const one of [...meanwhile, ...after]) await complete(backend, one);
          for (const one of await backend.queue.claim(claimQuery("dispatch", { lanes, n: 5 })))
            await complete(backend, one);
        }
      },
    },
    {
      title: "a session is used by one run at a time",
      async run({ backend }) {
        const lanes = lane(9);
        const first = await postOne(backend, runTask());
        const claim = await claimOne(backend, claimQuery("dispatch", { lanes, leaseMs: 60_000 }));
        await applied(backend, first.id, { kind: "start", key: newKey(), ref: claim, sessionId: "sub-1" });
        const next = await postOne(backend, runTask({ continues: first.id, sessionId: "sub-1" }));
        assert.deepEqual(await backend.queue.claim(claimQuery("dispatch", { lanes })), []);
        await complete(backend, claim);
        const row = await backend.store.get(first.id);
        const second = await claimOne(backend, claimQuery("dispatch", { lanes }));
        assert.deepEqual([second.taskId, second.resume?.why, second.resume?.session], [next.id, "continue", "sub-1"]);
        assert.deepEqual(await backend.store.get(first.id), row);
      },
    },
    {
      title: "a dedupe key stands for one open task; a full board refuses with both figures",
      async run({ backend }) {
        const first = await postOne(backend, boardTask({ dedupeKey: "nightly" }));
        const [again] = await backend.queue.post([boardTask({ dedupeKey: "nightly", title: "other" })]);
        assert.deepEqual([again?.created, again?.task.id], [false, first.id]);
        await complete(backend, await claimOne(backend, claimQuery("board")));
        const [fresh] = await backend.queue.post([boardTask({ dedupeKey: "nightly" })]);
        assert.equal(fresh?.created, true);
        await assert.rejects(
          backend.queue.post([boardTask({ maxQueued: 2 }), boardTask({ maxQueued: 2 })]),
          (error: { code?: string; retryable?: boolean; message?: string }) => {
            assert.deepEqual([error.code, error.retryable], ["unavailable", true]);
            assert.match(error.message ?? "", /2 waiting tasks, at most 2/);
            return true;
          },
        );
        assert.equal((await backend.store.find({ limit: 1 })).total, 2, "all or none");
      },
    },
    {
      title: "release gives the claim back at once, and the attempt goes on",
      async run({ backend }) {
        await postOne(backend, boardTask());
        const claim = await claimOne(backend, claimQuery("board"));
        await backend.store.append(claim.taskId, claim, {
          key: newKey(),
          kind: "checkpoint",
          data: { phase: "lexing" },
        });
        await applied(backend, claim.taskId, { kind: "release", key: newKey(), ref: claim, reason: "leaving" });
        const again = await claimOne(backend, claimQuery("board", { by: worker("B") }));
        assert.deepEqual([again.task.attempt, again.fence, again.resume?.why], [1, 2, "release"]);
        assert.equal(again.resume?.checkpoint?.data.phase, "lexing");
      },
    },
    {
      title: "a token is the claim's while it lives, and no longer",
      async run({ backend, pass }) {
        await postOne(backend, boardTask());
        const claim = await claimOne(backend, claimQuery("board"));
        assert.deepEqual(await backend.store.claimOf(claim.taskId, claim.token), { taskId: claim.taskId, fence: 1 });
        assert.equal(await backend.store.claimOf(claim.taskId, "made-up"), undefined);
        await pass(leaseMs + 50);
        assert.equal(await backend.store.claimOf(claim.taskId, claim.token), undefined);
      },
    },
    {
      title: "two stores see nothing of each other's listeners, and a change is told",
      async run({ backend, another }) {
        const other = await another();
        const heard: string[] = [];
        let wake = (): void => undefined;
        await using _own = await backend.queue.onChange(({ taskId }) => {
          heard.push(taskId ?? "unknown");
          wake();
        });
        const mine = await postOne(backend, boardTask());
        assert.ok(heard.includes(mine.id));
        heard.length = 0;
        const told = new Promise<void>((resolve) => {
          wake = resolve;
        });
        await postOne(other, boardTask());
        await told;
        assert.deepEqual(heard.slice(0, 1), ["unknown"]);
      },
    },
  ];
}

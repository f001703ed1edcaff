import assert from "node:assert/strict";
import {
  applied,
  boardTask,
  type ContractCase,
  claimQuery,
  complete,
  leaseMs,
  newKey,
  poster,
  runningTask,
  runTask,
} from "./setting.ts";

const all = { to: ["root"], limit: 1_000, leaseMs };

export function noticeCases(): ContractCase[] {
  return [
    ...[2, 4, 32].map(
      (count): ContractCase => ({
        title: `of ${count} tasks of one owner that end together exactly one says that all is settled, the last`,
        async run({ backend, another }) {
          const other = await another();
          await backend.queue.post(Array.from({ length: count }, () => boardTask()));
          const claims = await backend.queue.claim(claimQuery("board", { n: count, leaseMs: 60_000 }));
          await Promise.all(claims.map((claim, index) => complete(index % 2 === 0 ? backend : other, claim)));
          const notices = await backend.store.notices(all);
          assert.equal(notices.length, count);
          assert.equal(new Set(notices.map(({ id }) => id)).size, count);
          assert.deepEqual(notices.filter(({ allSettled }) => allSettled).length, 1);
          assert.equal(notices.at(-1)?.allSettled, true);
          const open = notices.map(({ remaining }) => remaining.running + remaining.queued + remaining.waiting);
          assert.deepEqual(
            open.sort((a, b) => b - a),
            Array.from({ length: count }, (_, index) => count - 1 - index),
          );
        },
      }),
    ),
    {
      title: "notice-3: a notice says what of its owner is still open",
      async run({ backend }) {
        const claim = await runningTask(backend, boardTask(), { leaseMs: 60_000 });
        await runningTask(backend, boardTask(), { leaseMs: 60_000 });
        await backend.queue.post([boardTask(), boardTask({ ownerSession: "somebody-else" })]);
        await complete(backend, claim);
        const [notice] = await backend.store.notices(all);
        assert.deepEqual(notice?.remaining, { running: 1, queued: 1, waiting: 0 });
        assert.deepEqual([notice?.allSettled, notice?.wake, notice?.kind], [false, false, "completed"]);
      },
    },
    {
      title: "notice-2: a notice is leased, comes again until acknowledged, and never after",
      async run({ backend, another, pass }) {
        const other = await another();
        await complete(backend, await runningTask(backend, boardTask(), { leaseMs: 60_000 }));
        const [first] = await backend.store.notices(all);
        assert.ok(first);
        assert.deepEqual(await other.store.notices(all), []);
        await pass(leaseMs + 50);
        const [again] = await other.store.notices(all);
        assert.deepEqual([again?.id, again?.tries], [first.id, 1]);
        assert.equal(await other.store.ackNotices([first.id]), 1);
        assert.equal(await backend.store.ackNotices([first.id, "task_x:1:completed", "nonsense"]), 0);
        await pass(leaseMs + 50);
        assert.deepEqual(await backend.store.notices(all), []);
      },
    },
    {
      title: "notice-5: one notice per attempt and kind: a retry gives another",
      async run({ backend }) {
        const claim = await runningTask(backend, boardTask(), { leaseMs: 60_000 });
        await complete(backend, claim);
        await applied(backend, claim.taskId, { kind: "retry", key: newKey(), by: poster });
        const [again] = await backend.queue.claim(claimQuery("board", { leaseMs: 60_000 }));
        assert.ok(again);
        await complete(backend, again);
        const ids = (await backend.store.notices(all)).map(({ id }) => id);
        assert.deepEqual(ids, [`${claim.taskId}:1:completed`, `${claim.taskId}:2:completed`]);
      },
    },
    {
      title: "progress notices are written once per step; an assignee is told of its post",
      async run({ backend }) {
        const claim = await runningTask(backend, boardTask({ assignee: "A" }), { leaseMs: 60_000 });
        for (const n of [25, 25, 50]) {
          await backend.store.append(claim.taskId, claim, {
            key: newKey(),
            kind: "progress",
            data: { percentage: n },
            notice: { kind: "progress", n },
          });
        }
        const ids = (await backend.store.notices(all)).map(({ id }) => id);
        assert.deepEqual(ids, [`${claim.taskId}:1:progress:25`, `${claim.taskId}:1:progress:50`]);
        const [posted] = await backend.store.notices({ ...all, to: ["agent:A"] });
        assert.equal(posted?.kind, "task_posted");
      },
    },
    {
      title: "the notice of a sync task waits for its caller, unless the call gave up waiting",
      async run({ backend }) {
        const claim = await runningTask(backend, runTask({ mode: "sync" }), { leaseMs: 60_000 });
        await complete(backend, claim);
        assert.deepEqual(await backend.store.notices(all), []);
        const promoted = await backend.store.promote(claim.taskId);
        assert.deepEqual([promoted?.mode, promoted?.status], ["background", "completed"]);
        assert.equal((await backend.store.notices(all)).length, 1);
      },
    },
  ];
}

import assert from "node:assert/strict";
import { EDGES, type Edge, isEnded, statusOf } from "../edges.ts";
import type { NoticeKind, Task, TaskState } from "../model.ts";
import { states } from "../model.ts";
import type { Claim, ClaimRef, TaskBackend } from "../store.ts";
import {
  type AnyEdgeKind,
  applied,
  boardTask,
  type ContractCase,
  claimOne,
  claimQuery,
  complete,
  eventsOf,
  leaseMs,
  newKey,
  poster,
  postOne,
  runningTask,
  runTask,
  type StoreUnderTest,
  worker,
} from "./setting.ts";

const approval = { kind: "tool", key: "k", title: "delete a file", approvers: "human" } as const;

/** A task brought into a state, with the last claim that was made of it. */
interface Brought {
  task: Task;
  ref: ClaimRef;
}

const noRef = (taskId: string): ClaimRef => ({ taskId, fence: 0 });

/** A dispatch task in any state, on the shortest way there. */
async function bring(backend: TaskBackend, state: TaskState): Promise<Brought> {
  const current = async (claim: Claim): Promise<Brought> => {
    const task = await backend.store.get(claim.taskId);
    assert.ok(task);
    assert.equal(task.state, state);
    return { task, ref: claim };
  };
  switch (state) {
    case "blocked": {
      const needed = await postOne(backend, runTask({ lane: "needed", agent: "other" }));
      const task = await postOne(backend, runTask({ dependsOn: [needed.id] }));
      return { task, ref: noRef(task.id) };
    }
    case "queued": {
      const task = await postOne(backend, runTask());
      return { task, ref: noRef(task.id) };
    }
    case "starting": {
      const task = await postOne(backend, runTask());
      return current(
        await claimOne(backend, claimQuery("dispatch", { taskId: task.id, leaseMs: 60_000, lanes: wide })),
      );
    }
    default: {
      const claim = await runningTask(backend, runTask(), { leaseMs: 60_000, lanes: wide });
      const ref = claim;
      const key = newKey();
      if (state === "waiting")
        await applied(backend, claim.taskId, { kind: "ask", key, ref, approval, attached: false });
      if (state === "completed")
        await applied(backend, claim.taskId, { kind: "complete", key, ref, result: { text: "x" } });
      if (state === "failed")
        await applied(backend, claim.taskId, {
          kind: "fail",
          key,
          ref,
          reason: "runner_failed",
          message: "m",
          retryable: false,
        });
      if (state === "timed_out")
        await applied(backend, claim.taskId, { kind: "time_out", key, ref, reason: "wall_timeout", message: "m" });
      if (state === "cancelled") {
        await applied(backend, claim.taskId, { kind: "request_cancel", key: newKey(), by: poster, reason: null });
        await applied(backend, claim.taskId, { kind: "cancel", key, by: poster, reason: null, ref });
      }
      return current(claim);
    }
  }
}

const wide = { default: { limit: 1_000, reservedSync: 0 }, perOwner: null };

/** The edge as whoever may apply it would. */
async function edgeOf(backend: TaskBackend, kind: AnyEdgeKind, { task, ref }: Brought): Promise<Edge> {
  const key = newKey();
  switch (kind) {
    case "start":
    case "release":
      return { kind, key, ref };
    case "ask":
      return { kind, key, ref, approval: { ...approval, key: newKey() }, attached: false };
    case "complete":
      return { kind, key, ref, result: { text: "the result" } };
    case "fail":
      return { kind, key, ref, reason: "runner_failed", message: "m", retryable: false };
    case "time_out":
      return { kind, key, ref, reason: "idle_timeout", message: "m" };
    case "exceed":
      return task.state === "queued" ? { kind, key, message: "m" } : { kind, key, message: "m", ref };
    case "request_cancel":
      return { kind, key, by: poster, reason: null };
    case "cancel":
      return { kind, key, by: poster, reason: null };
    case "decide": {
      const [open] = await backend.store.approvals({ open: true, taskId: task.id });
      return { kind, key, approvalId: open?.id ?? "appr_none", decision: "approved", by: { human: "ann" } };
    }
    case "hold":
      return { kind, key, approval: { ...approval, kind: "stale_resume", key: newKey() } };
    case "retry":
      return { kind, key, by: poster };
    case "unblock":
    case "lose":
    case "expire":
      return { kind, key };
  }
}

/** Edges that time or other tasks decide: by hand, on a task for which it is not so, they are out of place. */
const decidedElsewhere: readonly AnyEdgeKind[] = ["unblock", "lose", "expire"];

/** All that an edge may write, to be compared. */
async function picture({ store }: TaskBackend, id: string) {
  const task = await store.get(id);
  assert.ok(task);
  const events = (await store.events(id, { limit: 1_000 })).items;
  return { task, events, attempts: await store.attempts(id), approvals: await store.approvals({ taskId: id }) };
}

async function pairCase(store: StoreUnderTest, state: TaskState, kind: AnyEdgeKind): Promise<void> {
  const { backend } = store;
  const brought = await bring(backend, state);
  if (state === "running" || state === "starting") {
    if (kind === "cancel")
      await applied(backend, brought.task.id, { kind: "request_cancel", key: newKey(), by: poster, reason: null });
  }
  const edge = await edgeOf(backend, kind, brought);
  const before = await picture(backend, brought.task.id);
  const byHolder = kind === "cancel" && (state === "running" || state === "starting");
  const answer = await backend.queue.apply(brought.task.id, byHolder ? ({ ...edge, ref: brought.ref } as Edge) : edge);
  const after = await picture(backend, brought.task.id);
  const rule = EDGES[kind];
  const allowed = (rule.from as readonly TaskState[]).includes(state) && !decidedElsewhere.includes(kind);
  assert.equal(answer.ok, allowed, `${kind} on ${state}: ${answer.ok ? "applied" : answer.why}`);
  if (!answer.ok) {
    const late = after.events.at(-1)?.kind === "late_result" && before.events.length + 1 === after.events.length;
    const keepsText = kind === "complete" && answer.why === "stale";
    assert.equal(late, keepsText, `${kind} on ${state} leaves its text`);
    if (keepsText) return assert.deepEqual({ ...after.task, lastEventSeq: 0 }, { ...before.task, lastEventSeq: 0 });
    return assert.deepEqual(after, before, `${kind} on ${state} was refused and must write nothing`);
  }
  const outcome = rule.outcomes.find(
    (one) => (one.to === "same" ? state : one.to) === after.task.state && one.event === answer.event.kind,
  );
  assert.ok(outcome, `${kind} went from ${state} to ${after.task.state} with ${answer.event.kind}`);
  assert.equal(after.events.length, before.events.length + 1, "one event");
  assert.deepEqual(after.events.at(-1), answer.event);
  assert.equal(after.task.lastEventSeq, before.task.lastEventSeq + 1);
  assert.equal(after.task.status, statusOf(after.task.state));
  await expectNotice(backend, after.task, outcome.notice);
}

async function expectNotice({ store }: TaskBackend, task: Task, kind: NoticeKind | null): Promise<void> {
  const notices = await store.notices({ to: ["root"], limit: 100, leaseMs: 1 });
  const mine = notices.filter(({ taskId, kind: found }) => taskId === task.id && found === kind);
  assert.equal(mine.length, kind === null ? 0 : 1, `notice ${kind}`);
}

export function edgeCases(): ContractCase[] {
  const kinds = Object.keys(EDGES).filter((kind) => kind !== "post" && kind !== "claim") as AnyEdgeKind[];
  const pairs = kinds.flatMap((kind) =>
    states.map(
      (state): ContractCase => ({
        title: `edge ${kind} on a ${state} task: exactly what the table says, or nothing`,
        run: (store) => pairCase(store, state, kind),
      }),
    ),
  );
  return [
    ...pairs,
    {
      title: "claim and post: the rows of the table that have methods of their own",
      async run({ backend }) {
        const needed = await postOne(backend, boardTask());
        assert.equal(needed.state, "queued");
        assert.deepEqual(await eventsOf(backend, needed.id), ["posted"]);
        const blocked = await postOne(backend, boardTask({ dependsOn: [needed.id] }));
        assert.equal(blocked.state, "blocked");
        assert.deepEqual(await backend.queue.claim(claimQuery("board", { taskId: blocked.id })), []);
        const claim = await claimOne(backend, claimQuery("board"));
        assert.deepEqual(
          [claim.task.id, claim.task.state, claim.fence, claim.task.attempt],
          [needed.id, "running", 1, 1],
        );
        await complete(backend, claim);
        assert.equal((await backend.store.get(blocked.id))?.state, "queued");
        assert.deepEqual(await eventsOf(backend, blocked.id), ["posted", "unblocked"]);
        const run = await postOne(backend, runTask());
        const held = await claimOne(backend, claimQuery("dispatch"));
        assert.deepEqual([held.task.id, held.task.state, held.task.status], [run.id, "starting", "pending"]);
      },
    },
    {
      title: "an edge sent again with its key is applied once and answers the same",
      async run({ backend }) {
        for (const state of states) {
          for (const kind of kinds) {
            const brought = await bring(backend, state);
            const edge = await edgeOf(backend, kind, brought);
            const first = await backend.queue.apply(brought.task.id, edge);
            const count = (await backend.store.events(brought.task.id, { limit: 100 })).total;
            const second = await backend.queue.apply(brought.task.id, edge);
            assert.equal(second.ok, first.ok, `${kind} on ${state}`);
            if (first.ok && second.ok) assert.deepEqual(second.event, first.event);
            assert.equal(
              (await backend.store.events(brought.task.id, { limit: 100 })).total,
              count,
              `${kind} on ${state}`,
            );
          }
        }
      },
    },
    {
      title: "a settle with an old fence is stale, changes nothing and leaves its text once",
      async run({ backend, pass }) {
        const first = await runningTask(backend, boardTask());
        await pass(leaseMs + 50);
        const second = await claimOne(backend, claimQuery("board", { by: worker("B") }));
        assert.deepEqual([second.taskId, second.fence, second.task.attempt], [first.taskId, 2, 2]);
        const edge: Edge = {
          kind: "complete",
          key: newKey(),
          ref: first,
          result: { text: `late ${"x".repeat(5_000)}` },
        };
        for (let time = 0; time < 2; time++) {
          const answer = await backend.queue.apply(first.taskId, edge);
          assert.equal(answer.ok || answer.why, "stale");
        }
        assert.deepEqual(await backend.queue.renew([first, second], leaseMs), ["lost", "ok"]);
        await assert.rejects(
          backend.store.append(first.taskId, first, { key: newKey(), kind: "progress", data: {} }),
          /claim 1 of this task is over/,
        );
        await complete(backend, second, "new");
        const task = await backend.store.get(first.taskId);
        assert.equal(task?.result?.head, "new");
        const late = (await backend.store.events(first.taskId, { kinds: ["late_result"], limit: 10 })).items;
        assert.equal(late.length, 1);
        assert.equal(String(late[0]?.data.text).length, 4_000);
      },
    },
    {
      title: "what time has done is seen by every reader before any sweep ran",
      async run({ backend, another, pass }) {
        const reader = await another();
        const claim = await runningTask(backend, boardTask({ assignee: "A", priority: 7, maxAttempts: 2 }));
        const queued = await postOne(backend, runTask({ limits: { queueMs: leaseMs } }));
        await pass(leaseMs + 50);
        const seen = await reader.store.get(claim.taskId);
        assert.deepEqual([seen?.status, seen?.assignee, seen?.priority, seen?.claimedBy], ["pending", "A", 7, null]);
        const expired = await reader.store.get(queued.id);
        assert.deepEqual([expired?.status, expired?.end?.reason], ["error", "queue_timeout"]);
        assert.match(expired?.end?.message ?? "", /lane model/);
        const again = await claimOne(reader, claimQuery("board"));
        assert.equal(again.task.attempt, 2);
        await pass(leaseMs + 50);
        const ended = await backend.store.get(claim.taskId);
        assert.deepEqual([ended?.status, ended?.end?.reason, ended?.attempt], ["error", "lease_lost", 2]);
        assert.deepEqual((await eventsOf(backend, claim.taskId)).filter((kind) => kind === "lease_lost").length, 2);
        assert.deepEqual((await backend.queue.sweep()).moved, []);
      },
    },
    {
      title: "cancel against complete has one winner, and every reader sees the same one",
      async run({ backend, another }) {
        const other = await another();
        for (let round = 0; round < 30; round++) {
          const claim = await runningTask(backend, boardTask());
          await applied(backend, claim.taskId, { kind: "request_cancel", key: newKey(), by: poster, reason: "stop" });
          const answers = await Promise.all([
            complete(backend, claim, "done"),
            other.queue.apply(claim.taskId, { kind: "cancel", key: newKey(), by: poster, reason: "stop", ref: claim }),
          ]);
          assert.equal(answers.filter(({ ok }) => ok).length, 1);
          const [one, two] = [await backend.store.get(claim.taskId), await other.store.get(claim.taskId)];
          assert.deepEqual(one, two);
          assert.equal(one?.status, answers[0]?.ok ? "completed" : "cancelled");
          const before = await eventsOf(backend, claim.taskId);
          assert.equal(before.filter((kind) => kind === "completed" || kind === "cancelled").length, 1);
        }
      },
    },
    {
      title: "a cancel that nobody answers is done by the sweep after its grace",
      async run({ backend, pass }) {
        const claim = await runningTask(backend, boardTask({ limits: { cancelGraceMs: leaseMs } }), {
          leaseMs: 60_000,
        });
        await applied(backend, claim.taskId, { kind: "request_cancel", key: newKey(), by: poster, reason: "no need" });
        assert.deepEqual(await backend.queue.renew([claim], 60_000), ["cancel_requested"]);
        assert.equal((await backend.store.get(claim.taskId))?.status, "running");
        await pass(leaseMs + 50);
        const report = await backend.queue.sweep();
        assert.deepEqual(report.moved, [{ taskId: claim.taskId, event: "cancelled" }]);
        const answer = await complete(backend, claim, "late");
        assert.equal(answer.ok || answer.why, "stale");
        const retried = await applied(backend, claim.taskId, { kind: "retry", key: newKey(), by: poster });
        assert.deepEqual([retried.task.attempt, retried.task.status, retried.task.end], [2, "pending", null]);
        const [first, second] = await backend.store.attempts(claim.taskId);
        assert.deepEqual([first?.state, second?.state, second?.attempt], ["cancelled", "queued", 2]);
      },
    },
    {
      title: "ended-2: an attempt that ended is never changed: retry adds one, and the old result stays readable",
      async run({ backend }) {
        const claim = await runningTask(backend, boardTask());
        await complete(backend, claim, "first");
        const [before] = await backend.store.attempts(claim.taskId);
        await applied(backend, claim.taskId, {
          kind: "retry",
          key: newKey(),
          by: poster,
          modifyPrompt: "only the tests",
        });
        const again = await claimOne(backend, claimQuery("board", { taskId: claim.taskId }));
        assert.deepEqual(
          [again.task.attempt, again.resume?.why, again.resume?.modifyPrompt],
          [2, "retry", "only the tests"],
        );
        assert.equal(again.resume?.previous?.end?.reason, "done");
        await complete(backend, again, "second");
        const attempts = await backend.store.attempts(claim.taskId);
        assert.deepEqual(attempts[0], before);
        for (const [index, text] of ["first", "second"].entries()) {
          const read = await backend.store.readResult(claim.taskId, index + 1, { offset: 0, limit: 100 });
          assert.equal(read.text, text);
        }
      },
    },
    {
      title: "fail goes back to the queue while attempts are left and it may be repeated, after its backoff",
      async run({ backend, pass }) {
        const claim = await runningTask(backend, boardTask({ maxAttempts: 2 }), { leaseMs: 60_000 });
        const edge = {
          kind: "fail",
          reason: "runner_failed",
          message: "crashed",
          retryable: true,
          backoffMs: leaseMs,
        } as const;
        const requeued = await applied(backend, claim.taskId, {
          ...edge,
          key: newKey(),
          ref: claim,
          result: { text: "half" },
        });
        assert.deepEqual(
          [requeued.event.kind, requeued.task.status, requeued.task.attempt],
          ["requeued", "pending", 1],
        );
        assert.deepEqual(await backend.queue.claim(claimQuery("board")), []);
        await pass(leaseMs + 50);
        const second = await claimOne(backend, claimQuery("board", { leaseMs: 60_000 }));
        assert.equal(second.task.attempt, 2);
        const ended = await applied(backend, second.taskId, { ...edge, key: newKey(), ref: second });
        assert.deepEqual([ended.event.kind, ended.task.status], ["failed", "error"]);
        const first = (await backend.store.attempts(claim.taskId))[0];
        assert.deepEqual([first?.result?.head, first?.result?.partial], ["half", true]);
      },
    },
    {
      title: "a task that ends between two attempts leaves the attempt that has ended as it was",
      async run({ backend, pass }) {
        for (const way of ["cancel", "exceed", "expire", "hold"] as const) {
          const limits = way === "expire" ? { limits: { queueMs: leaseMs } } : {};
          const claim = await runningTask(backend, runTask({ maxAttempts: 3, ...limits }), {
            leaseMs: 60_000,
            lanes: wide,
          });
          const ending = {
            reason: "runner_failed",
            message: "crashed",
            retryable: true,
            result: { text: "half" },
          } as const;
          await applied(backend, claim.taskId, { kind: "fail", key: newKey(), ref: claim, ...ending });
          const before = await backend.store.attempts(claim.taskId);
          assert.deepEqual([before.length, before[0]?.end?.reason], [1, "runner_failed"]);
          if (way === "expire") await pass(leaseMs + 50);
          else if (way === "hold") {
            const ask = { ...approval, kind: "stale_resume", key: newKey(), onReject: "end" } as const;
            await applied(backend, claim.taskId, { kind: "hold", key: newKey(), approval: ask });
            const [open] = await backend.store.approvals({ open: true, taskId: claim.taskId });
            const decided = { approvalId: open?.id ?? "", decision: "rejected", by: { human: "ann" } } as const;
            await applied(backend, claim.taskId, { kind: "decide", key: newKey(), ...decided });
          } else if (way === "cancel")
            await applied(backend, claim.taskId, { kind: "cancel", key: newKey(), by: poster, reason: null });
          else await applied(backend, claim.taskId, { kind: "exceed", key: newKey(), message: "used up" });
          const task = await backend.store.get(claim.taskId);
          const reasons = {
            cancel: "cancelled",
            exceed: "budget_exceeded",
            expire: "queue_timeout",
            hold: "approval_rejected",
          };
          assert.equal(task?.end?.reason, reasons[way]);
          assert.deepEqual(await backend.store.attempts(claim.taskId), before, way);
          assert.equal(task?.result?.head, "half");
          const retried = await applied(backend, claim.taskId, { kind: "retry", key: newKey(), by: poster });
          assert.equal(retried.task.attempt, 2);
        }
      },
    },
    {
      title: "an approval: one decision wins, the same ask is put once, the run goes on with the decision",
      async run({ backend, another }) {
        const claim = await runningTask(backend, runTask(), { leaseMs: 60_000 });
        await applied(backend, claim.taskId, { kind: "ask", key: newKey(), ref: claim, approval, attached: false });
        const [open] = await backend.store.approvals({ open: true, root: "root" });
        assert.ok(open);
        const other = await another();
        const decide = (decision: "approved" | "rejected") =>
          ({
            kind: "decide",
            key: newKey(),
            approvalId: open.id,
            decision,
            by: { human: "ann" },
            comment: "fine",
          }) as const;
        const answers = await Promise.all([
          backend.queue.apply(claim.taskId, decide("approved")),
          other.queue.apply(claim.taskId, decide("rejected")),
          backend.queue.apply(claim.taskId, decide("approved")),
        ]);
        assert.equal(answers.filter(({ ok }) => ok).length, 1);
        const again = await claimOne(other, claimQuery("dispatch", { engine: "engine-B", leaseMs: 60_000 }));
        assert.deepEqual([again.task.attempt, again.fence, again.resume?.why], [1, 2, "approval"]);
        const [decided] = await other.store.approvals({ taskId: claim.taskId });
        assert.equal(again.resume?.decision?.decision, decided?.state);
        await applied(other, claim.taskId, { kind: "start", key: newKey(), ref: again });
        const repeated = await other.queue.apply(claim.taskId, {
          kind: "ask",
          key: newKey(),
          ref: again,
          approval,
          attached: false,
        });
        assert.equal(repeated.ok || repeated.why, "wrong_state");
      },
    },
    {
      title: "an attached run keeps the first right to go on while its lease lives",
      async run({ backend, pass }) {
        const claim = await runningTask(backend, runTask(), { leaseMs: 60_000 });
        await applied(backend, claim.taskId, { kind: "ask", key: newKey(), ref: claim, approval, attached: true });
        assert.deepEqual(await backend.queue.renew([claim], leaseMs), ["ok"]);
        const [open] = await backend.store.approvals({ open: true, taskId: claim.taskId });
        assert.ok(open);
        await applied(backend, claim.taskId, {
          kind: "decide",
          key: newKey(),
          approvalId: open.id,
          decision: "approved",
          by: poster,
        });
        assert.deepEqual(await backend.queue.claim(claimQuery("dispatch", { engine: "engine-B" })), []);
        await pass(leaseMs + 50);
        const taken = await claimOne(backend, claimQuery("dispatch", { engine: "engine-B" }));
        assert.deepEqual([taken.resume?.attached, taken.resume?.decision?.allowed], [false, true]);
      },
    },
    {
      title: "an approval that nobody decides expires as it says",
      async run({ backend, pass }) {
        const outcomes: string[] = [];
        for (const [onExpire, onReject] of [
          ["reject", "resume"],
          ["reject", "end"],
          ["allow", "end"],
        ] as const) {
          const claim = await runningTask(backend, runTask(), { leaseMs: 60_000, lanes: wide });
          const ask = { ...approval, key: newKey(), expiresMs: leaseMs, onExpire, onReject };
          await applied(backend, claim.taskId, {
            kind: "ask",
            key: newKey(),
            ref: claim,
            approval: ask,
            attached: false,
          });
          await pass(leaseMs + 50);
          const [open] = await backend.store.approvals({ taskId: claim.taskId });
          const late = await backend.queue.apply(claim.taskId, {
            kind: "decide",
            key: newKey(),
            approvalId: open?.id ?? "",
            decision: "approved",
            by: poster,
          });
          assert.equal(late.ok || late.why, "wrong_state");
          const task = await backend.store.get(claim.taskId);
          outcomes.push(`${task?.status} ${task?.end?.reason ?? ""}`.trim());
          const [again] =
            task?.status === "pending"
              ? await backend.queue.claim(claimQuery("dispatch", { taskId: task.id, lanes: wide }))
              : [];
          if (again !== undefined) outcomes.push(String(again.resume?.decision?.allowed));
        }
        assert.deepEqual(outcomes, ["pending", "false", "error approval_expired", "pending", "true"]);
      },
    },
    {
      title: "dependencies: all must end; one that failed fails what waits for it, and so on below",
      async run({ backend }) {
        const [a, b] = [await postOne(backend, boardTask()), await postOne(backend, boardTask())];
        const waits = await postOne(backend, boardTask({ dependsOn: [a.id, b.id] }));
        const below = await postOne(backend, boardTask({ dependsOn: [waits.id] }));
        const claims = await backend.queue.claim(claimQuery("board", { n: 5, leaseMs: 60_000 }));
        assert.deepEqual(
          claims.map(({ taskId }) => taskId),
          [a.id, b.id],
        );
        const [first, second] = claims;
        assert.ok(first && second);
        await applied(backend, a.id, {
          kind: "fail",
          key: newKey(),
          ref: first,
          reason: "runner_failed",
          message: "m",
          retryable: false,
        });
        assert.equal((await backend.store.get(waits.id))?.state, "blocked");
        await complete(backend, second);
        for (const id of [waits.id, below.id]) {
          const task = await backend.store.get(id);
          assert.deepEqual([task?.status, task?.end?.reason], ["error", "dependency_failed"]);
          assert.ok(isEnded(task?.state ?? "queued"));
        }
        const late = await postOne(backend, boardTask({ dependsOn: [a.id] }));
        assert.equal(late.end?.reason, "dependency_failed");
        await assert.rejects(
          backend.queue.post([boardTask(), boardTask({ dependsOn: ["task_00000000000000000000000000"] })]),
          /depends_on/,
        );
        assert.equal((await backend.store.find({ limit: 1 })).total, 5);
      },
    },
  ];
}

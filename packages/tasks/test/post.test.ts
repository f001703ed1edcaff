import { describe, expect, it, onTestFinished } from "vitest";
import { boardTask, claimOne, claimQuery, complete, poster, postOne } from "../src/contract/setting.ts";
import type { NewTask } from "../src/index.ts";
import { openSqlite } from "./setting.ts";

const open = async () => {
  const store = await openSqlite();
  onTestFinished(store.close);
  return store;
};

describe("posting many tasks at once", () => {
  it("keeps their order, bodies of any length and what each asks for", async () => {
    const { backend } = await open();
    const first = await postOne(backend, boardTask({ title: "before" }));
    const tasks = Array.from({ length: 130 }, (_, index): NewTask => {
      const more: Partial<NewTask> = { title: `t${index}`, body: `${"语".repeat(index * 11)}.` };
      if (index % 40 === 7) more.dedupeKey = "the same";
      if (index % 50 === 9) more.dependsOn = [first.id];
      if (index % 60 === 11) more.assignee = "ann";
      if (index === 77) more.metadata = { a: 1 };
      return boardTask(more);
    });
    const posted = await backend.queue.post(tasks);
    const created = posted.filter((one) => one.created).map(({ task }) => task);
    expect(posted.map((one, index) => (one.created ? -1 : index)).filter((at) => at >= 0)).toEqual([47, 87, 127]);
    expect(posted[127]?.task.id).toBe(posted[7]?.task.id);
    expect(created.map(({ seq }) => seq)).toEqual(created.map((_, index) => first.seq + 1 + index));
    for (const [index, { task }] of posted.entries()) {
      const found = await backend.store.get(task.id);
      expect(found).toEqual(task);
      if (![47, 87, 127].includes(index)) expect(found?.body).toBe(tasks[index]?.body);
    }
    expect(posted[9]?.task.state).toBe("blocked");
    expect(posted[77]?.task.metadata).toEqual({ a: 1 });
    const told = await backend.store.notices({ to: ["agent:ann"], limit: 9, leaseMs: 1 });
    expect(told.map(({ taskId, kind }) => [taskId, kind])).toEqual(
      [11, 71].map((index) => [posted[index]?.task.id, "task_posted"]),
    );
  });

  it("posts none of them when one cannot be", async () => {
    const { backend } = await open();
    const tasks = [...Array.from({ length: 60 }, () => boardTask()), boardTask({ dependsOn: ["task_unknown"] })];
    await expect(backend.queue.post(tasks)).rejects.toThrow(/depends_on names a task that is not on this store/);
    expect((await backend.store.find({ limit: 1 })).total).toBe(0);
    expect(await backend.queue.claim(claimQuery("board"))).toEqual([]);
  });
});

describe("the first event of a task", () => {
  it("is there for every reader, in its place and under every filter", async () => {
    const { backend, clock } = await open();
    const at = new Date(clock.now()).toISOString();
    const { id } = await postOne(backend, boardTask({ assignee: "A" }));
    clock.advance(10);
    await complete(backend, await claimOne(backend, claimQuery("board")));
    const read = (query: Parameters<typeof backend.store.events>[1]) => backend.store.events(id, query);
    const first = await read({ limit: 1 });
    const data = { by: poster, assignee: "A" };
    expect(first).toEqual({
      items: [{ taskId: id, seq: 1, attempt: 0, at, kind: "posted", data }],
      total: 3,
      nextCursor: "1",
    });
    const kinds = async (query: Parameters<typeof backend.store.events>[1]) => {
      const { items, total } = await read(query);
      expect(total).toBe(items.length);
      return items.map(({ kind }) => kind);
    };
    expect(await kinds({ afterSeq: 1, limit: 9 })).toEqual(["claimed", "completed"]);
    expect(await kinds({ kinds: ["posted", "completed"], limit: 9 })).toEqual(["posted", "completed"]);
    expect(await kinds({ kinds: ["claimed"], limit: 9 })).toEqual(["claimed"]);
    expect(await kinds({ since: at, limit: 9 })).toEqual(["posted", "claimed", "completed"]);
    expect(await kinds({ since: new Date(clock.now()).toISOString(), limit: 9 })).toEqual(["claimed", "completed"]);
  });

  it("is not taken for an edge that was sent with its key", async () => {
    const { backend } = await open();
    const { id } = await postOne(backend, boardTask());
    const edge = { kind: "cancel", key: "post", by: poster, reason: null } as const;
    const applied = await backend.queue.apply(id, edge);
    expect(applied.ok && applied.event.kind).toBe("cancelled");
  });
});

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { Task } from "../model.ts";
import { matchesTask } from "../search-text.ts";
import type { Page, TaskBackend } from "../store.ts";
import { lengthOf } from "../text-window.ts";
import {
  applied,
  boardTask,
  type ContractCase,
  claimOne,
  claimQuery,
  complete,
  newKey,
  postOne,
  runningTask,
  runTask,
} from "./setting.ts";

const long = { leaseMs: 60_000 };

async function readAll({ store }: TaskBackend, id: string, step: number): Promise<string> {
  let text = "";
  for (let offset: number | null = 0; offset !== null; ) {
    const part = await store.readResult(id, 1, { offset, limit: step });
    text += part.text;
    offset = part.nextOffset;
  }
  return text;
}

const words = [
  "Parser",
  "cache",
  "解析器",
  "解析",
  "100%",
  "a_b",
  'say "hi"',
  "*star*",
  "ＦＵＬＬ",
  "straße",
  "o'clock",
  "x",
];
const queries = [
  ...words,
  "parser cache",
  '"say hi"',
  "full",
  "器",
  "析器 x",
  "ars",
  "*",
  "%",
  "_",
  "nothing-here",
  '"a_b 1"',
  "RESULT",
];

/** Ids of all pages; `between` runs after each. */
async function searchAll(
  { store }: TaskBackend,
  text: string,
  sort: "recent" | "relevance",
  between: () => Promise<unknown>,
): Promise<string[]> {
  const found: string[] = [];
  let cursor: string | null = null;
  do {
    const page: Page<Task> = await store.find({ text, sort, limit: 7, ...(cursor !== null && { cursor }) });
    found.push(...page.items.map(({ id }) => id));
    cursor = page.nextCursor;
    await between();
  } while (cursor !== null);
  return found;
}

export function historyCases(): ContractCase[] {
  return [
    {
      title: "events and attempts of every size are read as they were written, in order, through any number of hands",
      async run({ backend }) {
        const { id } = await postOne(backend, boardTask({ maxAttempts: 20 }));
        const claimAgain = () => claimOne(backend, claimQuery("board", { taskId: id, ...long }));
        const kinds = ["posted"];
        const reasons: string[] = [];
        for (const [round, size] of [10, 4_000, 10, 300, 300, 300, 300, 2_000, 10, 10].entries()) {
          const ref = await claimAgain();
          if (round % 3 === 0) {
            await backend.store.append(id, ref, { key: newKey(), kind: "progress", data: { round } });
            kinds.push("claimed", "progress", "released");
          } else kinds.push("claimed", "released");
          const reason = `${round} ${"解".repeat(size)}`;
          reasons.push(reason);
          const release = { kind: "release", key: `release ${round}`, ref, reason } as const;
          const first = await applied(backend, id, release);
          const again = await applied(backend, id, release);
          assert.deepEqual(again.event, first.event);
        }
        const { items } = await backend.store.events(id, { limit: 1_000 });
        assert.deepEqual(
          items.map(({ seq, kind }) => [seq, kind]),
          kinds.map((kind, index) => [index + 1, kind]),
        );
        const released = await backend.store.events(id, { kinds: ["released"], limit: 100 });
        assert.deepEqual(
          released.items.map(({ data }) => data.reason),
          reasons,
        );
        const after = await backend.store.events(id, { afterSeq: 9, limit: 4 });
        assert.deepEqual(after.items, items.slice(9, 13));
        assert.equal(after.total, items.length - 9);
        const texts = ["short", "long ".repeat(2_000), "", "s".repeat(70_000), "last"];
        for (const [index, text] of texts.entries()) {
          if (index > 0)
            await applied(backend, id, { kind: "retry", key: newKey(), by: { agent: "a", sessionId: "s" } });
          await complete(backend, await claimAgain(), text);
        }
        const attempts = await backend.store.attempts(id);
        assert.deepEqual(
          attempts.map(({ attempt, state, result }) => [attempt, state, result?.chars]),
          texts.map((text, index) => [index + 1, "completed", text.length]),
        );
        for (const [index, text] of texts.entries()) {
          const read = await backend.store.readResult(id, index + 1, { offset: 0, limit: 100_000 });
          assert.deepEqual([read.text === text, read.totalChars], [true, text.length]);
        }
        assert.equal((await backend.store.get(id))?.result?.head, "last");
      },
    },
    {
      title: "a completed task has its result in the same moment, and windows join to the exact text",
      async run({ backend }) {
        const piece = "añ👍🏽漢字 e\u0301\n";
        const text = piece.repeat(6_000);
        const claim = await runningTask(backend, boardTask(), long);
        await complete(backend, claim, text);
        const task = await backend.store.get(claim.taskId);
        const total = lengthOf(text);
        assert.deepEqual([task?.status, task?.result?.chars, task?.result?.droppedChars], ["completed", total, 0]);
        assert.equal(task?.result?.sha256, createHash("sha256").update(text).digest("hex"));
        assert.equal(lengthOf(task?.result?.head ?? ""), 4_000);
        for (const step of [1_000, 7_000, 16_384, 40_001])
          assert.equal(await readAll(backend, claim.taskId, step), text);
        const past = await backend.store.readResult(claim.taskId, 1, { offset: total + 5, limit: 10 });
        assert.deepEqual(past, { text: "", offset: total + 5, chars: 0, totalChars: total, nextOffset: null });
        const tail = await backend.store.readResult(claim.taskId, 1, { tail: 3 });
        assert.deepEqual([tail.text, tail.totalChars, tail.nextOffset], ["e\u0301\n", total, null]);
      },
    },
    {
      title: "of a result beyond 16 MiB the end is kept, and it is said how much is missing",
      async run({ backend }) {
        const text = `${"ü".repeat(9 * 1_024 * 1_024)}the end`;
        const claim = await runningTask(backend, boardTask(), long);
        await complete(backend, claim, text);
        const task = await backend.store.get(claim.taskId);
        assert.equal((task?.result?.chars ?? 0) + (task?.result?.droppedChars ?? 0), lengthOf(text));
        assert.ok((task?.result?.droppedChars ?? 0) > 0);
        const tail = await backend.store.readResult(claim.taskId, 1, { tail: 7 });
        assert.equal(tail.text, "the end");
      },
    },
    {
      title: "progress-2: events are gapless, replay what was missed, and keep the newest 500 and 100",
      async run({ backend, another }) {
        const other = await another();
        const claim = await runningTask(backend, boardTask(), long);
        const seqs = await Promise.all(
          Array.from({ length: 50 }, (_, index) =>
            (index % 2 === 0 ? backend : other).store.append(claim.taskId, claim, {
              key: newKey(),
              kind: "checkpoint",
              data: { index },
            }),
          ),
        );
        assert.equal(new Set(seqs).size, 50);
        const page = await other.store.events(claim.taskId, { afterSeq: 7, limit: 1_000 });
        assert.deepEqual(
          page.items.map(({ seq }) => seq),
          Array.from({ length: 45 }, (_, index) => index + 8),
        );
        const twice = { key: "once", kind: "progress", data: { n: 1 } } as const;
        assert.equal(
          await backend.store.append(claim.taskId, claim, twice),
          await other.store.append(claim.taskId, claim, twice),
        );
        for (let index = 0; index < 520; index++)
          await backend.store.append(claim.taskId, claim, { key: newKey(), kind: "progress", data: { index } });
        for (let index = 0; index < 60; index++)
          await backend.store.append(claim.taskId, claim, { key: newKey(), kind: "checkpoint", data: {} });
        const kept = async (kind: "progress" | "checkpoint") =>
          (await backend.store.events(claim.taskId, { kinds: [kind], limit: 1_000 })).items;
        assert.deepEqual([(await kept("progress")).length, (await kept("checkpoint")).length], [500, 100]);
        const last = (await kept("checkpoint")).at(-1);
        assert.equal(last?.seq, (await backend.store.get(claim.taskId))?.lastEventSeq);
        assert.equal(last?.seq, 2 + 50 + 1 + 520 + 60);
      },
    },
    {
      title: "events since a time are compared as time, in any offset",
      async run({ backend, pass }) {
        const claim = await runningTask(backend, boardTask(), long);
        await pass(50);
        await backend.store.append(claim.taskId, claim, { key: newKey(), kind: "progress", data: {} });
        const [event] = (await backend.store.events(claim.taskId, { kinds: ["progress"], limit: 1 })).items;
        assert.ok(event);
        const shifted = new Date(Date.parse(event.at) + 8 * 3_600_000).toISOString().replace("Z", "+08:00");
        const page = await backend.store.events(claim.taskId, { since: shifted, limit: 10 });
        assert.deepEqual(
          page.items.map(({ kind }) => kind),
          ["progress"],
        );
      },
    },
    {
      title: "search gives exactly what matchesTask says, and pages without gap or repeat while tasks are added",
      async run({ backend }) {
        for (let index = 0; index < 40; index++) {
          const pick = (step: number) => words[(index * step + 3) % words.length] ?? "";
          const task = await postOne(
            backend,
            boardTask({ title: `${pick(1)} ${index}`, body: `${pick(5)} ${pick(7)} text` }),
          );
          if (index % 3 === 0) {
            const claim = await claimOne(backend, claimQuery("board", { taskId: task.id, ...long }));
            await complete(backend, claim, `result ${pick(11)}`);
          }
        }
        const tasks = (await backend.store.find({ limit: 100 })).items;
        for (const query of queries) {
          const expected = tasks.filter((task) => matchesTask(task, query)).map(({ id }) => id);
          for (const sort of ["recent", "relevance"] as const) {
            const found = await searchAll(backend, query, sort, async () => undefined);
            assert.deepEqual(
              sort === "recent" ? found : [...found].sort(),
              sort === "recent" ? expected : [...expected].sort(),
              query,
            );
          }
        }
        for (const sort of ["recent", "relevance"] as const) {
          const before = (await backend.store.find({ text: "text", limit: 100 })).items.map(({ id }) => id);
          const found = await searchAll(backend, "text", sort, () => postOne(backend, boardTask({ title: "text" })));
          assert.deepEqual([...found].sort(), [...before].sort());
        }
      },
    },
    {
      title: "a cursor belongs to its query",
      async run({ backend }) {
        for (let index = 0; index < 3; index++) await postOne(backend, boardTask());
        const page = await backend.store.find({ limit: 1 });
        assert.ok(page.nextCursor);
        await assert.rejects(backend.store.find({ limit: 1, kind: "dispatch", cursor: page.nextCursor }), /cursor/);
        await assert.rejects(backend.store.find({ limit: 1, cursor: "made-up" }), /cursor/);
      },
    },
    {
      title: "the tree: children, continuations beside their source, what is hidden counted",
      async run({ backend }) {
        const top = await postOne(backend, runTask());
        const child = await postOne(backend, runTask({ parentTask: top.id }));
        const other = await postOne(backend, runTask({ parentTask: top.id }));
        await postOne(backend, runTask({ parentTask: child.id }));
        const goesOn = await postOne(backend, runTask({ parentTask: top.id, continues: child.id }));
        const page = await backend.store.tree({ task: top.id, depth: 2, limit: 100 });
        assert.deepEqual(
          page.nodes.map(({ task, level }) => [task.id, level]),
          [
            [top.id, 0],
            [child.id, 1],
            [goesOn.id, 1],
            [other.id, 1],
          ],
        );
        assert.deepEqual([page.total, page.hiddenBelowDepth], [5, 1]);
        assert.equal((await backend.store.tree({ root: "root", depth: 20, limit: 2 })).nodes.length, 2);
      },
    },
    {
      title: "buckets fall into the hours and days of the zone, whatever zone the machine is in",
      async run({ backend }) {
        await postOne(backend, boardTask());
        const task = (await backend.store.find({ limit: 1 })).items[0];
        assert.ok(task);
        for (const timeZone of ["UTC", "Asia/Shanghai", "America/St_Johns"]) {
          const { buckets } = await backend.store.buckets({ groupBy: "day", timeZone, limit: 10 });
          const expected = new Intl.DateTimeFormat("sv-SE", { timeZone }).format(new Date(task.createdAt));
          assert.deepEqual(
            buckets.map(({ key, count }) => [key, count]),
            [[expected, 1]],
          );
        }
      },
    },
    {
      title: "what is old and ended is taken out, but nothing that a living task needs",
      async run({ backend, pass }) {
        const needed = await postOne(backend, boardTask());
        await complete(backend, await claimOne(backend, claimQuery("board", long)));
        const alone = await postOne(backend, boardTask());
        await complete(backend, await claimOne(backend, claimQuery("board", long)));
        const waits = await postOne(
          backend,
          boardTask({ dependsOn: [needed.id, (await postOne(backend, boardTask())).id] }),
        );
        await pass(20);
        assert.deepEqual(await backend.store.prune({ days: 0 }), { tasks: 1 });
        assert.equal(await backend.store.get(alone.id), undefined);
        assert.equal((await backend.store.get(needed.id))?.status, "completed");
        assert.equal((await backend.store.get(waits.id))?.state, "blocked");
        assert.deepEqual(await backend.store.prune({ days: 0 }), { tasks: 0 });
        assert.equal((await backend.store.find({ text: "*", limit: 9 })).total, 3);
      },
    },
  ];
}

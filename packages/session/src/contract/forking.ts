import assert from "node:assert/strict";
import {
  assistant,
  type ContractCase,
  call,
  forkOf,
  foundBy,
  idsOf,
  listOf,
  messagesOf,
  project,
  recorded,
  rejects,
  searchIn,
  signal,
  text,
  usage,
  user,
} from "./setting.ts";

const six = ["m0", "m1", "m2", "m3", "m4", "m5"].map((id, n) =>
  n % 2 === 0 ? user(id, `text of ${id}`) : assistant(id, [call(`c${n}`), text(`text of ${id}`)]),
);

export function forkingCases(): ContractCase[] {
  return [
    {
      title: "a fork holds everything up to its point and nothing after, at each point",
      async run({ store }) {
        const id = await recorded(store, { title: "Sort", branch: "b" }, six);
        for (const [n, { id: at }] of six.entries()) {
          const made = await forkOf(store, id, n % 2 === 0 ? at : `#${n}`);
          assert.deepEqual(made.at, { messageId: at, index: n });
          assert.equal(made.copied, n + 1);
          assert.equal(made.fork.messages, n + 1);
          assert.deepEqual(made.fork.parent, { id, kind: "fork", at });
          assert.deepEqual([made.fork.title, made.fork.directory, made.fork.branch], ["Sort (fork)", project, "b"]);
          const source = await messagesOf(store, id, { to: n + 1 });
          assert.deepEqual(
            await messagesOf(store, made.fork.id),
            source.map((message) => ({ ...message, inherited: true })),
          );
        }
        assert.equal((await store.reader.get(id, signal))?.messages, 6);
        assert.equal((await forkOf(store, id)).at.index, 5);
        assert.equal((await forkOf(store, id, "#1", "Mine")).fork.title, "Mine");
        const list = await listOf(store, { limit: 100 });
        assert.equal(list.total, 9);
      },
    },
    {
      title: "source and fork go on apart",
      async run({ store }) {
        const id = await recorded(store, {}, six.slice(0, 3));
        const { fork } = await forkOf(store, id, "m1");
        await recorded(store, { id }, [user("later", "in the source")]);
        await recorded(store, { id: fork.id }, [user("own", "in the fork"), user("later", "in the fork too")]);
        assert.deepEqual(await idsOf(store, id), ["m0", "m1", "m2", "later"]);
        assert.deepEqual(await idsOf(store, fork.id), ["m0", "m1", "own", "later"]);
        const messages = await messagesOf(store, fork.id);
        assert.deepEqual(
          messages.map(({ index, inherited }) => [index, inherited]),
          [
            [0, true],
            [1, true],
            [2, false],
            [3, false],
          ],
        );
        assert.deepEqual(await idsOf(store, fork.id, { from: 1, to: 3 }), ["m1", "own"]);
        assert.equal((await store.reader.message(fork.id, "#3", signal))?.id, "later");
        assert.equal(await store.reader.count(fork.id, signal), 4);
      },
    },
    {
      title: "a chain of 50 forks reads right",
      async run({ store }) {
        let id = await recorded(store, {}, [user("m0", "zero"), user("extra", "not inherited")]);
        const expected = ["m0"];
        for (let n = 1; n <= 50; n += 1) {
          const { fork } = await forkOf(store, id, `m${n - 1}`);
          id = await recorded(store, { id: fork.id }, [user(`m${n}`, "own"), user("extra", `left out ${n}`)]);
          expected.push(`m${n}`);
        }
        assert.deepEqual(await idsOf(store, id), [...expected, "extra"]);
        assert.deepEqual(await idsOf(store, id, { from: 25, to: 27 }), ["m25", "m26"]);
        assert.equal((await store.reader.message(id, "m0", signal))?.index, 0);
      },
    },
    {
      title: "what a fork inherited costs nothing of its own, and is shown apart",
      async run({ store }) {
        const answer = (id: string, costUsd: number) =>
          assistant(id, [text("a")], { model: "m", usage: usage(10, 5), costUsd });
        const id = await recorded(store, {}, [user("m0", "q"), answer("m1", 0.1)]);
        const { fork } = await forkOf(store, id);
        const report = await store.reader.usage(fork.id, signal);
        assert.deepEqual(
          report.models.map(({ inherited, recordedUsd }) => [inherited, recordedUsd]),
          [[true, 0.1]],
        );
        await recorded(store, { id: fork.id }, [answer("m2", 0.3)]);
        const more = await store.reader.usage(fork.id, signal);
        assert.deepEqual(more.models.map(({ inherited, recordedUsd }) => [inherited, recordedUsd]).sort(), [
          [false, 0.3],
          [true, 0.1],
        ]);
      },
    },
    {
      title: "a fork shows the changed files of its inherited messages, and its own",
      async run({ store }) {
        const writer = await store.open({ directory: project });
        await writer.append([user("m0", "zero"), user("m1", "one")]);
        await writer.file({ messageId: "m0", path: "/w/app/a", before: null, after: Uint8Array.of(1) });
        await writer.file({ messageId: "m1", path: "/w/app/b", before: null, after: Uint8Array.of(2) });
        await writer[Symbol.asyncDispose]();
        const { fork } = await forkOf(store, writer.id, "m0");
        const own = await store.open({ id: fork.id, directory: project });
        await own.append(user("m2", "two"));
        await own.file({ messageId: "m2", path: "/w/app/c", before: null, after: Uint8Array.of(3) });
        await own[Symbol.asyncDispose]();
        const changes = await store.reader.changes(fork.id, undefined, signal);
        assert.deepEqual(
          changes?.changes.map(({ path }) => path),
          ["/w/app/a", "/w/app/c"],
        );
      },
    },
    {
      title: "a point that is none is not_found; one whose calls have no result is a conflict that names another",
      async run({ store }) {
        const open = { kind: "tool", name: "bash", callId: "c", input: "{}", status: "no_result" } as const;
        const id = await recorded(store, {}, [user("m0", "q"), assistant("m1", [open]), user("m2", "next")]);
        await rejects(forkOf(store, id, "m9"), "not_found");
        await rejects(forkOf(store, id, "#3"), "not_found");
        await rejects(forkOf(store, "nobody"), "not_found");
        await rejects(forkOf(store, id, "m1"), "conflict", /#1/);
        await rejects(forkOf(store, await recorded(store, {}, [])), "not_found");
        assert.equal((await listOf(store)).total, 2);
      },
    },
    {
      title: "an inherited message is found once, where it was written; in its fork when that is asked",
      async run({ store }) {
        const id = await recorded(store, { id: "source" }, [user("m0", "a needle here"), user("m1", "and more")]);
        const { fork } = await forkOf(store, id, "m0");
        await recorded(store, { id: fork.id }, [user("own", "another needle")]);
        const all = await searchIn(store, "needle");
        assert.deepEqual(
          all.hits.map(({ sessionId, messageId, index }) => [sessionId, messageId, index]).sort(),
          [
            ["source", "m0", 0],
            [fork.id, "own", 1],
          ].sort(),
        );
        const inside = await searchIn(store, "needle", { session: fork.id });
        assert.deepEqual(inside.hits.map(({ sessionId, messageId, index }) => [sessionId, messageId, index]).sort(), [
          [fork.id, "m0", 0],
          [fork.id, "own", 1],
        ]);
        assert.deepEqual(await foundBy(store, "needle", { session: "source" }), ["m0"]);
        assert.deepEqual(await foundBy(store, "more", { session: fork.id }), []);
      },
    },
  ];
}

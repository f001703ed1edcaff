import assert from "node:assert/strict";
import {
  assistant,
  type ContractCase,
  call,
  idsOf,
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

export function readingCases(): ContractCase[] {
  return [
    {
      title: "pages by number have no gap and no repeat, also while the session grows",
      async run({ store }) {
        const ids = Array.from({ length: 450 }, (_, n) => `m${n}`);
        const id = await recorded(
          store,
          {},
          ids.map((one) => user(one, one)),
        );
        assert.deepEqual(await idsOf(store, id), ids);
        assert.deepEqual(await idsOf(store, id, { from: 20, to: 30 }), ids.slice(20, 30));
        assert.deepEqual(await idsOf(store, id, { from: 449 }), ["m449"]);
        assert.deepEqual(await idsOf(store, id, { from: 450 }), []);
        await recorded(store, { id }, [user("m450", "later")]);
        assert.deepEqual(await idsOf(store, id, { from: 445 }), [...ids.slice(445), "m450"]);
        assert.deepEqual(
          (await messagesOf(store, id, { from: 198, to: 203 })).map(({ index }) => index),
          [198, 199, 200, 201, 202],
        );
        assert.equal(await store.reader.count(id, signal), 451);
        assert.deepEqual(await store.reader.branches(id, signal), []);
      },
    },
    {
      title: "one message is found by its id and by its number",
      async run({ store }) {
        const id = await recorded(store, {}, [user("m0", "zero"), user("#0", "odd id"), user("m2", "two")]);
        assert.equal((await store.reader.message(id, "m2", signal))?.index, 2);
        assert.equal((await store.reader.message(id, "#2", signal))?.id, "m2");
        assert.equal(await store.reader.message(id, "#3", signal), undefined);
        assert.equal(await store.reader.message(id, "m9", signal), undefined);
      },
    },
    {
      title: "an unknown session is undefined or not_found, never empty; near ids share its beginning",
      async run({ store }) {
        const { reader } = store;
        const empty = await reader.get("nobody", signal);
        assert.equal(empty, undefined);
        for (const id of ["abcdef-1", "abcdef-2", "abcdeg-1"]) await recorded(store, { id }, [user("m", id)]);
        assert.equal(await reader.get("abcdef", signal), undefined);
        assert.deepEqual([...(await reader.near("abcdef-9", 3, signal))].sort(), ["abcdef-1", "abcdef-2"]);
        assert.deepEqual(await reader.near("%", 3, signal), []);
        assert.deepEqual(await reader.near("______", 3, signal), []);
        await recorded(store, { id: "abcdef-3", directory: "/elsewhere" }, [user("m", "of another project")]);
        assert.deepEqual(await reader.near("abcdef-9", 3, signal, ["/elsewhere"]), ["abcdef-3"]);
        assert.deepEqual(await reader.near("abcdef-9", 3, signal, ["/nowhere", "/else"]), []);
        if (reader.known !== undefined)
          assert.deepEqual([...(await reader.known(["abcdef-1", "nobody"], signal))], ["abcdef-1"]);
        await rejects(messagesOf(store, "nobody"), "not_found", /nobody/);
        await rejects(reader.usage("nobody", signal), "not_found");
        await rejects(reader.todos("nobody", signal), "not_found");
        await rejects(reader.changes("nobody", undefined, signal), "not_found");
        await rejects(reader.children("nobody", signal), "not_found");
        await rejects(reader.count("nobody", signal), "not_found");
      },
    },
    {
      title: "a fresh store is empty, and no call of it fails",
      async run({ store }) {
        const page = await store.reader.list(
          { directories: "all", limit: 5, includeChildren: true, includeArchived: true, indexMs: 0 },
          signal,
        );
        assert.deepEqual([page.items, page.total, page.nextCursor, page.elsewhere], [[], 0, null, 0]);
        assert.equal(page.index.upToDate, true);
        const found = await searchIn(store, "anything");
        assert.deepEqual([found.hits, found.total, found.nextCursor], [[], 0, null]);
        assert.deepEqual(found.searched, { sessions: 0, messages: 0 });
        assert.deepEqual(await store.reader.near("x", 3, signal), []);
      },
    },
    {
      title: "usage sums by model and provider; tools, counts and active time are told",
      async run({ store }) {
        const id = await recorded(store, {}, [
          user("m1", "go", { at: "2026-03-02T09:00:00.000Z" }),
          assistant(
            "m2",
            [call("c1"), call("c2", { status: "error" }), call("c3", { name: "bash", status: "denied" })],
            {
              at: "2026-03-02T09:02:00.000Z",
              model: "a",
              provider: "p",
              usage: usage(10, 5, { cacheReadTokens: 100 }),
              costUsd: 0.25,
            },
          ),
          assistant("m3", [text("done")], {
            at: "2026-03-02T12:00:00.000Z",
            model: "a",
            provider: "p",
            usage: usage(1, 2, { reasoningTokens: 1, cacheWriteTokens: 7 }),
            costUsd: 0.5,
          }),
          assistant("m4", [text("other")], { at: "2026-03-02T12:00:01.000Z", model: "b", usage: usage(3, 4) }),
          { id: "m5", role: "user", kind: "compaction", at: "2026-03-02T12:00:02.000Z", parts: [] },
        ]);
        const report = await store.reader.usage(id, signal);
        const models = [...report.models].sort((a, b) => (a.model < b.model ? -1 : 1));
        assert.deepEqual(
          models.map(({ model, provider, answers, usage, recordedUsd, inherited }) => ({
            model,
            provider,
            answers,
            usage,
            recordedUsd,
            inherited,
          })),
          [
            {
              model: "a",
              provider: "p",
              answers: 2,
              usage: usage(11, 7, { reasoningTokens: 1, cacheReadTokens: 100, cacheWriteTokens: 7 }),
              recordedUsd: 0.75,
              inherited: false,
            },
            { model: "b", provider: null, answers: 1, usage: usage(3, 4), recordedUsd: null, inherited: false },
          ],
        );
        assert.deepEqual(report.counts, {
          messages: 5,
          prompts: 1,
          answers: 3,
          toolCalls: 3,
          compactions: 1,
          branches: 1,
        });
        assert.deepEqual(report.tools, [
          { name: "read_file", calls: 2, errors: 1, denied: 0 },
          { name: "bash", calls: 1, errors: 0, denied: 1 },
        ]);
        // Two minutes, five of the long pause, two seconds.
        assert.equal(report.activeMs, (2 + 5) * 60_000 + 2_000);
        assert.deepEqual([report.complete, report.problems], [true, []]);
      },
    },
    {
      title: "sessions that name a parent are its children",
      async run({ store }) {
        const parent = await recorded(store, { id: "parent" }, [user("m1", "one")]);
        const child = await recorded(store, { id: "child", parent }, [user("m1", "two")]);
        const children = await store.reader.children(parent, signal);
        assert.deepEqual(
          children.map(({ id, parent }) => [id, parent]),
          [[child, { id: "parent", kind: "subagent", at: null }]],
        );
        assert.equal((await store.reader.get(parent, signal))?.children, 1);
        assert.deepEqual(await store.reader.children(child, signal), []);
      },
    },
    {
      title: "an aborted call stops reading and searching",
      async run({ store }) {
        const id = await recorded(store, {}, [user("m1", "needle")]);
        const aborted = AbortSignal.abort(new Error("stopped by the caller"));
        const reading = async () => {
          for await (const message of store.reader.messages(id, { branch: "main" }, aborted)) assert.fail(message.id);
        };
        await assert.rejects(reading());
        const query = { query: "needle", match: "words", caseSensitive: false, directories: [project] } as const;
        const more = { parts: ["text"], sort: "relevance", limit: 5, indexMs: 1_000, scanMs: 1_000 } as const;
        await assert.rejects(store.reader.search({ ...query, ...more }, aborted));
        assert.equal((await searchIn(store, "needle")).hits.length, 1);
      },
    },
  ];
}

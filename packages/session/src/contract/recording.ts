import assert from "node:assert/strict";
import type { NewMessage } from "../store.ts";
import {
  assistant,
  type ContractCase,
  call,
  idsOf,
  listOf,
  messagesOf,
  project,
  recorded,
  rejects,
  signal,
  text,
  usage,
  user,
} from "./setting.ts";

const strange = 'NUL \u0000, İ, 👩‍👩‍👧, 部署, "quotes", \\backslash, \u001b[31m, \r\n, \u2028 and a tab\t';

export function recordingCases(): ContractCase[] {
  return [
    {
      title: "a message comes back as it was recorded: every field and every kind of part",
      async run({ store }) {
        const message: NewMessage = {
          id: "m1",
          role: "assistant",
          kind: "answer",
          at: "2026-03-02T09:00:28.123Z",
          model: "test-model",
          provider: "test",
          usage: usage(10, 5, { reasoningTokens: 2, cacheReadTokens: 3, cacheWriteTokens: 4 }),
          costUsd: 0.0125,
          parts: [
            { kind: "thinking", text: "hm" },
            text("Here it is"),
            call("c1", { name: "bash", input: '{"command":"ls"}', output: "a\nb", status: "error" }),
            { kind: "tool", name: "edit", callId: "c2", input: "{}", status: "no_result" },
            { kind: "file", name: "a.png", mime: "image/png", bytes: 12 },
            { kind: "file", mime: "image/png", bytes: 0 },
          ],
        };
        const id = await recorded(store, { id: "s1" }, [message]);
        assert.equal(id, "s1");
        const bare = { text: null, chars: 0, truncated: false, tool: null, file: null };
        const tool = { status: "error", exitCode: null, durationMs: null };
        assert.deepEqual(await messagesOf(store, id), [
          {
            id: "m1",
            index: 0,
            role: "assistant",
            kind: "answer",
            at: "2026-03-02T09:00:28.123Z",
            parentId: null,
            branch: "main",
            model: "test-model",
            provider: "test",
            usage: usage(10, 5, { reasoningTokens: 2, cacheReadTokens: 3, cacheWriteTokens: 4 }),
            costUsd: 0.0125,
            inherited: false,
            reverted: false,
            parts: [
              { ...bare, kind: "thinking", text: "hm", chars: 2 },
              { ...bare, kind: "text", text: "Here it is", chars: 10 },
              {
                ...bare,
                kind: "tool",
                tool: {
                  ...tool,
                  name: "bash",
                  callId: "c1",
                  input: '{"command":"ls"}',
                  output: "a\nb",
                  outputChars: 3,
                },
              },
              {
                ...bare,
                kind: "tool",
                tool: {
                  ...tool,
                  name: "edit",
                  callId: "c2",
                  input: "{}",
                  output: null,
                  outputChars: 0,
                  status: "no_result",
                },
              },
              { ...bare, kind: "file", file: { name: "a.png", mime: "image/png", bytes: 12 } },
              { ...bare, kind: "file", file: { name: null, mime: "image/png", bytes: 0 } },
            ],
          },
        ]);
      },
    },
    {
      title: "text of every kind is kept, also NUL and what is no word",
      async run({ store }) {
        const message = assistant("m1", [
          text(strange),
          { kind: "thinking", text: strange },
          call("c1", { input: JSON.stringify({ strange }), output: strange }),
        ]);
        const id = await recorded(store, { title: strange, branch: "feature/İ" }, [user("m0", strange), message]);
        const [first, second] = await messagesOf(store, id);
        assert.equal(first?.parts[0]?.text, strange);
        assert.deepEqual([second?.parts[0]?.text, second?.parts[1]?.text], [strange, strange]);
        assert.equal(second?.parts[2]?.tool?.output, strange);
        assert.equal(second?.parts[2]?.tool?.input, JSON.stringify({ strange }));
        assert.equal((await store.reader.get(id, signal))?.title, strange);
        assert.equal((await store.reader.get(id, signal))?.branch, "feature/İ");
      },
    },
    {
      title: "what typed a message is told by its role, unless it is said",
      async run({ store }) {
        const id = await recorded(store, {}, [
          user("m1", "a"),
          assistant("m2", [text("b")]),
          { id: "m3", role: "system", parts: [text("c")] },
          user("m4", "d", { kind: "injected" }),
          { id: "m5", role: "developer", kind: "notice", parts: [] },
        ]);
        assert.deepEqual(
          (await messagesOf(store, id)).map(({ role, kind }) => [role, kind]),
          [
            ["user", "prompt"],
            ["assistant", "answer"],
            ["system", "injected"],
            ["user", "injected"],
            ["developer", "notice"],
          ],
        );
        const summary = await store.reader.get(id, signal);
        assert.deepEqual([summary?.messages, summary?.prompts], [5, 1]);
      },
    },
    {
      title: "the same message again is nothing; under one id another content is a conflict",
      async run({ store, another }) {
        const id = await recorded(store, { id: "s" }, [user("m1", "one"), assistant("m2", [call("c1")])]);
        const other = await another();
        await recorded(other, { id: "s" }, [user("m1", "one"), assistant("m2", [call("c1")]), user("m3", "three")]);
        assert.deepEqual(await idsOf(store, id), ["m1", "m2", "m3"]);
        const writer = await store.open({ id, directory: project });
        await rejects(writer.append(user("m1", "other")), "conflict", /m1/);
        await rejects(writer.append(assistant("m2", [call("c1", { output: "other" })])), "conflict", /m2/);
        await writer.append(user("m4", "four"));
        await rejects(writer.flush(), "conflict", /m1/);
        await writer[Symbol.asyncDispose]();
        assert.deepEqual(await idsOf(store, id), ["m1", "m2", "m3", "m4"]);
      },
    },
    {
      title: "an append of several messages is whole or not at all",
      async run({ store }) {
        const id = await recorded(store, {}, [user("m1", "one")]);
        const writer = await store.open({ id, directory: project });
        await rejects(writer.append([user("m2", "two"), user("m1", "other"), user("m3", "three")]), "conflict");
        await writer[Symbol.asyncDispose]();
        assert.deepEqual(await idsOf(store, id), ["m1"]);
        await recorded(store, { id }, []);
        assert.deepEqual(await idsOf(store, id), ["m1"]);
      },
    },
    {
      title: "appends that nobody waits for keep their order, and flush waits for them",
      async run({ store }) {
        const writer = await store.open({ directory: project });
        const expected = Array.from({ length: 30 }, (_, n) => `m${n}`);
        for (const id of expected) void writer.append(user(id, id));
        await writer.flush();
        assert.deepEqual(await idsOf(store, writer.id), expected);
        await writer[Symbol.asyncDispose]();
      },
    },
    {
      title: "several writers of one session lose nothing, and each keeps its order",
      async run({ store, another }) {
        const stores = [store, await another(), await another(), await another()];
        await Promise.all(
          stores.map(async (one, w) => {
            const writer = await one.open({ id: "shared", directory: project });
            for (let n = 0; n < 20; n += 1) await writer.append(user(`w${w}-${n}`, "text"));
            await writer[Symbol.asyncDispose]();
          }),
        );
        const all = await idsOf(store, "shared");
        assert.equal(all.length, 80);
        for (const w of stores.keys()) {
          assert.deepEqual(
            all.filter((id) => id.startsWith(`w${w}-`)),
            Array.from({ length: 20 }, (_, n) => `w${w}-${n}`),
          );
        }
      },
    },
    {
      title: "a session opened again keeps what it was opened with, and goes on",
      async run({ store }) {
        const id = await recorded(store, { id: "s", title: "First", branch: "main" }, [user("m1", "one")]);
        await recorded(store, { id, title: "Second", directory: "/elsewhere" }, [user("m2", "two")]);
        const summary = await store.reader.get(id, signal);
        assert.deepEqual([summary?.title, summary?.directory, summary?.branch], ["First", project, "main"]);
        assert.deepEqual(await idsOf(store, id), ["m1", "m2"]);
      },
    },
    {
      title: "without a title the first prompt gives it, on one line, 80 characters at the most",
      async run({ store }) {
        const long = "👩 ".repeat(60);
        const id = await recorded(store, {}, [
          user("m0", "<environment>", { kind: "injected" }),
          user("m1", `  Fix\n the ${long}`),
          user("m2", "later"),
        ]);
        const title = (await store.reader.get(id, signal))?.title ?? "";
        assert.equal([...title].length, 80);
        assert.ok(title.startsWith("Fix the 👩 👩"));
        assert.ok(title.endsWith("…"));
      },
    },
    {
      title: "ids of sessions are made where none is given, and refused where they could be paths",
      async run({ store }) {
        const made = new Set<string>();
        for (let n = 0; n < 20; n += 1) made.add(await recorded(store, {}, []));
        assert.equal(made.size, 20);
        for (const id of ["", "../x", "a/b", "a\u0000b", "x".repeat(201), "a b"])
          await rejects(store.open({ id, directory: project }), "invalid_input");
        assert.equal((await listOf(store, { limit: 100 })).total, 20);
      },
    },
    {
      title: "todos are the last that were given; none are an empty list",
      async run({ store }) {
        const writer = await store.open({ directory: project });
        assert.deepEqual(await store.reader.todos(writer.id, signal), []);
        await writer.todos([{ text: "old", status: "pending", priority: null }]);
        const todos = [
          { text: "a", status: "completed", priority: "high" },
          { text: "b", status: "in_progress", priority: null },
          { text: "c", status: "pending", priority: null },
          { text: "d", status: "cancelled", priority: "low" },
        ] as const;
        await writer.todos(todos);
        await writer[Symbol.asyncDispose]();
        assert.deepEqual(await store.reader.todos(writer.id, signal), todos);
      },
    },
    {
      title: "states of files come back byte for byte, in their order, up to a message",
      async run({ store }) {
        const writer = await store.open({ directory: project });
        await writer.append([user("m1", "one"), user("m2", "two"), user("m3", "three")]);
        const bytes = Uint8Array.from({ length: 256 }, (_, n) => n);
        await writer.file({ messageId: "m1", path: "/w/app/a.bin", before: null, after: bytes });
        await writer.file({ messageId: "m2", path: "/w/app/a.bin", before: bytes, after: Uint8Array.of(1) });
        await writer.file({ messageId: "m2", path: "/w/app/empty", before: null, after: new Uint8Array() });
        await writer.file({ messageId: "m3", path: "/w/app/a.bin", before: Uint8Array.of(1), after: null });
        await rejects(
          writer.file({ messageId: "m9", path: "/w/app/a", before: null, after: null }),
          "not_found",
          /not recorded/,
        );
        const all = await store.reader.changes(writer.id, undefined, signal);
        assert.equal(all?.basis, "snapshots");
        assert.deepEqual(
          all?.changes.map(({ messageId, path, kind, before, after }) => [
            messageId,
            path,
            kind,
            before && [...before],
            after && [...after],
          ]),
          [
            ["m1", "/w/app/a.bin", "create", null, [...bytes]],
            ["m2", "/w/app/a.bin", "modify", [...bytes], [1]],
            ["m2", "/w/app/empty", "create", null, []],
            ["m3", "/w/app/a.bin", "delete", [1], null],
          ],
        );
        const some = await store.reader.changes(writer.id, "m2", signal);
        assert.deepEqual(some?.changes.length, 3);
        await writer[Symbol.asyncDispose]();
      },
    },
  ];
}

import assert from "node:assert/strict";
import {
  assistant,
  type ContractCase,
  call,
  foundBy,
  markedIn,
  type RecordingStore,
  recorded,
  searchIn,
  text,
  user,
} from "./setting.ts";

async function one(store: RecordingStore, query: string, more: Parameters<typeof searchIn>[2] = {}) {
  const { hits } = await searchIn(store, query, more);
  assert.equal(hits.length, 1, `one hit for ${query}, not ${hits.length}`);
  const [hit] = hits;
  assert.ok(hit);
  return hit;
}

export function searchingCases(): ContractCase[] {
  return [
    {
      title: "a hit tells where it stands, and marks what was looked for",
      async run({ store }) {
        const words = `${"before ".repeat(60)}the parser reads past the end ${"after ".repeat(60)}`;
        const at = "2026-03-02T09:00:00.000Z";
        await recorded(store, { id: "s", title: "Fix" }, [user("m0", "hello"), assistant("m1", [text(words)], { at })]);
        const { after, score, excerpt, marks, ...hit } = await one(store, "parser");
        assert.deepEqual(hit, {
          sessionId: "s",
          title: "Fix",
          messageId: "m1",
          index: 1,
          role: "assistant",
          at,
          part: "text",
          tool: null,
          allTerms: true,
          more: 0,
        });
        assert.ok(score > 0);
        assert.equal(typeof after, "string");
        assert.deepEqual(markedIn({ ...hit, after, score, excerpt, marks }), ["parser"]);
        assert.ok([...excerpt].length <= 162);
      },
    },
    {
      title: "hits with all words come first, then those with fewer; the best of each first",
      async run({ store }) {
        const filler = "words about something else that go on and on for a while";
        for (let n = 0; n < 30; n += 1) await recorded(store, {}, [user("m", `${filler} timeout ${n}`)]);
        await recorded(store, {}, [user("both", `billing timeout: ${filler}`)]);
        await recorded(store, {}, [user("best", "billing timeout")]);
        const found = await foundBy(store, "billing timeout", { limit: 100 });
        assert.deepEqual(found.slice(0, 2), ["best", "both"]);
        assert.equal(found.length, 32);
        const { hits } = await searchIn(store, "billing timeout", { limit: 100 });
        assert.deepEqual(
          hits.map(({ allTerms }) => allTerms),
          hits.map((_, n) => n < 2),
        );
      },
    },
    {
      title: "of equal texts the newer comes first, and sort recent goes by time alone",
      async run({ store }) {
        const now = Date.now();
        const at = (days: number) => new Date(now - days * 86_400_000).toISOString();
        await recorded(store, { id: "old" }, [user("old", "needle", { at: at(100) })]);
        await recorded(store, { id: "new" }, [user("new", "needle", { at: at(0) })]);
        await recorded(store, { id: "middle" }, [user("middle", "needle needle needle", { at: at(7) })]);
        const ranked = await foundBy(store, "needle");
        assert.ok(ranked.indexOf("new") < ranked.indexOf("old"));
        assert.deepEqual(await foundBy(store, "needle", { sort: "recent" }), ["new", "middle", "old"]);
      },
    },
    {
      title: "each part is searched only when it is asked for, one hit for a message and a part",
      async run({ store }) {
        await recorded(store, {}, [
          assistant("m1", [
            { kind: "thinking", text: "aardvark thoughts" },
            text("badger text"),
            text("badger again"),
            call("c1", { name: "grep", input: '{"pattern":"civet"}', output: "dingo found" }),
          ]),
        ]);
        assert.deepEqual(await foundBy(store, "aardvark"), []);
        assert.deepEqual(await foundBy(store, "dingo"), []);
        assert.equal((await one(store, "badger")).more, 1);
        const input = await one(store, "civet");
        assert.deepEqual([input.part, input.tool], ["tool_input", "grep"]);
        assert.equal((await one(store, "aardvark", { parts: ["thinking"] })).part, "thinking");
        const output = await one(store, "dingo", { parts: ["text", "tool_input", "tool_output"] });
        assert.deepEqual([output.part, output.tool], ["tool_output", "grep"]);
      },
    },
    {
      title: "words of every script, folded letters, and text that search syntax would trip over",
      async run({ store }) {
        const texts: Record<string, string> = {
          cjk: "整理了设备清单并归档",
          glued: "重跑gen-itgc后恢复正常",
          turkish: "İİİ needle",
          emoji: "ship it 🚀 today",
          colon: "flag memory:safe is on",
          hyphen: "run the pre-edit hook",
          code: "renamed to parseLine in src/a.ts",
        };
        await recorded(
          store,
          {},
          Object.entries(texts).map(([id, words]) => user(id, words)),
        );
        for (const [query, id] of [
          ["设备", "cjk"],
          ["itgc", "glued"],
          ["NEEDLE", "turkish"],
          ["memory:safe", "colon"],
          ["pre-edit", "hyphen"],
          ["parseLine", "code"],
          ['say "ship', "emoji"],
        ] as const)
          assert.equal((await foundBy(store, query))[0], id, query);
        assert.deepEqual(markedIn(await one(store, "NEEDLE")), ["needle"]);
        for (const query of ["(", "*", '"', "NOT", "a AND", "^x", "%", "' OR 1=1 --"]) await searchIn(store, query);
      },
    },
    {
      title: "a phrase in quotes is a demand; case counts when it is asked to",
      async run({ store }) {
        await recorded(store, {}, [
          user("a", "port is open to all"),
          user("b", "Open the port"),
          user("c", "open the port"),
        ]);
        assert.deepEqual((await foundBy(store, '"open the port"')).sort(), ["b", "c"]);
        assert.deepEqual(await foundBy(store, '"Open the port"', { caseSensitive: true }), ["b"]);
        assert.deepEqual(await foundBy(store, "Open", { caseSensitive: true }), ["b"]);
      },
    },
    {
      title: "a literal is found as one substring, with or without a word, in part of a word, in any case",
      async run({ store }) {
        await recorded(store, {}, [
          user("arrow", "x => y"),
          user("word", "renamed to parseLine today"),
          user("umlaut", "GRÖSSE und Maß"),
          assistant("tool", [call("c1", { input: '{"a":"b => c"}', output: "=> in output" })]),
        ]);
        const literal = { match: "literal" } as const;
        assert.deepEqual((await foundBy(store, "=>", literal)).sort(), ["arrow", "tool"]);
        assert.deepEqual(await foundBy(store, "arseLin", literal), ["word"]);
        assert.deepEqual(await foundBy(store, "ARSELIN", literal), ["word"]);
        assert.deepEqual(await foundBy(store, "ARSELIN", { ...literal, caseSensitive: true }), []);
        assert.deepEqual(await foundBy(store, "to parseLine to", literal), ["word"]);
        assert.deepEqual(await foundBy(store, "grösse", literal), ["umlaut"]);
        assert.deepEqual(await foundBy(store, "line renamed", literal), []);
        assert.deepEqual(markedIn(await one(store, "arselin", literal)), ["arseLin"]);
        const output = await searchIn(store, "=> in", { ...literal, parts: ["text", "tool_input", "tool_output"] });
        assert.deepEqual(
          output.hits.map(({ messageId, part }) => [messageId, part]),
          [["tool", "tool_output"]],
        );
      },
    },
    {
      title: "role, time, session and project narrow a search; subagents belong to their session",
      async run({ store }) {
        await recorded(store, { id: "a" }, [
          user("a1", "needle", { at: "2026-03-01T00:00:00.000Z" }),
          assistant("a2", [text("needle")], { at: "2026-03-02T00:00:00.000Z" }),
        ]);
        await recorded(store, { id: "child", parent: "a" }, [user("c1", "needle", { at: "2026-03-03T00:00:00.000Z" })]);
        await recorded(store, { id: "grandchild", parent: "child" }, [
          user("g1", "needle", { at: "2026-03-04T00:00:00.000Z" }),
        ]);
        await recorded(store, { id: "far", directory: "/elsewhere" }, [user("f1", "needle")]);
        const found = async (more: Parameters<typeof searchIn>[2]) => (await foundBy(store, "needle", more)).sort();
        assert.deepEqual(await found({}), ["a1", "a2", "c1", "g1"]);
        assert.deepEqual(await found({ role: "assistant" }), ["a2"]);
        assert.deepEqual(await found({ session: "a" }), ["a1", "a2", "c1", "g1"]);
        assert.deepEqual(await found({ session: "child" }), ["c1", "g1"]);
        assert.deepEqual(await found({ directories: ["/elsewhere"] }), ["f1"]);
        assert.deepEqual(await found({ directories: "all" }), ["a1", "a2", "c1", "f1", "g1"]);
        const at = Date.parse("2026-03-02T00:00:00.000Z");
        assert.deepEqual(await found({ from: at }), ["a2", "c1", "g1"]);
        assert.deepEqual(await found({ to: at }), ["a1", "a2"]);
        assert.deepEqual(await found({ from: at, to: at }), ["a2"]);
        const { searched } = await searchIn(store, "needle");
        assert.deepEqual(searched, { sessions: 3, messages: 4 });
      },
    },
    {
      title: "60 hits with a limit of 50 give 50, and the cursor gives the rest",
      async run({ store }) {
        const all = Array.from({ length: 60 }, (_, n) => `m${n}`);
        await recorded(
          store,
          {},
          all.map((id) => user(id, `needle of ${id}`)),
        );
        const first = await searchIn(store, "needle", { limit: 50 });
        assert.deepEqual([first.hits.length, first.total, first.totalIsFloor], [50, 60, false]);
        assert.ok(first.nextCursor);
        const rest = await searchIn(store, "needle", { limit: 50, cursor: first.nextCursor });
        assert.deepEqual([rest.hits.length, rest.nextCursor], [10, null]);
        const ids = [...first.hits, ...rest.hits].map(({ messageId }) => messageId);
        assert.deepEqual(ids.sort(), all.sort());
        const [, , third] = first.hits;
        assert.ok(third);
        const from = await searchIn(store, "needle", { limit: 1, cursor: third.after });
        assert.equal(from.hits[0]?.messageId, first.hits[3]?.messageId);
      },
    },
    {
      title: "what was recorded a moment ago, by whomever, is found",
      async run({ store, another }) {
        const other = await another();
        for (const word of ["aardvark", "badger", "civet", "dingo"]) {
          await recorded(other, { id: "s" }, [user(word, `a ${word} came`)]);
          assert.deepEqual(await foundBy(store, word), [word]);
        }
      },
    },
  ];
}

import { runs } from "@toolhaft/testing";
import fc from "fast-check";
import { expect, it } from "vitest";
import { createKnowledge, createKvMemory, createSemanticMemory } from "../src/index.ts";
import { caller, closeAfterTest, dataOf, errorOf, setting } from "./setting.ts";

const word = fc.constantFrom("zebra", "port", "部署", "billing", "café", "gpt-4o", "timeout", "garden");
const note = fc.record({
  title: fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.join(" ")),
  content: fc.array(word, { minLength: 1, maxLength: 8 }).map((words) => words.join(" ")),
  about: fc.array(word, { maxLength: 1 }),
  scope: fc.constantFrom("workspace", "role"),
});

/** What a role may try with an id that is not its own. */
const guesses = [
  ["memory_get", { include_history: true }],
  ["memory_update", { content: "mine" }],
  ["memory_forget", {}],
  ["memory_forget", { restore: true }],
  ["memory_write", { title: "t", content: "c", scope: "role" }],
] as const;

it(`role a's memory reaches role b through no answer, count, score or neighbour (${runs(60)} random stores)`, {
  timeout: 300_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ note, secret: fc.boolean() }), { minLength: 1, maxLength: 10 }),
      fc.array(word, { minLength: 1, maxLength: 3 }),
      async (writes, query) => {
        let time = 1_790_000_000_000;
        const clock = { now: () => time };
        const [mixed, clean] = [
          setting({ clock, random: () => "aaaaaaaa" }),
          setting({ clock, random: () => "aaaaaaaa" }),
        ];
        const plain = { agent: "b", sessionId: "one" };
        const names = new Map<string, string>();
        const secrets: string[] = [];
        for (const [index, { note, secret }] of writes.entries()) {
          time += 1_000;
          if (secret) {
            const theirs = await mixed.call(
              "memory_write",
              { ...note, scope: "role", title: `${note.title} s${index}` },
              { agent: "a", sessionId: "one" },
            );
            secrets.push(idOf(theirs.text));
            continue;
          }
          const input = { ...note, title: `${note.title} p${index}` };
          const one = await mixed.call("memory_write", input, plain);
          const two = await clean.call("memory_write", input, plain);
          const [idOne, idTwo] = [idOf(one.text), idOf(two.text)];
          names.set(idOne, `id${index}`);
          names.set(idTwo, `id${index}`);
          expect(neutral(one, names)).toBe(neutral(two, names));
        }
        for (const [tool, input] of [
          ["memory_recall", { query: query.join(" "), limit: 50 }],
          ["memory_recall", { query: `"${query[0]}"`, full: true }],
          ["memory_list", { limit: 100 }],
        ] as const) {
          expect(neutral(await mixed.call(tool, input, plain), names)).toBe(
            neutral(await clean.call(tool, input, plain), names),
          );
        }
        const [s1, s2] = [mixed, clean].map(({ directory }) =>
          caller(closeAfterTest(createSemanticMemory({ clock, random: () => "aaaaaaaa" })), directory),
        );
        const search = { query: query.join(" ") };
        expect(neutral(await s1?.("memory_semantic_search", search, plain), names)).toBe(
          neutral(await s2?.("memory_semantic_search", search, plain), names),
        );
        const counted = async (ask: typeof s1) => {
          if (!ask) throw new Error("no family to ask");
          const answer = await ask("memory_semantic_stats", {}, plain);
          const { store, bytes, ...numbers } = dataOf(answer);
          expect([typeof store, typeof bytes]).toEqual(["string", "number"]);
          return numbers;
        };
        expect(await counted(s1)).toEqual(await counted(s2));
        for (const id of secrets) {
          for (const [tool, more] of guesses) {
            const guessed = await mixed.call(
              tool,
              { ...more, [tool === "memory_write" ? "supersedes" : "id"]: id },
              plain,
            );
            const never = { ...more, [tool === "memory_write" ? "supersedes" : "id"]: `mem_${"0".repeat(26)}` };
            expect(JSON.stringify(guessed)).toBe(JSON.stringify(await mixed.call(tool, never, plain)));
          }
        }
        await mixed.family.close();
        await clean.family.close();
      },
    ),
    { numRuns: runs(60) },
  );
});

it("keys, graph and errors of one role tell another nothing", async () => {
  const { directory } = setting();
  const kv = caller(closeAfterTest(createKvMemory()), directory);
  const graph = caller(closeAfterTest(createKnowledge()), directory);
  await kv("memory_store", { key: "zebra", value: "secret of a" }, { agent: "a" });
  const entity = await graph("knowledge_add_entity", { name: "Zebra", type: "animal" }, { agent: "a" });
  const id = /ent_\w{26}/.exec(entity.text)?.[0] ?? "";
  expect((await kv("memory_recall", { key: "zebr" }, { agent: "b" })).text).toBe('Not found: "zebr"');
  expect((await kv("memory_list", {}, { agent: "b" })).text).toBe("No keys.");
  const unknown = await graph("knowledge_query", { start: "Zebr" }, { agent: "b" });
  expect(unknown.text).not.toContain("Zebra");
  const guessed = errorOf(await graph("knowledge_query", { start: id }, { agent: "b" }));
  expect(guessed).toEqual(
    errorOf(await graph("knowledge_query", { start: "ent_00000000000000000000000000" }, { agent: "b" })),
  );
  expect(errorOf(await graph("knowledge_remove", { id }, { agent: "b" }))).toEqual(
    errorOf(await graph("knowledge_remove", { id: "ent_00000000000000000000000000" }, { agent: "b" })),
  );
});

it("an export for one agent holds nothing of another", async () => {
  const { family, W, path } = setting({ path: `${setting().directory}/memory.db` });
  await W("mine", "of b", { scope: "role" }, { agent: "b" });
  await W("theirs", "zebra of a", { scope: "role" }, { agent: "a" });
  await W("ours", "of all");
  let text = "";
  for await (const line of family.export({ agent: "b" })) text += line;
  expect(text).toContain("of b");
  expect(text).toContain("of all");
  expect(text).not.toContain("zebra");
  expect(path).toContain("memory.db");
});

it("an empty agent name is refused by every family", async () => {
  const { call, directory } = setting();
  expect(errorOf(await call("memory_list", {}, { agent: "" }))).toMatchObject({
    code: "invalid_input",
    message: expect.stringContaining("no agent name"),
  });
  const kv = caller(closeAfterTest(createKvMemory()), directory);
  expect(errorOf(await kv("memory_list", {}, { agent: "" })).code).toBe("invalid_input");
});

function idOf(text: string): string {
  return /mem_\w{26}/.exec(text)?.[0] ?? "";
}

/** An answer with ids by the order of writing: they are random, all else must be equal byte for byte. */
function neutral(answer: unknown, names: ReadonlyMap<string, string>): string {
  return JSON.stringify(answer).replace(/mem_\w{26}/g, (id) => names.get(id) ?? "unknown id");
}

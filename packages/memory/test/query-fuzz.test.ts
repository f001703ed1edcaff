import { join } from "node:path";
import { runs } from "@toolhaft/testing";
import { analyse } from "@toolhaft/text";
import fc from "fast-check";
import { expect, it } from "vitest";
import { createMemory, sqliteMemoryStore } from "../src/index.ts";
import { expectEveryQueryAnswered } from "./answered.ts";
import { loadRows } from "./many-rows.ts";
import { closeAfterTest, setting, temporaryFolder } from "./setting.ts";

const pieces = fc.constantFrom(
  '"',
  "'",
  "*",
  "-",
  "+",
  "^",
  ":",
  "(",
  ")",
  "{",
  "}",
  "AND",
  "OR",
  "NOT",
  "NEAR(",
  "NEAR/2",
  "rowid:",
  "title:",
  "b:don",
  ";--",
  "%",
  "_",
  "\\",
  "\0",
  "\ud800",
  "\udfff",
  "\u{1F600}",
  "\u{1F468}\u200d\u{1F469}",
  "部署",
  "サンド",
  "가나",
  "ไทย",
  "é",
  "İ",
  "ﬁ",
  "Ａ",
  "\u202e",
  "\u{E0041}",
  " ",
  "\n",
  "zebra",
  "x'ab'",
  "1e999",
);
const query = fc
  .array(fc.oneof(pieces, fc.string({ maxLength: 5 }), fc.string({ unit: "binary", maxLength: 5 })), {
    minLength: 1,
    maxLength: 12,
  })
  .map((parts) => parts.join(""));

it(
  `no query of operators, quotes and scripts makes an error, and it finds a memory of that title (${runs(50_000)} queries)`,
  {
    timeout: 600_000,
  },
  () => expectEveryQueryAnswered(query, 50_000),
);

it("100 KB, 1,000 emoji and 1 MB are answered or refused by length", async () => {
  const { call, W } = setting();
  await W("a", "zebra");
  for (const query of [
    "x".repeat(100_000),
    "\u{1F600}".repeat(1_000),
    "y ".repeat(500_000),
    "\u{1F600}".repeat(1_001),
  ]) {
    const result = await call("memory_recall", { query });
    if (!result.ok)
      expect(result.error).toMatchObject({ code: "invalid_input", message: expect.stringContaining("characters") });
  }
});

it(`P8: every term of a title and every two letters of dense text find their memory (${runs(160)} memories)`, {
  timeout: 300_000,
}, async () => {
  const letters = "数据库迁移需要停机部署設備サンドボックスの設定がかカ가나다ภาษาไทย";
  const dense = fc.array(fc.constantFrom(...letters), { minLength: 2, maxLength: 8 }).map((some) => some.join(""));
  const plain = fc.stringMatching(/^[a-zA-Zéü0-9][a-zA-Zéü0-9._/+#:-]{2,12}$/);
  const memory = fc.tuple(plain, dense, dense, fc.string({ maxLength: 8 }));
  const store = sqliteMemoryStore({ path: join(temporaryFolder(), "memory.db") });
  const family = closeAfterTest(createMemory({ store, recordUse: false, neighbours: "off" }));
  const caller = { workspace: ".", agent: "main" };
  const given = fc.sample(memory, runs(160));
  const memories = given.map(([name, title, content, rest], n) => ({
    title: `${name} ${title} ${rest.replace(/[\0\s\u2028\u2029]/g, "")} n${n}`,
    content: `about ${content}`,
  }));
  const ids = await loadRows(store, memories);
  const signal = new AbortController().signal;
  for (const [n, { title, content }] of memories.entries()) {
    const pieces = (content.match(/[\p{Lo}\p{M}ー]+/gu) ?? []).flatMap((run) =>
      [...run].slice(1).map((letter, at) => `${[...run][at]}${letter}`),
    );
    const queries = [...analyse(title), ...pieces.filter((piece) => analyse(piece).length > 0)];
    for (const query of new Set(queries)) {
      // The index itself gives it, however many others hold the term; and where few do, the search shows it.
      const terms = analyse(query);
      const found = await store.candidates(
        caller,
        { terms, titleKey: "", limit: 10_000, scope: "both", category: null, tags: [], about: [] },
        signal,
      );
      expect(
        found.rows.some(({ id }) => id === ids[n]),
        `${JSON.stringify(query)} of ${JSON.stringify(title)}`,
      ).toBe(true);
      if (found.rows.length > 20 || n % 10 !== 0) continue;
      const { hits } = await family.search(caller, { query, limit: 50 });
      expect(
        hits.map(({ id }) => id),
        query,
      ).toContain(ids[n]);
    }
  }
});

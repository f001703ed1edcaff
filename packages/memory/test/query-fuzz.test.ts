import { runs } from "@toolhaft/testing";
import fc from "fast-check";
import { expect, it } from "vitest";
import { expectEveryQueryAnswered } from "./answered.ts";
import { setting } from "./setting.ts";

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

it(`every term of a title and every two letters of dense text find their memory (${runs(400)} texts)`, {
  timeout: 300_000,
}, async () => {
  const { call, R } = setting({ recordUse: false });
  const dense = fc
    .array(fc.constantFrom(..."数据库迁移需要停机部署设備サンドボックスの設定がかカ가나다"), {
      minLength: 2,
      maxLength: 8,
    })
    .map((letters) => letters.join(""));
  const plain = fc.stringMatching(/^[a-zA-Zéü0-9][a-zA-Zéü0-9._/-]{2,12}$/);
  let count = 0;
  await fc.assert(
    fc.asyncProperty(dense, plain, async (letters, name) => {
      const title = `${name} ${letters} n${count++}`;
      await call("memory_write", { title, content: `about ${letters}`, scope: "workspace" });
      const pairs = [...letters].slice(1).map((letter, index) => `${[...letters][index]}${letter}`);
      for (const query of [name, pairs[count % pairs.length] ?? letters, letters, title])
        expect((await R(query, { limit: 50 })).includes(title) || (await R(query, { limit: 50 })).length === 50).toBe(
          true,
        );
    }),
    { numRuns: runs(400) },
  );
});

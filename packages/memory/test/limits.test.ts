import { describe, expect, it } from "vitest";
import {
  createKnowledge,
  createKvMemory,
  createMemory,
  createSemanticMemory,
  sqliteMemoryStore,
} from "../src/index.ts";
import { loadRows } from "./many-rows.ts";
import { caller, closeAfterTest, dataOf, errorOf, setting, temporaryFolder } from "./setting.ts";

const letters = (count: number) => "\u{1F600}".repeat(count);
const names = (count: number) => Array.from({ length: count }, (_, i) => `name ${i}`);

describe("what a note may measure: at its limit, and one past it", () => {
  it.each([
    ["title", { title: letters(200) }, { title: letters(201) }, /title has 201 characters/],
    ["tag", { tags: [letters(64)] }, { tags: [letters(65)] }, /tags has 65 characters/],
    ["tags", { tags: names(20) }, { tags: names(21) }, /tags has 21 entries/],
    ["subject", { about: [letters(80)] }, { about: [letters(81)] }, /about has 81 characters/],
    ["subjects", { about: names(8) }, { about: names(9) }, /about has 9 entries/],
  ])("%s", async (_, at, past, message) => {
    const { call } = setting();
    const note = { title: "t", content: "c" };
    const id = (dataOf(await call("memory_write", { ...note, ...at })).memory as { id: string }).id;
    expect(errorOf(await call("memory_write", { ...note, ...past }))).toMatchObject({
      code: "invalid_input",
      message: expect.stringMatching(message),
      hint: expect.stringContaining("at most"),
    });
    expect(errorOf(await call("memory_update", { id, ...past })).code).toBe("invalid_input");
    expect(dataOf(await call("memory_list", {})).total).toBe(1);
  });

  it("content: 64 KiB are kept and read back, one byte more is refused with both sizes, by write and by update", async () => {
    const { call } = setting();
    const whole = "é".repeat(32 * 1_024);
    const { memory } = dataOf(await call("memory_write", { title: "t", content: whole })) as { memory: { id: string } };
    const page = async (offset: number) =>
      (dataOf(await call("memory_get", { id: memory.id, offset, max_chars: 30_000 })) as { content: string }).content;
    expect((await page(0)) + (await page(30_000))).toBe(whole);
    for (const [tool, input] of [
      ["memory_write", { title: "u", content: `${whole}x` }],
      ["memory_update", { id: memory.id, content: `${whole}x` }],
    ] as const)
      expect(errorOf(await call(tool, input))).toMatchObject({
        code: "too_large",
        message: "content has 65537 bytes, at most 65536 are kept",
        hint: expect.stringMatching(/split .* path in the memory/),
      });
    expect(dataOf(await call("memory_get", { id: memory.id })).memory).toMatchObject({ version: 1 });
  });

  it("query: 1,000 characters are searched, 1,001 refused", async () => {
    const { W, call, directory } = setting();
    await W("a", "zebra");
    const fragments = caller(closeAfterTest(createSemanticMemory()), directory);
    for (const [ask, tool] of [
      [call, "memory_recall"],
      [fragments, "memory_semantic_search"],
    ] as const) {
      expect((await ask(tool, { query: letters(1_000) })).ok).toBe(true);
      expect(errorOf(await ask(tool, { query: letters(1_001) })).code).toBe("invalid_input");
    }
    expect((await fragments("memory_semantic_add", { content: `${"y ".repeat(7_999)}yz` })).ok).toBe(true);
    expect(errorOf(await fragments("memory_semantic_add", { content: `${"y ".repeat(8_000)}z` })).code).toBe(
      "invalid_input",
    );
  });
});

describe("how many live memories there may be", () => {
  it("a note from 9,000 on, and none past 10,000 in a workspace; another scope and a replacement still go in", {
    timeout: 240_000,
  }, async () => {
    const { path, directory } = setting();
    const store = sqliteMemoryStore({ path });
    const family = closeAfterTest(createMemory({ store, neighbours: "off" }));
    const call = caller(family, directory);
    const rows = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, i) => ({ title: `t${from + i}`, content: `row ${from + i}` }));
    const write = async (title: string, more = {}) =>
      call("memory_write", { title, content: `words of ${title}`, scope: "workspace", ...more });
    await loadRows(store, rows(0, 8_998));
    expect(dataOf(await write("number 8,999")).warnings).toEqual([]);
    const noted = await write("number 9,000");
    expect(dataOf(noted).warnings).toMatchObject([
      { code: "nearly_full", message: expect.stringMatching(/9000.*10000/) },
    ]);
    expect(noted.text).toContain("Note: 9000 of at most 10000");
    await loadRows(store, rows(9_000, 9_999));
    const last = dataOf(await write("number 10,000")) as { memory: { id: string } };
    const full = errorOf(await write("number 10,001"));
    expect(full).toMatchObject({ code: "too_large", message: expect.stringContaining("10000") });
    expect(full.hint).toMatch(/memory_list with sort "accessed".*(forget|supersede)/);
    expect(dataOf(await write("number 10,001", { scope: "role" })).status).toBe("stored");
    expect(dataOf(await write("in place of the last", { supersedes: last.memory.id })).status).toBe("stored");
    expect(errorOf(await call("memory_forget", { id: last.memory.id, restore: true })).code).toBe("conflict");
    expect(await family.check()).toMatchObject({ ok: true, live: 10_001 });
  });
});

describe("what keys and entities may measure: at the limit, and one past it", () => {
  it("key 256 bytes, value 256 KiB", async () => {
    const call = caller(closeAfterTest(createKvMemory()), temporaryFolder());
    const key = `${"é".repeat(127)}ab`;
    expect(dataOf(await call("memory_store", { key, value: "x".repeat(256 * 1_024 - 2) }))).toMatchObject({
      bytes: 256 * 1_024,
    });
    expect(errorOf(await call("memory_store", { key: `${key}c`, value: 1 }))).toMatchObject({
      code: "invalid_input",
      message: "key has 257 bytes",
    });
    expect(errorOf(await call("memory_store", { key: "k", value: "x".repeat(256 * 1_024 - 1) }))).toMatchObject({
      code: "too_large",
      message: expect.stringMatching(/262145 bytes.*262144/),
      hint: expect.stringContaining("split"),
    });
    expect(dataOf(await call("memory_list", {})).total).toBe(1);
  });

  it("entity name 200, type 64, attributes 50 and 16 KiB", async () => {
    const call = caller(closeAfterTest(createKnowledge()), temporaryFolder());
    const add = async (more: Record<string, unknown>) =>
      call("knowledge_add_entity", { name: "n", type: "t", ...more });
    const many = (count: number) => Object.fromEntries(names(count).map((name) => [name, 1]));
    const big = (bytes: number) => ({ a: "x".repeat(bytes - 8) });
    for (const [at, past] of [
      [{ name: letters(200) }, { name: letters(201) }],
      [{ type: letters(64) }, { type: letters(65) }],
      [{ attributes: many(50) }, { attributes: many(51) }],
      [
        { name: "big", attributes: big(16 * 1_024) },
        { name: "big", attributes: big(16 * 1_024 + 1) },
      ],
    ]) {
      const added = await add(at ?? {});
      expect(added.ok, added.text).toBe(true);
      expect(errorOf(await add(past ?? {})).code).toBe("invalid_input");
    }
    // What is merged counts, not what is given.
    expect(errorOf(await add({ attributes: { "one more": 1 } }))).toMatchObject({
      code: "invalid_input",
      message: "attributes has 51 keys",
    });
  });
});

it("no text of a reply is over 30,000 characters, and what is left out is one call away", {
  timeout: 120_000,
}, async () => {
  const { W, call, directory } = setting();
  for (let i = 0; i < 60; i++) await W(`${i} ${"t".repeat(190)}`, `zebra ${i} ${"word ".repeat(4_000)}`);
  let seen = 0;
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const result = await call("memory_recall", { query: "zebra", full: true, limit: 50, ...(cursor && { cursor }) });
    const { hits, nextCursor } = dataOf(result) as { hits: unknown[]; nextCursor: string | null };
    expect(result.text.length).toBeLessThanOrEqual(30_000);
    if (nextCursor !== null) expect(result.text).toContain(`cursor ${nextCursor}`);
    seen += hits.length;
    cursor = nextCursor;
  }
  expect(seen).toBe(60);
  expect((await call("memory_list", { limit: 100 })).text.length).toBeLessThanOrEqual(30_000);
  const kv = caller(closeAfterTest(createKvMemory()), directory);
  await kv("memory_store", { key: "k", value: "x".repeat(100_000) });
  const value = await kv("memory_recall", { key: "k" });
  expect(value.text.length).toBeLessThanOrEqual(30_000);
  expect(value.text).toContain("Cut after 29000 of 100002 characters");
  expect(dataOf(value).value).toBe("x".repeat(100_000));
});

it("limits are options", async () => {
  const { call } = setting({ limits: { title: 5, content: 10, tags: 1 } });
  expect(errorOf(await call("memory_write", { title: "123456", content: "c" })).hint).toContain("at most 5");
  expect(errorOf(await call("memory_write", { title: "t", content: "12345678901" })).code).toBe("too_large");
  expect(errorOf(await call("memory_write", { title: "t", content: "c", tags: ["a", "b"] })).code).toBe(
    "invalid_input",
  );
  expect((await call("memory_write", { title: "12345", content: "1234567890", tags: ["a"] })).ok).toBe(true);
});

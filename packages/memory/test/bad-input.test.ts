import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { toolset } from "@toolhaft/core";
import { describe, expect, it, onTestFinished } from "vitest";
import { createKnowledge, createKvMemory, createMemory, createSemanticMemory } from "../src/index.ts";
import { tamper } from "./processes.ts";
import { caller, closeAfterTest, dataOf, errorOf, setting, temporaryFolder } from "./setting.ts";

const refused = { code: "invalid_input" };

describe("arguments", () => {
  it.each([
    ["memory_recall", { query: "x", unknown: 1 }],
    ["memory_recall", { query: "x", limit: 0 }],
    ["memory_recall", { query: "x", limit: 51 }],
    ["memory_recall", { query: "x", limit: "ten" }],
    ["memory_recall", { query: "" }],
    ["memory_recall", { query: "x".repeat(1_001) }],
    ["memory_recall", { query: "x", category: "idea" }],
    ["memory_recall", { query: "x", scope: "all" }],
    ["memory_list", { limit: 101 }],
    ["memory_list", { sort: "oldest" }],
    ["memory_list", { cursor: "abc" }],
    ["memory_write", { title: "", content: "c" }],
    ["memory_write", { title: "  ", content: "c" }],
    ["memory_write", { title: "a\nb", content: "c" }],
    ["memory_write", { title: "é".repeat(201), content: "c" }],
    ["memory_write", { title: "t", content: "" }],
    ["memory_write", { title: "t", content: " \n " }],
    ["memory_write", { title: "t", content: "half \ud800" }],
    ["memory_write", { title: "t\0", content: "c" }],
    ["memory_write", { title: "t", content: "c", tags: Array.from({ length: 21 }, (_, i) => `t${i}`) }],
    ["memory_write", { title: "t", content: "c", tags: ["x".repeat(65)] }],
    ["memory_write", { title: "t", content: "c", about: Array.from({ length: 9 }, (_, i) => `s${i}`) }],
    ["memory_write", { title: "t", content: "c", about: ["x".repeat(81)] }],
    ["memory_write", { title: "t", content: "c", category: "idea" }],
    ["memory_write", { title: "t", content: "c", supersedes: "mem_1" }],
    ["memory_update", { id: "mem_00000000000000000000000000" }],
    ["memory_update", { id: "mem_0000000000000000000000000O", title: "t" }],
    ["memory_get", { id: "ent_00000000000000000000000000" }],
    ["memory_get", { id: "mem_00000000000000000000000000", max_chars: 30_001 }],
    ["memory_forget", { id: "mem_00000000000000000000000000", reason: "x".repeat(201) }],
  ])("%s %j is refused and touches nothing", async (tool, input) => {
    const { call } = setting();
    expect(errorOf(await call(tool, input))).toMatchObject(refused);
    expect(dataOf(await call("memory_list", {})).total).toBe(0);
  });

  it("64 KiB are kept, one byte more is too large, with both sizes", async () => {
    const { call } = setting();
    expect(dataOf(await call("memory_write", { title: "t", content: "é".repeat(32_768) })).status).toBe("stored");
    expect(errorOf(await call("memory_write", { title: "u", content: `${"é".repeat(32_768)}x` }))).toMatchObject({
      code: "too_large",
      message: expect.stringMatching(/65537.*65536/),
      hint: expect.stringContaining("split"),
    });
  });

  it.each(['"', "*", "-", "NEAR(", "a OR", "b:don", "\u{1F600}".repeat(1_000)])(
    "query %j gives results",
    async (query) => {
      const { W, call } = setting();
      await W("a", "don or near");
      expect((await call("memory_recall", { query })).ok).toBe(true);
    },
  );

  it("a cursor that is cut, made up or of another query is refused", async () => {
    const { W, call } = setting();
    for (let i = 0; i < 5; i++) await W(`t${i}`, `zebra ${i}`);
    const { nextCursor } = dataOf(await call("memory_recall", { query: "zebra", limit: 2 }));
    const cursor = String(nextCursor);
    for (const wrong of [cursor.slice(0, -2), `${cursor}AAAA`, Buffer.from("[2]").toString("base64url")]) {
      expect(errorOf(await call("memory_recall", { query: "zebra", limit: 2, cursor: wrong }))).toMatchObject(refused);
    }
    expect(errorOf(await call("memory_recall", { query: "other", limit: 2, cursor }))).toMatchObject(refused);
    const listed = dataOf(await call("memory_list", { limit: 2 }));
    expect(errorOf(await call("memory_list", { limit: 2, sort: "accessed", cursor: listed.nextCursor }))).toMatchObject(
      refused,
    );
  });
});

describe("keys and graph", () => {
  it.each(["a\nb", "", "x".repeat(257), "half \ud800", "tab\t"])("key %j is refused", async (key) => {
    const call = caller(closeAfterTest(createKvMemory()), temporaryFolder());
    expect(errorOf(await call("memory_store", { key, value: 1 }))).toMatchObject(refused);
  });

  it("a value that is no JSON is refused, one over 256 KiB too large, and __proto__ is a key like any other", async () => {
    const call = caller(closeAfterTest(createKvMemory()), temporaryFolder());
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    for (const value of [undefined, cyclic, () => 1])
      expect(errorOf(await call("memory_store", { key: "k", value }))).toMatchObject(refused);
    expect(errorOf(await call("memory_store", { key: "k", value: "x".repeat(256 * 1024) })).code).toBe("too_large");
    expect(dataOf(await call("memory_store", { key: "__proto__", value: { a: 1 } })).created).toBe(true);
    expect(dataOf(await call("memory_recall", { key: "__proto__" })).value).toEqual({ a: 1 });
    expect(({} as Record<string, unknown>).a).toBeUndefined();
  });

  it("attributes of 51 keys, of 200 levels, over 16 KiB; weights and depths out of range", async () => {
    const call = caller(closeAfterTest(createKnowledge()), temporaryFolder());
    const many = Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`k${i}`, i]));
    let deep: unknown = 1;
    for (let i = 0; i < 200; i++) deep = { deep };
    for (const attributes of [many, { deep }, { big: "x".repeat(17_000) }]) {
      expect(errorOf(await call("knowledge_add_entity", { name: "a", type: "t", attributes }))).toMatchObject(refused);
    }
    await call("knowledge_add_entity", { name: "a", type: "t" });
    for (const weight of [Number.NaN, -1, Number.POSITIVE_INFINITY]) {
      expect(errorOf(await call("knowledge_add_relation", { from: "a", to: "a", type: "t", weight }))).toMatchObject(
        refused,
      );
    }
    expect(errorOf(await call("knowledge_query", { start: "a", depth: 11 }))).toMatchObject(refused);
  });
});

describe("the store's place", () => {
  it("is a folder, a text file, a newer version, another family's", async () => {
    const folder = temporaryFolder();
    const at = (path: string) => caller(closeAfterTest(createMemory({ path })), folder);
    mkdirSync(join(folder, "dir.db"));
    expect(errorOf(await at(join(folder, "dir.db"))("memory_list", {}))).toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("folder"),
    });
    writeFileSync(join(folder, "text.db"), "some text\n".repeat(50));
    const text = errorOf(await at(join(folder, "text.db"))("memory_recall", { query: "x" }));
    expect(text).toMatchObject({ code: "unavailable", message: expect.stringContaining("damaged") });
    expect(readFileSync(join(folder, "text.db"), "utf8")).toBe("some text\n".repeat(50));
    const newer = setting();
    await newer.W("a", "b");
    await newer.family.close();
    await tamper(newer.path, "PRAGMA user_version = 99");
    for (const make of [createMemory, createSemanticMemory, createKvMemory, createKnowledge]) {
      const family = closeAfterTest(make({ path: newer.path }));
      const tool = family.tools.find(({ name }) => /list|stats|query/.test(name));
      const result = await tool?.call(tool.name === "knowledge_query" ? { start: "x" } : {}, { directory: folder });
      expect(result?.ok === false && result.error).toMatchObject({
        code: "unsupported",
        message: expect.stringContaining("99"),
      });
    }
  });

  it("is deleted while open: a named error, and the next call starts with what is there", async () => {
    const { W, call, path } = setting();
    await W("a", "b");
    for (const part of ["", "-wal", "-shm"]) unlinkSync(path + part);
    expect(errorOf(await call("memory_write", { title: "c", content: "d" }))).toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("deleted"),
    });
    expect(dataOf(await call("memory_write", { title: "c", content: "d" })).status).toBe("stored");
  });

  it("is on a full disk: a named error, what was acknowledged stays", async (context) => {
    const folder = join(temporaryFolder(), "small");
    mkdirSync(folder);
    try {
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=2m", "tmpfs", folder], { stdio: "ignore" });
    } catch {
      return context.skip("this user may not mount a small file system");
    }
    onTestFinished(() => void execFileSync("umount", ["-l", folder]));
    const family = closeAfterTest(createMemory({ path: join(folder, "memory.db") }));
    const call = caller(family, folder);
    writeFileSync(join(folder, "ballast"), Buffer.alloc(256 * 1024));
    let stored = 0;
    for (;;) {
      const result = await call("memory_write", {
        title: `t${stored}`,
        content: `${stored} ${"words of a long note ".repeat(1_500)}`,
        scope: "workspace",
      });
      if (!result.ok) {
        expect(result.error).toMatchObject({ code: "unavailable", hint: expect.stringContaining("free") });
        break;
      }
      stored++;
    }
    rmSync(join(folder, "ballast"));
    expect(stored).toBeGreaterThan(0);
    expect(dataOf(await call("memory_list", {})).total).toBe(stored);
    expect(await family.check()).toMatchObject({ ok: true });
  });
});

it("memory and keys in one toolset are refused with the fix, and work behind a prefix", async () => {
  const [memory, keys] = [closeAfterTest(createMemory()), closeAfterTest(createKvMemory())];
  expect(() => toolset(memory, keys)).toThrow(/memory_recall[\s\S]*memory[\s\S]*kv-memory/);
  const both = toolset(memory, toolset(keys).prefix("kv_"));
  const directory = temporaryFolder();
  await both.get("kv_memory_store")?.call({ key: "a", value: 1 }, { directory });
  const result = await both.get("kv_memory_list")?.call({ limit: 1 }, { directory });
  expect(result?.ok).toBe(true);
});

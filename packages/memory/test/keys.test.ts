import { runs } from "@toolhaft/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createKvMemory, sqliteMemoryStore } from "../src/index.ts";
import { startFixture } from "./processes.ts";
import { type Call, caller, closeAfterTest, dataOf, errorOf, temporaryFolder } from "./setting.ts";

const opened = (directory = temporaryFolder()): Call => caller(closeAfterTest(createKvMemory()), directory);
const recalledAt = async (call: Call, key: string) => dataOf(await call("memory_recall", { key }));

describe("a key", () => {
  it("is compared byte by byte: case, width, Unicode form and blanks make another", async () => {
    const call = opened();
    const keys = [
      "a.b",
      "A.b",
      "a.b ",
      " a.b",
      "ａ.b",
      "é",
      "e\u0301",
      "ß",
      "ss",
      "İ",
      "i\u0307",
      "a*",
      "a%",
      "a_b",
      "a'b",
      '"',
    ];
    for (const [index, key] of keys.entries())
      expect(dataOf(await call("memory_store", { key, value: index }))).toMatchObject({
        key,
        created: true,
        version: 1,
      });
    for (const [index, key] of keys.entries())
      expect(await recalledAt(call, key)).toMatchObject({ key, found: true, value: index });
    for (const key of ["a.B", "a.b  ", "a?b", "E\u0301", "SS", "a%25", "%", "*"])
      expect((await recalledAt(call, key)).found).toBe(false);
    const { keys: listed } = dataOf(await call("memory_list", {})) as { keys: { key: string }[] };
    const byBytes = [...keys].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    expect(listed.map(({ key }) => key)).toEqual(byBytes);
  });

  it(`gives back any JSON as it was stored (${runs(2_000)} values)`, { timeout: 120_000 }, async () => {
    const call = opened();
    await fc.assert(
      fc.asyncProperty(
        fc
          .tuple(fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 }), fc.jsonValue())
          .filter(([key]) => !/\p{Cc}|\p{Surrogate}/u.test(key)),
        async ([key, value]) => {
          const sent = JSON.parse(JSON.stringify(value)) as unknown;
          const stored = await call("memory_store", { key, value: sent });
          if (!stored.ok) return void expect(stored.error.message).toMatch(/surrogate|NUL/);
          const found = await recalledAt(call, key);
          expect(JSON.stringify(found.value)).toBe(JSON.stringify(sent));
          expect(dataOf(stored).bytes).toBe(Buffer.byteLength(JSON.stringify(sent)));
        },
      ),
      { numRuns: runs(2_000) },
    );
  });

  it("that is not there names at most three within two edits, and only those", async () => {
    const call = opened();
    for (const key of ["deploy.target", "deploy.targets", "deploy.tarte", "deploy-target", "depoly.target", "other"])
      await call("memory_store", { key, value: 1 });
    const result = await call("memory_recall", { key: "deploy.targt" });
    const { near } = dataOf(result) as { near: string[] };
    expect(near).toHaveLength(3);
    expect(near[0]).toBe("deploy.target");
    expect(near).not.toContain("other");
    expect(result.text).toMatch(/^Not found: "deploy\.targt"\nNear: "deploy\.target", /);
    expect((await call("memory_recall", { key: "nothing like it" })).text).toBe('Not found: "nothing like it"');
  });

  it("belongs to workspace and agent, or to the namespace that the host gives", async () => {
    const directory = temporaryFolder();
    const call = opened(directory);
    await call("memory_store", { key: "k", value: "of a" }, { agent: "a" });
    await call("memory_store", { key: "k", value: "of b" }, { agent: "b" });
    const other = caller(closeAfterTest(createKvMemory({ workspace: "elsewhere" })), directory);
    await other("memory_store", { key: "k", value: "elsewhere" }, { agent: "a" });
    for (const [ask, agent, value] of [
      [call, "a", "of a"],
      [call, "b", "of b"],
      [other, "a", "elsewhere"],
    ] as const)
      expect(dataOf(await ask("memory_recall", { key: "k" }, { agent })).value).toBe(value);
    expect(dataOf(await call("memory_delete", { key: "k" }, { agent: "a" })).deleted).toBe(true);
    expect(dataOf(await call("memory_recall", { key: "k" }, { agent: "b" })).found).toBe(true);
    const shared = createKvMemory({ namespace: () => ({ workspace: ".", agent: "everyone" }) });
    const all = caller(closeAfterTest(shared), directory);
    await all("memory_store", { key: "s", value: 1 }, { agent: "a" });
    expect(dataOf(await all("memory_recall", { key: "s" }, { agent: "b" })).found).toBe(true);
  });
});

describe("versions", () => {
  it("rise by one, and a change that asks for another one changes nothing and says which it is", async () => {
    const call = opened();
    const set = (value: unknown, if_version?: number) =>
      call("memory_store", { key: "k", value, ...(if_version !== undefined && { if_version }) });
    expect((await set(1, 0)).text).toBe('Stored "k" (version 1, 1 bytes, new).');
    expect((await set("two", 1)).text).toBe('Stored "k" (version 2, 5 bytes, replaced).');
    for (const wrong of [0, 1, 3])
      expect(errorOf(await set("lost", wrong))).toMatchObject({
        code: "conflict",
        message: "the key is at version 2",
        hint: expect.stringContaining("give that version"),
        retryable: false,
      });
    expect(errorOf(await call("memory_delete", { key: "k", if_version: 1 })).code).toBe("conflict");
    expect(await recalledAt(call, "k")).toMatchObject({ value: "two", version: 2 });
    expect(dataOf(await call("memory_delete", { key: "k", if_version: 2 }))).toMatchObject({
      deleted: true,
      version: 2,
    });
    expect(errorOf(await set("again", 2))).toMatchObject({ code: "conflict", message: "the key does not exist" });
    expect(dataOf(await call("memory_delete", { key: "k" }))).toMatchObject({ deleted: false, version: null });
    expect(dataOf(await set("anew", 0))).toMatchObject({ created: true, version: 1 });
  });

  it("set by eight processes at once: each version of a key has one winner, and what he wrote is there", {
    timeout: 240_000,
  }, async () => {
    const directory = temporaryFolder();
    const call = opened(directory);
    const keys = runs(400);
    const children = Array.from({ length: 8 }, (_, i) =>
      startFixture("counter.mjs", [directory, `p${i}`, String(keys)]),
    );
    for (const child of children) await child.hasLines(1);
    for (const child of children) child.process.stdin?.end();
    for (const child of children) expect(await child.ended, child.stderr()).toBe(0);
    const won = children.flatMap(({ lines }) => lines.slice(1)).map((line) => line.split(" "));
    expect(won).toHaveLength(2 * keys);
    expect(new Set(won.map(([key, version]) => `${key} ${version}`)).size).toBe(2 * keys);
    for (const [key = "", version, name] of won)
      if (version === "2") expect(await recalledAt(call, key)).toMatchObject({ value: name, version: 2 });
  });
});

it("10,000 keys are paged without gap or repeat, one more is refused, and a key that is there can still be changed", {
  timeout: 240_000,
}, async () => {
  const directory = temporaryFolder();
  const path = `${directory}/.toolhaft/memory.db`;
  const store = sqliteMemoryStore({ path });
  const name = (n: number) => `key.${String((n * 7_919) % 10_000).padStart(5, "0")}${n % 3 === 0 ? ".部署" : ""}`;
  for (let from = 0; from < 10_000; from += 1_000)
    await store.load(
      Array.from({ length: 1_000 }, (_, i) => ({
        type: "kv" as const,
        value: { workspace: ".", agent: "main", key: name(from + i), json: String(from + i), version: 1, updatedAt: 0 },
      })),
      { onConflict: "error" },
    );
  await store[Symbol.asyncDispose]();
  const call = opened(directory);
  const seen: string[] = [];
  for (let offset: number | null = 0; offset !== null; ) {
    const result = await call("memory_list", { limit: 1_000, offset });
    const page = dataOf(result) as { keys: { key: string }[]; total: number; nextOffset: number | null };
    expect(page.total).toBe(10_000);
    expect(result.text.length).toBeLessThanOrEqual(30_000);
    if (page.nextOffset !== null) expect(result.text).toContain(`More: memory_list with offset ${page.nextOffset}`);
    seen.push(...page.keys.map(({ key }) => key));
    offset = page.nextOffset;
  }
  const all = Array.from({ length: 10_000 }, (_, n) => name(n));
  expect(seen).toEqual(all.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))));
  expect(dataOf(await call("memory_list", { offset: 10_000 }))).toMatchObject({
    keys: [],
    total: 10_000,
    nextOffset: null,
  });
  expect(dataOf(await call("memory_list", { prefix: "key.0000", limit: 1_000 })).total).toBe(10);
  expect(errorOf(await call("memory_store", { key: "one more", value: 1 }))).toMatchObject({
    code: "too_large",
    message: expect.stringContaining("10000 keys"),
    hint: expect.stringContaining("memory_delete"),
  });
  expect(dataOf(await call("memory_store", { key: name(5), value: "changed" })).created).toBe(false);
  expect(dataOf(await call("memory_store", { key: "one more", value: 1 }, { agent: "b" })).created).toBe(true);
  expect((await recalledAt(call, `${name(1)}x`)).near).toContain(name(1));
});

import { randomBytes } from "node:crypto";
import { createMemory } from "@toolhaft/memory";
import { afterAll, expect, it, onTestFinished } from "vitest";
import { postgresMemoryStore } from "../src/memory.ts";
import { postgresSessionStore } from "../src/session.ts";
import { asAdmin, describeServer, newSchema, sharedPool } from "./setting.ts";

const schema = newSchema();
const signal = new AbortController().signal;
const search = (query: string) => ({
  query,
  match: "words" as const,
  caseSensitive: false,
  directories: "all" as const,
  parts: ["text" as const],
  sort: "relevance" as const,
  limit: 5,
  indexMs: 1_000,
  scanMs: 1_000,
});

describeServer("texts that an index of PostgreSQL would refuse", () => {
  afterAll(async () => void (await asAdmin(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`)));

  it("a word longer than an index entry may be is kept, and found by itself", async () => {
    const store = postgresSessionStore({ pool: sharedPool, schema });
    onTestFinished(() => store[Symbol.asyncDispose]());
    const word = randomBytes(4_000).toString("hex");
    const writer = await store.open({ id: "long", directory: "/w" });
    await writer.append([
      { id: "m1", role: "user", parts: [{ kind: "text", text: `the blob ${word} ends here` }] },
      { id: "m2", role: "user", parts: [{ kind: "text", text: "another" }] },
    ]);
    const page = await store.reader.search(search(word), signal);
    expect(page.hits.map(({ messageId }) => messageId)).toEqual(["m1"]);
    expect((await store.reader.search(search("blob"), signal)).hits).toHaveLength(1);
  });

  it("the signs that stand for NUL are told apart from themselves", async () => {
    const store = postgresSessionStore({ pool: sharedPool, schema });
    onTestFinished(() => store[Symbol.asyncDispose]());
    const writer = await store.open({ id: "signs", directory: "/w" });
    const text = "a\u0000b \u001a0 \u001a\u0000 \u001a1 \u001a";
    await writer.append({ id: "m", role: "user", parts: [{ kind: "text", text }] });
    expect((await store.reader.message("signs", "m", signal))?.parts[0]?.text).toBe(text);
    const found = await store.reader.search({ ...search("\u0000b"), match: "literal" }, signal);
    expect(found.hits.map(({ sessionId }) => sessionId)).toEqual(["signs"]);
  });

  it("a memory with such a word is kept as well, and recalled", async () => {
    const family = createMemory({ store: postgresMemoryStore({ pool: sharedPool, schema }) });
    onTestFinished(() => family.close());
    const word = randomBytes(3_000).toString("hex");
    const call = (name: string, input: unknown) => family.tools.find((tool) => tool.name === name)?.call(input);
    const written = await call("memory_write", { title: "Blob", content: `the token ${word} ends`, category: "fact" });
    expect(written?.text).toContain("mem_");
    expect((await call("memory_recall", { query: "token" }))?.text).toContain("Blob");
  });
});

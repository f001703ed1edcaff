import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createMemory, createSemanticMemory } from "../src/index.ts";
import { caller, closeAfterTest, dataOf, setting, temporaryFolder } from "./setting.ts";

describe("fragments", () => {
  it("shares one pool with the notes", async () => {
    const { R, directory, call } = setting();
    const fragments = caller(closeAfterTest(createSemanticMemory()), directory);
    await fragments("memory_semantic_add", { content: "zebra crossing ahead" });
    expect(await R("zebra")).toEqual(["zebra crossing ahead"]);
    const { memories } = dataOf(await call("memory_list", {})) as { memories: { id: string }[] };
    await fragments("memory_semantic_forget", { memory_id: memories[0]?.id });
    expect(await R("zebra")).toEqual([]);
  });
  it("a host that disables it keeps search and stats only", () => {
    const family = closeAfterTest(createSemanticMemory({ host: { enabled: false } }));
    expect(family.tools.map(({ name }) => name)).toEqual(["memory_semantic_search", "memory_semantic_stats"]);
  });
});

it.skipIf(process.platform !== "linux")("twenty folders keep at most eight files open", async () => {
  const family = closeAfterTest(createMemory());
  for (let i = 0; i < 20; i++)
    expect((await caller(family, temporaryFolder())("memory_write", { title: "t", content: `c${i}` })).ok).toBe(true);
  const mapped = readFileSync("/proc/self/maps", "utf8").match(/\S+memory\.db-shm/g) ?? [];
  expect(new Set(mapped).size).toBeLessThanOrEqual(8);
});

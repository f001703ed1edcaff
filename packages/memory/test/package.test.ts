import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createKnowledge, createKvMemory, createMemory, createSemanticMemory } from "../src/index.ts";
import { startFixture } from "./processes.ts";
import { caller, dataOf, temporaryFolder } from "./setting.ts";

describe("the package in a process of its own", () => {
  it("loads no SQLite and opens no file when it is imported and its families are made", async () => {
    const folder = temporaryFolder();
    const child = startFixture("loaded.mjs", [folder, "make"]);
    expect(await child.ended, child.stderr()).toBe(0);
    const { scripts, native, files, folderIsEmpty } = JSON.parse(child.lines[0] ?? "{}") as Record<string, unknown>;
    expect(scripts).toEqual(expect.arrayContaining([expect.stringMatching(/memory\/dist\/index\.js$/)]));
    expect((scripts as string[]).filter((script) => /better-sqlite3|node:sqlite|bindings/.test(script))).toEqual([]);
    expect({ native, files, folderIsEmpty }).toEqual({ native: [], files: [], folderIsEmpty: true });
  });

  it("loads it with the first call; close leaves no file open, and the process ends by itself", async () => {
    const folder = temporaryFolder();
    const child = startFixture("loaded.mjs", [folder, "use"]);
    expect(await child.ended, child.stderr()).toBe(0);
    const [used, closed] = child.lines.map((line) => JSON.parse(line) as { native: string[]; files: string[] });
    if (process.platform === "linux") expect(used?.files.length).toBeGreaterThan(0);
    expect(closed?.files).toEqual([]);
  });
});

describe("a family", () => {
  it.each([
    ["memory", createMemory, "memory_write", { title: "t", content: "c" }],
    ["fragments", createSemanticMemory, "memory_semantic_add", { content: "c" }],
    ["keys", createKvMemory, "memory_store", { key: "k", value: 1 }],
    ["graph", createKnowledge, "knowledge_add_entity", { name: "n", type: "t" }],
  ] as const)(
    "of %s is closed by await using, and what it wrote is there for the next",
    async (_, make, tool, input) => {
      const directory = temporaryFolder();
      const log = join(directory, ".toolhaft", "memory.db-wal");
      let kept: { call: ReturnType<typeof caller> } | undefined;
      {
        await using family = make();
        const call = caller(family, directory);
        dataOf(await call(tool, input));
        expect(existsSync(log)).toBe(true);
        kept = { call };
      }
      expect(existsSync(log)).toBe(false);
      expect((await kept.call(tool, input)).ok).toBe(false);
      await using again = make();
      expect((await caller(again, directory)(tool, input)).ok).toBe(true);
      await again.close();
      await again.close();
    },
  );
});

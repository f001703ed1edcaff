import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { long } from "@toolhaft/testing";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createMemory, sqliteMemoryStore } from "../src/index.ts";
import { loadRows } from "./many-rows.ts";
import { startFixture } from "./processes.ts";
import { closeAfterTest, temporaryFolder } from "./setting.ts";

const caller = { workspace: ".", agent: "main" };
const newer = { version: 1_000, icu: 0 };
const count = long ? 50_000 : 1_200;
const rows = Array.from({ length: count }, (_, n) => ({ title: `t${n}`, content: `words of number ${n} in 東京都` }));

/** What the store keeps under a key, read beside the family. */
function meta(path: string, key: string): string | undefined {
  const db = new Database(path, { readonly: true });
  try {
    const row = db.prepare("SELECT value FROM meta WHERE key = ?").get(key);
    return row === undefined ? undefined : z.object({ value: z.string() }).parse(row).value;
  } finally {
    db.close();
  }
}

describe("a newer analysis", () => {
  it("killed while it makes the index anew: the old index serves, and the next start goes on", {
    timeout: 600_000,
  }, async () => {
    const path = join(temporaryFolder(), "memory.db");
    const filled = sqliteMemoryStore({ path });
    await loadRows(filled, rows);
    await filled[Symbol.asyncDispose]();
    const child = startFixture("rebuild.mjs", [path]);
    while (meta(path, "rebuild_row") === undefined && meta(path, "analyser") !== JSON.stringify(newer)) await delay(2);
    child.process.kill("SIGKILL");
    await child.ended;
    // A process with the older analysis reads and writes as ever, and leaves the half-made index alone.
    const older = createMemory({ path, recordUse: false, limits: { memories: count + 1 } });
    const tool = older.tools.find(({ name }) => name === "memory_write");
    const wrote = await tool?.call(
      { title: "between", content: "written between the two", scope: "workspace" },
      { directory: temporaryFolder() },
    );
    expect(wrote?.ok).toBe(true);
    expect((await older.search(caller, { query: "number 7" })).hits[0]?.title).toBe("t7");
    await older.close();
    // The next start of the newer one goes on to the end.
    const second = startFixture("rebuild.mjs", [path]);
    while (meta(path, "analyser") !== JSON.stringify(newer)) {
      if (second.lines.includes("closed")) startFixture("rebuild.mjs", [path]);
      await delay(50);
    }
    await second.ended;
    const store = sqliteMemoryStore({ path, analyser: newer });
    const family = closeAfterTest(createMemory({ store, recordUse: false }));
    expect(await family.check()).toMatchObject({ ok: true, live: count + 1 });
    expect((await family.search(caller, { query: "written between" })).hits[0]?.title).toBe("between");
    expect((await family.search(caller, { query: "number 11 東京" })).hits[0]?.title).toBe("t11");
  });
});

describe("a store of few memories", () => {
  it.each([1, 2, 3])("ranks %i sensibly", async (few) => {
    const store = sqliteMemoryStore({ path: join(temporaryFolder(), "memory.db") });
    const family = closeAfterTest(createMemory({ store, recordUse: false }));
    const all = [
      { title: "Database", content: "PostgreSQL on port 6432" },
      { title: "Deploys", content: "The database is migrated before a deploy" },
      { title: "Tea", content: "Green tea at four" },
    ];
    await loadRows(store, all.slice(0, few));
    const { hits } = await family.search(caller, { query: "database" });
    expect(hits.map(({ title }) => title)).toEqual(few === 1 ? ["Database"] : ["Database", "Deploys"]);
    expect(hits.map(({ score }) => score)[0]).toBe(1);
    expect((await family.search(caller, { query: "nothing like it" })).hits).toEqual([]);
  });
});

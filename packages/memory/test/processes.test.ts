import { join } from "node:path";
import { long, runs } from "@toolhaft/testing";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createMemory, sqliteMemoryStore } from "../src/index.ts";
import { loadRows } from "./many-rows.ts";
import { holdLock, startFixture, tamper } from "./processes.ts";
import { closeAfterTest, setting, temporaryFolder } from "./setting.ts";

describe("many processes on one file", () => {
  it(`many-2: 8 processes × ${long ? 150 : 30} writes with recalls between: all there, none twice, no lock error`, {
    timeout: 300_000,
  }, async () => {
    const path = join(temporaryFolder(), "memory.db");
    const each = long ? 150 : 30;
    const children = Array.from({ length: 8 }, (_, i) => startFixture("worker.mjs", [path, `p${i}`, String(each)]));
    for (const child of children) expect(await child.ended, child.stderr()).toBe(0);
    const ids = children.flatMap(({ lines }) => lines.map((line) => line.split(" ")[1]));
    expect(new Set(ids).size).toBe(8 * each);
    const family = closeAfterTest(createMemory({ path }));
    expect(await family.check()).toEqual({ ok: true, problems: [], memories: 8 * each, live: 8 * each });
  });

  it("the same facts written by 8 processes at once are one row and one id each", { timeout: 300_000 }, async () => {
    const path = join(temporaryFolder(), "memory.db");
    const children = Array.from({ length: 8 }, (_, i) => startFixture("worker.mjs", [path, `p${i}`, "10", "same"]));
    for (const child of children) expect(await child.ended, child.stderr()).toBe(0);
    const lines = children.flatMap((child) => child.lines);
    expect(new Set(lines.map((line) => line.split(" ")[1])).size).toBe(10);
    expect(lines.filter((line) => line.endsWith("stored"))).toHaveLength(10);
  });

  it(`killed ${runs(200)} times while it writes, updates, supersedes, forgets and restores: all that was acknowledged is there, no half change`, {
    timeout: 600_000,
  }, async () => {
    const path = join(temporaryFolder(), "memory.db");
    for (let round = 0; round < runs(200); round++) {
      const child = startFixture("worker.mjs", [path, `r${round}`, "100000", "mixed"]);
      await child.hasLines(1 + ((round * 7) % 23));
      child.process.kill("SIGKILL");
      expect(await child.ended).toBe("SIGKILL");
      await expectWhole(path, child.lines);
    }
  });

  it(`killed ${runs(40)} times while the index is made anew, by repair or by a newer analysis, and others write`, {
    timeout: 600_000,
  }, async () => {
    const path = join(temporaryFolder(), "memory.db");
    const store = sqliteMemoryStore({ path });
    await loadRows(
      store,
      Array.from({ length: 1_500 }, (_, n) => ({ title: `row ${n}`, content: `number ${n} of many 部署` })),
    );
    await store[Symbol.asyncDispose]();
    for (let round = 0; round < runs(40); round++) {
      const mode = round % 2 === 0 ? "repair" : "reindex";
      const [maintainer, writer] = [
        startFixture("maintain.mjs", [path, mode]),
        startFixture("worker.mjs", [path, `r${round}`, "100000", "mixed"]),
      ];
      // Any moment will do; this one comes after the index was begun anew at least once.
      await writer.hasLines(1 + ((round * 5) % 17));
      await maintainer.hasLines(round % 3);
      for (const child of [maintainer, writer]) child.process.kill("SIGKILL");
      expect([await maintainer.ended, await writer.ended]).toEqual(["SIGKILL", "SIGKILL"]);
      await expectWhole(path, writer.lines);
    }
    const family = closeAfterTest(createMemory({ path }));
    const { hits } = await family.search({ workspace: ".", agent: "main" }, { query: "row 1234" });
    expect(hits[0]?.title).toBe("row 1234");
  });

  it(`maintenance while four processes write ${4 * runs(200)} memories: no write fails, and none is lost`, {
    timeout: 300_000,
  }, async () => {
    const path = join(temporaryFolder(), "memory.db");
    const each = String(runs(200));
    const writers = Array.from({ length: 4 }, (_, i) => startFixture("worker.mjs", [path, `p${i}`, each]));
    const maintainers = ["look", "reindex"].map((mode) => startFixture("maintain.mjs", [path, mode]));
    for (const writer of writers) expect(await writer.ended, writer.stderr()).toBe(0);
    for (const child of maintainers) child.process.stdin?.end();
    for (const child of maintainers) expect(await child.ended, child.stderr()).toBe(0);
    const family = closeAfterTest(createMemory({ path }));
    expect(await family.check()).toEqual({
      ok: true,
      problems: [],
      memories: 4 * Number(each),
      live: 4 * Number(each),
    });
  });

  it("many-3: writers go on while the index is made anew", { timeout: 300_000 }, async () => {
    const path = join(temporaryFolder(), "memory.db");
    const family = closeAfterTest(createMemory({ path, limits: { memories: 100_000 } }));
    const rows = long ? 20_000 : 2_000;
    const lines = [`{"format":"toolhaft-memory","version":1}\n`];
    const { exported } = await oneExported();
    for (let i = 0; i < rows; i++)
      lines.push(`${JSON.stringify({ ...exported, id: `mem_${String(i).padStart(26, "0")}`, title: `row ${i}` })}\n`);
    expect((await family.import(lines as unknown as AsyncIterable<string>)).imported).toBe(rows);
    const children = Array.from({ length: 4 }, (_, i) => startFixture("worker.mjs", [path, `p${i}`, "15"]));
    await Promise.all(children.map((child) => child.hasLines(1)));
    const report = await family.repair();
    for (const child of children) expect(await child.ended, child.stderr()).toBe(0);
    expect(report.problems).toEqual([]);
    expect(await family.check()).toMatchObject({ problems: [], live: rows + 60 });
  });

  it("waits for a lock without blocking the event loop", { timeout: 120_000 }, async () => {
    const { W, path } = setting();
    await W("first", "one");
    const release = await holdLock(path);
    let turns = 0;
    const ticking = setInterval(() => turns++, 1);
    const writing = W("second", "two");
    while (turns < 50) await new Promise((resolve) => setTimeout(resolve, 5));
    await release();
    await writing;
    clearInterval(ticking);
    expect(turns).toBeGreaterThanOrEqual(50);
  });

  it("a locked store does not fail a read", async () => {
    const { W, R, path } = setting();
    await W("a", "zebra");
    const release = await holdLock(path);
    expect(await R("zebra")).toEqual(["a"]);
    await release();
  });

  it("a damaged index is made anew by the write that meets it, and check had said so", async () => {
    const { W, R, path } = setting();
    for (let i = 0; i < 20; i++) await W(`t${i}`, `zebra number ${i}`);
    await tamper(path, "DELETE FROM memory_fts_data WHERE id > 10");
    const family = closeAfterTest(createMemory({ path }));
    expect((await family.check()).ok).toBe(false);
    await W("after", "a write upon the damage, with zebra");
    expect(await R("zebra", { limit: 50 })).toHaveLength(21);
    expect(await family.check()).toMatchObject({ ok: true, live: 21 });
  });
});

/** What a killed writer said is so, every row has as much history as changes, and the check needs no repair. */
async function expectWhole(path: string, lines: readonly string[]): Promise<void> {
  const family = createMemory({ path });
  expect(await family.check()).toMatchObject({ ok: true, problems: [] });
  const rows = new Map<string, z.infer<typeof exportedRow>>();
  for await (const line of family.export()) {
    const row = exportedRow.safeParse(JSON.parse(line));
    if (row.success) rows.set(row.data.id, row.data);
  }
  // Rows that were loaded to fill the store brought none.
  for (const { id, version, history } of rows.values())
    if (history.length > 0) expect(history.length, id).toBe(version);
  const last = new Map<string, { kind: string; by: string | undefined }>();
  for (const [kind = "", id = "", by] of lines.map((line) => line.split(" "))) last.set(id, { kind, by });
  for (const [id, { kind, by }] of last) {
    const row = rows.get(id);
    expect(row, `${kind} ${id}`).toBeDefined();
    // The change after the last acknowledged one may be there, too: it was made, and not yet told.
    const kinds = row?.history.map((entry) => entry.kind) ?? [];
    expect(kinds.slice(-2), `${kind} ${id}: ${kinds}`).toContain(kind);
    if (kind === "supersede") expect([row?.supersededBy, rows.has(by ?? "")]).toEqual([by, true]);
  }
  await family.close();
}

const exportedRow = z.object({
  type: z.literal("memory"),
  id: z.string(),
  version: z.number(),
  supersededBy: z.string().nullable(),
  history: z.array(z.object({ kind: z.string() })),
});

async function oneExported() {
  const { W, family } = setting({ path: join(temporaryFolder(), "memory.db") });
  await W("row", "words of a row");
  const lines: string[] = [];
  for await (const line of family.export()) lines.push(line);
  return { exported: JSON.parse(lines[1] ?? "{}") as Record<string, unknown> };
}

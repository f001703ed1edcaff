import { existsSync } from "node:fs";
import { join } from "node:path";
import { runs } from "@toolhaft/testing";
import { describe, expect, it } from "vitest";
import { startFixture } from "./child.ts";
import { openNotes, temporaryFolder } from "./temporary.ts";

describe("many processes", () => {
  it("sqlite-5: twenty processes open a new file at once: one schema, each migration once", async () => {
    const path = join(temporaryFolder(), "notes.db");
    const children = Array.from({ length: 20 }, (_, i) => startFixture("writer.mjs", [path, `p${i}`, "1"]));
    for (const child of children) expect(await child.ended, child.stderr()).toBe(0);
    const db = await openNotes({ path });
    expect(db.all("SELECT * FROM ran")).toHaveLength(1);
    expect(db.all("SELECT * FROM notes")).toHaveLength(20);
    expect(db.all("SELECT * FROM toolhaft_meta WHERE key LIKE 'writer:%'")).toEqual([]);
  });

  it(`four processes write ${runs(10_000)} rows: all there`, async () => {
    const path = join(temporaryFolder(), "notes.db");
    const each = String(Math.ceil(runs(10_000) / 4));
    const children = Array.from({ length: 4 }, (_, i) => startFixture("writer.mjs", [path, `p${i}`, each]));
    for (const child of children) expect(await child.ended, child.stderr()).toBe(0);
    const db = await openNotes({ path });
    expect(db.get("SELECT count(*) AS n FROM notes")).toMatchObject({ n: 4 * Number(each) });
    expect(db.get("SELECT count(*) AS n FROM halves")).toMatchObject({ n: 4 * Number(each) });
  });

  it(`${runs(200)} writers killed: every acknowledged row is there, no half of a transaction, next open without question`, async () => {
    const path = join(temporaryFolder(), "notes.db");
    for (let round = 0; round < runs(200); round++) {
      const child = startFixture("writer.mjs", [path, `r${round}`, "1000000"]);
      await child.hasLines(1 + (round % 7) * 5);
      child.process.kill("SIGKILL");
      expect(await child.ended).toBe("SIGKILL");
      const db = await openNotes({ path });
      const stored = db
        .all<{ text: string }>("SELECT text FROM notes WHERE text LIKE ?", [`r${round}:%`])
        .map((row) => row.text);
      expect(stored.slice(0, child.lines.length)).toEqual(child.lines);
      expect(stored.length - child.lines.length).toBeLessThanOrEqual(1_000);
      expect(db.get("SELECT count(*) AS n FROM notes")).toEqual(db.get("SELECT count(*) AS n FROM halves"));
      expect(db.get("PRAGMA integrity_check")).toMatchObject({ integrity_check: "ok" });
      db.close();
    }
  });

  it("waits for a lock without blocking the event loop, and obeys timeout and signal", async () => {
    const path = join(temporaryFolder(), "notes.db");
    const holder = startFixture("writer.mjs", [path, "holder", "3000", "hold"]);
    await holder.hasLines(1);
    const db = await openNotes({ path });
    const insert = (text: string, options = {}) =>
      db.write(() => db.run("INSERT INTO notes(text) VALUES(?)", [text]), options);
    await expect(insert("late", { timeoutMs: 100 })).rejects.toMatchObject({
      code: "timeout",
      retryable: true,
      message: expect.stringContaining(path),
    });
    const controller = new AbortController();
    const aborted = insert("never", { signal: controller.signal });
    controller.abort();
    await expect(aborted).rejects.toMatchObject({ code: "cancelled" });
    let turns = 0;
    const ticking = setInterval(() => turns++, 1);
    await insert("patient", { timeoutMs: 60_000 });
    clearInterval(ticking);
    expect(turns).toBeGreaterThan(10);
    expect(db.all<{ text: string }>("SELECT text FROM notes").map((row) => row.text)).toEqual(["patient"]);
    expect(await holder.ended).toBe(0);
  });

  it("a handle that is still open when the process exits leaves a clean file", async () => {
    const path = join(temporaryFolder(), "notes.db");
    const child = startFixture("writer.mjs", [path, "p", "3", "exit"]);
    expect(await child.ended, child.stderr()).toBe(0);
    expect(existsSync(`${path}-wal`)).toBe(false);
    const db = await openNotes({ path });
    expect(db.all("SELECT * FROM toolhaft_meta WHERE key LIKE 'writer:%'")).toEqual([]);
    expect(db.all("SELECT * FROM notes")).toHaveLength(3);
  });
});

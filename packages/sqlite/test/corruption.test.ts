import {
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadDriver } from "../src/driver.ts";
import { openNotes, temporaryFolder } from "./temporary.ts";

/** A closed database of several pages. */
async function filled(): Promise<string> {
  const path = join(temporaryFolder(), "notes.db");
  const db = await openNotes({ path });
  await db.write(() => {
    for (let i = 0; i < 2_000; i++) db.run("INSERT INTO notes(text) VALUES(?)", [`note ${i} ${"x".repeat(60)}`]);
  });
  db.close();
  return path;
}

function flipBytes(path: string): void {
  const file = openSync(path, "r+");
  for (let page = 2; page < statSync(path).size / 4096; page += 2)
    writeSync(file, Buffer.alloc(64, 0xa5), 0, 64, page * 4096);
  closeSync(file);
}

function copies(path: string): string[] {
  return readdirSync(dirname(path)).filter((name) => name.includes(".corrupt-") && !/-(wal|shm)$/.test(name));
}

const hasNative = await loadDriver("better-sqlite3").then(
  () => true,
  () => false,
);

describe("damage", () => {
  it("sqlite-4: flipped bytes are an error with both paths, the copy equals the original, never 'nothing found'", async () => {
    const path = await filled();
    flipBytes(path);
    const damaged = readFileSync(path);
    const db = await openNotes({ path });
    const search = () => db.all("SELECT * FROM notes WHERE text LIKE '%note 7 %'");
    expect(search).toThrow(expect.objectContaining({ code: "unavailable" }));
    // Still the same answer, and no second copy.
    expect(search).toThrow(/is damaged/);
    const [copy] = copies(path);
    expect(copies(path)).toHaveLength(1);
    expect(readFileSync(join(dirname(path), copy ?? "")).equals(damaged)).toBe(true);
    expect(readFileSync(path).equals(damaged)).toBe(true);
    expect(search).toThrow(expect.objectContaining({ message: expect.stringContaining(copy ?? "?") }));
    expect(search).toThrow(expect.objectContaining({ hint: expect.stringMatching(/\.recover .*start empty: mv/) }));
  });

  it("asking again and again saves one copy", async () => {
    const path = await filled();
    flipBytes(path);
    for (let i = 0; i < 5; i++) {
      const opened = openNotes({ path }).then((db) => db.all("SELECT * FROM notes"));
      await expect(opened).rejects.toMatchObject({ code: "unavailable" });
    }
    expect(copies(path)).toHaveLength(1);
  });

  it("a text file", async () => {
    const path = join(temporaryFolder(), "notes.db");
    const text = "not a database, but somebody's text\n".repeat(20);
    writeFileSync(path, text);
    await expect(openNotes({ path })).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("not a database"),
    });
    expect(readFileSync(path, "utf8")).toBe(text);
    expect(copies(path)).toHaveLength(1);
  });

  it("a truncated file", async () => {
    const path = await filled();
    truncateSync(path, Math.floor(statSync(path).size / 2 / 4096) * 4096 + 100);
    const before = readFileSync(path);
    const opened = openNotes({ path }).then((db) => db.all("SELECT * FROM notes"));
    await expect(opened).rejects.toMatchObject({ code: "unavailable" });
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(readFileSync(join(dirname(path), copies(path)[0] ?? "")).equals(before)).toBe(true);
  });

  it("after an unclean end the file is checked before it is used", async () => {
    const folder = temporaryFolder();
    const source = await filled();
    const live = await openNotes({ path: source });
    await live.write(() => live.run("INSERT INTO notes(text) VALUES('in the log')"));
    // A copy of the open files is what a killed process leaves, but for its pid: that one has to be dead.
    await live.write(() => live.run("UPDATE toolhaft_meta SET value = 2147483646 WHERE key LIKE 'writer:%'"));
    for (const part of ["", "-wal", "-shm"]) copyFileSync(source + part, join(folder, `notes.db${part}`));
    flipBytes(join(folder, "notes.db"));
    await expect(openNotes({ path: join(folder, "notes.db") })).rejects.toMatchObject({ code: "unavailable" });
  });

  it("an unclean end without damage is forgotten after the check", async () => {
    const path = await filled();
    const db = await openNotes({ path });
    await db.write(() => db.run("INSERT INTO toolhaft_meta(key, value) VALUES('writer:dead', 2147483646)"));
    db.close();
    const again = await openNotes({ path });
    expect(again.all("SELECT * FROM toolhaft_meta WHERE key = 'writer:dead'")).toEqual([]);
  });

  it("is looked for once a week even after clean ends", async () => {
    const path = await filled();
    flipBytes(path);
    const nextWeek = { now: () => Date.now() + 8 * 24 * 3_600_000 };
    await expect(openNotes({ path, clock: nextWeek })).rejects.toMatchObject({ code: "unavailable" });
  });

  it("a cache moves the damaged file aside, says so and starts empty", async () => {
    const path = await filled();
    flipBytes(path);
    const first = await openNotes({ path });
    expect(() => first.all("SELECT * FROM notes")).toThrow(/damaged/);
    const said: string[] = [];
    const db = await openNotes({ path, onRebuild: (note) => said.push(note) });
    expect(db.all("SELECT * FROM notes")).toEqual([]);
    expect(said).toEqual([expect.stringMatching(/was damaged .* moved to .*\.corrupt-/)]);
    expect(existsSync(path)).toBe(true);
  });

  it.skipIf(!hasNative)("damage of an FTS5 index is left to its owner", async () => {
    const path = join(temporaryFolder(), "notes.db");
    const db = await openNotes({ path, driver: "better-sqlite3" });
    db.run("CREATE VIRTUAL TABLE words USING fts5(body)");
    db.run("INSERT INTO words(body) VALUES('needle in a haystack')");
    const { default: Native } = await import("better-sqlite3");
    const unprotected = new Native(path).unsafeMode();
    unprotected.exec("DELETE FROM words_data WHERE id > 10");
    unprotected.close();
    expect(() => db.all("SELECT * FROM words WHERE words MATCH 'needle'")).toThrow(
      expect.objectContaining({ code: "SQLITE_CORRUPT_VTAB" }),
    );
    expect(db.get("SELECT 1 AS one")).toMatchObject({ one: 1 });
  });
});

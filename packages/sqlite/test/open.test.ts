import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Connection, Driver } from "../src/driver.ts";
import { loadDriver } from "../src/driver.ts";
import { type Migration, openDatabase } from "../src/index.ts";
import { openWith } from "../src/open.ts";
import { notes, openNotes, temporaryFolder } from "./temporary.ts";

const more: readonly Migration[] = [
  ...notes,
  {
    version: 2,
    name: "stars",
    up: (db) => void db.run("ALTER TABLE notes ADD COLUMN stars INTEGER NOT NULL DEFAULT 0"),
  },
];

/** Changes a database behind the package's back. */
async function tamper(path: string, sql: string): Promise<void> {
  const connection = (await loadDriver()).open(path, { readOnly: false });
  connection.exec(sql);
  connection.close();
}

describe("identity", () => {
  it("sqlite-6: a file of a newer version is refused with both numbers and stays byte-equal", async () => {
    const path = join(temporaryFolder(), "notes.db");
    (await openNotes({ path })).close();
    await tamper(path, "PRAGMA user_version = 99");
    const before = readFileSync(path);
    await expect(openNotes({ path })).rejects.toMatchObject({
      code: "unsupported",
      message: expect.stringContaining("newer version (99, this one knows 1)"),
    });
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it("refuses a newer version that still stands in the log of a killed writer", async () => {
    const folder = temporaryFolder();
    const path = join(folder, "notes.db");
    (await openNotes({ path })).close();
    const connection = (await loadDriver()).open(path, { readOnly: false });
    connection.exec("PRAGMA user_version = 99");
    const names = ["notes.db", "notes.db-wal", "notes.db-shm"];
    const copy = join(temporaryFolder(), "notes.db");
    for (const name of names) writeFileSync(join(copy, "..", name), readFileSync(join(folder, name)));
    connection.close();
    const before = readFileSync(copy);
    const log = readFileSync(`${copy}-wal`);
    await expect(openNotes({ path: copy })).rejects.toMatchObject({ code: "unsupported" });
    expect(readFileSync(copy).equals(before)).toBe(true);
    expect(readFileSync(`${copy}-wal`).equals(log)).toBe(true);
  });

  it("leaves the file of another program untouched", async () => {
    for (const setUp of ["CREATE TABLE theirs(a)", "PRAGMA application_id = 7; CREATE TABLE theirs(a)"]) {
      const path = join(temporaryFolder(), "theirs.db");
      await tamper(path, setUp);
      const before = readFileSync(path);
      await expect(openNotes({ path })).rejects.toMatchObject({ code: "conflict", retryable: false });
      expect(readFileSync(path).equals(before)).toBe(true);
    }
  });

  it("leaves the file of another family untouched", async () => {
    const path = join(temporaryFolder(), "notes.db");
    (await openNotes({ path })).close();
    const before = readFileSync(path);
    await expect(openNotes({ path, family: "tasks" })).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringContaining("family notes"),
    });
    expect(readFileSync(path).equals(before)).toBe(true);
  });
});

describe("migrations", () => {
  it("upgrades once and keeps what was before", async () => {
    const path = join(temporaryFolder(), "notes.db");
    const old = await openNotes({ path });
    await old.write(() => old.run("INSERT INTO notes(text) VALUES('old')"));
    old.close();
    const db = await openNotes({ path, migrations: more });
    expect(db.version).toBe(2);
    expect(db.get("SELECT text, stars FROM notes")).toMatchObject({ text: "old", stars: 0 });
    const before = await openNotes({ path: `${path}.before-v2` });
    expect(before.version).toBe(1);
    expect(before.all("SELECT * FROM notes")).toHaveLength(1);
  });

  it("keeps the last two copies", async () => {
    const folder = temporaryFolder();
    const path = join(folder, "notes.db");
    for (let version = 1; version <= 5; version++) {
      const migrations = Array.from({ length: version }, (_, i) => ({
        version: i + 1,
        name: `t${i}`,
        up: `CREATE TABLE t${i}(a)`,
      }));
      (await openNotes({ path, migrations })).close();
    }
    expect(
      readdirSync(folder)
        .filter((name) => name.includes("before"))
        .sort(),
    ).toEqual(["notes.db.before-v4", "notes.db.before-v5"]);
  });

  it("a failing migration is named and changes nothing", async () => {
    const path = join(temporaryFolder(), "notes.db");
    const old = await openNotes({ path });
    await old.write(() => old.run("INSERT INTO notes(text) VALUES('kept')"));
    old.close();
    const failing = [...more, { version: 3, name: "broken step", up: "CREATE TABLE x(a); SELECT nonsense" }];
    await expect(openNotes({ path, migrations: failing })).rejects.toMatchObject({
      code: "internal",
      message: expect.stringContaining('migration 3 "broken step" failed'),
    });
    const db = await openNotes({ path });
    expect(db.version).toBe(1);
    expect(db.all("SELECT name FROM sqlite_master WHERE name = 'x'")).toEqual([]);
    expect(db.get("SELECT text FROM notes")).toMatchObject({ text: "kept" });
  });

  it("a migration that leaves rows pointing to nothing is refused", async () => {
    const path = join(temporaryFolder(), "notes.db");
    const migrations = [
      ...notes,
      {
        version: 2,
        name: "dangling",
        up: "CREATE TABLE child(note INTEGER REFERENCES notes(id)); INSERT INTO child VALUES(999)",
      },
    ];
    await expect(openNotes({ path, migrations })).rejects.toMatchObject({
      code: "internal",
      message: expect.stringContaining("point to nothing"),
    });
  });

  it("refuses versions with a gap before the disk is touched", async () => {
    const path = join(temporaryFolder(), "sub", "notes.db");
    const migrations = [{ version: 2, name: "late", up: "" }];
    await expect(openNotes({ path, migrations })).rejects.toThrow(TypeError);
    expect(existsSync(join(path, ".."))).toBe(false);
  });

  it("an asynchronous migration is refused", async () => {
    const up = (async () => undefined) as unknown as () => void;
    const opening = openNotes({ migrations: [{ version: 1, name: "late", up }] });
    await expect(opening).rejects.toMatchObject({ code: "internal", message: expect.stringContaining("asynchronous") });
  });

  it("a reader opens the same version, and neither makes nor upgrades a file", async () => {
    const path = join(temporaryFolder(), "notes.db");
    await expect(openNotes({ path, readOnly: true })).rejects.toMatchObject({ code: "not_found" });
    expect(existsSync(path)).toBe(false);
    const writer = await openNotes({ path });
    await writer.write(() => writer.run("INSERT INTO notes(text) VALUES('a')"));
    const reader = await openNotes({ path, readOnly: true });
    expect(reader.all("SELECT * FROM notes")).toHaveLength(1);
    await expect(reader.write(() => reader.run("DELETE FROM notes"))).rejects.toMatchObject({ code: "unavailable" });
    await expect(openNotes({ path, readOnly: true, migrations: more })).rejects.toMatchObject({ code: "unsupported" });
  });
});

describe("bad places", () => {
  it("names an empty path, NUL and :memory:", async () => {
    for (const path of ["", "a\0b", ":memory:"]) {
      await expect(openDatabase({ path, family: "notes", migrations: notes })).rejects.toMatchObject({
        code: "invalid_input",
      });
    }
  });

  it("path is a folder", async () => {
    const folder = temporaryFolder();
    await expect(openNotes({ path: folder })).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("is a folder"),
    });
    expect(readdirSync(folder)).toEqual([]);
  });

  it("path is a FIFO: no hang", async () => {
    const path = join(temporaryFolder(), "pipe.db");
    execFileSync("mkfifo", [path]);
    await expect(openNotes({ path })).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("not a regular file"),
    });
  });

  it("a parent that is a file", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "file"), "text");
    await expect(openNotes({ path: join(folder, "file", "notes.db") })).rejects.toMatchObject({ code: "unavailable" });
    expect(readFileSync(join(folder, "file"), "utf8")).toBe("text");
  });

  it.skipIf(process.getuid?.() === 0)("path is read-only (skipped for root, whom modes do not bind)", async () => {
    const folder = temporaryFolder();
    const path = join(folder, "notes.db");
    (await openNotes({ path })).close();
    chmodSync(path, 0o400);
    await expect(openNotes({ path })).rejects.toMatchObject({ code: "unavailable" });
  });

  it("a file system that takes no file", async () => {
    await expect(openNotes({ path: "/proc/toolhaft/notes.db" })).rejects.toMatchObject({ code: "unavailable" });
  });

  it("follows a link to the real file", async () => {
    const folder = temporaryFolder();
    const path = join(folder, "real.db");
    (await openNotes({ path })).close();
    symlinkSync(path, join(folder, "link.db"));
    const db = await openNotes({ path: join(folder, "link.db") });
    expect(db.path).toBe(path);
  });

  it("deleted while open: named error on write and read, nothing confirmed, works again after opening anew", async () => {
    const path = join(temporaryFolder(), "notes.db");
    const db = await openNotes({ path });
    await db.write(() => db.run("INSERT INTO notes(text) VALUES('a')"));
    for (const part of ["", "-wal", "-shm"]) unlinkSync(path + part);
    await expect(db.write(() => db.run("INSERT INTO notes(text) VALUES('b')"))).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("deleted or replaced"),
    });
    expect(() => db.all("SELECT * FROM notes")).toThrow(/deleted or replaced/);
    const again = await openNotes({ path });
    expect(again.all("SELECT * FROM notes")).toEqual([]);
  });

  it("a file system without a write-ahead log: unsupported, and no file is left", async () => {
    const path = join(temporaryFolder(), "notes.db");
    const fake = withoutWal(await loadDriver());
    await expect(openWith(fake, { path, family: "notes", migrations: notes })).rejects.toMatchObject({
      code: "unsupported",
      message: expect.stringContaining("write-ahead log"),
    });
    expect(existsSync(path)).toBe(false);
  });

  it("keeps a folder of the user's own free of our .gitignore", async () => {
    const folder = join(temporaryFolder(), "mine");
    mkdirSync(folder);
    await openNotes({ path: join(folder, "notes.db") });
    expect(existsSync(join(folder, ".gitignore"))).toBe(false);
  });
});

/** A driver that answers as SQLite does on a network file system. */
function withoutWal(driver: Driver): Driver {
  const wrap = (connection: Connection): Connection => ({
    ...connection,
    prepare: (sql) =>
      sql.includes("journal_mode")
        ? { ...connection.prepare("SELECT 1"), get: () => ({ journal_mode: "delete" }) }
        : connection.prepare(sql),
  });
  return { name: driver.name, open: (path, options) => wrap(driver.open(path, options)) };
}

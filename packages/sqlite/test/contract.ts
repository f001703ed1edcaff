import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type DriverName, openMemoryDatabase, sqliteCode } from "../src/index.ts";
import { notes, openNotes, temporaryFolder } from "./temporary.ts";

/** What every driver of SQLite must do; run by one test file per driver. */
export function describeDriver(driver: DriverName): void {
  const open = (options: Parameters<typeof openNotes>[0] = {}) => openNotes({ driver, ...options });

  describe(`driver ${driver}`, () => {
    it("stores and reads every kind of value as it was", async () => {
      const db = await open();
      const bytes = new Uint8Array([0, 255, 7]);
      const row = db.get<Record<string, unknown>>(
        "SELECT :i AS i, typeof(:i) AS ti, :wide AS wide, typeof(:wide) AS tw, :real AS real, :text AS text, :blob AS blob, :absent AS absent",
        { i: 42, wide: 1_790_000_000_000, real: 0.5, text: "日本 é \u{1F600}", blob: bytes, absent: null },
      );
      expect(row).toMatchObject({ i: 42, ti: "integer", wide: 1_790_000_000_000, tw: "integer", real: 0.5 });
      expect(row).toMatchObject({ text: "日本 é \u{1F600}", absent: null });
      expect([...((row?.blob ?? []) as Uint8Array)]).toEqual([0, 255, 7]);
    });

    it("keeps a database in memory, apart from every other one", async () => {
      const options = { migrations: notes, family: "notes", driver };
      const db = await openMemoryDatabase(options);
      const other = await openMemoryDatabase(options);
      await db.write(() => db.run("INSERT INTO notes(text) VALUES('kept')"));
      await expect(db.write(() => db.run("INSERT INTO notes(text) VALUES(NULL)"))).rejects.toThrow(/NOT NULL/);
      expect(db.all("SELECT text FROM notes")).toEqual([{ text: "kept" }]);
      expect(other.all("SELECT text FROM notes")).toEqual([]);
      db.close();
      other.close();
      expect(() => db.get("SELECT 1")).toThrow(/closed/);
      expect(existsSync(":memory:")).toBe(false);
    });

    it("binds by name and gives undefined and [] for no row", async () => {
      const db = await open();
      db.run("INSERT INTO notes(id, text) VALUES(:id, :text)", { id: 7, text: "by name" });
      expect(db.get<{ text: string }>("SELECT text FROM notes WHERE id = :id", { id: 7 })?.text).toBe("by name");
      expect(db.get("SELECT text FROM notes WHERE id = 8")).toBeUndefined();
      expect(db.all("SELECT text FROM notes WHERE id = 8")).toEqual([]);
    });

    it("gives changes and the row id as bigint, also for RETURNING", async () => {
      const db = await open();
      expect(db.run("INSERT INTO notes(text) VALUES('a'), ('b')")).toEqual({ changes: 2, lastInsertRowid: 2n });
      expect(db.run("INSERT INTO notes(text) VALUES('c') RETURNING id")).toEqual({ changes: 1, lastInsertRowid: 3n });
      expect(db.get<{ id: number }>("INSERT INTO notes(text) VALUES('d') RETURNING id")?.id).toBe(4);
      expect(db.all("DELETE FROM notes")).toEqual([]);
    });

    it("names the broken constraint", async () => {
      const db = await open();
      db.run("INSERT INTO notes(text) VALUES('once')");
      const code = (sql: string) => {
        try {
          db.run(sql);
        } catch (error) {
          return sqliteCode(error);
        }
        return "no error";
      };
      expect(code("INSERT INTO notes(text) VALUES('once')")).toBe("SQLITE_CONSTRAINT_UNIQUE");
      expect(code("INSERT INTO notes(text) VALUES(NULL)")).toBe("SQLITE_CONSTRAINT_NOTNULL");
      expect(code("SELECT nonsense")).toBe("SQLITE_ERROR");
    });

    it("commits a write and undoes one that throws", async () => {
      const db = await open();
      expect(await db.write(() => db.run("INSERT INTO notes(text) VALUES('kept')").changes)).toBe(1);
      const failing = db.write(() => {
        db.run("INSERT INTO notes(text) VALUES('lost')");
        throw new Error("on purpose");
      });
      await expect(failing).rejects.toThrow("on purpose");
      expect(db.all<{ text: string }>("SELECT text FROM notes").map((row) => row.text)).toEqual(["kept"]);
    });

    it("undoes only a savepoint that throws", async () => {
      const db = await open();
      await db.write(() => {
        db.run("INSERT INTO notes(text) VALUES('outer')");
        expect(() =>
          db.savepoint(() => {
            db.run("INSERT INTO notes(text) VALUES('inner')");
            db.savepoint(() => db.run("INSERT INTO notes(text) VALUES('innermost')"));
            throw new Error("only the inner part");
          }),
        ).toThrow("only the inner part");
        db.savepoint(() => db.run("INSERT INTO notes(text) VALUES('second')"));
      });
      expect(db.all<{ text: string }>("SELECT text FROM notes").map((row) => row.text)).toEqual(["outer", "second"]);
    });

    it("refuses asynchronous work, a write inside a write and a savepoint outside one", async () => {
      const db = await open();
      const asynchronous = db.write(async () => void db.run("INSERT INTO notes(text) VALUES('never')"));
      await expect(asynchronous).rejects.toThrow(TypeError);
      await expect(db.write(() => void expectNested(db.write(() => 1)))).resolves.toBeUndefined();
      await expect(db.write(() => db.write(() => 1))).rejects.toThrow(TypeError);
      expect(() => db.savepoint(() => 1)).toThrow(TypeError);
      expect(db.all("SELECT * FROM notes")).toEqual([]);
    });

    it("iterates within one tick and refuses to go on after an await", async () => {
      const db = await open();
      db.run("INSERT INTO notes(text) VALUES('a'), ('b'), ('c')");
      const all = [...db.iterate<{ text: string }>("SELECT text FROM notes ORDER BY id")].map((row) => row.text);
      expect(all).toEqual(["a", "b", "c"]);
      const rows = db.iterate<{ text: string }>("SELECT text FROM notes ORDER BY id");
      expect(rows.next().value?.text).toBe("a");
      await Promise.resolve();
      expect(() => rows.next()).toThrow(TypeError);
      for (const row of db.iterate("SELECT text FROM notes")) if (row) break;
      await db.write(() => db.run("DELETE FROM notes"));
    });

    it("backs up while open, and refuses a path that exists", async () => {
      const db = await open();
      await db.write(() => db.run("INSERT INTO notes(text) VALUES('saved')"));
      const target = join(temporaryFolder(), "copy.db");
      await db.backup(target);
      await db.write(() => db.run("INSERT INTO notes(text) VALUES('later')"));
      const copy = await open({ path: target });
      expect(copy.all<{ text: string }>("SELECT text FROM notes").map((row) => row.text)).toEqual(["saved"]);
      expect(statSync(target).mode & 0o777).toBe(0o600);
      await expect(db.backup(target)).rejects.toMatchObject({ code: "conflict" });
    });

    it("opens with the settings that many processes need", async () => {
      const db = await open({ durability: "full" });
      const pragma = (name: string) => Object.values(db.get<Record<string, unknown>>(`PRAGMA ${name}`) ?? {})[0];
      expect(pragma("journal_mode")).toBe("wal");
      expect(pragma("synchronous")).toBe(2);
      expect(pragma("foreign_keys")).toBe(1);
      expect(pragma("trusted_schema")).toBe(0);
      expect(pragma("cell_size_check")).toBe(1);
      expect(pragma("journal_size_limit")).toBe(67_108_864);
      expect(db.driver).toBe(driver);
      expect(db.version).toBe(1);
    });

    it("makes folder, .gitignore and a file of mode 0600, and leaves no log after close", async () => {
      const path = join(temporaryFolder(), "deep", ".toolhaft", "notes.db");
      const db = await open({ path });
      await db.write(() => db.run("INSERT INTO notes(text) VALUES('a')"));
      expect(statSync(path).mode & 0o777).toBe(0o600);
      expect(statSync(`${path}-wal`).mode & 0o777).toBe(0o600);
      expect(readFileSync(join(path, "..", ".gitignore"), "utf8")).toBe("*\n");
      db.close();
      db.close();
      expect(existsSync(`${path}-wal`)).toBe(false);
      expect(() => db.get("SELECT 1")).toThrow(/is closed/);
    });

    it("has FTS5 with rows that can be deleted without their content", async () => {
      const db = await open();
      db.run("CREATE VIRTUAL TABLE index_ USING fts5(body, content='', contentless_delete=1)");
      db.run("INSERT INTO index_(rowid, body) VALUES(1, 'needle')");
      db.run("DELETE FROM index_ WHERE rowid = 1");
      expect(db.all("SELECT rowid FROM index_ WHERE index_ MATCH 'needle'")).toEqual([]);
    });
  });
}

function expectNested(nested: Promise<unknown>): Promise<void> {
  return expect(nested).rejects.toThrow(TypeError);
}

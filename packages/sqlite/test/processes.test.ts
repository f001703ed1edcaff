import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { runs } from "@toolhaft/testing";
import { describe, expect, it } from "vitest";
import { startFixture } from "./child.ts";
import { openNotes, temporaryFolder } from "./temporary.ts";

const run = promisify(execFile);
const here = fileURLToPath(new URL("..", import.meta.url));

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

describe("sqlite-1: a native module that cannot be loaded", () => {
  const hasOwn = process.getBuiltinModule?.("node:sqlite" as "node:fs") !== undefined;

  it.each([
    ["not installed", (packages: string) => rmSync(join(packages, "better-sqlite3"), { recursive: true })],
    [
      "install script was not run",
      (packages: string) => rmSync(join(packages, "better-sqlite3", "build"), { recursive: true }),
    ],
    [
      "built for another Node",
      (packages: string) =>
        writeFileSync(
          join(packages, "better-sqlite3", "build", "Release", "better_sqlite3.node"),
          "a file for another machine",
        ),
    ],
  ])("%s", async (cause, damage) => {
    const packages = consumer();
    damage(packages);
    const program = `
      import { openDatabase } from "@toolhaft/sqlite";
      try {
        const db = await openDatabase({ path: ${JSON.stringify(join(packages, "x.db"))}, family: "x", migrations: [] });
        console.log(JSON.stringify({ driver: db.driver }));
        db.close();
      } catch (error) {
        console.log(JSON.stringify({ code: error.code, message: error.message, hint: error.hint }));
      }`;
    writeFileSync(join(packages, "..", "program.mjs"), program);
    const { stdout } = await run(process.execPath, [join(packages, "..", "program.mjs")]);
    const answer: unknown = JSON.parse(stdout);
    if (hasOwn) return void expect(answer).toEqual({ driver: "node:sqlite" });
    expect(answer).toMatchObject({ code: "unavailable", message: expect.stringContaining(cause) });
    expect(answer).toMatchObject({ hint: expect.stringMatching(/^npm .*Node 22\.13 or later/s) });
    expect(existsSync(join(packages, "x.db"))).toBe(false);
  });
});

/** A project with the built package and its own copy of the native module. */
function consumer(): string {
  const packages = join(temporaryFolder(), "node_modules");
  const require = createRequire(join(here, "package.json"));
  mkdirSync(join(packages, "@toolhaft", "sqlite"), { recursive: true });
  cpSync(join(here, "dist"), join(packages, "@toolhaft", "sqlite", "dist"), { recursive: true });
  cpSync(join(here, "package.json"), join(packages, "@toolhaft", "sqlite", "package.json"));
  symlinkSync(resolve(here, "..", "core"), join(packages, "@toolhaft", "core"));
  const native = dirname(require.resolve("better-sqlite3/package.json"));
  for (const part of ["package.json", "lib", join("build", "Release", "better_sqlite3.node")]) {
    cpSync(join(native, part), join(packages, "better-sqlite3", part), { recursive: true });
  }
  const bindings = dirname(createRequire(join(native, "package.json")).resolve("bindings/package.json"));
  cpSync(bindings, join(packages, "bindings"), { recursive: true });
  cpSync(join(bindings, "..", "file-uri-to-path"), join(packages, "file-uri-to-path"), {
    recursive: true,
    dereference: true,
  });
  return packages;
}

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "@toolhaft/sqlite";
import { runs } from "@toolhaft/testing";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { analyse, analyseQuery, excerpt, ftsMatch, idf, SPACE_TOKENIZER, saturated } from "../src/index.ts";

async function index() {
  const folder = mkdtempSync(join(tmpdir(), "toolhaft-text-"));
  const migrations = [
    {
      version: 1,
      name: "t",
      up: `CREATE VIRTUAL TABLE t USING fts5(body, content='', contentless_delete=1, tokenize=${SPACE_TOKENIZER})`,
    },
  ];
  const db = await openDatabase({ path: join(folder, "t.db"), family: "text", migrations });
  onTestFinished(() => {
    db.close();
    rmSync(folder, { recursive: true, force: true });
  });
  let row = 0;
  return {
    add: (text: string) => db.run("INSERT INTO t(rowid, body) VALUES(?, ?)", [++row, analyse(text).join(" ")]),
    find(query: string) {
      const match = ftsMatch(analyseQuery(query).terms);
      return match === ""
        ? []
        : db
            .all<{ rowid: number }>("SELECT rowid FROM t WHERE t MATCH ? ORDER BY rowid", [match])
            .map(({ rowid }) => rowid);
    },
  };
}

describe("analysis", () => {
  it("gives compounds whole and in parts", () => {
    expect(analyse("gpt-4o")).toEqual(["gpt-4o", "gpt", "4o", "4", "o"]);
    expect(analyse("C++")).toContain("c++");
    expect(analyse("getUserName")).toEqual(expect.arrayContaining(["get", "user", "name"]));
    expect(analyse("GBs")).not.toContain("gb/s");
  });
  it("drops marks in Latin and keeps them in kana", () => {
    expect(analyse("é")).toEqual(["e"]);
    expect(analyse("が")).toEqual(["が"]);
    expect(analyse("ＡＢＣ")).toEqual(analyse("abc"));
  });
  it("leaves stop words out of a query only while another term remains", () => {
    expect(analyseQuery("where is the port").terms).toEqual(["port"]);
    expect(analyseQuery("to be or not to be").terms.length).toBeGreaterThan(0);
  });
  it("takes quotes as a demand, and an open one as text", () => {
    expect(analyseQuery('"open the port" now').phrases).toEqual(["open the port"]);
    expect(analyseQuery('say "hello').phrases).toEqual([]);
  });
});

it("sqlite-2: words with signs are found as typed", async () => {
  const { add, find } = await index();
  const texts = ["POL-358", "don't", "bun:sqlite", "C++"];
  for (const text of texts) add(text);
  for (const [at, text] of texts.entries()) expect(find(text)).toContain(at + 1);
});

it("sqlite-3: two Chinese letters, and one", async () => {
  const { add, find } = await index();
  add("数据库迁移需要停机");
  expect(find("迁移")).toEqual([1]);
  add("机");
  expect(find("机")).toContain(2);
});

it(`no string makes a query that SQLite refuses (${runs(20_000)} strings)`, { timeout: 120_000 }, async () => {
  const { add, find } = await index();
  add("zebra");
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.string()), (text) => void find(text)),
    { numRuns: runs(20_000) },
  );
});

it("an excerpt keeps whole code points and marks what was found", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 80 }), fc.integer({ min: 1, max: 60 }), (around, chars) => {
      const text = `${around} needle ${around}`;
      const found = excerpt(text, ["needl"], chars);
      expect([...text].slice(found.start, found.start + [...found.text].length).join("")).toBe(found.text);
      expect([...found.text].length).toBeLessThanOrEqual(chars);
    }),
    { numRuns: 300 },
  );
  const { text, marks } = excerpt("İİİ needle", ["needl"], 100);
  expect(marks.map(([from, to]) => [...text].slice(from, to).join(""))).toEqual(["needle"]);
});

it("scores are never negative and rise with frequency", () => {
  const options = { k: 0.9, b: 0.75 };
  expect(idf(10, 10)).toBeGreaterThan(0);
  expect(saturated(2, 10, { count: 1, averageLength: 10 }, options)).toBeGreaterThan(
    saturated(1, 10, { count: 1, averageLength: 10 }, options),
  );
});

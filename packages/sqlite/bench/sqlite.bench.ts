import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineBench, runTogether } from "@toolhaft/testing";
import Sqlite from "better-sqlite3";
import { openDatabase } from "../src/index.ts";
import { schema } from "./schema.ts";

const writer = new URL("./writer.ts", import.meta.url);

export default defineBench(async (bench) => {
  const quick = bench.flags.includes("--quick");
  const folder = mkdtempSync(join(tmpdir(), "toolhaft-bench-sqlite-"));
  try {
    await oneRow();
    await together(quick ? 400 : 4_000);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  bench.note("raw is better-sqlite3 with one prepared INSERT on a file of its own: WAL, synchronous=NORMAL, as ours.");

  async function oneRow(): Promise<void> {
    const db = await openDatabase({ path: join(folder, "ours.db"), family: "bench", migrations: schema });
    const raw = new Sqlite(join(folder, "raw.db"));
    raw.pragma("journal_mode = WAL");
    raw.pragma("synchronous = NORMAL");
    raw.exec("CREATE TABLE rows(id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT");
    const insert = raw.prepare("INSERT INTO rows(text) VALUES(?)");
    const text = "a row of usual length, as notes and tasks have them".repeat(4);
    await bench.compare({
      name: "write of one row",
      ours: () => db.write(() => db.run("INSERT INTO rows(text) VALUES(?)", [text])),
      baseline: { name: "raw", run: () => insert.run(text) },
      batch: 200,
      rounds: quick ? 7 : 31,
      target: { max: 1.5 },
    });
    raw.close();
    db.close();
  }

  /** Rows a second of four processes on one file against one process; every row must be there. */
  async function together(rows: number): Promise<void> {
    const [one, four] = [await rate(1, rows), await rate(4, rows)];
    bench.figure({
      name: "4 processes writing one file",
      ours: four,
      baseline: { name: "1 process", value: one },
      unit: "rows/s",
      target: { min: 0.2 },
    });
  }

  async function rate(processes: number, rows: number): Promise<number> {
    const path = join(folder, `together-${processes}.db`);
    const each = String(rows / processes);
    const { wallMs } = await runTogether(
      writer,
      Array.from({ length: processes }, () => [path, each]),
    );
    const db = await openDatabase({ path, family: "bench", migrations: schema });
    const stored = db.get<{ n: number }>("SELECT count(*) AS n FROM rows")?.n;
    db.close();
    if (stored !== rows) throw new Error(`${stored} of ${rows} rows are there`);
    return rows / (wallMs / 1_000);
  }
});

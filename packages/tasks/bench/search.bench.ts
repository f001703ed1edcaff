import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineBench } from "@toolhaft/testing";
import Sqlite from "better-sqlite3";
import { sqliteTasks } from "../src/index.ts";
import { task } from "./ours.ts";

const words = ["parser", "cache", "lexer", "budget", "解析器", "缓存", "index", "review"];

export default defineBench(async (bench) => {
  const quick = bench.flags.includes("--quick");
  const size = quick ? 10_000 : 100_000;
  const folder = mkdtempSync(join(tmpdir(), "toolhaft-bench-search-"));
  const path = join(folder, "search.db");
  const backend = sqliteTasks({ path });
  for (let from = 0; from < size; from += 500)
    await backend.queue.post(Array.from({ length: 500 }, (_, at) => taskOf(from + at)));
  await backend.store.find({ text: "warm", limit: 1 });
  const raw = new Sqlite(path, { readonly: true });
  const scan = raw.prepare(
    "SELECT seq FROM task WHERE title LIKE ? OR body LIKE ? OR agent LIKE ? OR end_json LIKE ? ORDER BY seq DESC",
  );
  const full = (term: string) => () => scan.all(...Array.from({ length: 4 }, () => `%${term}%`));
  const rounds = quick ? 3 : 7;
  const rows = size.toLocaleString("en");
  for (const [name, text, max] of [
    ["found", "number 311", 0.1],
    ["absent", "nowhere to be found", 0.1],
    ["two Chinese characters", "缓存", 1.3],
  ] as const) {
    await bench.compare({
      name: `search, ${name}, ${rows} tasks`,
      ours: () => backend.store.find({ text, limit: 20 }),
      baseline: { name: "LIKE scan", run: full(text) },
      batch: 1,
      rounds,
      target: { max },
    });
  }
  await bench.compare({
    name: `tasks of one session, ${rows} tasks`,
    ours: () => backend.store.find({ ownerSession: "session-7", limit: 50 }),
    baseline: { name: "LIKE scan", run: full("parser") },
    batch: 1,
    rounds,
    target: { max: 0.02 },
  });
  raw.close();
  await backend.close();
  rmSync(folder, { recursive: true, force: true });

  /** Four hundred characters of mixed words; each session owns a thousandth. */
  function taskOf(index: number) {
    const word = (step: number) => words[(index * step + (index >> 3)) % words.length] ?? "";
    return task(index, {
      title: `${word(1)} ${index}`,
      body: `${word(3)} of the ${word(5)} and what it says about number ${index % 977}`.repeat(4),
      ownerSession: `session-${index % 1_000}`,
    });
  }
});

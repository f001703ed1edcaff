import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMemory, type MemoryStore, sqliteMemoryStore } from "@toolhaft/memory";
import { defineBench } from "@toolhaft/testing";
import { type Collection, dataFolder, locomo, passages } from "../../memory/bench/data.ts";
import { fill } from "../../memory/bench/engines.ts";
import { postgresMemoryStore } from "../src/memory.ts";
import { startServer } from "../test/server.ts";

const ranks = 10;

/** The same questions put to both stores: what is found must be as good, and is compared rank by rank. */
export default defineBench(async (bench) => {
  const folder = dataFolder();
  if (folder === undefined) {
    bench.skip("quality of recall beside SQLite", "the public sets are not here: set TOOLHAFT_DATA");
    return;
  }
  const server =
    process.env.DATABASE_URL === undefined ? await startServer(["fsync=off", "synchronous_commit=off"]) : undefined;
  const url = process.env.DATABASE_URL ?? server?.url;
  if (url === undefined) {
    bench.skip("quality of recall beside SQLite", "no server can run here: set DATABASE_URL");
    return;
  }
  const quick = bench.flags.includes("--quick");
  try {
    const sets = [
      { name: "LoCoMo", collections: locomo(folder).slice(0, quick ? 1 : undefined) },
      { name: "CMRC2018 (Chinese)", collections: [shortened(passages(folder, "cmrc2018-dev.json"), quick)] },
    ];
    for (const { name, collections } of sets) {
      const sums = { ours: 0, theirs: 0, same: 0, questions: 0 };
      for (const collection of collections) {
        const [ours, theirs] = await Promise.all([onPostgres(url, collection), onSqlite(collection)]);
        for (const [n, { gold }] of collection.questions.entries()) {
          const [own = [], other = []] = [ours[n], theirs[n]];
          sums.ours += recallAt5(own, gold);
          sums.theirs += recallAt5(other, gold);
          sums.same += own.join() === other.join() ? 1 : 0;
          sums.questions += 1;
        }
      }
      const percent = (sum: number): number => (100 * sum) / sums.questions;
      // Half a point of R@5, told as a ratio to what SQLite found.
      const least = (percent(sums.theirs) - 0.5) / percent(sums.theirs);
      bench.figure({
        name: `${name}, R@5, ${sums.questions} questions`,
        ours: percent(sums.ours),
        baseline: { name: "SQLite", value: percent(sums.theirs) },
        unit: "%",
        target: { min: least, max: 2 - least },
      });
      bench.note(`${name}: the first ${ranks} are the very same for ${sums.same} of ${sums.questions} questions.`);
    }
  } finally {
    await server?.dispose();
  }
});

function shortened(collection: Collection, quick: boolean): Collection {
  return quick ? { ...collection, questions: collection.questions.slice(0, 100) } : collection;
}

function recallAt5(found: readonly string[], gold: readonly string[]): number {
  return gold.filter((id) => found.slice(0, 5).includes(id)).length / gold.length;
}

let schemas = 0;
function onPostgres(connectionString: string, collection: Collection): Promise<string[][]> {
  return answersOf(postgresMemoryStore({ connectionString, schema: `bench_${process.pid}_${++schemas}` }), collection);
}

async function onSqlite(collection: Collection): Promise<string[][]> {
  const folder = mkdtempSync(join(tmpdir(), "toolhaft-bench-"));
  try {
    return await answersOf(sqliteMemoryStore({ path: join(folder, "memory.db") }), collection);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function answersOf(store: MemoryStore, { documents, questions }: Collection): Promise<string[][]> {
  const ids = await fill(store, documents);
  const family = createMemory({ store, recordUse: false });
  const answers: string[][] = [];
  for (const { text } of questions) {
    const { hits } = await family.search({ workspace: ".", agent: "bench" }, { query: text, limit: ranks });
    answers.push(hits.map(({ id }) => ids.get(id) ?? ""));
  }
  await family.close();
  return answers;
}

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createContext } from "@toolhaft/core";
import { defineBench } from "@toolhaft/testing";
import { ftsMatch } from "@toolhaft/text";
import { createMemory, sqliteMemoryStore } from "../src/index.ts";
import type { Document } from "./data.ts";
import { contentWords, fill, openFts, searchFts } from "./engines.ts";

/** Words by Zipf's law, so that there are common and rare ones as in real text; the same on every run. */
function vocabulary(): (random: () => number) => string {
  const size = 30_000;
  const cumulative: number[] = [];
  let sum = 0;
  for (let rank = 1; rank <= size; rank++) {
    sum += 1 / rank;
    cumulative.push(sum);
  }
  return (random) => {
    const wanted = random() * sum;
    let [low, high] = [0, size - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((cumulative[middle] ?? 0) < wanted) low = middle + 1;
      else high = middle;
    }
    return `w${low.toString(26).replace(/\d/g, (digit) => "qrstuvwxyz"[Number(digit)] ?? "q")}`;
  };
}

/** mulberry32 */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function documents(count: number, random: () => number, word: (random: () => number) => string): Document[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `d${index}`,
    body: Array.from({ length: 12 + Math.floor(random() * 20) }, () => word(random)).join(" "),
    about: [`person${index % 7}`],
    thread: `t${Math.floor(index / 30)}`,
  }));
}

export default defineBench(async (bench) => {
  const sizes = [10_000, 100_000, ...(bench.flags.includes("--large") ? [1_000_000] : [])];
  const targets: Record<number, number> = { 10000: 2.5, 100000: 0.8, 1000000: 0.5 };
  for (const size of sizes) await recallAt(size, targets[size] ?? 1);
  await foreignRoles();
  await writes();
  bench.note(
    "B is FTS5 `porter unicode61` over the same rows: an OR of the question's content words, best 50 by bm25().",
  );

  async function recallAt(size: number, max: number): Promise<void> {
    await withFolder(async (folder) => {
      const [random, word] = [seeded(size), vocabulary()];
      const rows = documents(size, random, word);
      const questions = Array.from({ length: 40 }, () => Array.from({ length: 6 }, () => word(random)).join(" "));
      const store = sqliteMemoryStore({ path: join(folder, "ours.db") });
      const ids = await fill(store, rows);
      const family = createMemory({ store, recordUse: false });
      const plain = await openFts(folder, "plain", "porter unicode61");
      await plain.write(() => {
        for (const { id, body, about } of rows)
          plain.run("INSERT INTO docs(id, body, about) VALUES(?, ?, ?)", [id, body, about.join(" ")]);
      });
      let [mine, theirs] = [0, 0];
      const ask = (index: number) => questions[index % questions.length] ?? "";
      await bench.compare({
        name: `recall at ${size.toLocaleString("en")} rows`,
        ours: () => family.search({ workspace: ".", agent: "bench" }, { query: ask(mine++) }),
        baseline: { name: "B", run: () => searchFts(plain, ftsMatch(contentWords(ask(theirs++)))) },
        batch: questions.length,
        rounds: 5,
        target: { max },
      });
      if (ids.size !== rows.length) throw new Error("rows are missing");
      plain.close();
      await family.close();
    });
  }

  async function foreignRoles(): Promise<void> {
    await withFolder(async (folder) => {
      const [random, word] = [seeded(7), vocabulary()];
      const [mine, foreign] = [documents(2_000, random, word), documents(18_000, random, word)];
      const questions = Array.from({ length: 40 }, () => Array.from({ length: 6 }, () => word(random)).join(" "));
      const open = async (name: string, others: boolean) => {
        const store = sqliteMemoryStore({ path: join(folder, name) });
        await fill(store, mine, "me");
        if (others)
          for (let role = 0; role < 9; role++)
            await fill(store, foreign.slice(role * 2_000, role * 2_000 + 2_000), `other${role}`);
        return createMemory({ store, recordUse: false });
      };
      const [crowded, alone] = [await open("crowded.db", true), await open("alone.db", false)];
      let [a, b] = [0, 0];
      const ask = (index: number) => ({ query: questions[index % questions.length] ?? "" });
      await bench.compare({
        name: "recall with 90 % of rows in foreign roles",
        ours: () => crowded.search({ workspace: ".", agent: "me" }, ask(a++)),
        baseline: { name: "the same without them", run: () => alone.search({ workspace: ".", agent: "me" }, ask(b++)) },
        batch: questions.length,
        rounds: 7,
        target: { max: 1.5 },
      });
      await crowded.close();
      await alone.close();
    });
  }

  async function writes(): Promise<void> {
    await withFolder(async (folder) => {
      const [random, word] = [seeded(11), vocabulary()];
      const rows = documents(20_000, random, word);
      const family = createMemory({ path: join(folder, "ours.db"), limits: { memories: 1_000_000 } });
      const write = family.tools.find(({ name }) => name === "memory_write");
      if (!write) throw new Error("no memory_write");
      const context = createContext({ directory: folder, agent: "bench" });
      const plain = await openFts(folder, "plain", "porter unicode61");
      let [mine, theirs] = [0, 0];
      const row = (index: number) => rows[index % rows.length] ?? { id: "", body: "", about: [], thread: "" };
      await bench.compare({
        name: "one write: note, index, history, look for similar ones",
        ours: () => {
          const { body, about } = row(mine++);
          return write.call({ title: `note ${mine}`, content: body, scope: "workspace", about }, context);
        },
        baseline: {
          name: "one insert with FTS trigger",
          run: () => {
            const { id, body, about } = row(theirs++);
            return plain.write(() =>
              plain.run("INSERT INTO docs(id, body, about) VALUES(?, ?, ?)", [id, body, about.join(" ")]),
            );
          },
        },
        batch: 100,
        rounds: 7,
      });
      const bulk = documents(10_000, random, word);
      let round = 0;
      await bench.compare({
        name: "import of 10,000 rows",
        ours: async () => {
          const store = sqliteMemoryStore({ path: join(folder, `import${round++}.db`) });
          await fill(store, bulk);
          await store[Symbol.asyncDispose]();
        },
        baseline: {
          name: "batched plain inserts with FTS trigger",
          run: async () => {
            const db = await openFts(folder, `bulk${round++}`, "porter unicode61");
            for (let from = 0; from < bulk.length; from += 500) {
              await db.write(() => {
                for (const { id, body, about } of bulk.slice(from, from + 500))
                  db.run("INSERT INTO docs(id, body, about) VALUES(?, ?, ?)", [id, body, about.join(" ")]);
              });
            }
            db.close();
          },
        },
        batch: 1,
        rounds: 5,
        target: { max: 12 },
      });
      plain.close();
      await family.close();
    });
  }
});

async function withFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "toolhaft-bench-"));
  try {
    await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

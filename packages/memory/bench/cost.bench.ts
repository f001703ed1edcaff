import { join } from "node:path";
import { defineBench } from "@toolhaft/testing";
import { ftsMatch } from "@toolhaft/text";
import { createMemory, sqliteMemoryStore } from "../src/index.ts";
import { documents, seeded, vocabulary, withFolder } from "./corpus.ts";
import { contentWords, fill, openFts, searchFts } from "./engines.ts";

export default defineBench(async (bench) => {
  const sizes = [10_000, 100_000, ...(bench.flags.includes("--large") ? [1_000_000] : [])];
  const targets: Record<number, number> = { 10000: 2.5, 100000: 0.8, 1000000: 0.5 };
  for (const size of sizes) await recallAt(size, targets[size] ?? 1);
  await foreignRoles();
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
});

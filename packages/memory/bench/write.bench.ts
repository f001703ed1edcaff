import { join } from "node:path";
import { createContext, createId } from "@toolhaft/core";
import { defineBench, runTogether } from "@toolhaft/testing";
import { createMemory, type Draft, sqliteMemoryStore } from "../src/index.ts";
import { termsOf } from "../src/terms.ts";
import { documents, seeded, vocabulary, withFolder } from "./corpus.ts";
import type { Document } from "./data.ts";
import { fill, openFts } from "./engines.ts";
import { ourServer, servedMemory, theirServer } from "./servers.ts";

const caller = { workspace: ".", agent: "bench" };
const { signal } = new AbortController();

export default defineBench(async (bench) => {
  const [random, word] = [seeded(11), vocabulary()];
  await oneWrite();
  await imports();
  await together();
  await besideServer();

  async function oneWrite(): Promise<void> {
    await withFolder(async (folder) => {
      const rows = documents(20_000, random, word);
      const store = sqliteMemoryStore({ path: join(folder, "ours.db") });
      const family = createMemory({ store, recordUse: false, limits: { memories: 1_000_000 } });
      const write = family.tools.find(({ name }) => name === "memory_write");
      if (!write) throw new Error("no memory_write");
      const context = createContext({ directory: folder, agent: "bench" });
      const plain = await openFts(folder, "plain", "porter unicode61");
      let [mine, theirs] = [0, 0];
      const row = (index: number): Document => rows[index % rows.length] ?? { id: "", body: "", about: [], thread: "" };
      const baseline = {
        name: "one insert with FTS trigger",
        run: () => {
          const { id, body, about } = row(theirs++);
          return plain.write(() =>
            plain.run("INSERT INTO docs(id, body, about) VALUES(?, ?, ?)", [id, body, about.join(" ")]),
          );
        },
      };
      const stored = await bench.compare({
        name: "one write: note, neighbours, duplicate check, index, history",
        ours: () => store.write(caller, draftOf(row(mine++), mine), signal),
        baseline,
        batch: 100,
        rounds: 9,
        target: { max: 5 },
      });
      const called = await bench.compare({
        name: "memory_write, the whole call with the look for similar ones",
        ours: () => {
          const { body, about } = row(mine++);
          return write.call({ title: `note ${mine}`, content: body, scope: "workspace", about }, context);
        },
        baseline,
        batch: 50,
        rounds: 9,
      });
      const begun = process.cpuUsage();
      for (let n = 0; n < 40; n++)
        await family.search(caller, {
          query: row(n * 7)
            .body.split(" ")
            .slice(0, 6)
            .join(" "),
        });
      const { user, system } = process.cpuUsage(begun);
      bench.figure({
        name: "the look for similar ones, after the commit",
        ours: Math.max(0, called.ours - stored.ours),
        baseline: { name: "one recall of six words", value: (user + system) / 1_000 / 40 },
        unit: "ms",
        target: { max: 1 },
      });
      plain.close();
      await family.close();
    });
  }

  async function imports(): Promise<void> {
    await withFolder(async (folder) => {
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
    });
  }

  /** Notes a second of eight processes on one file against one process. */
  async function together(): Promise<void> {
    const notes = 400;
    const rate = (processes: number): Promise<number> =>
      withFolder(async (folder) => {
        const { wallMs } = await runTogether(
          new URL("./writer.ts", import.meta.url),
          Array.from({ length: processes }, (_, n) => [
            join(folder, "one.db"),
            `writer ${n}`,
            String(notes / processes),
          ]),
        );
        return notes / (wallMs / 1_000);
      });
    bench.figure({
      name: "8 processes writing one file",
      ours: await rate(8),
      baseline: { name: "1 process", value: await rate(1) },
      unit: "notes/s",
      target: { min: 0.5 },
    });
  }

  /** Both over standard input and output with the official client, each with 5,000 entries. */
  async function besideServer(): Promise<void> {
    const [ours, theirs] = [ourServer(), theirServer()];
    if (ours === undefined)
      return bench.skip("a write at 5,000 entries, over MCP", "packages/toolhaft is not built: run npm run build");
    await withFolder(async (folder) => {
      const rows = documents(5_000, random, word);
      const [mine, peer] = await servedMemory(folder, rows, ours, theirs);
      let n = 0;
      await bench.compare({
        name: "a write at 5,000 entries, over MCP",
        ours: () => mine.write(`note ${n++}`, rows[n % rows.length]?.body ?? ""),
        baseline: {
          name: "official memory server",
          run: () => peer.write(`note ${n++}`, rows[n % rows.length]?.body ?? ""),
        },
        by: "wall",
        batch: 10,
        rounds: 5,
        target: { max: 0.1 },
      });
      await mine.close();
      await peer.close();
    });
  }
});

function draftOf({ body, about }: Document, n: number): Draft {
  const at = Date.now();
  const texts = { title: `note ${n}`, content: body, tags: [], about };
  return {
    ...texts,
    id: `mem_${createId(at)}`,
    scope: "workspace",
    category: "note",
    relevance: "medium",
    confidence: 1,
    kind: "note",
    supersedes: null,
    by: { agent: "bench", sessionId: "bench", callId: "bench", tool: "bench" },
    at,
    limit: 1_000_000,
    terms: termsOf(texts),
  };
}

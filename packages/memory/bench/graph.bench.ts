import { join } from "node:path";
import { createContext, createId } from "@toolhaft/core";
import { openDatabase } from "@toolhaft/sqlite";
import { defineBench } from "@toolhaft/testing";
import { createKnowledge, type ExportRecord, sqliteMemoryStore } from "../src/index.ts";
import { seeded, withFolder } from "./corpus.ts";

const [entities, edges, limit] = [20_000, 100_000, 200];

export default defineBench((bench) =>
  withFolder(async (folder) => {
    const random = seeded(3);
    const path = join(folder, "memory.db");
    const ids = await fillGraph(path, random);
    const knowledge = createKnowledge({ path });
    const query = knowledge.tools.find(({ name }) => name === "knowledge_query");
    if (query === undefined) throw new Error("no knowledge_query");
    const context = createContext({ directory: folder, agent: "bench" });
    // The same rows in a table of its own, as somebody would keep them who wants this one question answered.
    const plain = await openDatabase({
      path: join(folder, "plain.db"),
      family: "bench",
      migrations: [
        {
          version: 1,
          name: "edges",
          up: (db) => {
            db.run("CREATE TABLE nodes(id INTEGER PRIMARY KEY, name TEXT NOT NULL)");
            db.run("CREATE TABLE edges(a INTEGER NOT NULL, b INTEGER NOT NULL, weight REAL NOT NULL)");
            db.run("CREATE INDEX edges_a ON edges(a)");
          },
        },
      ],
    });
    await plain.write(() => {
      for (let n = 0; n < entities; n++) plain.run("INSERT INTO nodes VALUES(?, ?)", [n, `entity ${n}`]);
      for (const { from, to, weight } of ids.edges) plain.run("INSERT INTO edges VALUES(?, ?, ?)", [from, to, weight]);
    });
    let [mine, theirs] = [0, 0];
    const start = (n: number) => (n * 7_919) % entities;
    await bench.compare({
      name: "knowledge_query, depth 3 over 100,000 edges",
      ours: async () => {
        const result = await query.call(
          { start: ids.entities[start(mine++)], depth: 3, direction: "out", limit },
          context,
        );
        if (!result.ok) throw new Error(result.text);
      },
      baseline: {
        name: "one recursive CTE",
        run: () =>
          plain.all(
            `WITH RECURSIVE walk(id, depth) AS (
               SELECT ?, 0 UNION SELECT e.b, w.depth + 1 FROM walk w JOIN edges e ON e.a = w.id WHERE w.depth < 3
             ), best(id, depth) AS (SELECT id, min(depth) FROM walk GROUP BY id ORDER BY 2 LIMIT ${limit})
             SELECT b.id, b.depth, n.name, e.b, e.weight FROM best b JOIN nodes n ON n.id = b.id
             LEFT JOIN edges e ON e.a = b.id AND e.b IN (SELECT id FROM best)`,
            [start(theirs++)],
          ),
      },
      batch: 20,
      rounds: 9,
      target: { max: 1.5 },
    });
    plain.close();
    await knowledge.close();
  }),
);

async function fillGraph(path: string, random: () => number) {
  const store = sqliteMemoryStore({ path });
  const at = Date.now();
  const owner = { workspace: ".", agent: "bench", createdAt: at, updatedAt: at, removedAt: null };
  const names = Array.from({ length: entities }, () => `ent_${createId(at)}`);
  const pairs = new Map<number, { from: number; to: number; weight: number }>();
  while (pairs.size < edges) {
    const [from, to] = [Math.floor(random() * entities), Math.floor(random() * entities)];
    pairs.set(from * entities + to, { from, to, weight: random() });
  }
  const records: ExportRecord[] = [
    ...names.map((id, n): ExportRecord => {
      return { type: "entity", value: { ...owner, id, name: `entity ${n}`, type: "thing", attributes: {} } };
    }),
    ...[...pairs.values()].map(({ from, to, weight }): ExportRecord => {
      const ends = { from: names[from] ?? "", to: names[to] ?? "" };
      return { type: "edge", value: { ...owner, ...ends, id: `rel_${createId(at)}`, type: "knows", weight } };
    }),
  ];
  for (let start = 0; start < records.length; start += 500)
    await store.load(records.slice(start, start + 500), { onConflict: "error" });
  await store[Symbol.asyncDispose]();
  return { entities: names, edges: [...pairs.values()] };
}

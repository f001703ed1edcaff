import { join } from "node:path";
import { long } from "@toolhaft/testing";
import { describe, expect, it } from "vitest";
import { cosine, createMemory, type Embedder, sqliteMemoryStore } from "../src/index.ts";
import { loadRows, seeded } from "./many-rows.ts";
import { closeAfterTest, dataOf, setting, temporaryFolder } from "./setting.ts";

const colours = ["red", "green", "blue"];

/** Sees colours only, under other names than the texts use. */
function colourEmbedder(changes: Partial<Embedder> = {}): Embedder & { asked: string[] } {
  const asked: string[] = [];
  return {
    model: "colours-1",
    dimensions: 3,
    asked,
    async embed(texts) {
      asked.push(...texts);
      return texts.map((text) => Float32Array.from(colours, (colour) => (text.includes(colour) ? 1 : 0.01)));
    },
    ...changes,
  };
}

describe("an embedder", () => {
  it("finds what no word does", async () => {
    const { W, R } = setting({ embedder: colourEmbedder() });
    await W("sky", "it is blue above");
    await W("grass", "it is green below");
    expect(await R("colour of green things")).toContain("grass");
    expect((await R("blueberry?"))[0]).toBe("sky");
  });

  it("is told nothing twice: a vector is made once for each text", async () => {
    const embedder = colourEmbedder();
    const { W, R } = setting({ embedder });
    await W("sky", "it is blue");
    await R("first");
    await R("second");
    expect(embedder.asked.filter((text) => text.includes("it is blue"))).toHaveLength(1);
    expect(embedder.asked.filter((text) => text === "second")).toHaveLength(1);
  });

  it("absent: search is by words alone, and nothing is degraded", async () => {
    const { W, call } = setting();
    await W("sky", "it is blue");
    expect(dataOf(await call("memory_recall", { query: "sky" }))).toMatchObject({
      hits: [{ why: { vector: null } }],
      degraded: [],
    });
  });

  it("of another model makes the vectors anew, and never mixes the two", async () => {
    const path = join(temporaryFolder(), "memory.db");
    const first = setting({ path, embedder: colourEmbedder() });
    await first.W("sky", "it is blue");
    expect(await first.R("blueberry?")).toEqual(["sky"]);
    await first.family.close();
    const turned = colourEmbedder({
      model: "colours-2",
      async embed(texts) {
        return texts.map((text) =>
          Float32Array.from([...colours].reverse(), (colour) => (text.includes(colour) ? 1 : 0.01)),
        );
      },
    });
    const second = setting({ path, embedder: turned });
    const { hits } = await second.family.search({ workspace: ".", agent: "main" }, { query: "blueberry?" });
    expect(hits).toMatchObject([{ title: "sky" }]);
    expect(hits[0]?.why.vector).toBeCloseTo(1, 5);
  });

  // Up to 50,000 vectors every one is compared; above, the nearest by sign bits first.
  it.each(long ? [300, 60_000] : [300])(
    "over %i vectors finds what lies nearest",
    { timeout: 600_000 },
    async (count) => {
      const dimensions = 64;
      const random = seeded(42);
      const vector = () => Float32Array.from({ length: dimensions }, random);
      const vectors = Array.from({ length: count }, vector);
      const store = sqliteMemoryStore({ path: join(temporaryFolder(), "memory.db") });
      closeAfterTest(createMemory({ store }));
      const ids = await loadRows(
        store,
        vectors.map((one, n) => ({ title: `t${n}`, content: `number ${n}`, vector: one })),
      );
      for (let round = 0; round < 20; round++) {
        const near = Math.floor((random() + 0.5) * count);
        const wanted = (vectors[near] ?? vector()).map((value) => value + random() * 0.2);
        const found = await store.vectors.search(
          { workspace: ".", agent: "main" },
          { model: "random", vector: wanted, limit: 10, scope: "both", category: null, tags: [], about: [] },
          new AbortController().signal,
        );
        const best = vectors
          .map((one, n) => ({ id: ids[n], cosine: cosine(wanted, one) }))
          .sort((a, b) => b.cosine - a.cosine)
          .slice(0, 10);
        if (count <= 50_000) expect(found.map(({ id }) => id)).toEqual(best.map(({ id }) => id));
        else expect(found[0]?.id).toBe(best[0]?.id);
      }
    },
  );
});

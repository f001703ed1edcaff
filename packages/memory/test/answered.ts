import { runs } from "@toolhaft/testing";
import fc from "fast-check";
import { expect } from "vitest";
import { createMemory } from "../src/index.ts";
import { setting } from "./setting.ts";

/** A store holds 20 memories more by then, and a query costs what it finds. */
const queriesOfOneStore = 1_000;

/** No query makes an error, and every fiftieth is written as a title and found by it. */
export async function expectEveryQueryAnswered(query: fc.Arbitrary<string>, full: number): Promise<void> {
  const open = async () => {
    const { family, call, path } = setting({ recordUse: false });
    await call("memory_write", { title: "other", content: "zebra and 部署", scope: "workspace" });
    const host = createMemory({ path, recordUse: false });
    const close = async () => {
      await host.close();
      await family.close();
    };
    return { call, host, close };
  };
  let store = await open();
  let count = 0;
  await fc.assert(
    fc.asyncProperty(query, async (text) => {
      if (++count % queriesOfOneStore === 0) {
        await store.close();
        store = await open();
      }
      const found = await store.host.search({ workspace: ".", agent: "main" }, { query: text });
      expect(found.visible).toBeGreaterThan(0);
      if (count % 50 !== 0) return;
      const title = [...text.trim()].slice(0, 200).join("").trim();
      const written = await store.call("memory_write", { title, content: `number ${count}`, scope: "workspace" });
      if (!written.ok) return;
      const again = await store.host.search({ workspace: ".", agent: "main" }, { query: title, limit: 50 });
      expect(again.hits.map((hit) => hit.title.normalize("NFKC").toLowerCase())).toContain(
        title.normalize("NFKC").toLowerCase(),
      );
    }),
    { numRuns: runs(full) },
  );
  await store.close();
}

import { join } from "node:path";
import { node22 } from "@toolhaft/testing/programs";
import { describe, expect, it } from "vitest";
import { createMemory, sqliteMemoryStore } from "../src/index.ts";
import { loadRows } from "./many-rows.ts";
import { startFixture, tamper } from "./processes.ts";
import { closeAfterTest, temporaryFolder } from "./setting.ts";

const { command, problem } = await node22();
if (problem !== undefined) console.warn(`SKIPPED two Node versions side by side: ${problem}`);
const newer = command ?? process.execPath;
const caller = { workspace: ".", agent: "main" };

/** Version and ICU that the index was made with. */
async function mark(path: string): Promise<{ version: number; icu: number }> {
  const [row] = (await tamper(path, "SELECT value FROM meta WHERE key = 'analyser'")) as { value: string }[];
  return JSON.parse(row?.value ?? "{}") as { version: number; icu: number };
}

describe.skipIf(problem !== undefined)("two Node versions side by side", () => {
  it("write and search one store; the newer one's index is made once, and the older one leaves it as it is", async () => {
    const path = join(temporaryFolder(), "memory.db");
    const store = sqliteMemoryStore({ path });
    const rows = 5_000;
    await loadRows(
      store,
      Array.from({ length: rows }, (_, n) => ({ title: `row ${n}`, content: `東京都の設定 number ${n} café` })),
    );
    await store[Symbol.asyncDispose]();
    const ours = await mark(path);
    const icu = Number.parseInt(process.versions.icu ?? "0", 10);
    expect(ours.icu).toBe(icu);

    // Both begin at once: the newer makes the index anew while the older goes on with what is there.
    const each = 60;
    const nodes = [process.execPath, newer, process.execPath, newer];
    const children = nodes.map((node, i) => startFixture("worker.mjs", [path, `p${i}`, String(each)], node));
    for (const child of children) expect(await child.ended, child.stderr()).toBe(0);
    const after = await mark(path);
    expect(after.version).toBe(ours.version);
    expect(after.icu).toBeGreaterThanOrEqual(icu);

    // From here on nobody makes it anew, however often either of them opens the file.
    for (const node of nodes) {
      const child = startFixture("worker.mjs", [path, `again ${node === newer}${Math.random()}`, "3"], node);
      expect(await child.ended, child.stderr()).toBe(0);
      expect(await mark(path)).toEqual(after);
    }
    const family = closeAfterTest(createMemory({ path }));
    const live = rows + nodes.length * (each + 3);
    expect(await family.check()).toEqual({ ok: true, problems: [], memories: live, live });
    for (const query of ["row 4321", "東京 4321", "設定 number 4321"]) {
      const { hits } = await family.search(caller, { query });
      expect(hits[0]?.title, query).toBe("row 4321");
    }
    for (let i = 0; i < nodes.length; i++) {
      const { hits } = await family.search(caller, { query: `p${i} 7` });
      expect(hits[0]?.title).toBe(`p${i} 7`);
    }
    expect(await mark(path)).toEqual(after);
  });
});

import { runs } from "@toolhaft/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { dataOf, setting } from "./setting.ts";

interface Hit {
  excerpt: string;
  truncated: boolean;
  matched: string[];
}
const hitsOf = (data: Record<string, unknown>) => data.hits as Hit[];
const filler = "\u{1F468}\u200d\u{1F469}\u200d\u{1F467} 部署の設定を変更 wörter e\u0301 ";

describe("an excerpt", () => {
  it.each([0, 500, 5_000])("holds the match, %i characters into the text, and whole code points", async (before) => {
    const { W, call } = setting();
    const lead = [...filler.repeat(400)].slice(0, before).join("");
    await W("long", `${lead} zebra ${filler.repeat(60)}`);
    const result = await call("memory_recall", { query: "zebra" });
    const [hit] = hitsOf(dataOf(result));
    expect(hit?.excerpt).toContain("zebra");
    expect(hit?.truncated).toBe(true);
    expect([...(hit?.excerpt ?? "")].length).toBeLessThanOrEqual(240);
    expect(hit?.excerpt).not.toMatch(/\p{Surrogate}/u);
    expect(result.text).toContain("…");
    expect(result.text).toContain("memory_get reads a memory in full");
  });

  it("is the whole text, without an ellipsis, where it fits", async () => {
    const { W, call } = setting();
    await W("fits", `zebra ${"x".repeat(234)}`);
    const { text, data } = await call("memory_recall", { query: "zebra" }).then((r) => ({ ...r, data: dataOf(r) }));
    expect(hitsOf(data)[0]).toMatchObject({ truncated: false, excerpt: `zebra ${"x".repeat(234)}` });
    expect(text).not.toMatch(/…|memory_get/);
  });

  it("full: whole contents while they fit, then excerpts, and each says which it is", async () => {
    const { W, call } = setting();
    for (let i = 0; i < 4; i++) await W(`t${i}`, `zebra ${i} ${"word ".repeat(1_500)}`);
    const hits = hitsOf(dataOf(await call("memory_recall", { query: "zebra", full: true })));
    expect(hits.map(({ truncated }) => truncated)).toEqual([false, false, true, true]);
    for (const { truncated, excerpt } of hits) expect(excerpt.length > 1_000).toBe(!truncated);
    const short = hitsOf(dataOf(await call("memory_recall", { query: "zebra" })));
    expect(short.every(({ truncated }) => truncated)).toBe(true);
  });
});

it(`pages of memory_get join to the content without gap or repeat, whatever is in it (${runs(200)} texts)`, {
  timeout: 120_000,
}, async () => {
  const { call } = setting({ recordUse: false });
  const piece = fc.constantFrom(
    "\u{1F468}\u200d\u{1F469}",
    "部署",
    "e\u0301",
    "\u{20BB7}",
    "サンド",
    "x",
    "\r\n",
    "…",
    " ",
  );
  let count = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(piece, { minLength: 1, maxLength: 60 }),
      fc.integer({ min: 1, max: 17 }),
      async (pieces, size) => {
        const content = `n${count++}${pieces.join("")}`;
        const written = dataOf(await call("memory_write", { title: "paged", content })) as { memory: { id: string } };
        const id = written.memory.id;
        const parts: string[] = [];
        for (let offset: number | null = 0; offset !== null; ) {
          const result = await call("memory_get", { id, offset, max_chars: size });
          const page = dataOf(result) as { content: string; nextOffset: number | null };
          expect([...page.content].length).toBeLessThanOrEqual(size);
          parts.push(page.content);
          if (page.nextOffset !== null)
            expect(result.text).toContain(`More: memory_get with id ${id} and offset ${page.nextOffset}`);
          offset = page.nextOffset;
        }
        expect(parts.join("")).toBe(content);
        for (const part of parts) expect(part).not.toMatch(/\p{Surrogate}/u);
        const past = dataOf(await call("memory_get", { id, offset: 1_000_000 }));
        expect(past).toMatchObject({ content: "", nextOffset: null, memory: { chars: [...content].length } });
      },
    ),
    { numRuns: runs(200) },
  );
});

import { fakeClock, runs } from "@toolhaft/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createMemory, createSemanticMemory, defaultHalfLives, type FadeInput, fade, type Hit } from "../src/index.ts";
import { tamper } from "./processes.ts";
import { caller, closeAfterTest, dataOf, setting } from "./setting.ts";

const day = 86_400_000;
const never = { lastUsedAt: null, uses: 0, updatedAt: 0 } as const;

/** Half-life in days; what is called fragment is a note that was added by meaning. */
const table: readonly (readonly [name: string, record: FadeInput, halfLife: number | null])[] = [
  ["decision", { ...never, category: "decision", kind: "note" }, null],
  ["preference", { ...never, category: "preference", kind: "note" }, null],
  ["lesson", { ...never, category: "lesson", kind: "note" }, 365],
  ["fact", { ...never, category: "fact", kind: "note" }, 180],
  ["note", { ...never, category: "note", kind: "note" }, 60],
  ["fragment", { ...never, category: "note", kind: "fragment" }, 69],
];
/** Uses lengthen a life by 1 + log2(1 + uses), at most four times. */
const lengthened = [
  [0, 1],
  [1, 2],
  [7, 4],
  [1_000, 4],
] as const;

describe.each(table)("%s", (_, record, halfLife) => {
  it.each(lengthened)("after %i uses fades as the table says, and never more than once", (uses, times) => {
    const life = (halfLife ?? 1e6) * times * day;
    for (const [now, left] of [
      [0, 1],
      [life, halfLife === null ? 1 : 0.5],
      [10 * life, halfLife === null ? 1 : 2 ** -10],
    ] as const)
      expect(fade({ ...record, uses }, now, defaultHalfLives)).toBeCloseTo(left, 12);
  });

  it("is whole on a clock that went back, and counts from the later of last change and last use", () => {
    expect(fade({ ...record, updatedAt: 5 * day }, 0, defaultHalfLives)).toBe(1);
    expect(fade({ ...record, updatedAt: day, lastUsedAt: 9 * day }, 9 * day, defaultHalfLives)).toBe(1);
    expect(fade({ ...record, updatedAt: 9 * day, lastUsedAt: day }, 9 * day, defaultHalfLives)).toBe(1);
  });
});

it("fade is between 0 and 1, falls with time and rises with use", () => {
  const record = fc.record({
    category: fc.constantFrom("lesson", "fact", "note"),
    kind: fc.constantFrom("note", "fragment"),
    updatedAt: fc.nat(1e12),
    lastUsedAt: fc.option(fc.nat(1e12)),
    uses: fc.nat(5_000),
  });
  fc.assert(
    fc.property(record, fc.nat(2e12), fc.nat(1e11), (one, now, later) => {
      const left = fade(one, now, defaultHalfLives);
      expect(left).toBeGreaterThanOrEqual(0);
      expect(left).toBeLessThanOrEqual(1);
      expect(fade(one, now + later, defaultHalfLives)).toBeLessThanOrEqual(left);
      expect(fade({ ...one, uses: one.uses + 1 }, now, defaultHalfLives)).toBeGreaterThanOrEqual(left);
      expect(fade(one, now, defaultHalfLives)).toBe(left);
    }),
    { numRuns: 500 },
  );
});

it("half-lives are options", async () => {
  const clock = fakeClock(Date.parse("2026-01-01"));
  const { W, call } = setting({ clock, halfLives: { fact: 10, note: null } });
  await W("fact", "zebra one", { category: "fact" });
  await W("note", "zebra two");
  clock.advance(10 * day);
  const { memories } = dataOf(await call("memory_list", {})) as { memories: { title: string; confidence: number }[] };
  expect(Object.fromEntries(memories.map(({ title, confidence }) => [title, confidence]))).toEqual({
    fact: 0.5,
    note: 1,
  });
});

it("an exact title match a year old stays first, before fresh memories that hold its words more often", async () => {
  const clock = fakeClock(Date.parse("2026-01-01"));
  const { W, R } = setting({ clock });
  await W("Billing port", "9000", { relevance: "low" });
  clock.advance(365 * day);
  for (let i = 0; i < 8; i++)
    await W(`About the billing port ${i}`, `billing port billing port ${i}`, {
      relevance: "high",
      category: "decision",
    });
  expect((await R("billing port"))[0]).toBe("Billing port");
  expect((await R("BILLING  Port"))[0]).toBe("Billing port");
});

describe("P9: reading changes nothing", () => {
  it(`whatever is called, and however often, no score changes but by a recorded use (${runs(100)} rounds)`, async () => {
    const clock = fakeClock(Date.parse("2026-01-01"));
    const { W, call, directory, path } = setting({ clock, recordUse: false });
    const host = closeAfterTest(createMemory({ path, clock, recordUse: false }));
    const fragments = caller(closeAfterTest(createSemanticMemory({ clock, recordUse: false })), directory);
    const ids: string[] = [];
    for (let i = 0; i < 6; i++)
      ids.push(await W(`zebra ${i}`, `zebra and ${"word ".repeat(i)}`, { category: i % 2 ? "fact" : "note" }));
    clock.advance(40 * day);
    const marks = async () => {
      const { hits } = await host.search({ workspace: ".", agent: "main" }, { query: "zebra word" });
      return hits.map((hit: Hit) => [hit.id, hit.score, hit.why, hit.confidence, hit.uses]);
    };
    const before = await marks();
    const rows = await tamper(path, "SELECT group_concat(version || ':' || updated_at) AS mark FROM memories");
    const calls = [
      () => call("memory_recall", { query: "zebra" }),
      () => call("memory_list", { sort: "accessed" }),
      () => call("memory_get", { id: ids[0], include_history: true }),
      () => fragments("memory_semantic_search", { query: "word" }),
      () => fragments("memory_semantic_stats", {}),
      () => host.check(),
      () => call("memory_update", { id: ids[1], title: "zebra 1" }),
      () => call("memory_forget", { id: ids[2], restore: true }),
    ];
    const script = fc.sample(fc.nat(calls.length - 1), runs(100));
    for (const step of script) await calls[step]?.();
    expect(await marks()).toEqual(before);
    expect(await tamper(path, "SELECT group_concat(version || ':' || updated_at) AS mark FROM memories")).toEqual(rows);
    const using = setting({ path, clock });
    await using.R("zebra 3");
    const after = await marks();
    expect(after).not.toEqual(before);
  });

  it("a store that fails is an error in every tool, never an empty answer or a false confirmation", async () => {
    const { W, call, family, directory, path } = setting();
    const id = await W("a", "zebra");
    await family.close();
    await tamper(path, "DROP TABLE memory_history");
    await tamper(path, "ALTER TABLE memories RENAME COLUMN content TO contents");
    const notes = caller(closeAfterTest(createMemory()), directory);
    const fragments = caller(closeAfterTest(createSemanticMemory()), directory);
    for (const [ask, tool, input] of [
      [notes, "memory_recall", { query: "zebra" }],
      [notes, "memory_list", {}],
      [notes, "memory_get", { id }],
      [notes, "memory_write", { title: "b", content: "c" }],
      [notes, "memory_update", { id, content: "d" }],
      [notes, "memory_forget", { id }],
      [fragments, "memory_semantic_search", { query: "zebra" }],
      [fragments, "memory_semantic_add", { content: "zebra again" }],
    ] as const) {
      const result = await ask(tool, input);
      expect(result.ok, `${tool}: ${result.text}`).toBe(false);
    }
    expect(call).toBeTypeOf("function");
  });
});

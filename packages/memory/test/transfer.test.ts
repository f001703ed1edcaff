import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { runs } from "@toolhaft/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createKnowledge, createKvMemory, createMemory, type MemoryFamily } from "../src/index.ts";
import { startFixture } from "./processes.ts";
import { caller, closeAfterTest, dataOf, temporaryFolder } from "./setting.ts";

type Record_ = Record<string, unknown>;

/** A file with a family of each kind over it. */
function store(path = join(temporaryFolder(), "memory.db")) {
  const directory = join(path, "..");
  const family = closeAfterTest(createMemory({ path }));
  return {
    path,
    family,
    notes: caller(family, directory),
    keys: caller(closeAfterTest(createKvMemory({ path })), directory),
    graph: caller(closeAfterTest(createKnowledge({ path })), directory),
  };
}

/** Lines of an export without the head, which tells the time. */
async function exported(family: MemoryFamily, filter = {}): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of family.export(filter)) lines.push(line);
  return lines.slice(1);
}

async function* bytes(text: string, size = 777): AsyncIterable<Uint8Array> {
  const all = new TextEncoder().encode(text);
  for (let at = 0; at < all.length; at += size) yield all.subarray(at, at + size);
}

const word = fc.constantFrom(
  "zebra",
  "部署",
  "café",
  "gpt-4o",
  "\u{1F600}",
  "line\nbreak",
  '"quoted"',
  "\\u0041",
  "x".repeat(300),
);
const step = fc.oneof(
  fc.record({
    do: fc.constant("write" as const),
    text: fc.array(word, { minLength: 1, maxLength: 5 }),
    mine: fc.boolean(),
  }),
  fc.record({ do: fc.constant("replace" as const), text: fc.array(word, { minLength: 1, maxLength: 5 }) }),
  fc.record({
    do: fc.constantFrom("forget" as const, "restore" as const, "update" as const, "use" as const),
    at: fc.nat(30),
  }),
  fc.record({ do: fc.constant("key" as const), key: fc.constantFrom("a", "b", "é"), value: fc.jsonValue() }),
  fc.record({ do: fc.constant("edge" as const), from: fc.nat(4), to: fc.nat(4), weight: fc.nat(3) }),
  fc.record({ do: fc.constant("remove" as const), node: fc.nat(4) }),
);

it(`P11: an export imported into an empty store is an equal export, and so is a second one (${runs(100)} stores)`, {
  timeout: 300_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
      const from = store();
      const ids: string[] = [];
      for (const [index, one] of steps.entries()) {
        const id = ids.at("at" in one ? one.at % Math.max(1, ids.length) : -1);
        if (one.do === "write" || one.do === "replace") {
          const written = await from.notes("memory_write", {
            title: `t${index}`,
            content: one.text.join(" "),
            scope: one.do === "write" && one.mine ? "role" : "workspace",
            tags: ["Tag", "部署"],
            about: ["Ann"],
            ...(one.do === "replace" && id && { supersedes: id }),
          });
          if (written.ok) ids.push((dataOf(written).memory as { id: string }).id);
        } else if (one.do === "forget" || one.do === "restore")
          await from.notes("memory_forget", { id, restore: one.do === "restore", reason: "because" });
        else if (one.do === "update") await from.notes("memory_update", { id, content: `changed ${index}` });
        else if (one.do === "use") await from.notes("memory_get", { id });
        else if (one.do === "key") await from.keys("memory_store", { key: one.key, value: one.value });
        else if (one.do === "edge")
          await from.graph("knowledge_add_relation", {
            from: `n${one.from}`,
            to: `n${one.to}`,
            type: "next",
            weight: one.weight,
            create_missing: true,
          });
        else if (one.do === "remove") {
          const found = await from.graph("knowledge_query", { start: `n${one.node}`, depth: 0 });
          if (found.ok) await from.graph("knowledge_remove", { id: (dataOf(found).start as { id: string }).id });
        }
      }
      const lines = await exported(from.family, { vectors: true });
      const to = store();
      const report = await to.family.import(bytes(lines.join("")));
      expect(report).toMatchObject({ imported: lines.length, skipped: 0, updated: 0, problems: [] });
      expect(await exported(to.family, { vectors: true })).toEqual(lines);
      expect(await to.family.import(bytes(lines.join("")))).toMatchObject({ imported: 0, skipped: lines.length });
      expect(await exported(to.family, { vectors: true })).toEqual(lines);
      expect(await to.family.check()).toMatchObject({ ok: true, problems: [] });
      await Promise.all([from.family.close(), to.family.close()]);
    }),
    { numRuns: runs(100) },
  );
});

/** An export of some notes, a key and two entities with an edge. */
async function sample(count = 5) {
  const from = store();
  for (let i = 0; i < count; i++)
    await from.notes("memory_write", { title: `note ${i}`, content: `zebra ${i} {"brace"}`, scope: "workspace" });
  await from.keys("memory_store", { key: "k", value: { a: 1 } });
  await from.graph("knowledge_add_relation", { from: "a", to: "b", type: "t", create_missing: true });
  const lines = await exported(from.family);
  return { lines, from };
}

describe("an import", () => {
  it.each([
    ["CRLF", (lines: string[]) => lines.join("").replaceAll("\n", "\r\n")],
    ["a BOM", (lines: string[]) => `\ufeff${lines.join("")}`],
    ["blank lines and no last newline", (lines: string[]) => `\n\n${lines.join("\n  \n")}`.trimEnd()],
    ["several objects on one line", (lines: string[]) => lines.map((line) => line.trimEnd()).join("")],
    [
      "several objects with blanks and commas between",
      (lines: string[]) => lines.map((line) => line.trimEnd()).join(" , "),
    ],
    ["records in another order, edges first", (lines: string[]) => [...lines].reverse().join("")],
  ])("reads %s", async (_, change) => {
    const { lines } = await sample();
    const to = store();
    for (const size of [1, 4_096]) {
      const report = await to.family.import(bytes(change(lines), size));
      expect(report.problems).toEqual([]);
      expect(report.imported + report.skipped).toBe(lines.length);
    }
    expect(await exported(to.family)).toEqual(lines);
  });

  it("leaves out what is damaged, says line and reason, and takes the rest", async () => {
    const { lines } = await sample(4);
    const records = lines.map((line) => JSON.parse(line) as Record_);
    const spoilt = (change: Record_) =>
      `${JSON.stringify({ ...records[0], id: "mem_ZZZZZZZZZZZZZZZZZZZZZZZZZZ", ...change })}\n`;
    const wrong = [
      ["{broken\n", /does not end on its line/],
      ["no json\n", /no JSON object/],
      ['{"type":"thing"}\n', /"thing" is not known/],
      ["{}\n", /type none is not known/],
      [spoilt({ id: "mem_1" }), /id/],
      [spoilt({ title: "two\nlines" }), /title.*line break/],
      [spoilt({ content: "" }), /content/],
      [spoilt({ content: "half \ud800" }).replace("\\\\u", "\\u"), /content/],
      [spoilt({ category: "idea" }), /category/],
      [spoilt({ scope: "role", role: null }), /role/],
      [spoilt({ confidence: 7 }), /confidence/],
      [spoilt({ createdAt: "yesterday" }), /createdAt/],
      [
        '{"type":"kv","workspace":".","agent":"a","key":"a\\nb","json":"1","version":1,"updatedAt":0}\n',
        /key.*control/,
      ],
      ['{"type":"kv","workspace":".","agent":"a","key":"x","json":"{","version":1,"updatedAt":0}\n', /JSON/],
      [
        `{"type":"edge","id":"rel_00000000000000000000000000","workspace":".","agent":"main","from":"ent_00000000000000000000000000","to":"ent_00000000000000000000000000","typeName":"t","weight":1,"createdAt":0,"updatedAt":0,"removedAt":null}\n`,
        /not there/,
      ],
    ] as const;
    const to = store();
    const report = await to.family.import(
      bytes(
        lines.map((line, n) => line + (wrong[n]?.[0] ?? "")).join("") +
          wrong
            .slice(lines.length)
            .map(([text]) => text)
            .join(""),
      ),
    );
    expect(report.imported).toBe(lines.length);
    expect(report.problems).toHaveLength(wrong.length);
    const reasons = report.problems.map(({ reason }) => reason);
    for (const [text, reason] of wrong)
      expect(
        reasons.some((one) => reason.test(one)),
        `${text.slice(0, 60)}: ${reason} in ${reasons.join(" | ")}`,
      ).toBe(true);
    expect(report.problems[0]?.line).toBe(2);
    expect(await exported(to.family)).toEqual(lines);
  });

  it("of an array, of another format or of a newer version is refused as a whole", async () => {
    const { family } = store();
    for (const [text, code, message] of [
      ['[{"type":"entity"}]', "invalid_input", /array.*Lines/],
      ['\n  [\n{"type":"entity"}\n]', "invalid_input", /array/],
      ['{"format":"other","version":1}\n', "invalid_input", /not an export/],
      ['{"format":"toolhaft-memory","version":2}\n', "unsupported", /version 2, this one reads 1/],
    ] as const)
      await expect(family.import(bytes(text))).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
    expect(await exported(family)).toEqual([]);
  });

  it("settles what is there already by skip, newer or error", async () => {
    const { lines, from } = await sample(2);
    const to = store();
    await to.family.import(bytes(lines.join("")));
    const first = JSON.parse(lines[0] ?? "{}") as Record_;
    const changed = (by: number) =>
      `${JSON.stringify({ ...first, content: `changed ${by}`, updatedAt: Number(first.updatedAt) + by })}\n`;
    expect(await to.family.import(bytes(changed(1)))).toMatchObject({ skipped: 1, updated: 0 });
    expect(await to.family.import(bytes(changed(-1)), { onConflict: "newer" })).toMatchObject({
      skipped: 1,
      updated: 0,
    });
    expect(await to.family.import(bytes(changed(1)), { onConflict: "newer" })).toMatchObject({
      skipped: 0,
      updated: 1,
    });
    expect((await to.family.import(bytes(lines.join("")), { onConflict: "error" })).problems).toHaveLength(
      lines.length,
    );
    const { hits } = await to.family.search({ workspace: ".", agent: "main" }, { query: "changed" });
    expect(hits[0]).toMatchObject({ id: first.id, excerpt: "changed 1" });
    expect(await to.family.check()).toMatchObject({ ok: true, live: 2 });
    expect(await exported(from.family)).toEqual(lines);
  });

  it("reads the official memory server's lines: entities and relations, observations as fragments about them", async () => {
    const to = store();
    const foreign = [
      { type: "entity", name: "Ann", entityType: "person", observations: ["likes tea", "works on billing"] },
      { type: "relation", from: "Ann", to: "Billing", relationType: "owns" },
      { type: "entity", name: "Billing", entityType: "service", observations: [] },
      { type: "relation", from: "Ann", to: "Nobody", relationType: "knows" },
    ];
    const text = foreign.map((line) => JSON.stringify(line)).join("\n");
    expect(await to.family.import(bytes(text))).toMatchObject({ imported: 5, problems: [{ line: 4 }] });
    expect(await to.family.import(bytes(text))).toMatchObject({ imported: 0, skipped: 5 });
    expect(dataOf(await to.graph("knowledge_query", { start: "ann" }))).toMatchObject({
      start: { name: "Ann", type: "person" },
      nodes: [{ name: "Ann" }, { name: "Billing", type: "service" }],
      edges: [{ type: "owns", weight: 1 }],
    });
    const { hits } = await to.family.search({ workspace: ".", agent: "main" }, { query: "tea" });
    expect(hits[0]).toMatchObject({ about: ["Ann"], excerpt: "likes tea", source: { imported: true } });
  });

  it("killed in the middle and run again gives the same store as one that was not", { timeout: 240_000 }, async () => {
    const lines: string[] = [];
    const { lines: few } = await sample(1);
    const model = JSON.parse(few[0] ?? "{}") as Record_;
    for (let n = 0; n < 1_100; n++)
      lines.push(
        `${JSON.stringify({ ...model, id: `mem_${String(n).padStart(26, "0")}`, title: `row ${n}`, content: `zebra ${n}` })}\n`,
      );
    const all = [...lines, ...few.slice(1)];
    const folder = temporaryFolder();
    const file = join(folder, "export.jsonl");
    writeFileSync(file, all.join(""));
    const whole = store();
    await whole.family.import(bytes(all.join(""), 64 * 1_024));
    // It waits where it is to stop; or goes on, and dies in the middle of a transaction or between two.
    const stops = [[1_050, 2], ...Array.from({ length: runs(10) }, (_, n) => [0, 1 + (n % 2)])] as const;
    for (const [stopAt, batches] of stops) {
      const path = join(temporaryFolder(), "memory.db");
      const child = startFixture("import.mjs", [path, file, String(stopAt)]);
      await child.hasLines(batches);
      child.process.kill("SIGKILL");
      expect(await child.ended).toBe("SIGKILL");
      const half = store(path);
      expect(await half.family.check()).toMatchObject({ ok: true, problems: [] });
      const kept = await exported(half.family);
      expect(kept.length % 500).toBe(0);
      expect(all).toEqual(expect.arrayContaining(kept));
      const report = await half.family.import(bytes(all.join(""), 64 * 1_024));
      expect(report).toMatchObject({ imported: all.length - kept.length, skipped: kept.length, problems: [] });
      expect(await exported(half.family)).toEqual(await exported(whole.family));
      expect(await half.family.check()).toMatchObject({ ok: true, live: 1_100 });
    }
  });
});

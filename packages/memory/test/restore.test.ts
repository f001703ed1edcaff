import { runs } from "@toolhaft/testing";
import Database from "better-sqlite3";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { dataOf, setting } from "./setting.ts";

/** All that a search reads: memories' texts, terms, postings of the index, subjects, counts; and who stands beside whom. */
function searched(path: string): unknown {
  const db = new Database(path);
  try {
    db.exec("CREATE VIRTUAL TABLE temp.postings USING fts5vocab(main, memory_fts, 'instance')");
    const all = (sql: string) => db.prepare(sql).all();
    const live = "superseded_by IS NULL AND forgotten_at IS NULL";
    return {
      memories: all(
        `SELECT row, id, thread, scope, role, title, content, tags, about, hash FROM memories WHERE ${live} ORDER BY row`,
      ),
      terms: all("SELECT * FROM memory_terms ORDER BY row"),
      postings: all("SELECT * FROM temp.postings ORDER BY term, doc, col, offset"),
      subjects: all("SELECT * FROM memory_subjects ORDER BY partition, subject_key"),
      partitions: all("SELECT * FROM partitions ORDER BY id"),
    };
  } finally {
    db.close();
  }
}

const filler = ["billing", "port", "部署", "garden", "timeout", "café"];

it(`P6: what is forgotten or superseded is found by no word of it, and restored the store is as before (${runs(60)} stores)`, {
  timeout: 300_000,
}, async () => {
  const note = fc.record({
    words: fc.array(fc.constantFrom(...filler), { minLength: 1, maxLength: 4 }),
    session: fc.constantFrom("one", "two"),
    scope: fc.constantFrom("workspace", "role"),
    about: fc.subarray(["Ann", "Billing API"]),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(note, { minLength: 3, maxLength: 7 }),
      fc.infiniteStream(fc.nat(1_000)),
      async (notes, order) => {
        const { W, R, call, family, path } = setting({ recordUse: false });
        const memories: { id: string; title: string; secret: string }[] = [];
        for (const [n, { words, session, scope, about }] of notes.entries()) {
          const secret = `only${"abcdefghij"[n]}word`;
          const id = await W(`t${n}`, `${words.join(" ")} ${secret} n${n}`, { scope, about }, { sessionId: session });
          memories.push({ id, title: `t${n}`, secret });
        }
        const answers = async () => {
          const found: unknown[] = [];
          for (const query of [...memories.map(({ secret }) => secret), ...filler])
            found.push(await R(query, { limit: 50 }));
          return found;
        };
        const before = searched(path);
        const answered = await answers();
        const next = () => order.next().value ?? 0;
        const gone = memories.filter((_, n) => n === 0 || next() % 2 === 0);
        const undo: (() => Promise<unknown>)[] = [];
        for (const { id, secret } of gone) {
          if (next() % 3 > 0) {
            await call("memory_forget", { id });
            undo.push(() => call("memory_forget", { id, restore: true }));
          } else {
            const scope = (dataOf(await call("memory_get", { id })).memory as { scope: string }).scope;
            const successor = await W("successor", `another ${id}`, { scope, supersedes: id });
            undo.push(async () => {
              await call("memory_forget", { id: successor });
              return call("memory_forget", { id, restore: true });
            });
          }
          expect(await R(secret, { limit: 50 })).toEqual([]);
          expect(await R(`"${secret}"`)).toEqual([]);
        }
        for (const { secret } of gone) expect(await R(secret, { limit: 50 })).toEqual([]);
        while (undo.length > 0) await undo.splice(next() % undo.length, 1)[0]?.();
        expect(searched(path)).toEqual(before);
        expect((await family.check()).problems).toEqual([]);
        const after = await answers();
        expect(after.map((titles) => [...(titles as string[])].sort())).toEqual(
          answered.map((titles) => [...(titles as string[])].sort()),
        );
      },
    ),
    { numRuns: runs(60) },
  );
});

describe("neighbours", () => {
  it("lend their words within thread, scope and role, and to nobody else", async () => {
    const { W, R } = setting();
    await W("question", "Which one do we take?", {}, { sessionId: "one", agent: "a" });
    await W("of a alone", "zebra it is", { scope: "role" }, { sessionId: "one", agent: "a" });
    await W("elsewhere", "What then?", {}, { sessionId: "two", agent: "a" });
    // The one that holds the word is of another scope than those beside it.
    expect(await R("zebra", {}, { agent: "a" })).toEqual(["of a alone"]);
    expect(await R("zebra", {}, { agent: "b" })).toEqual([]);
    await W("answer", "giraffe it is", {}, { sessionId: "one", agent: "b" });
    expect((await R("giraffe", {}, { agent: "c" })).sort()).toEqual(["answer", "question"]);
    await W("b asks", "And who pays?", { scope: "role" }, { sessionId: "one", agent: "b" });
    await W("c answers", "antelope does", { scope: "role" }, { sessionId: "one", agent: "c" });
    expect(await R("antelope", {}, { agent: "b" })).toEqual([]);
    expect(await R("antelope", {}, { agent: "c" })).toEqual(["c answers"]);
  });

  it("lend nothing where the host turns that off, nor once they are changed, superseded or forgotten", async () => {
    const off = setting({ neighbours: "off" });
    await off.W("question", "Which one do we take?");
    await off.W("answer", "zebra it is");
    expect(await off.R("zebra")).toEqual(["answer"]);
    const { W, R, call } = setting();
    await W("question", "Which one do we take?");
    const answer = await W("answer", "zebra it is");
    expect((await R("zebra")).sort()).toEqual(["answer", "question"]);
    await call("memory_update", { id: answer, content: "giraffe it is" });
    expect(await R("zebra")).toEqual([]);
    expect((await R("giraffe")).sort()).toEqual(["answer", "question"]);
    const later = await W("answer", "antelope it is", { supersedes: answer });
    expect(await R("giraffe")).toEqual([]);
    await call("memory_forget", { id: later });
    expect(await R("antelope")).toEqual([]);
  });
});

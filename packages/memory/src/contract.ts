import { createId } from "@toolhaft/core";
import {
  type Caller,
  type Draft,
  type EntityDraft,
  type ExportRecord,
  type GraphStore,
  type KvStore,
  type MemoryStore,
  termsOf,
  type WriteOutcome,
} from "./index.ts";

/** What registers and judges the cases: vitest, or another test runner with these names. */
export interface Runner {
  describe(name: string, cases: () => void): unknown;
  it(name: string, run: () => Promise<void>): unknown;
  expect(value: unknown, message?: string): Judgement;
  /** Runs when the case has ended, however it ended. */
  onTestFinished(run: () => Promise<void>): unknown;
}

interface Judgement {
  toBe(expected: unknown): void;
  toBeCloseTo(expected: number, digits?: number): void;
  toBeUndefined(): void;
  toEqual(expected: unknown): void;
  toHaveLength(expected: number): void;
  toMatchObject(expected: object): void;
}

const signal = new AbortController().signal;
const anyone: Caller = { workspace: ".", agent: "main" };
const other: Caller = { workspace: ".", agent: "other" };
let clock = 1_790_000_000_000;

/** A draft written now; times rise by a second, so that order is sure. */
function draftOf(title: string, content: string, more: Partial<Draft> = {}): Draft {
  clock += 1_000;
  const texts = { title, content, tags: more.tags ?? [], about: more.about ?? [] };
  return {
    id: `mem_${createId(clock)}`,
    scope: "workspace",
    category: "note",
    relevance: "medium",
    confidence: 1,
    kind: "note",
    supersedes: null,
    by: { agent: "main", sessionId: "one", callId: "call", tool: "test" },
    at: clock,
    limit: 10_000,
    ...more,
    ...texts,
    terms: termsOf(texts),
  };
}

function stored(outcome: WriteOutcome) {
  if (outcome.kind !== "stored") throw new Error(`not stored: ${outcome.kind}`);
  return outcome.record;
}

const everything = { scope: "both", category: null, tags: [], about: [] } as const;

/** What every database of memories must do; run by each adapter with a store of its own per call of `open`. */
export function describeMemoryStore(
  name: string,
  open: () => Promise<MemoryStore>,
  { describe, expect, it, onTestFinished }: Runner,
): void {
  async function opened(): Promise<MemoryStore> {
    const store = await open();
    onTestFinished(async () => store[Symbol.asyncDispose]());
    return store;
  }
  const write = async (store: MemoryStore, draft: Draft, caller = anyone) =>
    stored(await store.write(caller, draft, signal));
  const find = async (store: MemoryStore, terms: readonly string[], caller = anyone, more = {}) =>
    store.candidates(caller, { ...everything, terms, titleKey: "", limit: 100, ...more }, signal);
  const forgetting = { agent: "main", sessionId: "one", callId: "call", tool: "test", reason: null, limit: 10_000 };

  describe(`memory store ${name}`, () => {
    it("gives back what was written", async () => {
      const store = await opened();
      const record = await write(
        store,
        draftOf("Title", "Content \u{1F600} 日本", {
          tags: ["Tag"],
          about: ["Billing"],
          category: "fact",
          relevance: "high",
        }),
      );
      expect(await store.get(anyone, record.id, signal)).toEqual(record);
      expect(record).toMatchObject({
        version: 1,
        role: null,
        thread: "one",
        tags: ["Tag"],
        about: ["Billing"],
        uses: 0,
        supersededBy: null,
        forgottenAt: null,
      });
    });

    it("keeps an equal memory once, also when written many times at once", async () => {
      const store = await opened();
      const outcomes = await Promise.all(
        Array.from({ length: 8 }, () => store.write(anyone, draftOf("Same", "  the SAME\ntext "), signal)),
      );
      expect(outcomes.filter(({ kind }) => kind === "stored")).toHaveLength(1);
      expect(outcomes.filter(({ kind }) => kind === "duplicate")).toHaveLength(7);
      expect((await store.write(anyone, draftOf("same", "the same text"), signal)).kind).toBe("duplicate");
    });

    it("supersedes, names the newest of a chain, and refuses other scopes and unknown ids", async () => {
      const store = await opened();
      const first = await write(store, draftOf("a", "one"));
      const second = await write(store, draftOf("a", "two", { supersedes: first.id }));
      const third = await write(store, draftOf("a", "three", { supersedes: second.id }));
      expect(await store.write(anyone, draftOf("a", "four", { supersedes: first.id }), signal)).toEqual({
        kind: "not_live",
        state: "superseded",
        newest: third.id,
      });
      expect(await store.write(anyone, draftOf("a", "four", { supersedes: third.id, scope: "role" }), signal)).toEqual({
        kind: "other_scope",
        scope: "workspace",
      });
      expect(await store.write(anyone, draftOf("a", "four", { supersedes: `mem_${"0".repeat(26)}` }), signal)).toEqual({
        kind: "missing",
      });
      expect((await store.get(anyone, second.id, signal))?.supersedes).toEqual([first.id]);
      expect((await find(store, ["one", "two", "three"])).rows.map(({ id }) => id)).toEqual([third.id]);
    });

    it("refuses more live memories than allowed, in each partition by itself", async () => {
      const store = await opened();
      await write(store, draftOf("a", "one", { limit: 1 }));
      expect(await store.write(anyone, draftOf("b", "two", { limit: 1 }), signal)).toEqual({ kind: "full", live: 1 });
      expect((await store.write(anyone, draftOf("b", "two", { limit: 1, scope: "role" }), signal)).kind).toBe("stored");
    });

    it("updates in place, tells what changed, and keeps the values before", async () => {
      const store = await opened();
      const record = await write(store, draftOf("t", "old words", { tags: ["a"] }));
      const by = { agent: "main", sessionId: "two", callId: "c", tool: "test" };
      const change = { terms: termsOf, expectedVersion: null, as: "update", by, at: clock + 1 } as const;
      const outcome = await store.update(anyone, record.id, { ...change, content: "new words", tags: ["a"] }, signal);
      expect(outcome).toMatchObject({
        kind: "updated",
        changed: ["content"],
        record: { version: 2, content: "new words" },
      });
      expect(await store.update(anyone, record.id, { ...change, content: "new words" }, signal)).toMatchObject({
        kind: "updated",
        changed: [],
      });
      expect(await store.update(anyone, record.id, { ...change, content: "x", expectedVersion: 1 }, signal)).toEqual({
        kind: "other_version",
        version: 2,
      });
      expect(await store.history(anyone, record.id, signal)).toMatchObject([
        { version: 1, kind: "write", before: null },
        { version: 2, kind: "update", sessionId: "two", before: { content: "old words" } },
      ]);
      expect((await find(store, ["old"])).rows).toEqual([]);
      expect((await find(store, ["new"])).rows).toHaveLength(1);
      const twin = await write(store, draftOf("t", "third words"));
      expect(await store.update(anyone, twin.id, { ...change, content: "new words" }, signal)).toEqual({
        kind: "equal",
        id: record.id,
      });
    });

    it("forgets and restores, with the index as before", async () => {
      const store = await opened();
      const record = await write(store, draftOf("t", "zebra words"));
      const before = await find(store, ["zebra"]);
      await write(store, draftOf("u", "other words"));
      const done = await store.setForgotten(anyone, record.id, true, { ...forgetting, at: clock + 1 }, signal);
      expect(done).toMatchObject({ kind: "done", already: false, replaced: null });
      expect(await store.setForgotten(anyone, record.id, true, { ...forgetting, at: clock + 2 }, signal)).toMatchObject(
        { already: true },
      );
      expect((await find(store, ["zebra"])).rows).toEqual([]);
      expect((await find(store, ["zebra"])).df.get("zebra")).toBeUndefined();
      await store.setForgotten(anyone, record.id, false, { ...forgetting, at: clock + 3 }, signal);
      const after = await find(store, ["zebra"]);
      expect(after.rows.map(({ id, terms }) => ({ id, terms }))).toEqual(
        before.rows.map(({ id, terms }) => ({ id, terms })),
      );
    });

    it("restores a superseded memory only once its successor is not live, and no equal one is", async () => {
      const store = await opened();
      const first = await write(store, draftOf("t", "one"));
      const second = await write(store, draftOf("t", "two", { supersedes: first.id }));
      expect(await store.setForgotten(anyone, first.id, false, { ...forgetting, at: clock }, signal)).toEqual({
        kind: "successor_live",
        successor: second.id,
      });
      expect(await store.setForgotten(anyone, second.id, true, { ...forgetting, at: clock }, signal)).toMatchObject({
        kind: "done",
        replaced: first.id,
      });
      const twin = await write(store, draftOf("t", "one"));
      expect(await store.setForgotten(anyone, first.id, false, { ...forgetting, at: clock }, signal)).toEqual({
        kind: "equal_live",
        id: twin.id,
      });
      await store.setForgotten(anyone, twin.id, true, { ...forgetting, at: clock }, signal);
      expect(await store.setForgotten(anyone, first.id, false, { ...forgetting, at: clock }, signal)).toMatchObject({
        kind: "done",
        already: false,
      });
    });

    it("keeps roles apart in every method", async () => {
      const store = await opened();
      const mine = await write(store, draftOf("t", "zebra", { scope: "role", about: ["Secret"] }));
      const change = {
        terms: termsOf,
        expectedVersion: null,
        as: "update",
        by: forgetting,
        at: clock,
        title: "x",
      } as const;
      expect(await store.get(other, mine.id, signal)).toBeUndefined();
      expect(await store.records(other, [mine.id], signal)).toEqual([]);
      expect(await store.windows(other, [mine.id], 2, signal)).toEqual([[]]);
      expect(await store.history(other, mine.id, signal)).toEqual([]);
      expect(await store.update(other, mine.id, change, signal)).toEqual({ kind: "missing" });
      expect(await store.setForgotten(other, mine.id, true, { ...forgetting, at: clock }, signal)).toEqual({
        kind: "missing",
      });
      expect(await store.subjects(other, ["secret"], signal)).toEqual([]);
      expect(await store.subjects(anyone, ["secret"], signal)).toEqual([{ name: "Secret" }]);
      expect(await find(store, ["zebra"], other)).toMatchObject({ rows: [], count: 0, matched: 0 });
      expect(
        (await store.list(other, { ...everything, sort: "recent", state: "live", limit: 10, after: null }, signal))
          .total,
      ).toBe(0);
      expect((await store.stats(other, signal)).total).toBe(0);
      expect((await store.write(other, draftOf("t", "zebra", { scope: "role" }), signal)).kind).toBe("stored");
      await store.recordUse(other, [mine.id], clock);
      expect((await store.get(anyone, mine.id, signal))?.uses).toBe(0);
      expect(await store.get({ workspace: "elsewhere", agent: "main" }, mine.id, signal)).toBeUndefined();
    });

    it("counts df, documents and length of the searched partitions only", async () => {
      const store = await opened();
      await write(store, draftOf("tee", "zebra one"));
      await write(store, draftOf("t2", "zebra two", { scope: "role" }));
      await write(store, draftOf("t3", "zebra three", { scope: "role" }), other);
      const both = await find(store, ["zebra"]);
      expect([both.df.get("zebra"), both.count, both.rows.length]).toEqual([2, 2, 2]);
      const shared = await find(store, ["zebra"], anyone, { scope: "workspace" });
      expect([shared.df.get("zebra"), shared.count, shared.averageLength]).toEqual([1, 1, 3]);
    });

    it("filters by category, tags and subjects without case, and always gives an exact title", async () => {
      const store = await opened();
      await write(store, draftOf("A b", "zebra", { category: "fact", tags: ["Red", "Big"], about: ["Ann"] }));
      await write(store, draftOf("c", "zebra", { tags: ["red"] }));
      expect((await find(store, ["zebra"], anyone, { category: "fact" })).rows).toHaveLength(1);
      expect((await find(store, ["zebra"], anyone, { tags: ["red"] })).rows).toHaveLength(2);
      expect((await find(store, ["zebra"], anyone, { tags: ["red", "big"] })).rows).toHaveLength(1);
      expect((await find(store, ["zebra"], anyone, { about: ["ann"] })).rows).toHaveLength(1);
      expect((await find(store, [], anyone, { titleKey: "a b" })).rows.map(({ title }) => title)).toEqual(["A b"]);
    });

    it("gives the live neighbours of a thread in the order of writing", async () => {
      const store = await opened();
      const ids: string[] = [];
      const threads = ["x", "y", "x", "x", "y", "x"];
      for (const [index, sessionId] of threads.entries()) {
        ids.push(
          (
            await write(
              store,
              draftOf(`t${index}`, `n${index}`, { by: { agent: "main", sessionId, callId: "", tool: "" } }),
            )
          ).id,
        );
      }
      const window = async () => (await store.windows(anyone, [ids[3] ?? ""], 2, signal))[0]?.map(({ title }) => title);
      expect(await window()).toEqual(["t0", "t2", "t3", "t5"]);
      await store.setForgotten(anyone, ids[2] ?? "", true, { ...forgetting, at: clock }, signal);
      expect(await window()).toEqual(["t0", "t3", "t5"]);
    });

    it("pages a list without gap or repeat, in every order, while others write", async () => {
      const store = await opened();
      for (let i = 0; i < 25; i++) {
        const { id } = await write(
          store,
          draftOf(`t${i}`, `n${i}`, { relevance: (["low", "medium", "high"] as const)[i % 3] ?? "low" }),
        );
        if (i % 4 === 0) await store.recordUse(anyone, [id], clock + i);
      }
      let others = 0;
      for (const sort of ["recent", "relevance", "accessed"] as const) {
        const seen: string[] = [];
        let after: readonly (string | number)[] | null = null;
        do {
          const page: Awaited<ReturnType<MemoryStore["list"]>> = await store.list(
            anyone,
            { ...everything, sort, state: "live", limit: 7, after },
            signal,
          );
          seen.push(...page.items.map(({ title }) => title).filter((title) => /^t\d/.test(title)));
          after = page.next;
          await write(store, draftOf(`new ${++others}`, `meanwhile ${others}`));
        } while (after !== null);
        expect(new Set(seen).size).toBe(seen.length);
        expect(seen).toHaveLength(25);
      }
    });

    it("counts uses, keeps vectors, and searches them exactly", async () => {
      const store = await opened();
      const ids: string[] = [];
      for (let i = 0; i < 5; i++) ids.push((await write(store, draftOf(`t${i}`, `n${i}`))).id);
      expect(await store.vectors.pending(anyone, "m", 10)).toHaveLength(5);
      const angle = (i: number) => Float32Array.from([Math.cos(i / 3), Math.sin(i / 3)]);
      await store.vectors.put(
        anyone,
        ids.map((id, i) => ({ id, model: "m", vector: angle(i) })),
      );
      expect(await store.vectors.countPending(anyone, "m")).toBe(0);
      expect(await store.vectors.countPending(anyone, "newer")).toBe(5);
      const found = await store.vectors.search(
        anyone,
        { ...everything, model: "m", vector: angle(2), limit: 3 },
        signal,
      );
      expect(found[0]?.id).toBe(ids[2]);
      expect(found[0]?.cosine).toBeCloseTo(1, 5);
      expect(
        await store.vectors.search(anyone, { ...everything, model: "newer", vector: angle(2), limit: 3 }, signal),
      ).toEqual([]);
      await store.recordUse(anyone, [ids[0] ?? ""], clock);
      expect(await store.get(anyone, ids[0] ?? "", signal)).toMatchObject({ uses: 1, lastUsedAt: clock, version: 1 });
    });

    it("reads everything and loads it into an empty store as it was", async () => {
      const [store, target] = [await opened(), await opened()];
      const first = await write(store, draftOf("t", "one", { tags: ["x"], about: ["Ann"] }));
      await write(store, draftOf("t", "two", { supersedes: first.id }));
      const gone = await write(store, draftOf("g", "three", { scope: "role" }));
      await store.setForgotten(anyone, gone.id, true, { ...forgetting, at: clock }, signal);
      await store.recordUse(anyone, [first.id], clock);
      const all = await collect(store);
      expect(await target.load(all, { onConflict: "skip" })).toMatchObject({ imported: 3, skipped: 0, problems: [] });
      expect(await collect(target)).toEqual(all);
      expect(await target.load(all, { onConflict: "skip" })).toMatchObject({ imported: 0, skipped: 3 });
      expect((await target.load(all, { onConflict: "error" })).problems).toHaveLength(3);
      expect(await target.check()).toMatchObject({ ok: true, memories: 3, live: 1 });
    });

    it("purges for good, repairs, and stays whole", async () => {
      const store = await opened();
      const first = await write(store, draftOf("t", "one"));
      await write(store, draftOf("t", "two", { supersedes: first.id }));
      expect(await store.purge({}, clock)).toBe(1);
      expect(await store.get(anyone, first.id, signal)).toBeUndefined();
      expect(await store.repair()).toMatchObject({ ok: true, memories: 1, live: 1 });
      expect((await find(store, ["two"])).rows).toHaveLength(1);
    });
  });

  async function collect(store: MemoryStore): Promise<ExportRecord[]> {
    const records: ExportRecord[] = [];
    for await (const record of store.readAll({}, signal)) records.push(record);
    return records;
  }
}

export function describeKvStore(
  name: string,
  open: () => Promise<KvStore>,
  { describe, expect, it, onTestFinished }: Runner,
): void {
  const how = { at: 1_790_000_000_000, limit: 3 };
  async function opened(): Promise<KvStore> {
    const store = await open();
    onTestFinished(async () => store[Symbol.asyncDispose]());
    return store;
  }

  describe(`key store ${name}`, () => {
    it("keeps text and version of a value, exactly by key and namespace", async () => {
      const store = await opened();
      expect(await store.set(anyone, "é", '{"b":1.0,"a":2}', undefined, how, signal)).toEqual({
        kind: "stored",
        version: 1,
        created: true,
      });
      expect(await store.set(anyone, "é", '{"b":1.50}', undefined, how, signal)).toEqual({
        kind: "stored",
        version: 2,
        created: false,
      });
      expect(await store.get(anyone, "é", signal)).toMatchObject({ json: '{"b":1.50}', version: 2 });
      for (const [caller, key] of [
        [anyone, "e\u0301"],
        [anyone, "É"],
        [anyone, "é "],
        [other, "é"],
      ] as const)
        expect(await store.get(caller, key, signal)).toBeUndefined();
    });

    it("compares versions, and 0 means must not exist; one of many wins", async () => {
      const store = await opened();
      const outcomes = await Promise.all(
        Array.from({ length: 8 }, (_, i) => store.set(anyone, "k", String(i), 0, how, signal)),
      );
      expect(outcomes.filter(({ kind }) => kind === "stored")).toHaveLength(1);
      expect(await store.set(anyone, "k", "9", 7, how, signal)).toEqual({ kind: "conflict", version: 1 });
      expect(await store.delete(anyone, "k", 7, signal)).toEqual({ kind: "conflict", version: 1 });
      expect(await store.delete(anyone, "k", 1, signal)).toMatchObject({ kind: "deleted", entry: { version: 1 } });
      expect(await store.delete(anyone, "k", undefined, signal)).toEqual({ kind: "missing" });
    });

    it("lists keys by bytes, with prefix and offset, and refuses too many", async () => {
      const store = await opened();
      for (const key of ["b", "a", "ab"]) await store.set(anyone, key, "1", undefined, how, signal);
      expect(await store.set(anyone, "c", "1", undefined, how, signal)).toEqual({ kind: "full", keys: 3 });
      const names = async (query: { prefix: string; limit: number; offset: number }) =>
        (await store.keys(anyone, query, signal)).keys.map(({ key }) => key);
      expect(await names({ prefix: "", limit: 10, offset: 0 })).toEqual(["a", "ab", "b"]);
      expect(await names({ prefix: "a", limit: 10, offset: 1 })).toEqual(["ab"]);
      expect((await store.keys(anyone, { prefix: "", limit: 1, offset: 99 }, signal)).total).toBe(3);
    });
  });
}

export function describeGraphStore(
  name: string,
  open: () => Promise<GraphStore>,
  { describe, expect, it, onTestFinished }: Runner,
): void {
  async function opened(): Promise<GraphStore> {
    const store = await open();
    onTestFinished(async () => store[Symbol.asyncDispose]());
    return store;
  }
  const entity = (name: string, type = "t", attributes = {}): EntityDraft => {
    clock += 1_000;
    return { id: `ent_${createId(clock)}`, name, type, attributes, at: clock, check: () => undefined };
  };
  const edge = (from: string, to: string, type: string, weight = 1) => {
    clock += 1_000;
    return { id: `rel_${createId(clock)}`, from, to, type, weight, at: clock };
  };

  describe(`graph store ${name}`, () => {
    it("merges an entity by folded name and type, and names others of its name", async () => {
      const store = await opened();
      const first = await store.upsertEntity(anyone, entity("Atlas", "project", { a: 1, b: 2 }), signal);
      const second = await store.upsertEntity(anyone, entity(" ＡＴＬＡＳ", "Project", { b: null, c: [1] }), signal);
      expect(second).toMatchObject({
        created: false,
        changed: ["b", "c"],
        entity: { id: first.entity.id, attributes: { a: 1, c: [1] } },
      });
      const third = await store.upsertEntity(anyone, entity("atlas", "book"), signal);
      expect(third.sameName).toEqual([{ id: first.entity.id, type: "project" }]);
      expect(await store.find(anyone, "ATLAS", signal)).toHaveLength(2);
      expect(await store.find(other, "ATLAS", signal)).toEqual([]);
    });

    it("keeps one edge per ends and type, and none that dangles", async () => {
      const store = await opened();
      const [a, b] = [
        (await store.upsertEntity(anyone, entity("a"), signal)).entity,
        (await store.upsertEntity(anyone, entity("b"), signal)).entity,
      ];
      const first = await store.upsertEdge(anyone, edge(a.id, b.id, "uses"), signal);
      const second = await store.upsertEdge(anyone, edge(a.id, b.id, "USES", 3), signal);
      expect(first.kind === "stored" && second.kind === "stored" && first.edge.id === second.edge.id).toBe(true);
      expect(second).toMatchObject({ created: false, edge: { weight: 3 } });
      const nobody = `ent_${"0".repeat(26)}`;
      expect(await store.upsertEdge(anyone, edge(a.id, nobody, "uses"), signal)).toEqual({
        kind: "missing",
        id: nobody,
      });
      expect(await store.upsertEdge(other, edge(a.id, b.id, "uses"), signal)).toEqual({ kind: "missing", id: a.id });
    });

    it("removes an entity with its edges and brings them back", async () => {
      const store = await opened();
      const [a, b, c] = [
        (await store.upsertEntity(anyone, entity("a"), signal)).entity,
        (await store.upsertEntity(anyone, entity("b"), signal)).entity,
        (await store.upsertEntity(anyone, entity("c"), signal)).entity,
      ];
      for (const [from, to] of [
        [a, b],
        [b, c],
        [a, c],
      ] as const)
        await store.upsertEdge(anyone, edge(from.id, to.id, "next"), signal);
      const level = (id: string) => store.level(anyone, [id], { direction: "both", types: null, limit: 10 }, signal);
      expect(await store.setRemoved(anyone, b.id, true, ++clock, signal)).toHaveLength(3);
      expect(await level(a.id)).toHaveLength(1);
      expect(await store.find(anyone, "b", signal)).toEqual([]);
      expect(await store.setRemoved(anyone, b.id, true, ++clock, signal)).toEqual([]);
      expect(await store.setRemoved(anyone, b.id, false, ++clock, signal)).toHaveLength(3);
      expect(await level(a.id)).toHaveLength(2);
      expect(await store.setRemoved(other, b.id, true, ++clock, signal)).toBeUndefined();
    });

    it("brings an edge back with the last of its ends, and one that was removed by itself not at all", async () => {
      const store = await opened();
      const [a, b, c] = [
        (await store.upsertEntity(anyone, entity("a"), signal)).entity.id,
        (await store.upsertEntity(anyone, entity("b"), signal)).entity.id,
        (await store.upsertEntity(anyone, entity("c"), signal)).entity.id,
      ];
      await store.upsertEdge(anyone, edge(a, b, "next"), signal);
      await store.upsertEdge(anyone, edge(a, c, "next"), signal);
      const level = () => store.level(anyone, [a], { direction: "both", types: null, limit: 10 }, signal);
      const [first, second] = await level();
      const set = (id: string, removed: boolean) => store.setRemoved(anyone, id, removed, clock, signal);
      const both = (first?.to === b ? [first, second] : [second, first]).map((one) => one?.id ?? "");
      await set(a, true);
      expect(await set(b, true)).toEqual([b]);
      expect(await set(a, false)).toEqual([a, both[1]]);
      expect(await set(b, false)).toEqual([b, both[0]]);
      expect(await level()).toHaveLength(2);
      // All within one millisecond.
      expect(await set(both[0] ?? "", true)).toHaveLength(1);
      expect(await set(b, true)).toEqual([b]);
      expect(await set(b, false)).toEqual([b]);
      expect((await level()).map(({ id }) => id)).toEqual([both[1]]);
    });

    it("gives a level by direction and type, heaviest first, and edges between given nodes", async () => {
      const store = await opened();
      const nodes = [];
      for (const name of ["a", "b", "c"])
        nodes.push((await store.upsertEntity(anyone, entity(name), signal)).entity.id);
      const [a = "", b = "", c = ""] = nodes;
      for (const [from, to, type, weight] of [
        [a, b, "x", 1],
        [a, c, "y", 2],
        [c, a, "x", 3],
        [a, a, "x", 4],
      ] as const)
        await store.upsertEdge(anyone, edge(from, to, type, weight), signal);
      const weights = async (direction: "out" | "in" | "both", types: string[] | null, limit = 10) =>
        (await store.level(anyone, [a], { direction, types, limit }, signal)).map(({ weight }) => weight);
      expect(await weights("out", null)).toEqual([4, 2, 1]);
      expect(await weights("in", null)).toEqual([4, 3]);
      expect((await weights("both", ["x"])).sort()).toEqual([1, 3, 4]);
      expect(await weights("out", null, 1)).toEqual([4]);
      expect(await store.between(anyone, [a, c], { direction: "out", types: null }, signal)).toHaveLength(3);
    });
  });
}

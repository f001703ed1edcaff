import { fakeClock } from "@toolhaft/testing";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createMemory, createSemanticMemory, type SemanticMemoryOptions } from "../src/index.ts";
import { caller, closeAfterTest, dataOf, errorOf, temporaryFolder } from "./setting.ts";

interface Added {
  outcome: string;
  memories: { id: string; action: string; content: string; before: string | null }[];
  reason: string;
  extractor: string;
}

/** A store, its fragments' tools, and what is really in it. */
function setting(options: SemanticMemoryOptions = {}) {
  const directory = temporaryFolder();
  const path = `${directory}/memory.db`;
  const call = caller(closeAfterTest(createSemanticMemory({ ...options, path })), directory);
  const notes = closeAfterTest(createMemory({ path, ...(options.clock && { clock: options.clock }) }));
  const stored = async () => {
    const rows: Record<string, unknown>[] = [];
    for await (const line of notes.export()) rows.push(JSON.parse(line) as Record<string, unknown>);
    return rows.slice(1);
  };
  return {
    call,
    notes: caller(notes, directory),
    stored,
    /** Adds, and holds every claim of the answer against the store. */
    async add(content: string): Promise<Added & { text: string }> {
      const before = await stored();
      const result = await call("memory_semantic_add", { content });
      const data = dataOf(result) as unknown as Added;
      const after = await stored();
      const contents = new Map(after.map((row) => [row.id, row.content]));
      for (const { id, content: claimed } of data.memories) expect(contents.get(id)).toBe(claimed);
      const added = data.memories.filter(({ action }) => action === "added").map(({ id }) => id);
      const old = new Set(before.map(({ id }) => id));
      expect(after.filter(({ id }) => !old.has(id)).map(({ id }) => id)).toEqual(added.sort());
      for (const row of before) {
        const merge = data.memories.find(({ id, action }) => id === row.id && action === "merged");
        const now = after.find(({ id }) => id === row.id);
        if (!merge) expect(now).toEqual(row);
        else {
          expect(merge.before).toBe(row.content);
          expect(now?.history).toMatchObject([{}, { kind: "merge", before: { content: row.content } }]);
        }
      }
      return { ...data, text: result.text };
    },
  };
}

describe("what is added by the built-in rules", () => {
  it("is one fragment with its first sentence as title, white space folded", async () => {
    const { add, stored } = setting();
    const { outcome, memories, extractor } = await add("  The  cache lives\n ten minutes. It is Redis.  ");
    expect({ outcome, extractor }).toEqual({ outcome: "added", extractor: "rules" });
    expect(memories).toMatchObject([
      { action: "added", content: "The cache lives ten minutes. It is Redis.", before: null },
    ]);
    expect(await stored()).toMatchObject([
      { title: "The cache lives ten minutes.", kind: "fragment", scope: "role", role: "main", category: "note" },
    ]);
  });

  it("is a duplicate where an equal memory is live, note or fragment, and again new once that is forgotten", async () => {
    const { add, call, notes } = setting();
    const { memories } = await add("Billing retries twice");
    const id = memories[0]?.id;
    expect(await add("billing  RETRIES twice")).toMatchObject({
      outcome: "duplicate",
      memories: [{ id, action: "kept", content: "Billing retries twice" }],
      text: expect.stringContaining(`Already known as ${id}`),
    });
    await call("memory_semantic_forget", { memory_id: id });
    expect((await add("Billing retries twice")).outcome).toBe("added");
    const note = dataOf(
      await notes("memory_write", { title: "Tea", content: "Green tea at four", scope: "workspace" }),
    );
    expect(await add("green TEA at four")).toMatchObject({
      outcome: "duplicate",
      memories: [{ id: (note.memory as { id: string }).id }],
    });
  });

  it("is merged into a fragment that says less, and a duplicate where one says it all; never into a note", async () => {
    const { add, notes } = setting();
    const { memories } = await add("The billing service retries twice");
    const merged = await add("The billing service retries twice and then pages the owner");
    expect(merged).toMatchObject({
      outcome: "merged",
      memories: [{ id: memories[0]?.id, action: "merged", before: "The billing service retries twice" }],
      text: expect.stringContaining(`Merged into ${memories[0]?.id}`),
    });
    expect((await add("billing service retries")).outcome).toBe("duplicate");
    await notes("memory_write", { title: "Search", content: "Search uses a cluster" });
    expect((await add("Search uses a cluster of three machines in the north")).outcome).toBe("added");
    expect((await add("Another matter altogether")).outcome).toBe("added");
  });

  it("is rejected without letters and digits, in any script", async () => {
    const { add, stored } = setting();
    for (const content of ["…!?", "\u{1F600}\u{1F600}", "-- --"]) {
      const answer = await add(content);
      expect(answer).toMatchObject({ outcome: "rejected", memories: [] });
      expect(answer.text).toMatch(/^Rejected: /);
    }
    expect(await stored()).toEqual([]);
    for (const content of ["部署", "7", "é"]) expect((await add(content)).outcome).toBe("added");
  });
});

describe("what a host's extractor finds", () => {
  it("is stored piece by piece, and the answer says what was done with each", async () => {
    const pieces = [
      { content: "Ann owns billing", about: ["Ann"], category: "fact", confidence: 0.8 },
      { content: "Deploys are on Tuesday", category: "schedule" },
      { content: "…" },
    ];
    const { add, stored, call } = setting({ extractor: async () => pieces });
    const first = await add("a long talk");
    expect(first).toMatchObject({
      outcome: "added",
      extractor: "host",
      memories: [{ action: "added" }, { action: "added" }],
    });
    expect(await stored()).toMatchObject([
      { content: "Ann owns billing", category: "fact", about: ["Ann"], confidence: 0.8 },
      // A category of the extractor's own is a note, and a tag.
      { content: "Deploys are on Tuesday", category: "note", tags: ["schedule"], confidence: 1 },
    ]);
    pieces.splice(1, 2, { content: "Deploys are on Tuesday, after ten", category: "schedule" }, { content: "New one" });
    expect(await add("the same talk")).toMatchObject({
      outcome: "added",
      memories: [{ action: "kept" }, { action: "merged" }, { action: "added" }],
    });
    expect(dataOf(await call("memory_semantic_stats", {}))).toMatchObject({ extractor: "host", total: 3 });
  });

  it("is nothing, with the reason, where it finds nothing worth keeping", async () => {
    for (const extractor of [async () => [], async () => [{ content: "?!" }]]) {
      const { add } = setting({ extractor });
      expect(await add("small talk")).toMatchObject({
        outcome: "nothing",
        reason: "the extractor found nothing worth keeping",
        text: "Nothing stored: the extractor found nothing worth keeping.",
      });
    }
  });

  it("is nothing at all where it throws or does not end in 10 s: upstream, and the store is as before", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const never = () => {
      setImmediate(() => vi.advanceTimersByTime(10_000));
      return new Promise<never>(() => undefined);
    };
    for (const [extractor, message] of [
      [async () => Promise.reject(new Error("the model is down")), /the model is down/],
      [never, /over 10 s/],
    ] as const) {
      const { call, stored } = setting({ extractor });
      expect(errorOf(await call("memory_semantic_add", { content: "text" }))).toMatchObject({
        code: "upstream",
        message: expect.stringMatching(message),
        hint: expect.stringContaining("nothing was written"),
      });
      expect(await stored()).toEqual([]);
    }
  });

  it("with one piece that cannot be kept, is refused as a whole", async () => {
    const extractor = async () => [{ content: "A good one" }, { content: "Another", about: ["x".repeat(81)] }];
    const { call, stored } = setting({ extractor });
    expect(errorOf(await call("memory_semantic_add", { content: "text" })).code).toBe("invalid_input");
    expect(await stored()).toEqual([]);
  });
});

describe("min_confidence", () => {
  it("keeps and drops as computed at the time of the search, and says how many were below and the highest of them", async () => {
    const clock = fakeClock(Date.parse("2026-01-01"));
    const confidence = { value: 1 };
    const extractor = async (content: string) => [{ content, confidence: confidence.value }];
    const { add, call, notes } = setting({ clock, extractor, recordUse: false });
    await add("zebra whole");
    confidence.value = 0.6;
    await add("the zebra half");
    await notes("memory_write", { title: "zebra decided", content: "zebra", category: "decision" });
    const search = async (min_confidence: number) => {
      const result = await call("memory_semantic_search", { query: "zebra", min_confidence });
      const data = dataOf(result) as { hits: { title: string }[]; belowConfidence: number };
      return { titles: data.hits.map(({ title }) => title).sort(), below: data.belowConfidence, text: result.text };
    };
    expect(await search(0.6)).toMatchObject({ titles: ["the zebra half", "zebra decided", "zebra whole"], below: 0 });
    expect(await search(0.61)).toMatchObject({ titles: ["zebra decided", "zebra whole"], below: 1 });
    clock.advance(69 * 86_400_000);
    const faded = await search(0.51);
    expect(faded).toMatchObject({ titles: ["zebra decided"], below: 2 });
    expect(faded.text).toContain("2 memories below confidence 0.51; the highest has 0.50.");
    const { memories } = dataOf(await notes("memory_list", {})) as {
      memories: { title: string; confidence: number }[];
    };
    const whole = memories.find(({ title }) => title === "zebra whole")?.confidence ?? 0;
    expect((await search(whole)).titles).toContain("zebra whole");
    expect((await search(Math.min(1, whole + 1e-9))).titles).not.toContain("zebra whole");
  });

  it("that leaves nothing over can be told from nothing found", async () => {
    const clock = fakeClock(Date.parse("2026-01-01"));
    const { add, call } = setting({ clock });
    await add("zebra");
    clock.advance(69 * 86_400_000);
    const below = await call("memory_semantic_search", { query: "zebra", min_confidence: 0.8 });
    expect(dataOf(below)).toMatchObject({ hits: [], belowConfidence: 1, highestBelow: 0.5 });
    expect(below.text).toMatch(/Nothing found for "zebra"[\s\S]*1 memory below confidence 0\.8; the highest has 0\.50/);
    const nothing = await call("memory_semantic_search", { query: "giraffe", min_confidence: 0.8 });
    expect(nothing.text).not.toContain("below");
  });
});

describe("stats", () => {
  it("tell an empty store from one that the host disabled, and count what the caller sees", async () => {
    const directory = temporaryFolder();
    const path = `${directory}/memory.db`;
    const open = caller(closeAfterTest(createSemanticMemory({ path })), directory);
    const disabled = caller(
      closeAfterTest(createSemanticMemory({ path, host: { enabled: false, autoMemorize: true, autoRecall: true } })),
      directory,
    );
    const empty = await open("memory_semantic_stats", {});
    expect(dataOf(empty)).toMatchObject({ total: 0, enabled: true, oldest: null, newest: null, autoMemorize: false });
    expect(empty.text).toMatch(/^No memories yet\.[\s\S]*Adding is enabled/);
    await open("memory_semantic_add", { content: "zebra" });
    await open("memory_semantic_add", { content: "of another" }, { agent: "b" });
    const closed = await disabled("memory_semantic_stats", {});
    expect(dataOf(closed)).toMatchObject({
      total: 1,
      byScope: { workspace: 0, role: 1 },
      byCategory: { note: 1 },
      byState: { live: 1, superseded: 0, forgotten: 0 },
      pendingVectors: 0,
      embedder: null,
      enabled: false,
      autoMemorize: true,
      autoRecall: true,
      store: path,
    });
    expect(dataOf(closed).bytes).toBeGreaterThan(4_096);
    expect(closed.text).toMatch(/^1 live memories[\s\S]*Adding is disabled by the host/);
    expect(dataOf(await disabled("memory_semantic_search", { query: "zebra" })).hits).toHaveLength(1);
  });
});

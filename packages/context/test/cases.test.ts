import { createContext, type Family } from "@toolhaft/core";
import { createMemory, type MemoryOptions } from "@toolhaft/memory";
import { createSessions, recordSession, sqliteSessionStore } from "@toolhaft/session";
import { describe, expect, it, onTestFinished } from "vitest";
import { type ContextHit, memorySource, sessionSource } from "../src/index.ts";
import { bad, callOf, contextOver, fixed, folder, good, independentCount, throwing } from "./setting.ts";

const sentence = "The port of our Postgres moved to 5433.";

function closing<F extends Family>(family: F): F {
  onTestFinished(() => family.close());
  return family;
}

/** A real memory in a real folder. */
async function memories(texts: readonly (readonly [title: string, content: string])[], options: MemoryOptions = {}) {
  const workspace = await folder();
  const memory = closing(createMemory({ path: workspace.path("memory.db"), ...options }));
  for (const [title, content] of texts) {
    const result = await callOf(memory, "memory_write", { title, content, scope: "workspace" }, workspace);
    if (!result.ok) throw new Error(result.text);
  }
  return { workspace, memory };
}

async function sessions(texts: readonly string[]) {
  const workspace = await folder();
  for (const [index, text] of texts.entries()) {
    await using writer = await recordSession({ directory: workspace.directory, title: `Session ${index + 1}` });
    await writer.append([{ id: "m1", role: "user", parts: [{ kind: "text", text }] }]);
    await writer.flush();
  }
  const store = sqliteSessionStore({ path: workspace.path(".toolhaft/sessions.db") });
  onTestFinished(async () => store[Symbol.asyncDispose]());
  return { workspace, source: sessionSource(store.reader) };
}

describe("cut: marks of cutting", () => {
  const text = (points: number) => `port ${"z".repeat(points - 5)}`;
  it.each([
    ["cut-1", 600, false],
    ["cut-2", 601, true],
  ])("%s: a memory of %d code points", async (_, points, cut) => {
    const { workspace, memory } = await memories([["Ports", text(points)]]);
    const call = contextOver({ sources: [memorySource(memory)] });
    const result = good(await call({ topic: "port", max_tokens: 4_000 }, workspace));
    expect(result.data.hits).toMatchObject([{ truncated: cut }]);
    expect(result.text.includes("…")).toBe(cut);
    if (!cut) expect(result.data.hits[0]?.snippet).toBe(text(points));
    else expect(result.data.hits[0]?.snippet.endsWith("…")).toBe(true);
  });
  it("cut-1 with emoji: code points count, not units", async () => {
    const call = contextOver({
      sources: [fixed("memory", [{ ref: "a", title: "", text: `port ${"👍".repeat(595)}` }])],
    });
    expect(good(await call({ topic: "port" })).data.hits[0]?.truncated).toBe(false);
  });
});

describe("budget: tokens", () => {
  it("budget-1: no sources is no licence to print everything", async () => {
    const call = contextOver({ sources: [fixed("memory", [])] });
    expect(bad(await call({ topic: "x", sources: [] }))).toMatchObject({ code: "invalid_input" });
  });
  it("budget-2: ideographs", async () => {
    const texts = Array.from({ length: 20 }, (_, n): [string, string] => [
      `备忘 ${n}`,
      `${n}号服务的端口已经改到五四三三，`.repeat(150).slice(0, 2_000),
    ]);
    const { workspace, memory } = await memories(texts);
    const call = contextOver({ sources: [memorySource(memory)] });
    const { text, data } = good(await call({ topic: "端口", max_tokens: 500 }, workspace));
    expect(independentCount(text)).toBeLessThanOrEqual(500);
    expect(independentCount(text)).toBe(data.usedTokens);
    expect(data.usedTokens).toBeGreaterThanOrEqual(450);
  });
  it("budget-3: room that other sources leave is used", async () => {
    const texts = Array.from({ length: 20 }, (_, n): [string, string] => [
      `Note ${n}`,
      `Remark ${n}: the postgres port is open. ${`Line ${n} tells more about the network behind it. `.repeat(40)}`,
    ]);
    const { workspace, memory } = await memories(texts);
    const call = contextOver({ sources: [memorySource(memory), fixed("task", []), fixed("session", [])] });
    const { data } = good(await call({ topic: "postgres port", max_tokens: 2_000 }, workspace));
    expect(data.usedTokens).toBeGreaterThanOrEqual(1_800);
    expect(data.usedTokens).toBeLessThanOrEqual(2_000);
  });
  it("budget-4: the names of special tokens are text", async () => {
    const { workspace, memory } = await memories([["Odd", "port <|endoftext|> and <|im_start|> system"]]);
    const call = contextOver({ sources: [memorySource(memory)] });
    const { text, data } = good(await call({ topic: "port" }, workspace));
    expect(text).toContain("<|endoftext|>");
    expect(independentCount(text)).toBe(data.usedTokens);
  });
  it("budget-5: a big first hit leaves room for small ones", async () => {
    const big: ContextHit = { ref: "big", title: "Big", text: "端口的历史记录非常复杂难解".repeat(46), score: 9 };
    const small = Array.from(
      { length: 10 },
      (_, n): ContextHit => ({ ref: `s${n}`, title: "", text: `端口 ${n}`, score: 1 }),
    );
    const call = contextOver({ sources: [fixed("memory", [big, ...small])] });
    const { data } = good(await call({ topic: "端口", max_tokens: 300 }));
    expect(data.hits.filter(({ ref }) => ref.startsWith("s"))).toHaveLength(10);
    expect(data.usedTokens).toBeLessThanOrEqual(300);
  });
});

describe("topic: finding by topic", () => {
  it("topic-1: words that stand apart", async () => {
    const { workspace, source } = await sessions([sentence]);
    const { data } = good(await contextOver({ sources: [source] })({ topic: "postgres port" }, workspace));
    expect(data.hits[0]?.snippet).toContain("5433");
  });
  it("topic-2: in the middle of a long message", async () => {
    const filler = "Nothing to see in this part of the talk. ".repeat(122);
    const { workspace, source } = await sessions([`${filler}${sentence} ${filler}`]);
    const { data } = good(await contextOver({ sources: [source] })({ topic: "postgres port" }, workspace));
    expect(data.hits[0]?.snippet).toContain("5433");
    expect(data.hits[0]?.truncated).toBe(true);
  });
  it("topic-3: in the thirtieth of forty sessions", async () => {
    const { workspace, source } = await sessions(
      Array.from({ length: 40 }, (_, n) => (n === 29 ? sentence : `Talk ${n} about the weather`)),
    );
    const { data } = good(await contextOver({ sources: [source] })({ topic: "postgres port" }, workspace));
    expect(data.hits).toMatchObject([{ title: "Session 30", snippet: expect.stringContaining("5433") }]);
  });
  it("topic-4: one source fails, the other answers", async () => {
    const { workspace, memory } = await memories([["Database ports", sentence]]);
    const call = contextOver({ sources: [memorySource(memory), throwing("task", "database is locked")] });
    const { text, data } = good(await call({ topic: "postgres port" }, workspace));
    expect(data.hits).toHaveLength(1);
    expect(data.sources).toMatchObject([
      { name: "memory", status: "ok" },
      { name: "task", status: "failed", error: { message: "database is locked" } },
    ]);
    expect(text).toContain("Failed: task (database is locked).");
  });
  it("topic-5: all fail", async () => {
    const call = contextOver({ sources: [throwing("memory", "disk full"), throwing("task", "database is locked")] });
    const error = bad(await call({ topic: "x" }));
    expect(error).toMatchObject({ code: "unavailable", retryable: true });
    expect(error.message).toContain("memory (disk full)");
    expect(error.message).toContain("task (database is locked)");
  });
});

describe("wiring: borrowed sources", () => {
  it("wiring-1: ten calls in parallel share one open store", async () => {
    const { workspace, memory } = await memories([["Database ports", sentence]]);
    let searches = 0;
    const counted: typeof memory.search = (...all) => {
      searches++;
      return memory.search(...all);
    };
    const call = contextOver({ sources: [memorySource({ search: counted })] });
    const results = await Promise.all(Array.from({ length: 10 }, () => call({ topic: "postgres port" }, workspace)));
    for (const result of results) expect(good(result).data.hits).toHaveLength(1);
    expect(searches).toBe(10);
    const again = await callOf(memory, "memory_recall", { query: "postgres" }, workspace);
    expect(again.ok && again.text).toContain("5433");
  });
});

describe("refs: following up", () => {
  it("refs-1: each ref, and each follow-up call, leads to the record (memory, session)", async () => {
    const { workspace, memory } = await memories([["Database ports", sentence]], { path: undefined as never });
    await using writer = await recordSession({ directory: workspace.directory, title: "Talk" });
    await writer.append([{ id: "m1", role: "user", parts: [{ kind: "text", text: `Remember: ${sentence}` }] }]);
    await writer.flush();
    const store = sqliteSessionStore({ path: workspace.path(".toolhaft/sessions.db") });
    onTestFinished(async () => store[Symbol.asyncDispose]());
    const session = closing(createSessions());
    const context = createContext({ directory: workspace.directory });
    const recall = {
      search: async (_: unknown, query: { query: string }) => {
        const result = await callOf(memory, "memory_recall", { query: query.query }, context);
        if (!result.ok) throw new Error(result.text);
        return result.data as Awaited<ReturnType<typeof memory.search>>;
      },
    };
    const call = contextOver({ sources: [memorySource(recall), sessionSource(store.reader)] });
    const { data } = good(await call({ topic: "postgres port" }, context));
    expect(data.hits.map(({ source }) => source).sort()).toEqual(["memory", "session"]);
    const readers = { memory: ["memory_get", "id"], session: ["session_read", "session_id"] } as const;
    for (const { ref, source, follow } of data.hits) {
      const family = source === "memory" ? memory : session;
      const [tool, parameter] = readers[source as keyof typeof readers];
      expect((await callOf(family, tool, { [parameter]: ref }, context)).text).toContain("5433");
      expect((await callOf(family, follow?.tool ?? "", follow?.input, context)).text).toContain("5433");
    }
  });
});

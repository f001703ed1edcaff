import {
  type AnyTool,
  createContext,
  createPolicy,
  estimateTokens,
  type ProgressUpdate,
  parseRule,
  type ToolResult,
  timeout,
  toolset,
} from "@toolhaft/core";
import { testFamily } from "@toolhaft/testing";
import { describe, expect, it } from "vitest";
import { createMeta, type MetaOptions } from "../src/index.ts";
import { createCatalogueTools, createProbes } from "./catalogue.ts";
import { queries } from "./queries.ts";

const everything = () => toolset(...createCatalogueTools(), createProbes());

function setUp(options: Partial<MetaOptions> = {}) {
  const meta = createMeta({ tools: everything(), ...options });
  const context = createContext({ directory: "/w" });
  const tool = (name: string): AnyTool => {
    const found = meta.tools.find((one) => one.name === name);
    if (found === undefined) throw new Error(`no ${name}`);
    return found;
  };
  const call = (name: string, input: unknown, init = {}): Promise<ToolResult> =>
    tool(name).call(input, { ...context, ...init });
  return { meta, context, call, tool };
}

testFamily({
  make: () => createMeta({ tools: everything(), alwaysOn: ["memory_recall"] }),
  golden: new URL("./golden/", import.meta.url),
  tools: {
    tool_search: {
      valid: [
        { title: "by words", input: { query: "save a note" } },
        { title: "nothing found", input: { query: "xyzzy" } },
      ],
      invalid: [
        { title: "empty query", input: { query: "" }, text: "query" },
        { title: "limit 51", input: { query: "a", limit: 51 }, text: "limit" },
        { title: "unknown family", input: { query: "a", family: "nope" }, code: "not_found", text: "families: " },
      ],
    },
    tool_load: {
      finer: ["(root)"],
      valid: [
        { title: "two names", input: { names: ["memory_write", "web_read"] } },
        { title: "one name", input: { name: "memory_write" } },
      ],
      invalid: [
        { title: "no name", input: {}, text: "names" },
        { title: "17 names", input: { names: Array.from({ length: 17 }, (_, index) => `t${index}`) }, text: "names" },
        { title: "unknown", input: { name: "nope" }, code: "not_found" },
      ],
    },
    tool_call: {
      unsupported: ["openai-strict", "anthropic-strict"],
      valid: [{ title: "a tool that is always on", input: { name: "memory_recall", input: { text: "a" } } }],
      invalid: [
        { title: "no input", input: { name: "memory_recall" }, text: "input" },
        {
          title: "not loaded",
          input: { name: "web_read", input: {} },
          code: "not_found",
          text: 'tool_load {"names":["web_read"]}',
        },
        { title: "a meta tool", input: { name: "tool_call", input: {} }, code: "not_found" },
        {
          title: "bad inner input",
          input: { name: "memory_recall", input: { txt: 1 } },
          text: "unknown key txt: did you mean text?",
        },
      ],
    },
  },
});

describe("tool_search", () => {
  it("shows rows, total, and the call that loads them", async () => {
    const { call } = setUp();
    const { text } = await call("tool_search", { query: "save a note", limit: 2 });
    expect(text).toMatch(/^2 of \d+ tools match "save a note":\nmemory_write: Keeps a note.* \(≈ \d+ tokens\)\n/);
    expect(text).toMatch(/Load with tool_load \{"names":\["memory_write",/);
  });

  it("finds the right tool in the first three for at least 55 of 60 queries in two languages", async () => {
    const { call } = setUp();
    const missed: string[] = [];
    for (const [query, wanted] of queries) {
      const result = await call("tool_search", { query, limit: 3 });
      const { hits } = (result as { data: { hits: { name: string }[] } }).data;
      if (!hits.some(({ name }) => name === wanted))
        missed.push(`${query} → ${hits.map(({ name }) => name).join(", ")}`);
    }
    expect(queries).toHaveLength(60);
    expect(missed.length, missed.join("\n")).toBeLessThanOrEqual(5);
  });

  it("finds every tool by its name with two letters swapped, dropped or doubled", async () => {
    const { call } = setUp();
    const missed: string[] = [];
    for (const { name } of everything().tools) {
      const middle = Math.floor(name.length / 2);
      const typos = [
        name.slice(0, middle) + name.charAt(middle + 1) + name.charAt(middle) + name.slice(middle + 2),
        name.slice(0, middle) + name.slice(middle + 1),
        name.slice(0, middle) + name.charAt(middle) + name.slice(middle),
      ];
      for (const typo of typos) {
        const { text } = await call("tool_search", { query: typo, limit: 3 });
        if (!text.includes(`\n${name}: `)) missed.push(`${typo} for ${name}`);
      }
    }
    expect(missed).toEqual([]);
  });

  it("gives nearest names and families when nothing fits", async () => {
    const { call } = setUp();
    expect((await call("tool_search", { query: "xyzzy" })).text).toMatch(
      /^No tool matches "xyzzy"\.\nFamilies: .*memory \(5\)/,
    );
  });
});

describe("tool_load", () => {
  it("loads once, then says already loaded, and counts tokens", async () => {
    const { call } = setUp();
    const first = await call("tool_load", { names: ["memory_write"] });
    expect(first.text).toContain("memory_write: loaded (≈");
    expect(first.text).toContain('"properties":{"text"');
    const second = await call("tool_load", { names: ["memory_write", "nope_nope"] });
    expect(second.text).toContain("memory_write: already loaded");
    expect(second.text).toContain("nope_nope: not found");
    expect(second).toMatchObject({ data: { added: 0, total: (first as { data: { total: number } }).data.total } });
  });

  it("takes 16 names at once", async () => {
    const { call, meta, context } = setUp();
    const names = everything()
      .tools.slice(0, 16)
      .map((tool) => tool.name);
    expect(await call("tool_load", { names })).toMatchObject({ ok: true });
    expect(meta.listed(context.sessionId).map((tool) => tool.name)).toEqual([
      "tool_search",
      "tool_load",
      "tool_call",
      ...names,
    ]);
  });

  it("refuses what is over the budget and loads nothing of it", async () => {
    const { call, meta, context } = setUp({ maxLoadedTokens: 100 });
    const result = await call("tool_load", { names: ["memory_write", "memory_recall", "web_read"] });
    expect(result).toMatchObject({ ok: false, error: { code: "too_large" } });
    expect(meta.listed(context.sessionId)).toHaveLength(3);
  });

  it("lazy-3: a typo names the nearest", async () => {
    const { call } = setUp();
    const result = await call("tool_load", { names: ["memroy_recall"] });
    expect(result).toMatchObject({ ok: false, error: { code: "not_found" } });
    expect(result.text).toContain("memory_recall");
  });

  it("tells listeners, until they leave", async () => {
    const { call, meta, context } = setUp();
    const heard: unknown[] = [];
    const leave = meta.onLoad((...event) => heard.push(event));
    await call("tool_load", { name: "web_read" });
    leave();
    await call("tool_load", { name: "web_fetch" });
    expect(heard).toEqual([[context.sessionId, ["web_read"]]]);
  });

  it("keeps sessions apart", async () => {
    const { call, meta } = setUp();
    await call("tool_load", { name: "web_read" }, { sessionId: "one" });
    expect(meta.listed("one").map((tool) => tool.name)).toContain("web_read");
    expect(meta.listed("two").map((tool) => tool.name)).not.toContain("web_read");
  });

  it("forgets the least recently used of more than 1,000 sessions", async () => {
    const { call, meta } = setUp();
    await call("tool_load", { name: "web_read" }, { sessionId: "kept" });
    await call("tool_load", { name: "web_read" }, { sessionId: "lost" });
    for (let index = 0; index < 999; index++) {
      await call("tool_load", { name: "web_read" }, { sessionId: `s${index}` });
      meta.listed("kept");
    }
    expect(meta.listed("kept").map((tool) => tool.name)).toContain("web_read");
    expect(meta.listed("lost").map((tool) => tool.name)).not.toContain("web_read");
  });
});

describe("lazy-4: loading only appends", () => {
  const bytes = (tools: readonly AnyTool[]): string =>
    tools.map((tool) => JSON.stringify([tool.name, tool.description])).join("\n");

  it("the first list is a byte prefix of the second", async () => {
    const { call, meta, context } = setUp({ alwaysOn: ["web_search"] });
    const before = bytes(meta.listed(context.sessionId));
    await call("tool_load", { names: ["web_read", "memory_write"] });
    await call("tool_load", { names: ["web_fetch"] });
    expect(bytes(meta.listed(context.sessionId)).startsWith(before)).toBe(true);
    expect(
      meta
        .listed(context.sessionId)
        .slice(3)
        .map((tool) => tool.name),
    ).toEqual(["web_search", "web_read", "memory_write", "web_fetch"]);
  });
});

describe("lazy-2: what is hidden is nowhere", () => {
  const without = () => toolset(...createCatalogueTools().filter(({ name }) => name !== "memory"), createProbes());
  const policy = createPolicy({ rules: [parseRule("deny", "memory_*")], directory: "/w" });
  const calls: readonly (readonly [string, unknown])[] = [
    ["tool_search", { query: "memory" }],
    ["tool_search", { query: "memory_write" }],
    ["tool_search", { query: "xyzzy" }],
    ["tool_search", { query: "note", family: "memory" }],
    ["tool_search", { query: "search the text", limit: 50 }],
    ["tool_load", { names: ["memory_write"] }],
    ["tool_load", { names: ["memory_write", "web_read"] }],
    ["tool_call", { name: "memory_write", input: {} }],
    ["tool_call", { name: "web_red", input: {} }],
  ];

  it.each([
    ["by the option", { policy }, {}],
    ["by the policy of the call", {}, { policy }],
  ])("%s: byte-equal with a toolset that lacks it", async (_how, options, init) => {
    const hidden = setUp(options);
    const absent = setUp({ tools: without() });
    for (const [name, input] of calls) {
      expect(await hidden.call(name, input, init)).toEqual(await absent.call(name, input));
    }
    if ("policy" in options) expect(hidden.meta.instructions()).toBe(absent.meta.instructions());
  });
});

describe("tool_call", () => {
  const loaded = async (options: Partial<MetaOptions> = {}) => {
    const setting = setUp(options);
    await setting.call("tool_load", {
      names: ["probe_ask", "probe_wait", "probe_fail", "probe_change", "memory_write"],
    });
    return setting;
  };
  const inner = (name: string, input: unknown = {}) => ({ name, input });

  it("lazy-1: runs what was loaded, for a client that never lists again", async () => {
    const { call } = await loaded();
    expect(await call("tool_call", inner("memory_write"))).toMatchObject({
      ok: true,
      text: "did memory_write",
      data: { tool: "memory_write", data: { did: "memory_write" } },
    });
  });

  it("gives the inner failure as it is, its lead and changed files included", async () => {
    const { call, context } = await loaded();
    const direct = await everything().get("probe_fail")?.call({}, context);
    expect((await call("tool_call", inner("probe_fail"))).text).toBe(direct?.text);
    expect(direct?.text).toMatch(/^Rejected, nothing written\. conflict: /);
    const changed = await call("tool_call", inner("probe_fail", { path: "x" }));
    expect(changed).toMatchObject({
      ok: false,
      text: "upstream: half of it was done",
      fileChanges: [{ path: "a.txt" }],
    });
  });

  it("passes on file changes and attachments", async () => {
    const { call } = await loaded();
    expect(await call("tool_call", inner("probe_change"))).toMatchObject({
      ok: true,
      fileChanges: [{ path: "a.txt" }],
      attachments: [{ name: "a" }],
    });
  });

  it("asks in the inner tool's name, and obeys the answer", async () => {
    const { call } = await loaded();
    const asked: string[] = [];
    const asker = async (request: { tool: string; resources: readonly string[] }) => {
      asked.push(`${request.tool} ${request.resources}`);
      return asked.length === 1 ? ({ allow: true } as const) : ({ allow: false, feedback: "not there" } as const);
    };
    expect(await call("tool_call", inner("probe_ask"), { asker })).toMatchObject({ ok: true });
    expect((await call("tool_call", inner("probe_ask"), { asker })).text).toContain("not there");
    expect(asked).toEqual(["probe_ask /elsewhere/x", "probe_ask /elsewhere/x"]);
  });

  it("obeys the option's policy on top of the call's", async () => {
    const policy = createPolicy({
      rules: [parseRule("deny", "file.write:/w/secret/**")],
      fallback: "allow",
      directory: "/w",
    });
    const { call } = await loaded({ policy });
    expect(await call("tool_call", inner("probe_ask", { path: "/w/secret/a" }))).toMatchObject({
      ok: false,
      error: { code: "denied", details: { by: "policy" } },
    });
    expect(await call("tool_call", inner("probe_ask", { path: "/w/a" }))).toMatchObject({ ok: true });
  });

  it("stops with the signal and passes progress on", async () => {
    const { call } = await loaded();
    const controller = new AbortController();
    const updates: ProgressUpdate[] = [];
    const result = await call("tool_call", inner("probe_wait"), {
      signal: controller.signal,
      progress: (update: ProgressUpdate) => {
        updates.push(update);
        controller.abort();
      },
    });
    expect(result).toMatchObject({ ok: false, error: { code: "cancelled" } });
    expect(updates).toEqual([{ progress: 1, message: "waiting" }]);
  });

  it("does not count the inner question against a time-out around it", async () => {
    const { meta, context } = await loaded();
    const wrapped = toolset(meta)
      .wrap(timeout({ ms: 1_000 }))
      .get("tool_call");
    const asker = async () => {
      await new Promise((resolve) => setTimeout(resolve, 1_300));
      return { allow: true } as const;
    };
    expect(await wrapped?.call(inner("probe_ask"), { ...context, asker })).toMatchObject({ ok: true });
  });

  it("is as dangerous as the worst it reaches", () => {
    expect(setUp().tool("tool_call").annotations).toEqual({
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: false,
      openWorldHint: true,
    });
    expect(setUp({ tools: toolset(...createCatalogueTools()).readOnly() }).tool("tool_call").annotations).toMatchObject(
      { readOnlyHint: true, destructiveHint: false },
    );
  });

  it("is left out by `call: false`", () => {
    expect(setUp({ call: false }).meta.tools.map((tool) => tool.name)).toEqual(["tool_search", "tool_load"]);
  });
});

describe("createMeta", () => {
  it("refuses an unknown name in alwaysOn with the nearest", () => {
    expect(() => setUp({ alwaysOn: ["memory_recal"] })).toThrow(
      /memory_recal, which is no tool here; did you mean memory_recall/,
    );
  });

  it("says in at most 600 characters what there is", () => {
    const text = setUp().meta.instructions();
    expect(text.length).toBeLessThanOrEqual(600);
    expect(text).toMatch(/tool_search.*tool_load.*memory \(5\)/);
  });

  it("lists for at most 0.15 of what the full list costs", () => {
    const full = estimateTokens(everything().tools);
    expect(estimateTokens(setUp().meta.tools) / full).toBeLessThan(0.2);
  });

  it("closes what it stands on", async () => {
    let closed = 0;
    const family = { ...createProbes(), close: async () => void closed++ };
    const meta = createMeta({ tools: toolset(family) });
    await meta.close();
    await meta.close();
    expect(closed).toBe(1);
  });
});

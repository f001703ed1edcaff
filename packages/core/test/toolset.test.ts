import { describe, expect, it } from "vitest";
import { z } from "zod";
import {
  type AnyTool,
  alias,
  createContext,
  defineTool,
  type Family,
  familiesOf,
  fitName,
  toJsonSchema,
  toolset,
} from "../src/index.ts";
import { defaults, echo, fails, reads } from "./fixture-tools.ts";
import { probe } from "./tools.ts";

function family(name: string, tools: readonly AnyTool[], close = async () => undefined): Family {
  return { name, tools, close, [Symbol.asyncDispose]: close };
}

const names = (set: { tools: readonly AnyTool[] }): string[] => set.tools.map((tool) => tool.name);
const bytes = (set: { tools: readonly AnyTool[] }): string =>
  JSON.stringify(set.tools.map((tool) => [tool.name, tool.description, toJsonSchema(tool, "mcp")]));
const two = [echo, defaults] as const;

/** Tells the next call by its name in the toolset. */
const guide = defineTool({
  name: "guide",
  title: "Guide",
  description: "Names the call that comes next, by the name it has here.",
  inputSchema: z.object({}),
  outputSchema: z.object({ quoted: z.string() }),
  annotations: reads,
  execute: async () => ({ quoted: "echo and defaults as a file has them" }),
  render: ({ quoted }, _input, toolName) =>
    `next: ${toolName("echo")}, then ${toolName("guide")}, not ${toolName("unknown")}. ${quoted}`,
}) as AnyTool;

describe("toolset", () => {
  it("keeps the order of its parts, and equal calls give equal bytes", () => {
    expect(names(toolset(family("b", [fails]), echo, [defaults]))).toEqual(["fails", "echo", "defaults"]);
    expect(bytes(toolset(...two).prefix("x_"))).toBe(bytes(toolset(...two).prefix("x_")));
  });
  it("refuses two tools of one name, naming both families and the fix", () => {
    const kv = family("kv-memory", [
      probe(() => 1, { name: "memory_recall" }),
      probe(() => 1, { name: "memory_list" }),
    ]);
    const memory = family("memory", [
      probe(() => 1, { name: "memory_recall" }),
      probe(() => 1, { name: "memory_list" }),
    ]);
    expect(() => toolset(memory, kv)).toThrow(
      'toolset: tools share names: memory_recall (of the family memory and of the family kv-memory), memory_list (of the family memory and of the family kv-memory); give one of them a prefix first: toolset(createKvMemory()).prefix("kv_")',
    );
    expect(() => toolset(echo, echo)).toThrow(TypeError);
    expect(names(toolset(memory, toolset(kv).prefix("kv_")))).toEqual([
      "memory_recall",
      "memory_list",
      "kv_memory_recall",
      "kv_memory_list",
    ]);
  });
  it("refuses what is no part", () => expect(() => toolset({} as AnyTool)).toThrow(TypeError));
  it("knows whose tools they are", () => {
    expect([...familiesOf(toolset(family("one", [echo]), defaults).prefix("x_"))]).toEqual([["x_echo", "one"]]);
  });
});

describe("pick, omit, readOnly", () => {
  const set = toolset(
    ...two,
    fails,
    probe(() => 1, { name: "writer" }),
  );
  it.each([
    ["pick keeps the order", set.pick("fails", "echo"), ["echo", "fails"]],
    ["pick by pattern", set.pick("*e*"), ["echo", "defaults", "writer"]],
    ["omit", set.omit("echo", "wr*"), ["defaults", "fails"]],
    ["readOnly", set.readOnly(), ["echo", "defaults", "fails"]],
  ])("%s", (_title, made, expected) => expect(names(made)).toEqual(expected));
  it.each([
    ["pick a typo", () => set.pick("ecoh"), 'pick: no tool matches "ecoh"; did you mean echo?'],
    ["omit a typo", () => set.omit("echo", "wrtier"), 'omit: no tool matches "wrtier"; did you mean writer?'],
    [
      "omit a pattern that matches nothing",
      () => set.omit("memory_*"),
      'omit: no tool matches "memory_*"; there are: echo, defaults, fails, writer',
    ],
    ["pick of nothing", () => set.pick(), "pick() names no tool"],
    ["omit of nothing", () => set.omit(), "omit() names no tool"],
    ["rename a typo", () => set.rename({ ecoh: "x" }), 'rename: no tool matches "ecoh"; did you mean echo?'],
    ["rename onto another", () => set.rename({ echo: "fails" }), "two tools have one name"],
    [
      "names-3: a prefix that a host would rewrite",
      () => set.prefix("my."),
      'rename: "my.echo" does not match ^[a-z][a-z0-9_]{0,63}$, so some host would refuse or rewrite it',
    ],
    ["a prefix in capitals", () => set.prefix("My_"), TypeError],
    ["an alias with a sign", () => alias(echo, "e-cho"), TypeError],
  ])("%s is a TypeError", (_title, make, message) => expect(make).toThrow(message));
  it("leaves the set it was called on as it was", () => expect(names(set)).toHaveLength(4));
});

describe("other names", () => {
  it("texts name renamed tools, and quoted text is left alone", async () => {
    const set = toolset(echo, guide).prefix("x_").rename({ x_guide: "help" });
    expect((await set.get("help")?.call({}))?.text).toBe(
      "next: x_echo, then help, not unknown. echo and defaults as a file has them",
    );
  });
  it("two names may be swapped", async () => {
    const set = toolset(echo, guide).rename({ echo: "guide", guide: "echo" });
    expect((await set.get("echo")?.call({}))?.text).toMatch(/^next: guide, then echo/);
    expect((await set.get("guide")?.call({ text: "a" }))?.text).toBe("a");
  });
  it("the host's own names come on top, also for a call inside a call", async () => {
    const context = createContext({ directory: "/w", toolName: (name) => `mcp__${name}` });
    const inner = toolset(echo, guide).prefix("x_").get("x_guide");
    expect((await inner?.call({}, context))?.text).toMatch(/^next: mcp__x_echo, then mcp__x_guide/);
    const outer = toolset(
      probe(async (_input, given) => ({ value: (await guide.call({}, given)).text }), { name: "outer" }),
    )
      .prefix("y_")
      .get("y_outer");
    expect(await outer?.call({}, context)).toMatchObject({
      data: { value: expect.stringMatching(/^next: mcp__echo, then mcp__guide/) },
    });
  });
  it("a 48-character name fits with a 16-character prefix, and not with 17", () => {
    const long = toolset(probe(() => 1, { name: "a".repeat(48) }));
    expect(names(long.prefix("mcp__toolhaft___"))[0]).toHaveLength(64);
    expect(() => long.prefix("mcp__toolhaft____")).toThrow(TypeError);
  });
  it("alias is the same tool under a second name", async () => {
    const inspect = alias(echo as AnyTool, "session_inspect");
    expect(inspect.description).toBe("Same as echo.");
    expect(await inspect.call({ text: "a" })).toMatchObject({ ok: true, text: "a" });
    expect(names(toolset(echo, inspect).prefix("x_"))).toEqual(["x_echo", "x_session_inspect"]);
  });
  it("errors and policy know the new name", async () => {
    const set = toolset(echo).prefix("x_");
    const seen: string[] = [];
    const policy = {
      check: ({ tool }: { tool: string }) => {
        seen.push(tool);
        return { effect: "deny", reason: "no" } as const;
      },
      visible: () => true,
      narrow: (child: never) => child,
    };
    expect((await set.get("x_echo")?.call({ text: "a" }, { directory: "/w", policy }))?.text).toContain(
      "the tool x_echo is not allowed here",
    );
    expect(seen).toEqual(["x_echo"]);
  });
});

describe("close", () => {
  it("closes every family once, last first, whatever set it is called on", async () => {
    const closed: string[] = [];
    const closing = (name: string, tool: AnyTool) => family(name, [tool], async () => void closed.push(name));
    const set = toolset(closing("a", echo), closing("b", defaults), fails);
    await set.pick("echo").prefix("x_").close();
    await set.close();
    await toolset(
      set,
      probe(() => 1),
    ).close();
    expect(closed).toEqual(["b", "a"]);
  });
  it("tries all and collects the faults", async () => {
    const closed: string[] = [];
    const set = toolset(
      family("a", [echo], async () => void closed.push("a")),
      family("b", [defaults], () => Promise.reject(new Error("b is stuck"))),
    );
    await expect(set.close()).rejects.toThrow("closing failed: b is stuck");
    expect(closed).toEqual(["a"]);
  });
  it("works with await using", async () => {
    let closed = false;
    {
      const close = async () => {
        closed = true;
      };
      await using set = toolset(family("a", [echo], async () => close().then(() => undefined)));
      expect(names(set)).toEqual(["echo"]);
    }
    expect(closed).toBe(true);
  });
});

describe("fitName", () => {
  it("keeps what fits", () => expect(fitName("mcp__", "echo")).toBe("mcp__echo"));
  it("cuts what does not, by a hash of the whole name", () => {
    const fitted = fitName("server_", "n".repeat(80));
    expect(fitted).toMatch(/^server_n{48}_[0-9a-z]{8}$/);
    expect(fitted).toHaveLength(64);
    expect(fitName("server_", "n".repeat(81))).not.toBe(fitted);
  });
  it("names-2: is stable and unique over 10,000 long names, in any order", () => {
    const long = Array.from({ length: 10_000 }, (_, index) => `${"shared_prefix_of_many_tools_".repeat(3)}${index}`);
    const forward = long.map((name) => fitName("p_", name));
    expect(new Set(forward).size).toBe(10_000);
    expect(
      [...long]
        .reverse()
        .map((name) => fitName("p_", name))
        .reverse(),
    ).toEqual(forward);
    expect(forward.every((name) => name.length === 64)).toBe(true);
  });
});

describe("a tool that core did not make", () => {
  const foreign: AnyTool = { ...(echo as AnyTool) };
  it("is renamed, wrapped and called like the others", async () => {
    const order: string[] = [];
    const set = toolset(foreign)
      .wrap(async (call, next) => {
        order.push(call.tool.name);
        return next(call);
      })
      .prefix("x_");
    expect(await set.get("x_echo")?.call({ text: "a" })).toMatchObject({ ok: true, text: "a" });
    expect(order).toEqual(["echo"]);
  });
  it("runs no middleware hook behind its back", async () => {
    const set = toolset(foreign).wrap((call, next) =>
      next({ ...call, before: [() => Promise.reject(new Error("held back"))] }),
    );
    expect(await set.get("echo")?.call({ text: "a" })).toMatchObject({ ok: false, error: { code: "internal" } });
  });
});

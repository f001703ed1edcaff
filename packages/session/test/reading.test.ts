import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createSessions, recordSession } from "../src/index.ts";
import { useDesk } from "./desk.ts";
import { claudeId, claudeLines, lines, usage, writeClaude } from "./hosts.ts";

const desk = useDesk();
const say = (text: string) => [{ type: "text", text }];
const read = (input: object = {}, session_id = claudeId) => desk.data("session_read", { session_id, ...input });
type Shown = {
  id: string;
  index: number;
  parts: { kind: string; text: string; tool: { name: string; input: string; output: string } }[];
};
const ids = ({ messages }: { messages: Shown[] }) => messages.map(({ id }) => id);

async function conversation(): Promise<void> {
  const make = claudeLines(desk.directory);
  const call = (id: string, name: string) => ({ type: "tool_use", id, name, input: { file: id } });
  await writeClaude(desk.claude, [
    make.prompt({ uuid: "u1" }, "read it"),
    make.answer(
      { uuid: "u2", parent: "u1" },
      {
        id: "m1",
        content: [
          { type: "thinking", thinking: "secret plan" },
          ...say("reading"),
          call("t1", "Read"),
          call("t2", "mcp__files__ReadAll"),
          call("t3", "Bash"),
        ],
        usage: usage(1, 1),
      },
    ),
    make.result({ uuid: "r1", parent: "u2" }, "t1", "content of t1"),
    make.result({ uuid: "r2", parent: "r1" }, "t2", "content of t2"),
    make.result({ uuid: "r3", parent: "r2" }, "t3", "content of t3"),
    make.prompt({ uuid: "u3", parent: "r3" }, "thanks"),
    make.answer(
      { uuid: "u4", parent: "u3" },
      {
        id: "m2",
        content: [
          ...say("welcome"),
          { type: "tool_use", id: "t4", name: "TodoWrite", input: { todos: [{ content: "rest", status: "pending" }] } },
        ],
        usage: usage(1, 1),
      },
    ),
    make.result({ uuid: "r4", parent: "u4" }, "t4", "ok"),
  ]);
}

describe("the table of tools", () => {
  it("has six tools and three aliases, all but fork read only", () => {
    const table = (family: ReturnType<typeof createSessions>) =>
      Object.fromEntries(family.tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint]));
    const six = {
      session_list: true,
      session_search: true,
      session_read: true,
      session_info: true,
      session_diff: true,
      session_fork: false,
    };
    expect(table(createSessions())).toEqual({
      ...six,
      session_inspect: true,
      session_changes: true,
      session_branch: false,
    });
    expect(table(createSessions({ aliases: false }))).toEqual(six);
    const fork = createSessions().tools.find(({ name }) => name === "session_fork");
    expect(fork?.annotations).toMatchObject({ destructiveHint: false, idempotentHint: false });
  });

  it.each([
    ["session_info", "session_inspect"],
    ["session_diff", "session_changes"],
  ])("%s and %s answer alike", async (name, other) => {
    await conversation();
    const [one, two] = [
      await desk.data(name, { session_id: claudeId }),
      await desk.data(other, { session_id: claudeId }),
    ];
    expect({ ...two, fence: "" }).toEqual({ ...one, fence: "" });
  });
});

describe("ids", () => {
  it("of every text work in every tool, also where two stores hold the same", async () => {
    await conversation();
    await using writer = await recordSession({
      directory: desk.directory,
      id: claudeId,
      title: "Recorded under the same id",
    });
    await writer.append({ id: "x", role: "user", parts: [{ kind: "text", text: "read the recorded one" }] });
    await writer.file({ messageId: "x", path: join(desk.directory, "a"), before: null, after: Buffer.from("a\n") });
    await writer.flush();
    const texts = [
      (await desk.call("session_list", {})).text,
      (await desk.call("session_list", { source: "claude-code" })).text,
      (await desk.call("session_search", { query: "read" })).text,
      (await desk.call("session_search", { query: "recorded" })).text,
    ];
    const found = new Set(texts.flatMap((text) => text.match(/[a-z-]*:?[0-9a-f]{8}-[0-9a-f-]{27}/g) ?? []));
    expect([...found].sort()).toEqual([`claude-code:${claudeId}`, `toolhaft:${claudeId}`]);
    for (const session_id of found) {
      for (const tool of ["session_read", "session_info", "session_diff"])
        expect(await desk.call(tool, { session_id })).toMatchObject({ ok: true });
      expect((await desk.call("session_search", { session_id, query: "read" })).ok).toBe(true);
      const asker = async () => ({ allow: true });
      expect(
        (await desk.call("session_fork", { session_id, message_id: "#0" }, { asker })).ok ||
          session_id.startsWith("claude"),
      ).toBe(true);
    }
    const bare = await desk.call("session_read", { session_id: claudeId });
    expect(bare).toMatchObject({ ok: false, error: { code: "invalid_input" } });
    expect(bare.text).toContain(`claude-code:${claudeId}`);
  });

  it("of messages and their numbers open the same one", async () => {
    await conversation();
    const { messages } = await read();
    for (const { id, index } of messages) {
      expect((await read({ message_id: id })).messages[0].index).toBe(index);
      expect((await read({ message_id: `#${index}` })).messages[0].id).toBe(id);
    }
  });
});

describe("flags", () => {
  it("thinking and outputs are shown only when asked for", async () => {
    await conversation();
    const plain = await desk.call("session_read", { session_id: claudeId });
    expect(plain.text).not.toContain("secret plan");
    expect(plain.text).not.toContain("content of");
    const all = await desk.call("session_read", {
      session_id: claudeId,
      include_thinking: true,
      include_tool_results: true,
    });
    expect(all.text).toContain("[thinking] secret plan");
    expect(all.text).toContain("content of t1");
  });

  it("role and tool filters come before paging; other calls are left out, text stays", async () => {
    await conversation();
    expect(ids(await read({ role_filter: "assistant" }))).toEqual(["m1", "m2"]);
    expect(await read({ role_filter: "assistant", offset: 1, limit: 1 })).toMatchObject({
      total: 2,
      nextOffset: null,
      messages: [{ id: "m2" }],
    });
    const tools = await read({ tool_filter: "read" });
    expect(tools.total).toBe(1);
    expect(tools.messages[0].parts.map(({ text, tool }: Shown["parts"][number]) => tool?.name ?? text)).toEqual([
      "reading",
      "Read",
      "mcp__files__ReadAll",
    ]);
    expect(await read({ tool_filter: "TODO", role_filter: "assistant" })).toMatchObject({
      total: 1,
      messages: [{ id: "m2" }],
    });
    expect(await read({ tool_filter: "nothing" })).toMatchObject({ total: 0, messages: [], nextOffset: null });
  });

  it("todos come on request; a page past the end is empty and tells the total", async () => {
    await conversation();
    expect((await read()).todos).toBeNull();
    expect((await read({ include_todos: true })).todos).toEqual([{ text: "rest", status: "pending", priority: null }]);
    const past = await desk.call("session_read", { session_id: claudeId, offset: 99 });
    expect(past).toMatchObject({ ok: true, data: { messages: [], total: 4, nextOffset: null } });
    expect(past.text).toContain("there are 4");
  });

  it("pages go to the end without gap or repeat while the file grows", async () => {
    const make = claudeLines(desk.directory);
    const prompt = (n: number) => make.prompt({ uuid: `u${n}`, parent: n === 0 ? null : `u${n - 1}` }, `prompt ${n}`);
    const path = await writeClaude(
      desk.claude,
      Array.from({ length: 25 }, (_, n) => prompt(n)),
    );
    const seen: string[] = [];
    let made = 25;
    for (let offset: number | null = 0; offset !== null; ) {
      const page: { messages: Shown[]; nextOffset: number | null } = await read({ offset, limit: 10 });
      seen.push(...ids(page));
      offset = page.nextOffset;
      if (made < 40) await appendFile(path, lines(Array.from({ length: 5 }, () => prompt(made++))));
    }
    expect(seen).toEqual(Array.from({ length: made }, (_, n) => `u${n}`));
  });
});

describe("long parts", () => {
  async function joined(input: object, pick: (message: Shown) => string): Promise<string> {
    let all = "";
    for (let part_offset: number | null = 0, calls = 0; part_offset !== null && calls < 200; calls += 1) {
      const page: { messages: Shown[]; nextPartOffset: number | null } = await read({ ...input, part_offset });
      all += page.messages.map(pick).join("");
      part_offset = page.nextPartOffset;
    }
    return all;
  }
  const textOf = ({ parts }: Shown) =>
    parts.map(({ text, tool }) => text ?? `${tool.input}${tool.output ?? ""}`).join("");

  it("are cut and read on to the end, also over emoji, thinking and secrets", async () => {
    const make = claudeLines(desk.directory);
    const emoji = "👩‍👩‍👧‍👦é漢".repeat(1_500);
    const secret = `before sk-ant-api03-${"A1b2C3d4".repeat(12)} after`;
    const long = `${secret} ${"words and more ".repeat(3_000)}`;
    const tool = { type: "tool_use", id: "t1", name: "Read", input: { text: "i".repeat(5_000) } };
    await writeClaude(desk.claude, [
      make.answer(
        { uuid: "u1" },
        { id: "m1", content: [{ type: "thinking", thinking: "t".repeat(6_000) }, ...say(emoji), ...say(long), tool] },
      ),
      make.result({ uuid: "r1", parent: "u1" }, "t1", "o".repeat(9_000)),
    ]);
    const whole = `${emoji}before [secret: `;
    for (const max_chars_per_part of [1_999, 4_000, 30_000]) {
      const text = await joined({ message_id: "m1", max_chars_per_part, include_tool_results: true }, textOf);
      expect(text.startsWith(whole)).toBe(true);
      expect(text).not.toContain("sk-ant");
      expect(text.endsWith(`${JSON.stringify(tool.input)}${"o".repeat(9_000)}`)).toBe(true);
      expect(text.split("words and more ")).toHaveLength(3_001);
      expect(text).not.toMatch(/[\ud800-\udbff](?![\udc00-\udfff])/);
    }
    const thought = await joined({ message_id: "m1", include_thinking: true }, textOf);
    expect(thought.startsWith(`${"t".repeat(6_000)}👩`)).toBe(true);
  });

  it("stay within one text, whatever a message holds, and the text says how to read on", async () => {
    const make = claudeLines(desk.directory);
    const many = Array.from({ length: 40 }, (_, n) => ({ type: "text", text: `${n} ${"漢字\u0007".repeat(1_000)}` }));
    await writeClaude(desk.claude, [
      make.answer({ uuid: "u1" }, { id: "m1", content: many }),
      make.prompt({ uuid: "u2", parent: "u1" }, "end"),
    ]);
    for (const input of [{}, { max_chars_per_part: 30_000 }, { message_id: "m1", max_chars_per_part: 30_000 }]) {
      const page = await desk.call("session_read", { session_id: claudeId, ...input });
      expect(page.ok).toBe(true);
      expect(page.text.length).toBeLessThan(30_000);
      expect(page.text).not.toMatch(/left out/);
      const next = /session_read (\{.*"part_offset":.*\})/.exec(page.text)?.[1];
      expect(next).toBeDefined();
      expect((await desk.call("session_read", JSON.parse(next ?? "{}"))).ok).toBe(true);
    }
    const { nextOffset } = await read();
    expect((await read({ offset: nextOffset })).messages[0].id).toBe("u2");
  });

  it("of a session that grows are read from the unfinished end as well", async () => {
    const make = claudeLines(desk.directory);
    const path = await writeClaude(desk.claude, [make.prompt({ uuid: "u1" }, "one")]);
    await appendFile(path, JSON.stringify(make.prompt({ uuid: "u2", parent: "u1" }, "without a line break")));
    const { messages, problems } = await read();
    expect(messages.map(textOf)).toEqual(["one", "without a line break"]);
    expect(problems).toEqual([]);
  });
});

import { mkdir, rename, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { claudeRoots } from "../src/claude-code/find.ts";
import { useDesk, yes } from "./desk.ts";
import { claudeId, claudeLines, lines, usage, writeClaude } from "./hosts.ts";

const desk = useDesk();
const other = "47642f0f-1b2b-4afa-820b-3201c6b86306";
const say = (text: string) => [{ type: "text", text }];
const list = async (input: object = {}) => (await desk.data("session_list", input)).sessions;
const info = (session_id = claudeId, input: object = {}) => desk.data("session_info", { session_id, ...input });
const read = (session_id = claudeId, input: object = {}) => desk.data("session_read", { session_id, ...input });
const kinds = (messages: { kind: string }[]) => messages.map(({ kind }) => kind);

describe("where", () => {
  it("the folders are those of the variable, a list with commas, else the two that were used", () => {
    expect(claudeRoots({ CLAUDE_CONFIG_DIR: "/a, /b,,", HOME: "/h" })).toEqual(["/a", "/b"]);
    expect(claudeRoots({ HOME: "/h" })).toEqual(["/h/.config/claude", "/h/.claude"]);
    expect(claudeRoots({ HOME: "/h", XDG_CONFIG_HOME: "/x" })).toEqual(["/x/claude", "/h/.claude"]);
  });

  it("the project is the first cwd inside, whatever the folder is called", async () => {
    const make = claudeLines(desk.directory);
    await writeClaude(desk.claude, [make.prompt({ uuid: "u1" }, "here")], claudeId, "-some-hashed-1f2e");
    await writeClaude(desk.claude, [claudeLines("/far").prompt({ uuid: "u2" }, "there")], other, "-w");
    expect((await list()).map(({ id }: { id: string }) => id)).toEqual([claudeId]);
  });

  it("a relocated line moves the session, and history and index files are none", async () => {
    const make = claudeLines("/far");
    const to = join(desk.directory, "moved");
    await writeClaude(desk.claude, [
      make.prompt({ uuid: "u1" }, "begun elsewhere"),
      { type: "relocated", cwd: to, sessionId: claudeId },
    ]);
    await writeFile(join(desk.claude, "history.jsonl"), lines([{ display: "old prompt", project: desk.directory }]));
    await writeFile(join(desk.claude, "projects", "-w", "sessions-index.json"), '{"entries":[]}');
    const { session } = await desk.data("session_info", { session_id: claudeId }, { asker: yes });
    expect(session.directory).toBe(to);
    expect(await list()).toMatchObject([{ id: claudeId, directory: to }]);
    expect((await desk.call("session_read", { session_id: claudeId })).ok).toBe(true);
  });
});

describe("children", () => {
  const agentLines = (make: ReturnType<typeof claudeLines>, agentId: string, extra: object = {}) => [
    make.prompt({ uuid: `${agentId}-1`, fields: { isSidechain: true, agentId, ...extra } }, "look into it"),
    make.answer(
      { uuid: `${agentId}-2`, parent: `${agentId}-1`, fields: { isSidechain: true, agentId } },
      { id: `msg_${agentId}`, content: say("found"), usage: usage(20, 2) },
    ),
  ];
  it("stand below subagents/, beside the session in older releases, or inline, one for each agent", async () => {
    const make = claudeLines(desk.directory);
    await writeClaude(desk.claude, [
      make.prompt({ uuid: "u1" }, "delegate"),
      make.answer({ uuid: "u2", parent: "u1" }, { id: "msg_main", content: say("done"), usage: usage(100, 10) }),
      ...agentLines(make, "c3"),
      ...agentLines(make, "d4"),
    ]);
    const folder = join(desk.claude, "projects", "-w", claudeId, "subagents", "deeper");
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "agent-a1.jsonl"), lines(agentLines(make, "a1")));
    await writeFile(join(folder, "agent-a1.meta.json"), "{}");
    const beside = agentLines(make, "b2");
    await writeFile(join(desk.claude, "projects", "-w", "agent-b2.jsonl"), lines(beside));
    const { children, usage: own } = await info();
    expect(children.map(({ id, kind }: { id: string; kind: string }) => `${id} ${kind}`).sort()).toEqual([
      "agent-a1 subagent",
      "agent-b2 subagent",
      "agent-c3 subagent",
      "agent-d4 subagent",
    ]);
    expect(own).toMatchObject({ inputTokens: 100, outputTokens: 10 });
    const all = await info(claudeId, { include_children: true });
    expect(all.usage).toMatchObject({ inputTokens: 180, outputTokens: 18 });
    expect((await list()).map(({ id }: { id: string }) => id)).toEqual([claudeId]);
    expect(await list({ include_children: true })).toHaveLength(5);
    expect(kinds((await read("agent-c3")).messages)).toEqual(["injected", "answer"]);
  });

  it("a sidechain that repeats a main answer under another request is not counted, its own answers are", async () => {
    const make = claudeLines(desk.directory);
    const side = { isSidechain: true, agentId: "e5" };
    const answer = { id: "msg_main", content: say("shared"), usage: usage(100, 10) };
    await writeClaude(desk.claude, [
      make.prompt({ uuid: "u1" }, "go"),
      make.answer({ uuid: "u2", parent: "u1" }, answer, "req_1"),
      make.answer({ uuid: "s1", fields: side }, answer, "req_2"),
      make.answer(
        { uuid: "s2", parent: "s1", fields: side },
        { id: "msg_own", content: say("own"), usage: usage(7, 1) },
      ),
    ]);
    expect((await info()).usage.inputTokens).toBe(100);
    expect((await info(claudeId, { include_children: true })).usage).toMatchObject({
      inputTokens: 107,
      outputTokens: 11,
    });
    expect((await info("agent-e5")).usage.inputTokens).toBe(7);
  });
});

describe("usage", () => {
  it("splits the cache writes by how long they are kept, and prices each; thinking is a part of the output", async () => {
    const make = claudeLines(desk.directory);
    const counted = {
      ...usage(1_000_000, 1_000_000, 1_000_000, 3_000_000),
      cache_creation: { ephemeral_5m_input_tokens: 1_000_000, ephemeral_1h_input_tokens: 2_000_000 },
      output_tokens_details: { thinking_tokens: 400 },
    };
    await writeClaude(desk.claude, [make.answer({ uuid: "u1" }, { id: "m1", content: say("x"), usage: counted })]);
    const price = { input: 1, output: 10, cacheRead: 100, cacheWrite5m: 1_000, cacheWrite1h: 10_000 };
    desk.open({ prices: { name: "test", date: "2026-03-02", price: () => price } });
    const { usage: total, cost, context } = await info();
    expect(total).toEqual({
      inputTokens: 1_000_000,
      outputTokens: 1_000_000,
      reasoningTokens: 400,
      cacheReadTokens: 1_000_000,
      cacheWriteTokens: 3_000_000,
    });
    expect(cost).toMatchObject({ usd: 21_111, recordedUsd: null, unpriced: [], prices: "test, 2026-03-02" });
    expect(context.peakTokens).toBe(6_000_000);
  });

  it("counts the split alone where no sum is given, and nothing of synthetic and failed lines", async () => {
    const make = claudeLines(desk.directory);
    const split = {
      input_tokens: 1,
      output_tokens: 2,
      cache_creation: { ephemeral_5m_input_tokens: 3, ephemeral_1h_input_tokens: 4 },
    };
    await writeClaude(desk.claude, [
      make.answer({ uuid: "u1" }, { id: "m1", content: say("x"), usage: split }),
      make.answer(
        { uuid: "u2", parent: "u1" },
        { id: "m2", model: "<synthetic>", content: say("y"), usage: usage(9, 9) },
      ),
      make.answer(
        { uuid: "u3", parent: "u2", fields: { isApiErrorMessage: true } },
        { id: "m3", content: say("API Error"), usage: usage(9, 9) },
      ),
    ]);
    const { usage: total, models } = await info();
    expect(total).toMatchObject({ inputTokens: 1, outputTokens: 2, cacheWriteTokens: 7 });
    expect(models.map(({ model }: { model: string }) => model)).toEqual(["claude-sonnet-4-5"]);
    expect(kinds((await read()).messages)).toEqual(["answer", "answer", "notice"]);
  });

  it("of an answer whose request is named on some lines only counts once; two requests are two", async () => {
    const make = claudeLines(desk.directory);
    const line = (uuid: string, output: number, request?: string, id = "m1") =>
      make.answer({ uuid }, { id, content: say(uuid), usage: usage(10, output) }, request);
    await writeClaude(desk.claude, [
      line("a", 1),
      line("b", 5, "req_1"),
      line("c", 7, "req_x", "m2"),
      line("d", 7, "req_y", "m2"),
    ]);
    expect((await info()).usage).toMatchObject({ inputTokens: 30, outputTokens: 19 });
  });

  it("of lines that a resumed session copied belongs to the older one, as do the messages", async () => {
    const make = claudeLines(desk.directory);
    const first = [
      make.prompt({ uuid: "u1" }, "find the quagga"),
      make.answer({ uuid: "u2", parent: "u1" }, { id: "m1", content: say("found the quagga"), usage: usage(10, 1) }),
    ];
    await writeClaude(desk.claude, first);
    const later = claudeLines(desk.directory, other);
    const at = "2026-03-03T09:00:00.000Z";
    await writeClaude(
      desk.claude,
      [
        ...first.map((line) => ({ ...line, sessionId: other })),
        later.prompt({ uuid: "u3", parent: "u2", at }, "go on"),
        later.answer({ uuid: "u4", parent: "u3", at }, { id: "m2", content: say("done"), usage: usage(3, 1) }),
      ],
      other,
    );
    const resumed = await info(other);
    expect(resumed.usage.inputTokens).toBe(3);
    expect(resumed.inherited.inputTokens).toBe(10);
    expect(resumed.session.parent).toMatchObject({ id: claudeId, kind: "resume" });
    expect((await read(other)).messages.map(({ inherited }: { inherited: boolean }) => inherited)).toEqual([
      true,
      true,
      false,
      false,
    ]);
    const { hits } = await desk.data("session_search", { query: "quagga" });
    expect(hits.map(({ sessionId }: { sessionId: string }) => sessionId)).toEqual([claudeId, claudeId]);
    // With the original gone, its lines are the copy's own.
    await rename(join(desk.claude, "projects", "-w", `${claudeId}.jsonl`), join(desk.claude, "gone"));
    const alone = await info(other);
    expect([alone.usage.inputTokens, alone.inherited, alone.session.parent]).toEqual([13, null, null]);
    expect((await desk.data("session_search", { query: "quagga" })).hits).toHaveLength(2);
  });
});

describe("results", () => {
  const callOf = (n: number) => ({ type: "tool_use", id: `t${n}`, name: "Bash", input: { n } });
  it("that were refused are denied, by mark or by text; failed ones are errors", async () => {
    const make = claudeLines(desk.directory);
    const rejected = "The user doesn't want to proceed with this tool use. The tool use was rejected.";
    await writeClaude(desk.claude, [
      make.answer({ uuid: "a" }, { id: "m1", content: [1, 2, 3, 4, 5, 6].map(callOf), usage: usage(1, 1) }),
      { ...make.result({ uuid: "r1", parent: "a" }, "t1", "no"), toolDenialKind: "user-rejected" },
      make.result({ uuid: "r2", parent: "a" }, "t2", rejected, { is_error: true }),
      {
        ...make.result({ uuid: "r3", parent: "a" }, "t3", "x", { is_error: true }),
        toolUseResult: "User rejected tool use",
      },
      make.result({ uuid: "r4", parent: "a" }, "t4", "exit 1", { is_error: true }),
      make.result({ uuid: "r5", parent: "a" }, "t5", [{ type: "text", text: rejected }]),
      make.prompt({ uuid: "p", parent: "r5" }, "next"),
    ]);
    const { messages } = await read(claudeId, { include_tool_results: true });
    const status = messages[0].parts.map(({ tool }: { tool: { status: string } }) => tool.status);
    expect(status).toEqual(["denied", "denied", "denied", "error", "completed", "no_result"]);
    expect((await info()).tools).toEqual([{ name: "Bash", calls: 6, errors: 1, denied: 3 }]);
  });

  it("an open call runs only in the last answer of a file that changed lately", async () => {
    const make = claudeLines(desk.directory);
    const answer = (uuid: string, n: number, parent?: string) =>
      make.answer({ uuid, parent: parent ?? null }, { id: `m${n}`, content: [callOf(n)], usage: usage(1, 1) });
    const path = await writeClaude(desk.claude, [answer("a", 1), answer("b", 2, "a")]);
    const states = async () =>
      (await read()).messages.map(({ parts }: { parts: { tool: { status: string } }[] }) => parts[0]?.tool.status);
    expect(await states()).toEqual(["no_result", "running"]);
    expect((await read(claudeId, { message_id: "m2" })).messages[0].parts[0].tool.status).toBe("running");
    const old = new Date(Date.now() - 11 * 60_000);
    await utimes(path, old, old);
    expect(await states()).toEqual(["no_result", "no_result"]);
  });

  it("of tools that ran at the provider stand in the answer", async () => {
    const make = claudeLines(desk.directory);
    const found = {
      type: "web_search_tool_result",
      tool_use_id: "s1",
      content: [{ type: "web_search_result", title: "x" }],
    };
    await writeClaude(desk.claude, [
      make.answer(
        { uuid: "a" },
        { id: "m1", content: [{ type: "server_tool_use", id: "s1", name: "web_search", input: {} }] },
      ),
      make.answer({ uuid: "b", parent: "a" }, { id: "m1", content: [found] }),
    ]);
    const { messages, problems } = await read();
    expect(problems).toEqual([]);
    expect(messages).toMatchObject([{ parts: [{ tool: { name: "web_search", status: "completed" } }] }]);
  });

  it("without a call are counted", async () => {
    const make = claudeLines(desk.directory);
    await writeClaude(desk.claude, [
      make.prompt({ uuid: "u" }, "x"),
      make.result({ uuid: "r", parent: "u" }, "nobody", "y"),
    ]);
    expect((await info()).problems).toEqual([expect.objectContaining({ code: "orphan_result", count: 1 })]);
  });
});

describe("prompts", () => {
  it("are what a person typed; commands, hook output, skills and summaries are not", async () => {
    const make = claudeLines(desk.directory);
    const texts: [string, string, object?][] = [
      [
        "command",
        "<command-name>/clear</command-name>\n<command-message>clear</command-message><command-args></command-args>",
      ],
      ["injected", "<local-command-stdout>done</local-command-stdout>"],
      ["injected", "<system-reminder>remember</system-reminder>"],
      ["injected", "<user-prompt-submit-hook>ok</user-prompt-submit-hook>"],
      ["injected", "skill text", { isMeta: true }],
      ["injected", "This session is continued", { isCompactSummary: true }],
      ["injected", "from an agent", { origin: { kind: "task-notification" } }],
      ["prompt", "typed", { origin: { kind: "human" } }],
      ["prompt", "see <command-name> in the docs"],
      ["notice", "[Request interrupted by user]"],
    ];
    await writeClaude(
      desk.claude,
      texts.map(([, text, fields], n) =>
        make.prompt({ uuid: `u${n}`, parent: n === 0 ? null : `u${n - 1}`, ...(fields && { fields }) }, text),
      ),
    );
    const { messages, session } = await read();
    expect(kinds(messages)).toEqual(texts.map(([kind]) => kind));
    expect(session).toMatchObject({ prompts: 2, title: "typed" });
  });
});

describe("tree", () => {
  const at = (n: number) => new Date(Date.UTC(2026, 2, 2, 9, n)).toISOString();
  it("goes on over a compaction, by its logical parent or by what it kept", async () => {
    for (const [id, marks] of [
      [claudeId, { logicalParentUuid: "u2" }],
      [other, { compactMetadata: { preservedSegment: { headUuid: "u1", anchorUuid: "x", tailUuid: "u2" } } }],
      ["9d78fa91-5f18-417e-8fa4-087aa69740b7", { preservedMessages: ["u1", "u2"] }],
    ] as const) {
      const make = claudeLines(desk.directory, id);
      await writeClaude(
        desk.claude,
        [
          make.prompt({ uuid: "u1" }, `before ${id}`),
          make.answer({ uuid: "u2", parent: "u1" }, { id: `m-${id}`, content: say("answer") }),
          make.other({ uuid: "c" }, { type: "system", subtype: "compact_boundary", content: "Compacted", ...marks }),
          make.prompt({ uuid: "u3", parent: "c", fields: { isCompactSummary: true } }, "summary"),
          make.prompt({ uuid: "u4", parent: "u3" }, "after"),
        ],
        id,
      );
      const { messages, problems, otherBranches } = await read(id);
      expect(kinds(messages)).toEqual(["prompt", "answer", "compaction", "injected", "prompt"]);
      expect([problems, otherBranches]).toEqual([[], []]);
      expect((await info(id)).counts).toMatchObject({ compactions: 1, branches: 1 });
    }
  });

  it("of a cycle is cut at its later line", async () => {
    const make = claudeLines(desk.directory);
    await writeClaude(desk.claude, [
      make.prompt({ uuid: "u1", parent: "u3", at: at(1) }, "1"),
      make.prompt({ uuid: "u2", parent: "u1", at: at(2) }, "2"),
      make.prompt({ uuid: "u3", parent: "u2", at: at(3) }, "3"),
    ]);
    const { messages, problems } = await read(claudeId, { branch: "all" });
    expect(messages.map(({ id }: { id: string }) => id).sort()).toEqual(["u1", "u2", "u3"]);
    expect(problems).toEqual([expect.objectContaining({ code: "broken_parent", count: 1 })]);
  });

  it("has the newest leaf on the main path, the others on named branches", async () => {
    const make = claudeLines(desk.directory);
    await writeClaude(desk.claude, [
      make.prompt({ uuid: "u1" }, "root"),
      make.prompt({ uuid: "a", parent: "u1" }, "plan A"),
      make.prompt({ uuid: "a2", parent: "a" }, "more of A"),
      make.prompt({ uuid: "b", parent: "u1" }, "plan B"),
      make.prompt({ uuid: "c", parent: "u1" }, "plan C"),
    ]);
    const main = await read();
    expect(main.messages.map(({ id }: { id: string }) => id)).toEqual(["u1", "c"]);
    expect(main.otherBranches).toEqual([
      { branch: "b1", messages: 2, from: "u1" },
      { branch: "b2", messages: 1, from: "u1" },
    ]);
    const all = await read(claudeId, { branch: "all" });
    expect(all.messages.map(({ id, branch }: { id: string; branch: string }) => `${id} ${branch}`)).toEqual([
      "u1 main",
      "a b1",
      "a2 b1",
      "b b2",
      "c main",
    ]);
    expect((await read(claudeId, { message_id: "a2" })).messages[0]).toMatchObject({ branch: "b1", parentId: "a" });
    expect((await desk.call("session_read", { session_id: claudeId })).text).toContain(
      '3 more on 2 other branches (branch: "all")',
    );
  });

  it("keeps unknown records, and counts damaged ones", async () => {
    const make = claudeLines(desk.directory);
    await writeClaude(desk.claude, [
      make.prompt({ uuid: "u1" }, "x"),
      make.other({ uuid: "n", parent: "u1" }, { type: "from-the-future" }),
      make.other({ uuid: "d", parent: "n" }, { type: "assistant", message: "no object" }),
      make.prompt({ uuid: "u2", parent: "d" }, "y"),
      "[1,2]",
    ]);
    const { messages, problems } = await read();
    expect(messages).toHaveLength(2);
    expect(
      Object.fromEntries(problems.map(({ code, count }: { code: string; count: number }) => [code, count])),
    ).toEqual({
      unknown_record: 1,
      damaged_part: 1,
      not_an_object: 1,
    });
  });
});

describe("titles", () => {
  const ranks: [string, object][] = [
    ["first", {}],
    ["summary", { type: "summary", summary: "summary", leafUuid: "u1" }],
    ["ai", { type: "ai-title", aiTitle: "ai", sessionId: claudeId }],
    ["agent", { type: "agent-name", agentName: "agent", sessionId: claudeId }],
    ["custom", { type: "custom-title", customTitle: "custom", sessionId: claudeId }],
  ];
  it.each(ranks.map(([title], n) => [title, n] as const))("%s wins over those below it", async (title, n) => {
    const make = claudeLines(desk.directory);
    const marks = ranks.slice(1, n + 1).map(([, line]) => line);
    // A later line of a lower rank changes nothing.
    await writeClaude(desk.claude, [...marks.reverse(), make.prompt({ uuid: "u1" }, "first")]);
    expect((await list())[0].title).toBe(title);
  });

  it("a summary counts only with a leaf of this file, whatever other summaries follow; the newest name counts", async () => {
    const make = claudeLines(desk.directory);
    await writeClaude(desk.claude, [
      { type: "summary", summary: "of this one", leafUuid: "u1" },
      { type: "summary", summary: "of another", leafUuid: "elsewhere" },
      { type: "summary", summary: "without a leaf" },
      make.prompt({ uuid: "u1" }, "first"),
    ]);
    expect((await list())[0].title).toBe("of this one");
    await writeClaude(desk.claude, [
      make.prompt({ uuid: "u1" }, "first"),
      { type: "custom-title", customTitle: "old" },
      { type: "custom-title", customTitle: "new\nname" },
    ]);
    expect((await list())[0].title).toBe("new name");
  });
});

describe("todos", () => {
  const told = async () =>
    (await read(claudeId, { include_todos: true })).todos.map(
      ({ text, status }: { text: string; status: string }) => `${text} ${status}`,
    );
  const call = (make: ReturnType<typeof claudeLines>, n: number, name: string, input: object) =>
    make.answer({ uuid: `a${n}` }, { id: `m${n}`, content: [{ type: "tool_use", id: `t${n}`, name, input }] });

  it("are the last valid list, bad elements left out", async () => {
    const make = claudeLines(desk.directory);
    await writeClaude(desk.claude, [
      call(make, 1, "TodoWrite", { todos: [{ content: "old", status: "pending" }] }),
      call(make, 2, "TodoWrite", {
        todos: [
          { content: "one", status: "completed" },
          null,
          "x",
          { content: "two", status: "in_progress" },
          { status: "pending" },
          { content: "three", status: "nonsense" },
        ],
      }),
      call(make, 3, "TodoWrite", { todos: "broken" }),
    ]);
    expect(await told()).toEqual(["one completed", "two in_progress"]);
  });

  it("are made and changed one by one", async () => {
    const make = claudeLines(desk.directory);
    await writeClaude(desk.claude, [
      call(make, 1, "TaskCreate", { subject: "one" }),
      { ...make.result({ uuid: "r1" }, "t1", "Task #7 created"), toolUseResult: { task: { id: "7" } } },
      call(make, 2, "TaskCreate", { subject: "two" }),
      make.result({ uuid: "r2" }, "t2", "Task #8 created"),
      call(make, 3, "TaskCreate", { subject: "refused" }),
      make.result({ uuid: "r3" }, "t3", "no", { is_error: true }),
      call(make, 4, "TaskUpdate", { taskId: "7", status: "completed" }),
      call(make, 5, "TaskUpdate", { taskId: "8", status: "deleted", subject: "two, renamed" }),
      call(make, 6, "TaskUpdate", { taskId: "99", status: "completed" }),
    ]);
    expect(await told()).toEqual(["one completed", "two, renamed cancelled"]);
    expect((await info()).todos).toEqual({ completed: 1, inProgress: 0, pending: 0, cancelled: 1 });
  });

  it("are told by attachments", async () => {
    const make = claudeLines(desk.directory);
    const content = [{ id: "1", subject: "from the list", status: "in_progress" }];
    await writeClaude(desk.claude, [
      make.other({ uuid: "x" }, { type: "attachment", attachment: { type: "task_reminder", content } }),
    ]);
    expect(await told()).toEqual(["from the list in_progress"]);
  });
});

import { execFileSync } from "node:child_process";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { codexHome } from "../src/codex/find.ts";
import { RunningTotal } from "../src/codex/totals.ts";
import { useDesk, yes } from "./desk.ts";
import { codexId, codexRecords, lines, writeCodex } from "./hosts.ts";

const desk = useDesk();
const other = "019cb13b-40ea-735a-89a9-0d1992a16de3";
const list = async (input: object = {}) => (await desk.data("session_list", { source: "codex", ...input })).sessions;
const info = (session_id = codexId) => desk.data("session_info", { session_id });
const read = (session_id = codexId, input: object = {}) => desk.data("session_read", { session_id, ...input });
const textsOf = (messages: { parts: { text: string }[] }[]) => messages.map(({ parts }) => parts[0]?.text);

/** Undefined without the `zstd` program. */
function packed(text: string): Buffer | undefined {
  try {
    return execFileSync("zstd", ["-q", "-c"], { input: text });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}
const canPack = packed("x") !== undefined;

async function place(folder: string, id: string, text: string | Buffer, ending = ".jsonl"): Promise<void> {
  const path = join(desk.codex, folder, `rollout-2026-03-02T09-00-00-${id}${ending}`);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

describe("where", () => {
  it("the home is that of the variable, else the usual one", () => {
    expect(codexHome({ CODEX_HOME: "/c", HOME: "/h" })).toBe("/c");
    expect(codexHome({ HOME: "/h" })).toBe("/h/.codex");
  });

  const session = (text: string, id = codexId) => {
    const make = codexRecords(desk.directory, id);
    return lines([make.meta(), ...make.turn(), make.prompt(text), make.answer("answer")]);
  };
  it.skipIf(!canPack)("of one id the active file comes before the archived, the plain before the packed", async () => {
    const files: [string, string, string][] = [
      ["sessions/2026/03/02", "plain", ".jsonl"],
      ["sessions/2026/03/02", "packed", ".jsonl.zst"],
      ["archived_sessions", "archived", ".jsonl"],
      ["archived_sessions", "archived and packed", ".jsonl.zst"],
    ];
    for (const [folder, text, ending] of files)
      await place(folder, codexId, ending.endsWith("zst") ? (packed(session(text)) ?? "") : session(text), ending);
    for (const [at, [folder, text, ending]] of files.entries()) {
      const sessions = await list({ include_archived: true });
      expect(sessions).toMatchObject([{ id: codexId, title: text, archived: at > 1 }]);
      expect(textsOf((await read()).messages)).toEqual([text, "answer"]);
      await rename(
        join(desk.codex, folder, `rollout-2026-03-02T09-00-00-${codexId}${ending}`),
        join(desk.codex, `gone-${at}`),
      );
    }
    expect(await list({ include_archived: true })).toEqual([]);
  });

  it("archived ones are listed on request only, and searched and read all the same", async () => {
    await place("archived_sessions", codexId, session("the archived quagga"));
    expect(await list()).toEqual([]);
    expect(await list({ include_archived: true })).toHaveLength(1);
    expect((await desk.data("session_search", { query: "quagga" })).hits).toHaveLength(1);
    expect((await read()).session.archived).toBe(true);
  });

  it.skipIf(!canPack)(
    "a packed file is read again when it changed, paged, searched in its outputs and forked",
    async () => {
      const make = codexRecords(desk.directory);
      const records = [
        make.meta(),
        ...make.turn(),
        make.prompt("list"),
        make.item({ type: "function_call", name: "exec_command", call_id: "c", arguments: '{"cmd":"ls"}' }),
        make.item({ type: "function_call_output", call_id: "c", output: "quagga.txt" }),
        make.answer("one file"),
      ];
      const where = ["sessions/2026/03/02", codexId] as const;
      await place(...where, packed(lines(records)) ?? "", ".jsonl.zst");
      expect((await read(codexId, { offset: 1, limit: 1 })).messages[0].parts).toHaveLength(2);
      const { hits } = await desk.data("session_search", { query: "quagga", include_tool_output: true });
      expect(hits).toMatchObject([{ part: "tool_output", tool: "exec_command" }]);
      await place(...where, packed(lines([...records, make.prompt("more")])) ?? "", ".jsonl.zst");
      expect((await read()).total).toBe(3);
      const { fork } = await desk.data("session_fork", { session_id: codexId, message_id: "#1" }, { asker: yes });
      expect(textsOf((await read(fork.id)).messages).slice(0, 1)).toEqual(["list"]);
    },
  );
});

describe("identity", () => {
  it("is that of the first session_meta, later ones are ancestors'; without an id the file's name", async () => {
    const make = codexRecords(desk.directory);
    const far = codexRecords("/elsewhere", "019c0b40-613b-7607-8b7e-65f322ad6ea0");
    await writeCodex(desk.codex, [make.meta(), far.meta(), make.prompt("mine")]);
    const unnamed = codexRecords(desk.directory, other);
    await writeCodex(desk.codex, [unnamed.meta({ id: undefined }), unnamed.prompt("by name")], other);
    expect((await list()).map(({ id }: { id: string }) => id).sort()).toEqual([codexId, other].sort());
  });

  it.each([
    ["forked_from_id", { forked_from_id: codexId }, "fork"],
    ["parent_thread_id", { parent_thread_id: codexId }, "subagent"],
    ["source", { source: { subagent: { thread_spawn: { parent_thread_id: codexId } } } }, "subagent"],
  ])("a parent is told by %s", async (_, fields, kind) => {
    const make = codexRecords(desk.directory);
    await writeCodex(desk.codex, [make.meta(), make.prompt("parent")]);
    const own = codexRecords(desk.directory, other);
    await writeCodex(desk.codex, [own.meta(fields), own.prompt("child")], other, "2026-03-02T10-00-00");
    expect((await info(other)).session.parent).toMatchObject({ id: codexId, kind });
    expect((await info()).children).toMatchObject([{ id: other, kind }]);
    expect(await list()).toHaveLength(kind === "fork" ? 2 : 1);
  });

  it("the first format is read: a bare meta, then bare items; and it is not forked", async () => {
    await place(
      "sessions/2025/06/01",
      codexId,
      lines([
        {
          id: codexId,
          timestamp: "2025-06-01T09:00:00Z",
          instructions: null,
          cwd: desk.directory,
          git: { branch: "main" },
        },
        { record_type: "state" },
        {
          type: "message",
          role: "user",
          content: [{ type: "input_text", text: "<environment_context>x</environment_context>" }],
        },
        { type: "message", role: "user", content: [{ type: "input_text", text: "old prompt" }] },
        { type: "reasoning", summary: [{ type: "summary_text", text: "thinking" }] },
        { type: "function_call", name: "shell", call_id: "c", arguments: "{}" },
        {
          type: "function_call_output",
          call_id: "c",
          output: '{"output":"done","metadata":{"exit_code":0,"duration_seconds":1.5}}',
        },
        { type: "message", role: "assistant", content: [{ type: "output_text", text: "old answer" }] },
      ]),
    );
    const { messages, session, problems } = await read(codexId, { include_thinking: true, include_tool_results: true });
    expect(problems).toEqual([]);
    expect(session).toMatchObject({ title: "old prompt", prompts: 1, branch: "main" });
    expect(messages.map(({ kind }: { kind: string }) => kind)).toEqual(["injected", "prompt", "answer"]);
    expect(messages[2].parts).toMatchObject([
      { kind: "thinking", text: "thinking" },
      { kind: "tool", tool: { output: "done", exitCode: 0, durationMs: 1_500 } },
      { kind: "text", text: "old answer" },
    ]);
    expect(await desk.call("session_fork", { session_id: codexId }, { asker: yes })).toMatchObject({
      ok: false,
      error: { code: "unsupported" },
    });
  });

  it("a session with paged history is not forked", async () => {
    const make = codexRecords(desk.directory);
    await writeCodex(desk.codex, [make.meta({ history_mode: "paginated" }), make.prompt("x")]);
    expect(await desk.call("session_fork", { session_id: codexId }, { asker: yes })).toMatchObject({
      ok: false,
      error: { code: "unsupported" },
    });
  });
});

describe("messages", () => {
  it("mirrors, ordinals and mirrored prompts tell nothing twice", async () => {
    const make = codexRecords(desk.directory);
    const typed = { type: "message", role: "user", content: [{ type: "input_text", text: "go" }] };
    const agents = {
      type: "message",
      role: "user",
      content: [{ type: "input_text", text: "# AGENTS.md instructions for /w\nbe kind" }],
    };
    const permissions = {
      type: "message",
      role: "developer",
      content: [{ type: "input_text", text: "<permissions instructions>" }],
    };
    await writeCodex(desk.codex, [
      make.meta(),
      ...make.turn(),
      { ...make.item(agents), ordinal: 1 },
      { ...make.item(permissions), ordinal: 1 },
      { ...make.item(typed), ordinal: 1 },
      make.prompt("go"),
      make.event({ type: "agent_reasoning", text: "hm" }),
      make.item({ type: "reasoning", summary: [{ type: "summary_text", text: "hm" }] }),
      make.event({ type: "agent_message", message: "done" }),
      make.answer("done"),
      { timestamp: "2026-03-02T09:00:30Z", type: "token_usage_record", payload: { total: 5 } },
      { timestamp: "2026-03-02T09:00:31Z", type: "from_the_future", payload: { x: 1 } },
    ]);
    const { messages, problems } = await read(codexId, { include_thinking: true });
    expect(messages.map(({ kind, role }: { kind: string; role: string }) => `${role} ${kind}`)).toEqual([
      "user injected",
      "developer injected",
      "user prompt",
      "assistant answer",
    ]);
    expect(textsOf([{ parts: messages[3].parts.slice(1) }])).toEqual(["done"]);
    expect(messages[3].parts).toHaveLength(2);
    expect(problems).toEqual([expect.objectContaining({ code: "unknown_record", count: 1 })]);
  });

  it("of every kind of call has its result, the structured one before the model's", async () => {
    const make = codexRecords(desk.directory);
    const call = (n: number, item: object) => make.item({ call_id: `c${n}`, ...item });
    await writeCodex(desk.codex, [
      make.meta(),
      ...make.turn(),
      make.prompt("go"),
      call(1, { type: "function_call", name: "exec_command", arguments: '{"cmd":"ls"}' }),
      make.event({
        type: "exec_command_end",
        call_id: "c1",
        aggregated_output: "a.txt",
        exit_code: 2,
        duration: { secs: 1, nanos: 500_000_000 },
      }),
      call(1, { type: "function_call_output", output: "Exit code: 2\nOutput:\na.txt" }),
      call(2, { type: "custom_tool_call", name: "apply_patch", input: "*** Begin Patch\n*** End Patch" }),
      call(2, { type: "custom_tool_call_output", output: { output: "nothing", metadata: { exit_code: 0 } } }),
      call(3, { type: "local_shell_call", status: "completed", action: { type: "exec", command: ["ls"] } }),
      call(3, { type: "function_call_output", output: [{ type: "input_text", text: "listed" }] }),
      make.item({ type: "web_search_call", status: "completed", action: { type: "search", query: "one" } }),
      make.item({ type: "web_search_call", status: "completed", action: { type: "search", query: "two" } }),
      make.item({ type: "web_search_call", id: "ws", status: "failed", action: { type: "search", query: "three" } }),
      call(4, { type: "function_call", name: "mcp__x__y", arguments: "{}" }),
      make.event({
        type: "mcp_tool_call_end",
        call_id: "c4",
        duration: { secs: 0, nanos: 2_000_000 },
        result: { Ok: { content: [{ type: "text", text: "from mcp" }], isError: false } },
      }),
      call(5, { type: "function_call", name: "mcp__x__z", arguments: "{}" }),
      make.event({ type: "mcp_tool_call_end", call_id: "c5", result: { Err: "no server" } }),
      call(6, { type: "function_call", name: "shell", arguments: "{}" }),
      call(6, { type: "function_call_output", output: "exec command rejected by user" }),
      call(7, { type: "function_call", name: "shell", arguments: "{}" }),
      call(7, { type: "function_call_output", output: { content: "no", success: false } }),
    ]);
    const { messages } = await read(codexId, { include_tool_results: true });
    const told = messages
      .flatMap(({ parts }: { parts: { tool: object | null }[] }) => parts)
      .flatMap(({ tool }: { tool: Record<string, unknown> | null }) =>
        tool === null ? [] : [[tool.name, tool.status, tool.output, tool.exitCode, tool.durationMs]],
      );
    expect(told).toEqual([
      ["exec_command", "error", "a.txt", 2, 1_500],
      ["apply_patch", "completed", "nothing", 0, null],
      ["local_shell", "completed", "listed", null, null],
      ["web_search", "completed", "", null, null],
      ["web_search", "completed", "", null, null],
      ["web_search", "error", "", null, null],
      ["mcp__x__y", "completed", "from mcp", null, 2],
      ["mcp__x__z", "error", "no server", null, null],
      ["shell", "denied", "exec command rejected by user", null, null],
      ["shell", "error", "no", null, null],
    ]);
    expect((await info()).tools).toContainEqual({ name: "web_search", calls: 3, errors: 1, denied: 0 });
    expect((await desk.call("session_fork", { session_id: codexId }, { asker: yes })).ok).toBe(true);
  });

  it("compaction keeps earlier items; the newest model, name and plan count", async () => {
    const make = codexRecords(desk.directory);
    const plan = (status: string) =>
      make.item({
        type: "function_call",
        name: "update_plan",
        call_id: `p-${status}`,
        arguments: JSON.stringify({ plan: [{ step: "one", status }] }),
      });
    const model = (name: string) => ({
      timestamp: "2026-03-02T09:01:00Z",
      type: "turn_context",
      payload: { model: name, cwd: desk.directory },
    });
    await writeCodex(desk.codex, [
      make.meta({ git: { branch: "feature" } }),
      model("first-model"),
      make.prompt("one"),
      plan("in_progress"),
      make.answer("1"),
      make.tokens(10, 10),
      { timestamp: "2026-03-02T09:02:00Z", type: "compacted", payload: { message: "so far" } },
      make.event({ type: "thread_name_updated", thread_name: "Old name" }),
      model("second-model"),
      make.prompt("two"),
      plan("completed"),
      make.answer("2"),
      make.tokens(30, 20),
      make.event({ type: "thread_name_updated", thread_name: "New name" }),
      make.event({ type: "turn_aborted", reason: "interrupted" }),
    ]);
    const { session, models, todos, counts, version } = await info();
    expect(session).toMatchObject({ title: "New name", branch: "feature", messages: 6 });
    expect(version).toBe("0.104.0");
    expect(
      models.map(({ model: name, usage }: { model: string; usage: { inputTokens: number } }) => [
        name,
        usage.inputTokens,
      ]),
    ).toEqual([
      ["first-model", 10],
      ["second-model", 20],
    ]);
    expect(todos).toEqual({ completed: 1, inProgress: 0, pending: 0, cancelled: 0 });
    expect(counts.compactions).toBe(1);
  });

  it("the index of sessions names those that no record names, the newest line of it", async () => {
    const make = codexRecords(desk.directory);
    await writeCodex(desk.codex, [make.meta(), make.prompt("first prompt")]);
    const own = codexRecords(desk.directory, other);
    await writeCodex(
      desk.codex,
      [own.meta(), own.prompt("x"), own.event({ type: "thread_name_updated", thread_name: "Own" })],
      other,
    );
    expect((await list()).find(({ id }: { id: string }) => id === codexId).title).toBe("first prompt");
    await writeFile(
      join(desk.codex, "session_index.jsonl"),
      lines([
        { id: codexId, thread_name: "Old", updated_at: "2026-03-02T09:00:00Z" },
        "{broken",
        { id: codexId, thread_name: "From the index", updated_at: "2026-03-02T10:00:00Z" },
        { id: other, thread_name: "Not this", updated_at: "2026-03-02T08:00:00Z" },
      ]),
    );
    const titles = Object.fromEntries(
      (await list()).map(({ id, title }: { id: string; title: string }) => [id, title]),
    );
    expect(titles).toEqual({ [codexId]: "From the index", [other]: "Own" });
    expect((await info()).session.title).toBe("From the index");
  });
});

describe("tokens", () => {
  const total = (input: number, cached = 0, output = 0, reasoning = 0, write?: number) => ({
    input_tokens: input,
    cached_input_tokens: cached,
    output_tokens: output,
    reasoning_output_tokens: reasoning,
    ...(write !== undefined && { cache_write_input_tokens: write }),
  });
  it("a total that rose adds its rise, one that stands nothing, one that fell its last usage", () => {
    const running = new RunningTotal();
    const next = (sum: object, last?: object) =>
      running.next({ total_token_usage: sum, ...(last !== undefined && { last_token_usage: last }) })?.usage;
    expect(next(total(100, 60, 10, 4, 7))).toEqual({
      inputTokens: 40,
      outputTokens: 10,
      reasoningTokens: 4,
      cacheReadTokens: 60,
      cacheWriteTokens: 7,
    });
    expect(next(total(100, 60, 10, 4, 7))).toBeUndefined();
    expect(next(total(150, 80, 15, 4, 7))).toMatchObject({
      inputTokens: 30,
      cacheReadTokens: 20,
      outputTokens: 5,
      reasoningTokens: 0,
    });
    expect(next(total(20, 5, 3), total(12, 5, 2))).toMatchObject({
      inputTokens: 7,
      cacheReadTokens: 5,
      outputTokens: 2,
    });
    expect(next(total(30, 5, 4), total(10, 0, 1))).toMatchObject({ inputTokens: 10, outputTokens: 1 });
  });

  it("events without info are passed over, the window is told", async () => {
    const make = codexRecords(desk.directory);
    await writeCodex(desk.codex, [
      make.meta(),
      make.event({ type: "task_started", turn_id: "t", model_context_window: 272_000 }),
      make.prompt("x"),
      make.event({ type: "token_count", info: null, rate_limits: {} }),
      make.answer("y"),
      make.event({
        type: "token_count",
        info: {
          total_token_usage: total(50, 10, 5, 2),
          last_token_usage: { ...total(50, 10, 5, 2), total_tokens: 55 },
        },
      }),
      make.event({ type: "token_count", info: null }),
    ]);
    const { usage, context, problems } = await info();
    expect(usage).toEqual({
      inputTokens: 40,
      outputTokens: 5,
      reasoningTokens: 2,
      cacheReadTokens: 10,
      cacheWriteTokens: 0,
    });
    expect(context).toEqual({ peakTokens: 55, window: 272_000 });
    expect(problems).toEqual([]);
  });

  it("of a child whose parent is gone are estimated from its first own event", async () => {
    const own = codexRecords(desk.directory, other);
    const old = "2026-03-02T09:00:00.000Z";
    const at = "2026-03-02T10:00:00.000Z";
    await writeCodex(
      desk.codex,
      [
        own.meta({ forked_from_id: codexId }, at),
        ...own.turn(old),
        own.prompt("parent's", old),
        own.tokens(900, 500, old),
        ...own.turn("2026-03-02T10:01:00.000Z"),
        own.prompt("mine", "2026-03-02T10:01:00.000Z"),
        own.tokens(977, 77, "2026-03-02T10:02:00.000Z"),
      ],
      other,
    );
    const { usage, inherited, usageComplete, session } = await info(other);
    expect([usage.inputTokens, inherited.inputTokens]).toEqual([77, 900]);
    expect(session.parent).toMatchObject({ id: codexId, kind: "fork" });
    expect(usageComplete).toBeDefined();
  });

  it("of a parent that is gone without a replayed event: what was there before the first own one", async () => {
    const own = codexRecords(desk.directory, other);
    await writeCodex(
      desk.codex,
      [
        own.meta({ forked_from_id: codexId }),
        ...own.turn("2026-03-02T10:01:00.000Z"),
        own.prompt("mine", "2026-03-02T10:01:00.000Z"),
        own.tokens(977, 77, "2026-03-02T10:02:00.000Z"),
      ],
      other,
    );
    const { usage, inherited, usageComplete, problems } = await info(other);
    expect([usage.inputTokens, inherited.inputTokens, usageComplete]).toEqual([77, 900, false]);
    expect(problems).toEqual([expect.objectContaining({ code: "estimated_usage" })]);
  });

  it("a fork tells the message it was made at, and its messages before that are inherited", async () => {
    const make = codexRecords(desk.directory);
    const parent = [...make.turn(), make.prompt("one"), make.answer("1"), make.tokens(100, 100)];
    await writeCodex(desk.codex, [make.meta(), ...parent]);
    const own = codexRecords(desk.directory, other);
    const at = "2026-03-02T10:00:00.000Z";
    await writeCodex(
      desk.codex,
      [
        own.meta({ forked_from_id: codexId }, at),
        ...parent,
        ...own.turn(at),
        own.prompt("two", at),
        own.answer("2", at),
        own.tokens(150, 50, at),
      ],
      other,
      "2026-03-02T10-00-00",
    );
    const { messages, session } = await read(other);
    expect(messages.map(({ inherited }: { inherited: boolean }) => inherited)).toEqual([true, true, false, false]);
    expect(session).toMatchObject({ parent: { id: codexId, kind: "fork", at: "#1" }, createdAt: at });
    expect((await desk.call("session_info", { session_id: other })).text).toContain(`fork of ${codexId} at #1`);
  });
});

describe("files", () => {
  const diff = (input: object = {}) => desk.data("session_diff", { session_id: codexId, ...input });
  it("of patches that succeeded are told in each shape; of failed and declined ones nothing", async () => {
    const make = codexRecords(desk.directory);
    const at = (name: string) => join(desk.directory, name);
    const end = (call_id: string, changes: object, fields: object = {}) =>
      make.event({
        type: "patch_apply_end",
        call_id,
        success: true,
        stdout: "Success.",
        stderr: "",
        changes,
        ...fields,
      });
    const call = (id: string) =>
      make.item({ type: "custom_tool_call", name: "apply_patch", call_id: id, input: "*** Begin Patch" });
    await writeCodex(desk.codex, [
      make.meta(),
      make.prompt("edit"),
      call("a"),
      end("a", {
        [at("new.txt")]: { type: "add", content: "hello\n" },
        [at("gone.txt")]: { type: "delete", content: "bye\n" },
        [at("list.txt")]: { type: "update", unified_diff: "@@ -1,2 +1,2 @@\n-one\n+ONE\n two\n", move_path: null },
        [at("from.txt")]: { type: "update", unified_diff: "@@ -1 +1 @@\n-x\n+y\n", move_path: at("to.txt") },
        [at("older.txt")]: { add: { content: "old shape\n" } },
      }),
      call("b"),
      end(
        "b",
        { [at("list.txt")]: { type: "update", unified_diff: "@@ -1 +1 @@\n-ONE\n+no\n", move_path: null } },
        { success: false },
      ),
      call("c"),
      end("c", { [at("c.txt")]: { type: "add", content: "no\n" } }, { success: false, status: "declined" }),
      make.item({ type: "function_call", name: "exec_command", call_id: "d", arguments: "{}" }),
    ]);
    const { files, notes, totals } = await diff();
    expect(
      files.map(({ path, from, kind, additions, deletions }: Record<string, unknown>) => [
        path,
        from,
        kind,
        additions,
        deletions,
      ]),
    ).toEqual([
      ["new.txt", null, "create", 1, 0],
      ["gone.txt", null, "delete", 0, 1],
      ["list.txt", null, "modify", 1, 1],
      ["to.txt", "from.txt", "move", 1, 1],
      ["older.txt", null, "create", 1, 0],
    ]);
    expect(totals).toEqual({ files: 5, additions: 4, deletions: 3 });
    expect(notes).toEqual(["Files changed by shell commands are not recorded in this transcript."]);
    expect((await info()).tools).toContainEqual({ name: "apply_patch", calls: 3, errors: 1, denied: 1 });
  });

  it("of a patch without its end are those of the input, when the output says success", async () => {
    const make = codexRecords(desk.directory);
    const patch =
      "*** Begin Patch\n*** Add File: new.txt\n+hello\n*** Update File: a.txt\n*** Move to: b.txt\n@@\n-x\n+y\n*** Delete File: c.txt\n*** End Patch";
    const called = (id: string, output: string, name: string) => [
      make.item({ type: "custom_tool_call", name: "apply_patch", call_id: id, input: patch.replace("new.txt", name) }),
      make.item({ type: "custom_tool_call_output", call_id: id, output }),
    ];
    await writeCodex(desk.codex, [
      make.meta(),
      make.prompt("edit"),
      ...called("a", "Success. Updated the following files:", "new.txt"),
      ...called("b", "apply_patch verification failed", "never.txt"),
    ]);
    const { files } = await diff();
    expect(files.map(({ path, kind, certainty }: Record<string, unknown>) => [path, kind, certainty])).toEqual([
      ["new.txt", "create", "exact"],
      ["b.txt", "move", "sequence"],
      ["c.txt", "delete", "partial"],
    ]);
  });
});

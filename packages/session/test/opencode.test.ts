import { mkdir, readdir, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { opencodeData } from "../src/opencode/format.ts";
import { useDesk } from "./desk.ts";
import { openHostDatabase, writeOpencode } from "./opencode-host.ts";

const desk = useDesk();
const at = 1_772_442_000_000;
const iso = (ms: number) => new Date(ms).toISOString();
const id = "ses_one";
const info = (session_id = id, input: object = {}) => desk.data("session_info", { session_id, ...input });
const read = (session_id = id, input: object = {}) => desk.data("session_read", { session_id, ...input });
const list = async (input: object = {}) => (await desk.data("session_list", { source: "opencode", ...input })).sessions;
const kinds = (messages: { kind: string }[]) => messages.map(({ kind }) => kind);

type Row = [id: string, data: object, parts?: (object | string)[]];

/** A database with one session of these messages, of whatever columns the release has. */
async function written(rows: readonly Row[], session: Record<string, unknown> = {}, file = "opencode.db") {
  await mkdir(desk.opencode, { recursive: true });
  const db = openHostDatabase(join(desk.opencode, file));
  const all: Record<string, unknown> = {
    id,
    project_id: "p",
    directory: desk.directory,
    title: "Title",
    version: "1.2.3",
    time_created: at,
    time_updated: at + 60_000,
    ...session,
  };
  const columns = Object.keys(all);
  db.exec(`
    CREATE TABLE IF NOT EXISTS session(id TEXT PRIMARY KEY, ${columns.filter((name) => name !== "id").join(", ")});
    CREATE TABLE IF NOT EXISTS message(id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
    CREATE TABLE IF NOT EXISTS part(id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
    CREATE TABLE IF NOT EXISTS todo(session_id TEXT, content TEXT, status TEXT, priority TEXT, position INTEGER, time_created INTEGER, time_updated INTEGER);`);
  db.prepare(`INSERT INTO session(${columns.join()}) VALUES (${columns.map(() => "?").join()})`).run(
    ...Object.values(all),
  );
  const owner = String(all.id);
  for (const [n, [name, data, parts = []]] of rows.entries()) {
    const time = (data as { at?: number }).at ?? at + n * 1_000;
    db.prepare("INSERT INTO message VALUES (?, ?, ?, ?, ?)").run(
      name,
      owner,
      time,
      time,
      JSON.stringify({ time: { created: time }, ...data }),
    );
    for (const [k, part] of parts.entries())
      db.prepare("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)").run(
        `${name}-p${k}`,
        name,
        owner,
        time,
        time,
        typeof part === "string" ? part : JSON.stringify(part),
      );
  }
  return db;
}
const text = (said: string, more: object = {}) => ({ type: "text", text: said, ...more });
const tokens = (input: number, output: number, reasoning = 0, more: object = {}) => ({
  input,
  output,
  reasoning,
  cache: { read: 0, write: 0 },
  ...more,
});
const answer = (more: object = {}) => ({ role: "assistant", modelID: "m", providerID: "p", ...more });

describe("where", () => {
  it("the data folder is that of the variable, else the usual one", () => {
    expect(opencodeData({ XDG_DATA_HOME: "/x", HOME: "/h" })).toBe("/x/opencode");
    expect(opencodeData({ HOME: "/h" })).toBe("/h/.local/share/opencode");
  });

  it("of one id in a database and in files the database counts, in two databases the newer file", async () => {
    (await written([["m", { role: "user" }, [text("old")]]], { title: "old" }, "opencode-old.db")).close();
    await utimes(join(desk.opencode, "opencode-old.db"), new Date(at), new Date(at));
    (await written([["m", { role: "user" }, [text("new")]]], { title: "new" })).close();
    const folder = join(desk.opencode, "storage", "session", "p");
    await mkdir(folder, { recursive: true });
    await writeFile(
      join(folder, `${id}.json`),
      JSON.stringify({ id, directory: desk.directory, title: "file", time: { created: at, updated: at } }),
    );
    expect(await list()).toMatchObject([{ id, title: "new" }]);
  });
});

describe("open", () => {
  it("sessions in the WAL alone are read, with the host running and not, and nothing is left behind", async () => {
    const db = await written([]);
    db.pragma("journal_mode = WAL");
    db.pragma("wal_autocheckpoint = 0");
    db.prepare("INSERT INTO message VALUES ('m', ?, ?, ?, ?)").run(id, at, at, JSON.stringify({ role: "user" }));
    db.prepare("INSERT INTO part VALUES ('p', 'm', ?, ?, ?, ?)").run(
      id,
      at,
      at,
      JSON.stringify(text("only in the WAL")),
    );
    const before = (await readdir(desk.opencode)).sort();
    expect(before).toEqual(["opencode.db", "opencode.db-shm", "opencode.db-wal"]);
    expect((await read()).messages[0].parts[0].text).toBe("only in the WAL");
    db.prepare("INSERT INTO message VALUES ('m2', ?, ?, ?, ?)").run(
      id,
      at + 1,
      at + 1,
      JSON.stringify({ role: "user" }),
    );
    expect((await read()).total).toBe(2);
    expect((await readdir(desk.opencode)).sort()).toEqual(before);
    db.close();
    const closed = (await readdir(desk.opencode)).sort();
    expect((await read()).total).toBe(2);
    expect((await readdir(desk.opencode)).sort()).toEqual(closed);
  });

  it("a database without a session table has none; one that is none is named", async () => {
    await mkdir(desk.opencode, { recursive: true });
    const db = openHostDatabase(join(desk.opencode, "opencode.db"));
    db.exec("CREATE TABLE other(x)");
    db.close();
    expect(await list()).toEqual([]);
    await writeFile(join(desk.opencode, "opencode-bad.db"), "no database".repeat(1_000));
    const { skipped } = await desk.data("session_list", {});
    expect(skipped).toEqual([
      expect.objectContaining({ source: "opencode", message: expect.stringContaining("opencode-bad.db") }),
    ]);
  });
});

describe("schemas", () => {
  it("an early one without workspace, archive, revert and todos is read", async () => {
    await mkdir(desk.opencode, { recursive: true });
    const db = openHostDatabase(join(desk.opencode, "opencode.db"));
    db.exec(`CREATE TABLE session(id TEXT PRIMARY KEY, directory TEXT, title TEXT, time_created INTEGER, time_updated INTEGER);
      CREATE TABLE message(id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
      CREATE TABLE part(id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);`);
    db.prepare("INSERT INTO session VALUES (?, ?, 'Early', ?, ?)").run(id, desk.directory, at, at + 5_000);
    db.prepare("INSERT INTO message VALUES ('m', ?, ?, ?, ?)").run(id, at, at, JSON.stringify({ role: "user" }));
    db.close();
    expect(await list()).toMatchObject([
      { id, title: "Early", createdAt: iso(at), updatedAt: iso(at + 5_000), durationMs: 5_000 },
    ]);
    expect((await read(id, { include_todos: true })).todos).toEqual([]);
  });

  const newer = (db: Awaited<ReturnType<typeof written>>, session: string, rows: readonly [string, object][]) => {
    db.exec(
      "CREATE TABLE IF NOT EXISTS session_message(id TEXT PRIMARY KEY, session_id TEXT, type TEXT, seq INTEGER, time_created INTEGER, time_updated INTEGER, data TEXT)",
    );
    for (const [n, [type, data]] of rows.entries())
      db.prepare("INSERT INTO session_message VALUES (?, ?, ?, ?, ?, ?, ?)").run(
        `${session}-v${n}`,
        session,
        type,
        n + 1,
        at + 10 - n,
        at + 10 - n,
        JSON.stringify(data),
      );
  };
  it("the newest keeps its messages in rows of their own, in the order of seq", async () => {
    const db = await written([]);
    newer(db, id, [
      ["user", { text: "hello" }],
      ["synthetic", { text: "environment" }],
      ["system", { text: "be kind" }],
      ["skill", { text: "skill text" }],
      ["shell", { callID: "sh", command: "ls", output: "a.txt" }],
      ["agent-switched", { agent: "plan" }],
      [
        "assistant",
        {
          model: { id: "m2", providerID: "p2" },
          tokens: tokens(3, 4, 1),
          cost: 0.25,
          content: [
            { type: "reasoning", text: "hm" },
            { type: "text", text: "done" },
            {
              type: "tool",
              id: "t1",
              name: "read",
              state: { status: "completed", input: { path: "a" }, content: [{ type: "text", text: "body" }] },
            },
          ],
        },
      ],
      ["compaction", { summary: "so far" }],
      ["idle", {}],
    ]);
    db.close();
    const { messages } = await read(id, { include_thinking: true, include_tool_results: true });
    expect(kinds(messages)).toEqual([
      "prompt",
      "injected",
      "injected",
      "injected",
      "command",
      "notice",
      "answer",
      "compaction",
    ]);
    expect(messages[4].parts).toMatchObject([{ tool: { name: "shell", output: "a.txt", status: "completed" } }]);
    expect(messages[6]).toMatchObject({
      model: "m2",
      costUsd: 0.25,
      usage: { inputTokens: 3, outputTokens: 5, reasoningTokens: 1 },
      parts: [{ kind: "thinking" }, { kind: "text", text: "done" }, { tool: { name: "read", output: "body" } }],
    });
  });

  it("a session of both tables is told by the one whose messages it has; one of the newer alone is found", async () => {
    const db = await written([["m", { role: "user" }, [text("older")]]], { title: "Older row" });
    db.exec(
      "CREATE TABLE session_v2(id TEXT PRIMARY KEY, directory TEXT, title TEXT, time_created INTEGER, time_updated INTEGER)",
    );
    const insert = db.prepare("INSERT INTO session_v2 VALUES (?, ?, ?, ?, ?)");
    insert.run(id, desk.directory, "Newer row", at, at);
    insert.run("ses_two", desk.directory, "Only newer", at, at + 1);
    newer(db, "ses_two", [["user", { text: "newer words" }]]);
    db.close();
    const titles = (await list()).map(({ id: name, title }: { id: string; title: string }) => [name, title]).sort();
    expect(titles).toEqual([
      [id, "Older row"],
      ["ses_two", "Only newer"],
    ]);
    expect((await read("ses_two")).messages[0].parts[0].text).toBe("newer words");
  });
});

describe("older layouts", () => {
  const files = async (root: string, entries: Record<string, unknown>) => {
    for (const [path, value] of Object.entries(entries)) {
      const target = join(desk.opencode, "storage", root, path);
      await mkdir(join(target, ".."), { recursive: true });
      await writeFile(target, typeof value === "string" ? value : JSON.stringify(value));
    }
  };
  const session = { id, title: "Stored", version: "0.5", time: { created: at, updated: at + 9_000 } };
  const user = { id: "msg_1", role: "user", time: { created: at } };
  const said = (message: string, n: number, words: string) => ({
    id: `prt_${n}`,
    messageID: message,
    type: "text",
    text: words,
  });
  const reply = {
    ...answer({ cost: 0.5, tokens: tokens(1, 2) }),
    id: "msg_2",
    parentID: "msg_1",
    time: { created: at + 1 },
  };

  it("a file for everything, with todos and changes", async () => {
    await files("", {
      [`session/p/${id}.json`]: { ...session, directory: desk.directory, projectID: "p" },
      [`message/${id}/msg_1.json`]: user,
      [`message/${id}/msg_2.json`]: reply,
      [`message/${id}/msg_3.json`]: "{broken",
      "part/msg_1/prt_1.json": said("msg_1", 1, "hello"),
      "part/msg_2/prt_2.json": said("msg_2", 2, "hi"),
      "part/msg_2/prt_3.json": "no json",
      [`todo/${id}.json`]: [{ content: "one", status: "cancelled", priority: "high" }],
      [`session_diff/${id}.json`]: [{ file: "a.txt", before: "one\n", after: "ONE\n", additions: 1, deletions: 1 }],
    });
    const { messages, todos, problems, session: told } = await read(id, { include_todos: true });
    expect(messages.map(({ parts }: { parts: { text: string }[] }) => parts[0]?.text)).toContain("hello");
    expect(told).toMatchObject({ title: "Stored", createdAt: iso(at), updatedAt: iso(at + 9_000) });
    expect(todos).toEqual([{ text: "one", status: "cancelled", priority: "high" }]);
    expect(problems).toEqual([expect.objectContaining({ code: "damaged_part", count: 2 })]);
    expect((await desk.data("session_diff", { session_id: id })).files).toMatchObject([
      { path: "a.txt", kind: "modify", additions: 1, certainty: "exact" },
    ]);
    expect((await info()).cost.usd).toBe(0.5);
  });

  it("everything below session/", async () => {
    await files("session", {
      [`info/${id}.json`]: { ...session, directory: desk.directory },
      [`message/${id}/msg_1.json`]: user,
      [`message/${id}/msg_2.json`]: reply,
      [`part/${id}/msg_1/prt_1.json`]: said("msg_1", 1, "hello"),
      [`part/${id}/msg_2/prt_2.json`]: said("msg_2", 2, "hi"),
    });
    expect(await list()).toHaveLength(1);
    const { messages } = await read();
    expect(messages.map(({ parts }: { parts: { text: string }[] }) => parts[0]?.text)).toEqual(["hello", "hi"]);
  });
});

describe("messages", () => {
  it("are in the order of time, then id; what nobody typed is injected; what is ignored is not searched", async () => {
    (
      await written([
        ["b", { role: "user", at: at + 5 }, [text("second")]],
        ["a", { role: "user", at: at + 5 }, [text("first")]],
        ["c", { role: "user", at: at + 6 }, [text("reminder", { synthetic: true })]],
        [
          "d",
          { role: "user", at: at + 7 },
          [
            text("hidden quagga", { ignored: true }),
            { type: "file", mime: "image/png", filename: "x.png", url: "data:image/png;base64,AAAA" },
          ],
        ],
        ["e", { role: "user", at: at + 8 }, [{ type: "compaction" }]],
      ])
    ).close();
    const { messages } = await read();
    expect(messages.map(({ id: name }: { id: string }) => name)).toEqual(["a", "b", "c", "d", "e"]);
    expect(kinds(messages)).toEqual(["prompt", "prompt", "injected", "prompt", "compaction"]);
    expect(messages[3].parts[1].file).toEqual({ name: "x.png", mime: "image/png", bytes: 3 });
    expect((await desk.data("session_search", { query: "quagga" })).hits).toEqual([]);
  });

  it("have tools of every state; an output that left the context is read", async () => {
    const tool = (callID: string, state: object) => ({ type: "tool", tool: "bash", callID, state });
    (
      await written([
        [
          "a",
          answer({ parentID: "nobody" }),
          [
            { type: "step-start", snapshot: "s" },
            tool("1", {
              status: "completed",
              input: { command: "ls" },
              output: "old output",
              time: { start: 5, end: 25, compacted: 30 },
              metadata: { exit: 0 },
            }),
            tool("2", { status: "error", error: "failed" }),
            tool("3", { status: "error", error: "The user rejected permission to use this tool" }),
            tool("4", { status: "pending" }),
            { type: "subtask", description: "look" },
            { type: "retry", error: { message: "again" } },
            { type: "patch", files: [] },
            { type: "step-finish", cost: 0, tokens: tokens(0, 0) },
          ],
        ],
        ["b", { role: "user" }, [text("next")]],
      ])
    ).close();
    const { messages, problems } = await read(id, { include_tool_results: true });
    expect(
      messages[0].parts.map(
        ({ tool: made, text: said }: { tool: { status: string; output: string } | null; text: string }) =>
          made === null ? said : [made.status, made.output],
      ),
    ).toEqual([
      ["completed", "old output"],
      ["error", "failed"],
      ["denied", "The user rejected permission to use this tool"],
      ["no_result", null],
      "[subtask] look",
      "[retry] again",
    ]);
    expect(messages[0]).toMatchObject({
      parentId: "nobody",
      parts: [{ tool: { durationMs: 20, exitCode: 0 } }, {}, {}, {}, {}, {}],
    });
    expect(problems).toEqual([expect.objectContaining({ code: "broken_parent", count: 1 })]);
  });
});

describe("usage", () => {
  it("keeps reasoning apart from the output, unless the total shows it inside; steps tell where messages do not", async () => {
    (
      await written([
        ["a", answer({ tokens: tokens(10, 5, 3), cost: 0.5 })],
        ["b", answer({ tokens: { ...tokens(10, 5, 3), total: 15 }, cost: 0.25 })],
        ["c", answer({ tokens: { ...tokens(10, 5, 3), total: 18 } })],
        [
          "d",
          answer(),
          [{ type: "step-finish", cost: 0.125, tokens: tokens(1, 1, 0, { cache: { read: 7, write: 9 } }) }],
        ],
      ])
    ).close();
    const { usage, cost, context } = await info();
    expect(usage).toEqual({
      inputTokens: 31,
      outputTokens: 22,
      reasoningTokens: 9,
      cacheReadTokens: 7,
      cacheWriteTokens: 9,
    });
    expect(cost.recordedUsd).toBeCloseTo(0.875, 9);
    expect(context.peakTokens).toBe(18);
  });

  it("is that of the session's columns only where no message has any", async () => {
    const columns = {
      cost: 0.75,
      tokens_input: 6,
      tokens_output: 88,
      tokens_reasoning: 12,
      tokens_cache_read: 10,
      tokens_cache_write: 20,
    };
    (await written([["a", answer()]], columns)).close();
    expect(await info()).toMatchObject({
      usage: { inputTokens: 6, outputTokens: 100, reasoningTokens: 12, cacheReadTokens: 10, cacheWriteTokens: 20 },
      cost: { usd: 0.75 },
    });
    (
      await written(
        [["b", answer({ tokens: tokens(1, 1), cost: 0.5 })]],
        { ...columns, id: "ses_two" },
        "opencode-two.db",
      )
    ).close();
    expect(await info("ses_two")).toMatchObject({ usage: { inputTokens: 1, outputTokens: 1 }, cost: { usd: 0.5 } });
  });
});

describe("links", () => {
  const told = (n: number, more: object = {}): Row => [
    `m${n}`,
    { at: at + n, ...(n % 2 === 0 ? { role: "user" } : answer({ tokens: tokens(n, n), cost: 0.1 })), ...more },
    [text(`words ${n}`)],
  ];
  const copied = (n: number): Row => [`copy${n}`, told(n)[1], [text(`words ${n}`)]];
  const columns = { parent_id: null, time_archived: null, revert: null, fork_session_id: null, fork_boundary: null };

  it("a leading run of equal messages is a fork, its usage the parent's", async () => {
    (await written([told(0), told(1), told(2)], columns)).close();
    const fork = await written(
      [copied(0), copied(1), ["own", { at: at + 50, ...answer({ tokens: tokens(7, 7), cost: 0.2 }) }]],
      { ...columns, id: "ses_two", time_created: at + 40 },
    );
    fork.close();
    const { usage, inherited, session, cost } = await info("ses_two");
    expect([usage.inputTokens, inherited.inputTokens, cost.usd]).toEqual([7, 1, 0.2]);
    expect(session.parent).toMatchObject({ id, kind: "fork" });
    expect((await read("ses_two")).messages.map((message: { inherited: boolean }) => message.inherited)).toEqual([
      true,
      true,
      false,
    ]);
    expect((await desk.data("session_search", { query: "words" })).hits).toHaveLength(3);
  });

  it("a stored link is believed; a parent makes a subagent; an archived one is listed on request", async () => {
    (await written([told(0)], columns)).close();
    (
      await written([["x", { role: "user" }]], { ...columns, id: "ses_fork", fork_session_id: id, fork_boundary: "m0" })
    ).close();
    (await written([["y", answer({ tokens: tokens(5, 5) })]], { ...columns, id: "ses_child", parent_id: id })).close();
    (await written([["z", { role: "user" }]], { ...columns, id: "ses_old", time_archived: at })).close();
    expect((await info("ses_fork")).session.parent).toEqual({ id, kind: "fork", at: "m0" });
    expect((await info("ses_child")).session.parent).toEqual({ id, kind: "subagent", at: null });
    expect((await info(id, { include_children: true })).usage.inputTokens).toBe(5);
    const names = async (input: object) => (await list(input)).map(({ id: name }: { id: string }) => name).sort();
    expect(await names({})).toEqual(["ses_fork", id].sort());
    expect(await names({ include_archived: true, include_children: true })).toEqual(
      ["ses_child", "ses_fork", "ses_old", id].sort(),
    );
  });

  it("messages that were taken back stand off the main path", async () => {
    (
      await written([told(0), told(1), told(2), told(3)], { ...columns, revert: JSON.stringify({ messageID: "m2" }) })
    ).close();
    expect((await read()).messages).toHaveLength(2);
    const all = await read(id, { branch: "all" });
    expect(all.messages.map(({ reverted }: { reverted: boolean }) => reverted)).toEqual([false, false, true, true]);
    expect(all.otherBranches).toMatchObject([{ branch: "b1", messages: 2 }]);
  });
});

describe("todos and files", () => {
  it("todos go by position; changes are texts or a patch", async () => {
    const diffs = [
      { file: "a.txt", before: "", after: "new\n", additions: 1, deletions: 0 },
      { file: "b.txt", before: "bye\n", after: "", additions: 0, deletions: 1 },
      { file: "c.txt", patch: "Index: c.txt\n--- c.txt\n+++ c.txt\n@@ -1 +1 @@\n-x\n+y\n", additions: 1, deletions: 1 },
      { additions: 1 },
    ];
    const db = await written([["a", { role: "user" }]], { summary_diffs: JSON.stringify(diffs) });
    for (const [content, position] of [
      ["second", 2],
      ["first", 1],
    ] as const)
      db.prepare("INSERT INTO todo VALUES (?, ?, 'pending', 'low', ?, 0, 0)").run(id, content, position);
    db.close();
    expect((await read(id, { include_todos: true })).todos.map(({ text: name }: { text: string }) => name)).toEqual([
      "first",
      "second",
    ]);
    const { files } = await desk.data("session_diff", { session_id: id });
    expect(files.map(({ path, kind, certainty }: Record<string, unknown>) => [path, kind, certainty])).toEqual([
      ["a.txt", "create", "exact"],
      ["b.txt", "delete", "exact"],
      ["c.txt", "modify", "sequence"],
    ]);
    expect((await info()).problems).toEqual([expect.objectContaining({ code: "damaged_part" })]);
  });

  it("damaged rows lose themselves alone", async () => {
    (await written([["a", { role: "user" }, ["{broken", text("kept")]]])).close();
    expect((await read()).messages[0].parts.map(({ text: said }: { text: string }) => said)).toEqual(["kept"]);
  });

  it("a fork needs the host itself, and says so", async () => {
    await writeOpencode(desk.opencode, desk.directory, { id });
    const result = await desk.call("session_fork", { session_id: id });
    expect(result).toMatchObject({ ok: false, error: { code: "unsupported" } });
    expect(result.text).toMatch(/server|command/);
  });
});

import { execFileSync } from "node:child_process";
import { appendFile, chmod, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { recordSession } from "../src/index.ts";
import { useDesk, yes } from "./desk.ts";
import { claudeId, claudeLines, codexId, codexRecords, lines, usage, writeClaude, writeCodex } from "./hosts.ts";
import { openHostDatabase, writeOpencode } from "./opencode-host.ts";

const desk = useDesk();

describe("tokens", () => {
  const answerTwice = (outputs: readonly number[], request?: string) => {
    const make = claudeLines(desk.directory);
    return [
      make.prompt({ uuid: "u0" }, "go"),
      ...outputs.map((output, n) =>
        make.answer(
          { uuid: `u${n + 1}`, parent: `u${n}` },
          { id: "msg_1", content: [{ type: "text", text: `part ${n}` }], usage: usage(7, output) },
          request,
        ),
      ),
    ];
  };

  it("tokens-1: an answer in two lines counts once", async () => {
    await writeClaude(desk.claude, answerTwice([12, 12], "req_1"));
    const info = await desk.data("session_info", { session_id: claudeId });
    expect(info.usage).toMatchObject({ inputTokens: 7, outputTokens: 12 });
    expect(info.counts.answers).toBe(1);
  });
  it("tokens-2: usage that grows counts with its last value", async () => {
    await writeClaude(desk.claude, answerTwice([9, 9, 159], "req_1"));
    expect((await desk.data("session_info", { session_id: claudeId })).usage.outputTokens).toBe(159);
  });
  it("tokens-3: lines without request ids count once", async () => {
    await writeClaude(desk.claude, answerTwice([5, 5, 5]));
    expect((await desk.data("session_info", { session_id: claudeId })).usage).toMatchObject({
      inputTokens: 7,
      outputTokens: 5,
    });
  });
  it("tokens-4: repeated totals add nothing", async () => {
    const make = codexRecords(desk.directory);
    await writeCodex(desk.codex, [
      make.meta(),
      ...make.turn(),
      make.prompt("go"),
      make.tokens(100, 100),
      make.tokens(100, 100),
      make.tokens(250, 150),
      make.tokens(250, 150),
    ]);
    expect((await desk.data("session_info", { session_id: codexId })).usage.inputTokens).toBe(250);
  });

  const child = "019cb13b-40ea-735a-89a9-0d1992a16de3";
  const parent = (make: ReturnType<typeof codexRecords>, at?: string) => [
    ...make.turn(at),
    make.prompt("parent work", at),
    make.tokens(400, 400, at),
    make.answer("half", at),
    make.tokens(900, 500, at),
    make.answer("done", at),
  ];
  it("tokens-5: a subagent's replay with old time stamps is inherited", async () => {
    const make = codexRecords(desk.directory);
    const told = parent(make);
    await writeCodex(desk.codex, [make.meta(), ...told]);
    const own = codexRecords(desk.directory, child);
    const at = "2026-03-02T10:40:00.000Z";
    await writeCodex(
      desk.codex,
      [
        own.meta({ source: { subagent: { thread_spawn: { parent_thread_id: codexId } } } }, at),
        ...told,
        ...own.turn(at),
        own.prompt("part", at),
        own.tokens(950, 50, at),
        own.answer("ok", at),
      ],
      child,
      "2026-03-02T10-40-00",
    );
    const info = await desk.data("session_info", { session_id: child });
    expect(info.usage.inputTokens).toBe(50);
    expect(info.inherited.inputTokens).toBe(900);
    const both = await desk.data("session_info", { session_id: codexId, include_children: true });
    expect(both.usage.inputTokens).toBe(950);
  });
  it("tokens-6: a fork whose parent events carry one new instant", async () => {
    const make = codexRecords(desk.directory);
    await writeCodex(desk.codex, [make.meta(), ...parent(make)]);
    const own = codexRecords(desk.directory, child);
    const at = "2026-03-02T10:40:00.000Z";
    const later = "2026-03-02T10:41:00.000Z";
    await writeCodex(
      desk.codex,
      [
        own.meta({ forked_from_id: codexId }, at),
        ...parent(own, at),
        ...own.turn(later),
        own.prompt("go on", later),
        own.tokens(977, 77, later),
      ],
      child,
      "2026-03-02T10-40-00",
    );
    const info = await desk.data("session_info", { session_id: child });
    expect(info.usage.inputTokens).toBe(77);
    expect(info.inherited.inputTokens).toBe(900);
    expect(info.session.parent).toMatchObject({ id: codexId, kind: "fork" });
  });
});

describe("tree", () => {
  it("tree-1: lines whose parent is unknown are read all the same", async () => {
    const make = claudeLines(desk.directory);
    const records = Array.from({ length: 1_000 }, (_, n) =>
      make.prompt({ uuid: `u${n}`, parent: n === 0 ? null : n % 10 === 0 ? `gone${n}` : `u${n - 1}` }, `prompt ${n}`),
    );
    // The first line has no parent; the 1,000th makes up for it.
    records.push(make.prompt({ uuid: "last", parent: "gone" }, "last"));
    await writeClaude(desk.claude, records);
    const info = await desk.data("session_info", { session_id: claudeId });
    expect(info.session.messages).toBe(1_001);
    expect(info.problems).toEqual([expect.objectContaining({ code: "broken_parent", count: 100 })]);
  });
  it("tree-2: parallel calls keep their results", async () => {
    const make = claudeLines(desk.directory);
    const call = (n: number) => ({
      id: "msg_1",
      content: [{ type: "tool_use", id: `t${n}`, name: "Read", input: { n } }],
      usage: usage(1, n),
    });
    await writeClaude(desk.claude, [
      make.prompt({ uuid: "p" }, "read three"),
      make.answer({ uuid: "a1", parent: "p" }, call(1)),
      make.answer({ uuid: "a2", parent: "a1" }, call(2)),
      make.answer({ uuid: "a3", parent: "a2" }, call(3)),
      make.result({ uuid: "r1", parent: "a1" }, "t1", "one"),
      make.result({ uuid: "r2", parent: "a2" }, "t2", "two"),
      make.result({ uuid: "r3", parent: "a3" }, "t3", "three"),
      make.answer(
        { uuid: "end", parent: "r3" },
        { id: "msg_2", content: [{ type: "text", text: "read" }], usage: usage(1, 1) },
      ),
    ]);
    const { messages } = await desk.data("session_read", { session_id: claudeId, include_tool_results: true });
    expect(messages).toHaveLength(3);
    expect(
      messages[1].parts.map((part: { tool: { output: string; status: string } }) => [
        part.tool.output,
        part.tool.status,
      ]),
    ).toEqual([
      ["one", "completed"],
      ["two", "completed"],
      ["three", "completed"],
    ]);
  });
  it("tree-3: a snapshot that names a line is no second line", async () => {
    const make = claudeLines(desk.directory);
    await writeClaude(desk.claude, [
      { type: "file-history-snapshot", messageId: "u1", snapshot: { messageId: "u1", trackedFileBackups: {} } },
      make.prompt({ uuid: "u1" }, "only one"),
    ]);
    const { messages, total } = await desk.data("session_read", { session_id: claudeId });
    expect(total).toBe(1);
    expect(messages[0].id).toBe("u1");
  });
});

describe("damage", () => {
  it("damage-1: one bad line of a hundred", async () => {
    const make = claudeLines(desk.directory);
    const records: unknown[] = Array.from({ length: 100 }, (_, n) =>
      make.prompt({ uuid: `u${n}`, parent: n === 0 ? null : `u${n - 1}` }, `prompt ${n}`),
    );
    records[49] = JSON.stringify(records[49]).slice(0, 90);
    await writeClaude(desk.claude, records);
    const { total, problems } = await desk.data("session_read", { session_id: claudeId });
    expect(total).toBe(99);
    expect(problems).toContainEqual(
      expect.objectContaining({ code: "malformed_line", count: 1, first: expect.objectContaining({ line: 50 }) }),
    );
  });
  it("damage-2: a last line cut off is read once it is whole", async () => {
    const make = claudeLines(desk.directory);
    const path = await writeClaude(desk.claude, [make.prompt({ uuid: "u1" }, "first")]);
    const second = JSON.stringify(make.prompt({ uuid: "u2", parent: "u1" }, "second prompt"));
    await appendFile(path, second.slice(0, -20));
    const cut = await desk.data("session_read", { session_id: claudeId });
    expect(cut.total).toBe(1);
    expect(cut.problems).toContainEqual(expect.objectContaining({ code: "partial_tail", count: 1 }));
    await appendFile(path, `${second.slice(-20)}\n`);
    const whole = await desk.data("session_read", { session_id: claudeId });
    expect(whole.messages.map((message: { parts: { text: string }[] }) => message.parts[0]?.text)).toEqual([
      "first",
      "second prompt",
    ]);
    expect(whole.problems).toEqual([]);
  });
  it("damage-3: a record begun twice", async () => {
    const make = codexRecords(desk.directory);
    const record = JSON.stringify(make.answer("recovered"));
    await writeCodex(desk.codex, [make.meta(), make.prompt("go"), `{"timestamp":"20${record}`]);
    const { messages, problems } = await desk.data("session_read", { session_id: codexId });
    expect(messages.at(-1).parts[0].text).toBe("recovered");
    expect(problems).toEqual([expect.objectContaining({ code: "glued_objects", count: 1 })]);
  });
  it("damage-4: bytes that are no UTF-8", async () => {
    const make = claudeLines(desk.directory);
    const text = lines([make.prompt({ uuid: "u1" }, "bad @@ here")]);
    const at = Buffer.from(text).indexOf("@@");
    const bytes = Buffer.concat([
      Buffer.from(text).subarray(0, at),
      Buffer.from([0xff, 0xc3]),
      Buffer.from(text).subarray(at + 2),
    ]);
    const path = await writeClaude(desk.claude, []);
    await writeFile(path, bytes);
    const { messages, problems } = await desk.data("session_read", { session_id: claudeId });
    expect(messages[0].parts[0].text).toBe("bad \ufffd\ufffd here");
    expect(problems).toEqual([expect.objectContaining({ code: "invalid_utf8", count: 1 })]);
  });
});

describe("huge", () => {
  it("huge-3: usage of an answer whose line is over the cap", async () => {
    desk.open({ ...(await hosts()), maxLineBytes: 1024 * 1024 });
    const make = claudeLines(desk.directory);
    await writeClaude(desk.claude, [
      make.prompt({ uuid: "u1" }, "write much"),
      make.answer(
        { uuid: "u2", parent: "u1" },
        { id: "msg_1", content: [{ type: "text", text: "ä".repeat(2 * 1024 * 1024) }], usage: usage(3, 4) },
      ),
      make.prompt({ uuid: "u3", parent: "u2" }, "thanks"),
    ]);
    const info = await desk.data("session_info", { session_id: claudeId });
    expect(info.usage).toMatchObject({ inputTokens: 3, outputTokens: 4 });
    expect(info.problems).toEqual([expect.objectContaining({ code: "oversize_line", count: 1 })]);
    const { messages } = await desk.data("session_read", { session_id: claudeId });
    expect(messages).toHaveLength(3);
    expect(messages[1].parts[0].truncated).toBe(true);
    expect(messages[1].parts[0].text).not.toContain("\ufffd");
  });

  async function hosts() {
    const { claudeCodeStore } = await import("../src/index.ts");
    return { stores: [claudeCodeStore({ roots: [desk.claude] })] };
  }
});

describe("find", () => {
  it("find-1: a session of another folder is counted, and read with a yes", async () => {
    const make = claudeLines("/another/place");
    await writeClaude(desk.claude, [make.prompt({ uuid: "u1" }, "elsewhere")]);
    const list = await desk.call("session_list", {});
    expect(list.text).not.toContain(claudeId);
    expect(list.text).toContain("Other projects have 1 session");
    expect((await desk.data("session_info", { session_id: claudeId }, { asker: yes })).session.id).toBe(claudeId);
  });
  it("find-2: rows without a workspace are listed by directory", async () => {
    await writeOpencode(desk.opencode, desk.directory, { id: "ses_one", workspace: false });
    expect((await desk.data("session_list", {})).sessions.map(({ id }: { id: string }) => id)).toEqual(["ses_one"]);
  });
  it("find-3: the older layout beside a database", async () => {
    await writeOpencode(desk.opencode, desk.directory, { id: "ses_one" });
    const session = join(desk.opencode, "storage", "session", "global");
    await mkdir(session, { recursive: true });
    await writeFile(
      join(session, "ses_old.json"),
      JSON.stringify({ id: "ses_old", directory: desk.directory, title: "Old", time: { created: 1, updated: 2 } }),
    );
    expect((await desk.data("session_list", {})).sessions.map(({ id }: { id: string }) => id).sort()).toEqual([
      "ses_old",
      "ses_one",
    ]);
  });
  it("find-4: two databases of two channels", async () => {
    await writeOpencode(desk.opencode, desk.directory, { id: "ses_one" });
    await writeOpencode(desk.opencode, desk.directory, { id: "ses_two", file: "opencode-stable.db" });
    expect((await desk.data("session_list", {})).sessions.map(({ id }: { id: string }) => id).sort()).toEqual([
      "ses_one",
      "ses_two",
    ]);
  });
  it("find-5: an unknown id opens nothing else", async () => {
    const make = claudeLines(desk.directory);
    await writeClaude(desk.claude, [make.prompt({ uuid: "u1" }, "secret of this session")]);
    const result = await desk.call("session_read", { session_id: "2a08d092-52c7-0000-0000-000000000000" });
    expect(result).toMatchObject({ ok: false, error: { code: "not_found", hint: expect.stringContaining(claudeId) } });
    expect(result.text).not.toContain("secret of this session");
  });
  it.skipIf(process.getuid?.() === 0)("find-6: a root that cannot be read is named", async () => {
    const make = claudeLines(desk.directory);
    await writeClaude(desk.claude, [make.prompt({ uuid: "u1" }, "x")]);
    await chmod(join(desk.claude, "projects"), 0);
    try {
      const { skipped } = await desk.data("session_list", {});
      expect(skipped).toEqual([
        expect.objectContaining({ source: "claude-code", message: expect.stringContaining("projects") }),
      ]);
    } finally {
      await chmod(join(desk.claude, "projects"), 0o755);
    }
  });
  it("find-6: a root that is a file is named", async () => {
    await mkdir(desk.claude, { recursive: true });
    await writeFile(join(desk.claude, "projects"), "no folder");
    await mkdir(join(desk.opencode), { recursive: true });
    await writeFile(join(desk.opencode, "opencode.db"), "no database at all, but long enough to be looked at");
    const { skipped } = await desk.data("session_list", {});
    expect(skipped.map(({ source }: { source: string }) => source)).toContain("opencode");
  });
  it("find-7: reading a WAL database leaves its folder as it was", async () => {
    await writeOpencode(desk.opencode, desk.directory, { id: "ses_one", wal: true });
    const before = await folderState(desk.opencode);
    await desk.data("session_list", {});
    await desk.data("session_search", { query: "parser" });
    await desk.data("session_read", { session_id: "ses_one" });
    expect(await folderState(desk.opencode)).toEqual(before);
    const host = openHostDatabase(join(desk.opencode, "opencode.db"));
    expect(host.prepare("PRAGMA integrity_check").pluck().get()).toBe("ok");
    host.close();
  });

  async function folderState(folder: string) {
    const names = (await readdir(folder)).sort();
    return Promise.all(
      names.map(async (name) => {
        const { size, mtimeMs, ino } = await stat(join(folder, name));
        return { name, size, mtimeMs, ino };
      }),
    );
  }
});

describe("fork", () => {
  const six = (make: ReturnType<typeof claudeLines>) =>
    Array.from({ length: 6 }, (_, n) =>
      n % 2 === 0
        ? make.prompt(
            {
              uuid: `00000000-0000-4000-8000-00000000000${n}`,
              parent: n === 0 ? null : `00000000-0000-4000-8000-00000000000${n - 1}`,
            },
            `prompt ${n}`,
          )
        : make.answer(
            { uuid: `00000000-0000-4000-8000-00000000000${n}`, parent: `00000000-0000-4000-8000-00000000000${n - 1}` },
            { id: `msg_${n}`, content: [{ type: "text", text: `answer ${n}` }], usage: usage(10, 1) },
          ),
    );

  it("fork-1: nothing after the point comes along", async () => {
    await writeClaude(desk.claude, six(claudeLines(desk.directory)));
    const { fork, copied } = await desk.data(
      "session_fork",
      { session_id: claudeId, message_id: "#2" },
      { asker: yes },
    );
    expect(copied).toBe(3);
    expect(
      (await desk.data("session_read", { session_id: fork.id })).messages.map(
        (m: { parts: { text: string }[] }) => m.parts[0]?.text,
      ),
    ).toEqual(["prompt 0", "answer 1", "prompt 2"]);
  });
  it("fork-2: every parent id resolves inside the fork", async () => {
    const source = await writeClaude(desk.claude, six(claudeLines(desk.directory)));
    const { fork } = await desk.data("session_fork", { session_id: claudeId }, { asker: yes });
    const text = await readFile(source.replace(claudeId, fork.id), "utf8");
    const records = text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const uuids = new Set(records.map(({ uuid }) => uuid));
    for (const { parentUuid, type } of records)
      if (type !== "custom-title" && parentUuid !== null) expect(uuids).toContain(parentUuid);
    expect((await desk.data("session_info", { session_id: fork.id })).problems).toEqual([]);
  });
  it("fork-3: the id in a Codex fork's name is the id inside", async () => {
    const make = codexRecords(desk.directory);
    await writeCodex(desk.codex, [
      make.meta(),
      ...make.turn(),
      make.prompt("one"),
      make.answer("1"),
      make.tokens(10, 10),
      ...make.turn(),
      make.prompt("two"),
      make.answer("2"),
      make.tokens(30, 20),
    ]);
    const { fork, copied } = await desk.data("session_fork", { session_id: codexId, message_id: "#1" }, { asker: yes });
    expect(copied).toBe(2);
    expect(fork.parent).toMatchObject({ id: codexId, kind: "fork" });
    const found = execFileSync("find", [desk.codex, "-name", `rollout-*-${fork.id}.jsonl`], {
      encoding: "utf8",
    }).trim();
    const [first = ""] = (await readFile(found, "utf8")).split("\n");
    expect(JSON.parse(first).payload).toMatchObject({ id: fork.id, forked_from_id: codexId });
    const read = await desk.data("session_read", { session_id: fork.id });
    expect(
      read.messages
        .filter(({ kind }: { kind: string }) => kind !== "notice")
        .map((m: { parts: { text: string }[] }) => m.parts[0]?.text),
    ).toEqual(["one", "1"]);
  });
  it("fork-4: what a fork inherits is not counted twice", async () => {
    const writer = await recordSession({ directory: desk.directory, title: "Source" });
    await writer.append([
      { id: "m1", role: "user", parts: [{ kind: "text", text: "go" }] },
      {
        id: "m2",
        role: "assistant",
        model: "m",
        costUsd: 0.1,
        usage: { inputTokens: 1, outputTokens: 1, reasoningTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
        parts: [{ kind: "text", text: "done" }],
      },
    ]);
    await writer[Symbol.asyncDispose]();
    const { fork } = await desk.data("session_fork", { session_id: writer.id });
    expect((await desk.data("session_info", { session_id: writer.id })).cost.usd).toBeCloseTo(0.1, 9);
    const info = await desk.data("session_info", { session_id: fork.id });
    expect(info.cost.usd ?? 0).toBe(0);
    expect(info.inherited).toMatchObject({ inputTokens: 1, outputTokens: 1 });
  });
});

describe("pages, ids, dates", () => {
  const many = async (count: number, text: (n: number) => string) => {
    const make = claudeLines(desk.directory);
    await writeClaude(
      desk.claude,
      Array.from({ length: count }, (_, n) =>
        make.prompt({ uuid: `u${n}`, parent: n === 0 ? null : `u${n - 1}` }, text(n)),
      ),
    );
  };
  it("page-1: offset 20, limit 10 of 50", async () => {
    await many(50, (n) => `prompt ${n}`);
    const page = await desk.data("session_read", { session_id: claudeId, offset: 20, limit: 10 });
    expect(page.messages.map(({ index }: { index: number }) => index)).toEqual([
      20, 21, 22, 23, 24, 25, 26, 27, 28, 29,
    ]);
    expect(page.nextOffset).toBe(30);
  });
  it("page-2: 60 hits with limit 50", async () => {
    await many(60, (n) => `the zebra number ${n}`);
    const first = await desk.call("session_search", { query: "zebra", limit: 50 });
    expect(first.text).toContain("10 more");
    const page = (first as { data: { hits: unknown[]; nextCursor: string } }).data;
    expect(page.hits).toHaveLength(50);
    const rest = await desk.data("session_search", { query: "zebra", limit: 50, cursor: page.nextCursor });
    expect(rest.hits).toHaveLength(10);
    const seen = new Set([...page.hits, ...rest.hits].map((hit) => (hit as { index: number }).index));
    expect(seen.size).toBe(60);
  });
  it("ids-1: the id of a list's text works in read", async () => {
    await many(1, () => "hello");
    const { text } = await desk.call("session_list", {});
    const id = /\| ([0-9a-f-]{36}) \|/.exec(text)?.[1] ?? "";
    expect((await desk.data("session_read", { session_id: id })).total).toBe(1);
  });
  it("dates-1: a bare to_date holds its whole day", async () => {
    const make = claudeLines(desk.directory);
    await writeClaude(desk.claude, [make.prompt({ uuid: "u1", at: "2026-03-02T15:00:00.000Z" }, "afternoon")]);
    expect((await desk.data("session_list", { to_date: "2026-03-02" })).total).toBe(1);
    expect((await desk.data("session_list", { to_date: "2026-03-01" })).total).toBe(0);
  });
  it.each(["last week", "2026-13-01", "2026-02-30", "03/02/2026"])("dates-2: %s is no date", async (from_date) => {
    expect(await desk.call("session_list", { from_date })).toMatchObject({
      ok: false,
      error: { code: "invalid_input", message: expect.stringContaining("2026-03-02T09:00:00Z") },
    });
  });
});

describe("diff, fold, roles, table, counts", () => {
  it("diff-1: a line on top is one line, and the diff applies", async () => {
    const before = Array.from({ length: 100 }, (_, n) => `line ${n}\n`).join("");
    const writer = await recordSession({ directory: desk.directory });
    await writer.append({ id: "m1", role: "assistant", parts: [{ kind: "text", text: "added" }] });
    await writer.file({
      messageId: "m1",
      path: join(desk.directory, "list.txt"),
      before: Buffer.from(before),
      after: Buffer.from(`top\n${before}`),
    });
    await writer[Symbol.asyncDispose]();
    const { files } = await desk.data("session_diff", { session_id: writer.id });
    expect(files[0]).toMatchObject({ additions: 1, deletions: 0, certainty: "exact" });
    await writeFile(join(desk.directory, "list.txt"), before);
    execFileSync("git", ["apply", "-"], { cwd: desk.directory, input: files[0].diff });
    expect(await readFile(join(desk.directory, "list.txt"), "utf8")).toBe(`top\n${before}`);
  });
  it("diff-2: an unknown session is not found", async () => {
    expect(await desk.call("session_diff", { session_id: "nope" })).toMatchObject({
      ok: false,
      error: { code: "not_found" },
    });
  });
  it("fold-1: marks fall on the word though folding moves offsets", async () => {
    const make = claudeLines(desk.directory);
    await writeClaude(desk.claude, [make.prompt({ uuid: "u1" }, "İİİ needle")]);
    const { hits } = await desk.data("session_search", { query: "NEEDLE" });
    const [start, end] = hits[0].marks[0];
    expect([...hits[0].excerpt].slice(start, end).join("")).toBe("needle");
  });
  it("roles-1: text nobody typed is no prompt", async () => {
    const make = codexRecords(desk.directory);
    const environment = {
      type: "message",
      role: "user",
      content: [{ type: "input_text", text: "<environment_context>\n</environment_context>" }],
    };
    await writeCodex(desk.codex, [make.meta(), make.item(environment), make.prompt("the real one")]);
    const { messages, session } = await desk.data("session_read", { session_id: codexId });
    expect(messages.map(({ kind }: { kind: string }) => kind)).toEqual(["injected", "prompt"]);
    expect(session.title).toBe("the real one");
  });
  it("titles-2: what nothing names is called by its first prompt, cut at 80", async () => {
    const make = claudeLines(desk.directory);
    const long = `${"😀".repeat(90)} end`;
    await writeClaude(desk.claude, [
      make.prompt({ uuid: "u0" }, "<command-name>/init</command-name>"),
      make.prompt({ uuid: "u1", parent: "u0" }, `${long}\nsecond line`),
      make.prompt({ uuid: "u2", parent: "u1" }, "a later prompt"),
    ]);
    const { sessions } = await desk.data("session_list", { source: "claude-code" });
    expect(sessions).toEqual([expect.objectContaining({ title: `${"😀".repeat(79)}…`, prompts: 2 })]);
  });

  it("table-1: a title with a bar and a line break is one row", async () => {
    const writer = await recordSession({ directory: desk.directory, title: "a|b\nc" });
    await writer[Symbol.asyncDispose]();
    const { text } = await desk.call("session_list", {});
    const rows = text.split("\n").filter((line) => line.includes(writer.id));
    expect(rows).toHaveLength(1);
    expect(rows[0]?.split(/(?<!\\)\|/)).toHaveLength(7);
  });
  it("counts-1: cancelled todos are told apart", async () => {
    const writer = await recordSession({ directory: desk.directory });
    await writer.todos(
      (["completed", "in_progress", "pending", "cancelled"] as const).map((status) => ({
        text: status,
        status,
        priority: null,
      })),
    );
    await writer[Symbol.asyncDispose]();
    expect((await desk.data("session_info", { session_id: writer.id })).todos).toEqual({
      completed: 1,
      inProgress: 1,
      pending: 1,
      cancelled: 1,
    });
  });
});

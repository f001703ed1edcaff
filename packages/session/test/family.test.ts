import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TempWorkspace, tempWorkspace } from "@toolhaft/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  claudeCodeStore,
  codexStore,
  createSessions,
  recordSession,
  type Sessions,
  type SessionsOptions,
} from "../src/index.ts";

let workspace: TempWorkspace;
let sessions: Sessions;

beforeEach(async () => {
  workspace = await tempWorkspace();
});
afterEach(async () => {
  await sessions.close();
  await workspace[Symbol.asyncDispose]();
});

function call(name: string, input: object, extra: object = {}) {
  const tool = sessions.tools.find((one) => one.name === name);
  if (tool === undefined) throw new Error(`no tool ${name}`);
  return tool.call(input, { directory: workspace.directory, ...extra });
}

function open(options: SessionsOptions = {}) {
  sessions = createSessions(options);
}

async function record(): Promise<string> {
  const writer = await recordSession({ directory: workspace.directory, title: "Fix the build" });
  await writer.append([
    { id: "m1", role: "user", parts: [{ kind: "text", text: "Why does the parser fail?" }] },
    {
      id: "m2",
      role: "assistant",
      model: "test-model",
      usage: { inputTokens: 10, outputTokens: 5, reasoningTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
      parts: [
        { kind: "thinking", text: "look at the tokenizer" },
        {
          kind: "tool",
          name: "read_file",
          callId: "c1",
          input: '{"path":"a.ts"}',
          output: "export const needle = 1;",
          status: "completed",
        },
        { kind: "text", text: "The parser reads past the end." },
      ],
    },
    { id: "m3", role: "user", parts: [{ kind: "text", text: "Mend it" }] },
  ]);
  await writer.file({
    messageId: "m2",
    path: join(workspace.directory, "a.ts"),
    before: Buffer.from("one\ntwo\n"),
    after: Buffer.from("one\nTWO\n"),
  });
  await writer.flush();
  await writer[Symbol.asyncDispose]();
  return writer.id;
}

describe("the built-in store", () => {
  it("lists, searches, reads, measures, diffs and forks a recorded session", async () => {
    const id = await record();
    open();
    const list = await call("session_list", {});
    expect(list.text).toContain(id);
    expect(list.text).toContain("Fix the build");

    const search = await call("session_search", { query: "parser" });
    expect(search.ok && search.text).toContain("**parser**");
    const output = await call("session_search", { query: "needle" });
    expect(output.text).toContain("Nothing found");
    expect((await call("session_search", { query: "needle", include_tool_output: true })).text).toContain("**needle**");

    const read = await call("session_read", { session_id: id });
    expect(read.text).toContain("[#1] assistant");
    expect(read.text).not.toContain("tokenizer");
    expect((await call("session_read", { session_id: id, include_thinking: true })).text).toContain("tokenizer");

    const info = await call("session_info", { session_id: id });
    expect(info.text).toContain("input 10, output 5");
    expect(info.text).toContain("unpriced (test-model)");

    const diff = await call("session_diff", { session_id: id });
    expect(diff.text).toContain("-two\n+TWO");

    const fork = await call("session_fork", { session_id: id, message_id: "#1" });
    expect(fork.ok).toBe(true);
    const forkId = (fork as { data: { fork: { id: string; messages: number } } }).data.fork;
    expect(forkId.messages).toBe(2);
    expect((await call("session_read", { session_id: forkId.id })).text).toContain("past the end");
  });

  it("answers an unknown id with near ones and opens no other session", async () => {
    const id = await record();
    open();
    const result = await call("session_read", { session_id: `${id.slice(0, 8)}0000` });
    expect(result).toMatchObject({ ok: false, error: { code: "not_found" } });
    expect(result.text).toContain(id);
  });

  it("makes no file when there is nothing recorded", async () => {
    open();
    expect((await call("session_list", {})).text).toContain("No sessions");
    expect(existsSync(join(workspace.directory, ".toolhaft", "sessions.db"))).toBe(false);
  });
});

const line = (fields: object) => `${JSON.stringify(fields)}\n`;

async function claudeSession(home: string, id: string, cwd: string): Promise<string> {
  const folder = join(home, "projects", "-w");
  await mkdir(folder, { recursive: true });
  const base = { cwd, sessionId: id, version: "2", isSidechain: false };
  const path = join(folder, `${id}.jsonl`);
  await writeFile(
    path,
    line({
      ...base,
      type: "user",
      uuid: "u1",
      parentUuid: null,
      timestamp: "2026-03-02T09:00:00.000Z",
      message: { role: "user", content: "Rename it" },
    }) +
      line({
        ...base,
        type: "assistant",
        uuid: "u2",
        parentUuid: "u1",
        timestamp: "2026-03-02T09:00:05.000Z",
        message: {
          id: "msg_1",
          role: "assistant",
          model: "m",
          content: [{ type: "tool_use", id: "t1", name: "Bash", input: { command: "ls" } }],
          usage: { input_tokens: 1, output_tokens: 2 },
        },
      }) +
      line({
        ...base,
        type: "user",
        uuid: "u3",
        parentUuid: "u2",
        timestamp: "2026-03-02T09:00:06.000Z",
        message: {
          role: "user",
          content: [{ type: "tool_result", tool_use_id: "t1", content: "secretword in output" }],
        },
      }) +
      line({
        ...base,
        type: "assistant",
        uuid: "u4",
        parentUuid: "u3",
        timestamp: "2026-03-02T09:00:09.000Z",
        message: {
          id: "msg_2",
          role: "assistant",
          model: "m",
          content: [{ type: "text", text: "Renamed everywhere." }],
          usage: { input_tokens: 3, output_tokens: 4 },
        },
      }),
  );
  return path;
}

const id = "2a08d092-52c7-4494-84f9-beecd36f3d36";

describe("Claude Code", () => {
  it("is searched, tool output by a scan, and forked into a file that reads back", async () => {
    const home = join(workspace.directory, "claude");
    const path = await claudeSession(home, id, workspace.directory);
    open({ stores: [claudeCodeStore({ roots: [home] })] });
    expect((await call("session_search", { query: "renamed" })).text).toContain("**Renamed**");
    const scan = await call("session_search", { query: "secretword", include_tool_output: true });
    expect(scan.text).toContain("**secretword**");

    const before = await readFile(path);
    const fork = await call(
      "session_fork",
      { session_id: id, message_id: "#1" },
      { asker: async () => ({ allow: true }) },
    );
    expect(fork.text).toContain("claude --resume");
    expect(await readFile(path)).toEqual(before);
    const forked = (fork as { data: { fork: { id: string; messages: number; parent: object } } }).data.fork;
    expect(forked.messages).toBe(2);
    expect(forked.parent).toMatchObject({ id, kind: "fork" });
    const read = await call("session_read", { session_id: forked.id, include_tool_results: true });
    expect(read.text).toContain("secretword in output");
  });

  it("does not show sessions of another project without a yes", async () => {
    const home = join(workspace.directory, "claude");
    await claudeSession(home, id, "/elsewhere");
    open({ stores: [claudeCodeStore({ roots: [home] })] });
    const list = await call("session_list", {});
    expect(list.text).toContain("Other projects have 1 session");
    expect(list.text).not.toContain(id);
    expect(await call("session_read", { session_id: id })).toMatchObject({ ok: false, error: { code: "denied" } });
    const asked: string[] = [];
    const read = await call(
      "session_read",
      { session_id: id },
      {
        asker: async (request: { permission: string; resources: string[] }) => {
          asked.push(`${request.permission} ${request.resources.join()}`);
          return { allow: true };
        },
      },
    );
    expect(read.text).toContain("Renamed everywhere.");
    expect(asked).toEqual(["session.read claude-code:/elsewhere"]);
  });
});

describe("Codex", () => {
  it("has an empty list where there are no rollouts", async () => {
    open({ stores: [codexStore({ home: join(workspace.directory, "codex") })] });
    expect((await call("session_list", { source: "codex" })).text).toContain("No sessions");
  });
});

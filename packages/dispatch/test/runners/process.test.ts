import { existsSync, readFileSync, statSync } from "node:fs";
import { hostname } from "node:os";
import { tempWorkspace } from "@toolhaft/testing";
import { describe, expect, it } from "vitest";
import { claude, codex, gemini, opencode, type ProcessRunnerOptions, processRunner } from "../../src/index.ts";
import { agentProgram, eventually, isAlive, recordingSink, requestFor } from "../runs.ts";

const node = process.execPath;
const plain = (options: Partial<ProcessRunnerOptions> = {}) =>
  processRunner({ command: node, args: [agentProgram], ...options });
const presets = { claude, codex, opencode, gemini } as const;
type PresetName = keyof typeof presets;
/** The test program under a preset's name: its file is the first argument. */
const as = (name: PresetName, more: object = {}) =>
  presets[name]({ command: node, args: [agentProgram], env: { AGENT_FORMAT: name }, ...more });
const never = new AbortController().signal;

async function run(runner: ReturnType<typeof plain>, prompt: string, more: object = {}, signal = never) {
  await using workspace = await tempWorkspace();
  const { sink, heard } = recordingSink();
  const outcome = await runner.run(requestFor(workspace.directory, prompt, more), sink, signal);
  return { outcome, heard, texts: heard.activity.filter(({ kind }) => kind === "text").map(({ text }) => text) };
}

describe("a program without a protocol", () => {
  it("answers with all it prints", async () => {
    const { outcome, heard } = await run(plain(), "text one\ntext two");
    expect(outcome).toEqual({ kind: "done", output: "one\ntwo" });
    expect(heard.handles).toMatchObject([{ host: hostname(), pid: expect.any(Number), start: expect.any(String) }]);
    expect(heard.sessions).toHaveLength(1);
  });

  it("has failed with its exit code and what it said on stderr; its output is kept", async () => {
    const { outcome } = await run(plain(), "text half\nstderr unknown model\nexit 2");
    expect(outcome).toMatchObject({ kind: "failed", output: "half\n", retryable: false });
    expect(outcome.kind === "failed" && outcome.message).toMatch(/exited with 2: unknown model/);
  });

  it("gets a prompt of 900 KB by stdin, and none over 100 KiB as an argument", async () => {
    const long = `prompt-size\n${"x".repeat(900_000)}`;
    expect((await run(plain(), long)).outcome).toEqual({ kind: "done", output: String(long.length) });
    const { outcome } = await run(plain({ prompt: "arg" }), long);
    expect(outcome).toMatchObject({ kind: "failed", message: expect.stringContaining("102400") });
  });

  it("gets a prompt as an argument behind --, so that it is no option", async () => {
    const { outcome } = await run(plain({ prompt: "arg" }), "--version\ntext by argument");
    expect(outcome).toEqual({ kind: "done", output: "by argument" });
  });

  it("sees none of our secrets, and what the composer lists", async () => {
    await using workspace = await tempWorkspace();
    process.env.TOOLHAFT_TEST_API_KEY = "hidden";
    process.env.TOOLHAFT_TEST_PASSED = "passed on";
    try {
      const file = workspace.path("env.json");
      const runner = plain({ env: ["TOOLHAFT_TEST_PASSED"] });
      await runner.run(requestFor(workspace.directory, `env ${file}\ntext ok`), recordingSink().sink, never);
      const seen: Record<string, string> = JSON.parse(readFileSync(file, "utf8"));
      expect(seen).toMatchObject({ TERM: "dumb", TOOLHAFT_TEST_PASSED: "passed on", TOOLHAFT_TASK_TOKEN: "token" });
      expect(Object.keys(seen).sort()).toEqual(
        expect.arrayContaining(["PATH", "TERM", "TOOLHAFT_STORE", "TOOLHAFT_TASK", "TOOLHAFT_TASK_TOKEN"]),
      );
      expect(seen.TOOLHAFT_TEST_API_KEY).toBeUndefined();
      const allowed = ["PATH", "HOME", "LANG", "TMPDIR", "TERM", "TOOLHAFT_TEST_PASSED"];
      expect(
        Object.keys(seen).filter((name) => !allowed.includes(name) && !/^TOOLHAFT_(TASK|STORE)/.test(name)),
      ).toEqual([]);
    } finally {
      delete process.env.TOOLHAFT_TEST_API_KEY;
      delete process.env.TOOLHAFT_TEST_PASSED;
    }
  });

  it("that is missing is runner_unavailable, with what to install", async () => {
    const { outcome } = await run(processRunner({ command: "toolhaft-no-such-program", install: "npm i -g it" }), "hi");
    expect(outcome).toMatchObject({ kind: "failed", reason: "runner_unavailable" });
    expect(outcome.kind === "failed" && outcome.message).toMatch(/not installed.*npm i -g it/);
  });

  it("is stopped with its grandchildren though both ignore SIGTERM", async () => {
    await using workspace = await tempWorkspace();
    const file = workspace.path("alive");
    const controller = new AbortController();
    const { sink, heard, until } = recordingSink();
    const running = plain({ graceMs: 200 }).run(
      requestFor(workspace.directory, `deaf\ngrandchild ${file}\ntext before\nhang`),
      sink,
      controller.signal,
    );
    await until(() => heard.activity.length > 0);
    await eventually(() => existsSync(file));
    controller.abort();
    const outcome = await running;
    expect(outcome).toMatchObject({ kind: "failed", output: "before\n" });
    const grandchild = Number(readFileSync(`${file}.pid`, "utf8"));
    expect([heard.handles[0]?.pid ?? 0, grandchild].map(isAlive)).toEqual([false, false]);
    const size = statSync(file).size;
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(statSync(file).size).toBe(size);
  });

  it("that is found later by its handle is stopped, but not a process that got its pid", async () => {
    await using workspace = await tempWorkspace();
    const { sink, heard, until } = recordingSink();
    const runner = plain();
    const running = runner.run(requestFor(workspace.directory, "text up\nhang"), sink, never);
    await until(() => heard.activity.length > 0);
    const [handle] = heard.handles;
    if (handle?.pid === undefined) throw new Error("no handle");
    await runner.reap?.({ ...handle, start: "1" });
    await runner.reap?.({ ...handle, host: "another-machine" });
    expect(isAlive(handle.pid)).toBe(true);
    await runner.reap?.(handle);
    expect(isAlive(handle.pid)).toBe(false);
    expect(await running).toMatchObject({ kind: "failed" });
  });
});

const firstSessions = { claude: "claude-1", codex: "thread-1", opencode: "ses_1" } as const;

describe.each(Object.keys(presets) as PresetName[])("%s", (name) => {
  it("names its session early, answers, and reports usage", async () => {
    const { outcome, heard, texts } = await run(as(name), "start\ntool ls\ntext the answer");
    expect(outcome).toEqual({ kind: "done", output: "the answer" });
    if (name === "gemini") expect(heard.sessions[0]).toMatch(/^[0-9a-f-]{36}$/);
    else expect(heard.sessions[0]).toBe(firstSessions[name]);
    expect(texts.join("")).toContain("the answer");
    expect(heard.activity.some(({ kind }) => kind === "tool")).toBe(true);
    expect([...heard.usage.values()]).toHaveLength(1);
    const expected = {
      claude: { inputTokens: 11, outputTokens: 5, cacheReadTokens: 3, cacheWriteTokens: 2, costUsd: 0.25 },
      codex: { inputTokens: 11, outputTokens: 5, costUsd: null },
      opencode: { inputTokens: 11, outputTokens: 7, reasoningTokens: 2, cacheReadTokens: 1, costUsd: 0.5 },
      gemini: { inputTokens: 10, outputTokens: 7, reasoningTokens: 2, cacheReadTokens: 1 },
    }[name];
    expect([...heard.usage.values()][0]).toMatchObject(expected);
  });

  it("goes on with a session", async () => {
    await using workspace = await tempWorkspace();
    const file = workspace.path("args.json");
    const { sink, heard } = recordingSink();
    await as(name).run(requestFor(workspace.directory, `args ${file}\ntext ok`, { session: "old-1" }), sink, never);
    const args: string[] = JSON.parse(readFileSync(file, "utf8"));
    expect(args).toContain("old-1");
    if (name !== "gemini") expect(heard.sessions[0]).toBe("old-1");
    else expect(args).toEqual(expect.arrayContaining(["--resume", "old-1"]));
  });

  it("keeps what was said when it fails", async () => {
    const { outcome } = await run(as(name), "text first\ntext second\nerror the server is gone\nexit 1");
    expect(outcome).toMatchObject({ kind: "failed", message: expect.stringContaining("the server is gone") });
    expect(outcome.kind === "failed" && outcome.output).toMatch(/first\n?second/);
  });

  it("is unrecognised when nothing it prints is of its format, and shows the first line", async () => {
    const { outcome } = await run(as(name), "raw Segmentation\nraw [1,2]\nno-end");
    expect(outcome).toMatchObject({ kind: "failed", message: "unrecognised output, which begins: Segmentation" });
  });

  it("survives a line of 10 MiB and garbage between events", async () => {
    const { outcome, heard } = await run(as(name), `start\nraw {"type":\nhuge ${10 * 1024 * 1024}\ntext still here`);
    expect(outcome).toEqual({ kind: "done", output: "still here" });
    expect(heard.activity).toContainEqual({
      kind: "status",
      text: expect.stringMatching(/10485760 bytes was left out/),
    });
  });

  it.each(["read-only", "edit", "full"] as const)("is started with access %s", async (access) => {
    await using workspace = await tempWorkspace();
    const file = workspace.path("args.json");
    const runner = as(name, { access, trustDirectory: true, model: "m-1" });
    await runner.run(
      requestFor(workspace.directory, `args ${file}\nenv ${file}.env\ntext ok`),
      recordingSink().sink,
      never,
    );
    const words = readFileSync(file, "utf8") + readFileSync(`${file}.env`, "utf8");
    const flags = {
      claude: { "read-only": "plan", edit: "acceptEdits", full: "bypassPermissions" },
      codex: { "read-only": '"read-only"', edit: "workspace-write", full: "danger-full-access" },
      opencode: { "read-only": '\\"edit\\":\\"deny\\"', edit: '\\"edit\\":\\"allow\\"', full: "--auto" },
      gemini: { "read-only": '"plan"', edit: "auto_edit", full: "yolo" },
    } as const;
    expect(words).toContain(flags[name][access]);
    expect(words).toContain("m-1");
    expect(runner.permissions).toEqual(access === "full" ? ["dispatch.full_access"] : undefined);
    expect(runner.model).toBe("m-1");
  });
});

describe("what programs say that is easy to mistake", () => {
  it("claude: is_error with exit 0 is a failure", async () => {
    const { outcome } = await run(as("claude"), "error over the limit\nexit 0");
    expect(outcome).toMatchObject({ kind: "failed", message: "over the limit" });
  });

  it("runner-2 codex: an item of type error is a warning", async () => {
    const { outcome, heard } = await run(as("codex"), "warning model metadata is missing\ntext the answer");
    expect(outcome).toEqual({ kind: "done", output: "the answer" });
    expect(heard.activity).toContainEqual({ kind: "status", text: "warning: model metadata is missing" });
  });

  it("codex: reconnecting is no sign of life", async () => {
    const { heard } = await run(as("codex"), "status Reconnecting... 1/5\ntext done");
    expect(heard.activity[0]).toEqual({ kind: "status", text: "Reconnecting... 1/5" });
  });

  it("codex: what the thread had used before is not counted again", async () => {
    const used = {
      inputTokens: 11,
      outputTokens: 5,
      reasoningTokens: null,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
      costUsd: null,
      complete: true,
    };
    const { heard } = await run(as("codex"), "text again", { session: "thread-1", used });
    expect([...heard.usage.values()][0]).toMatchObject({ inputTokens: 11, outputTokens: 5 });
  });

  it("opencode: silence after an error is a failure, and the program is stopped", async () => {
    const { outcome, heard } = await run(
      as("opencode", { silenceMs: 200 }),
      "text some\nerror connect ECONNREFUSED\nhang",
    );
    expect(outcome).toMatchObject({
      kind: "failed",
      message: expect.stringMatching(/ECONNREFUSED; nothing followed for 0.2 s/),
    });
    expect(isAlive(heard.handles[0]?.pid ?? 0)).toBe(false);
  });

  it.each([
    [42, "bad input"],
    [53, "turn limit reached"],
  ])("gemini: exit %i is %s", async (code, meaning) => {
    const { outcome } = await run(as("gemini"), `text some\nexit ${code}`);
    expect(outcome).toMatchObject({ kind: "failed", message: expect.stringContaining(meaning) });
  });

  it("a missing preset program tells how to install it", async () => {
    for (const name of Object.keys(presets) as PresetName[]) {
      const { outcome } = await run(presets[name]({ command: "toolhaft-no-such-program" }), "hi");
      expect(outcome).toMatchObject({
        reason: "runner_unavailable",
        message: expect.stringContaining("npm install -g"),
      });
    }
  });

  it("an unknown access is refused when the runner is made", () => {
    expect(() => claude({ access: "all" as "full" })).toThrow(/access is "all"/);
  });
});

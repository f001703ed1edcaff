import { execFileSync, spawn } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { agentPrograms, installPrograms } from "@toolhaft/testing/programs";
import { describe, expect, it } from "vitest";
import { codexStore, opencodeStore } from "../src/index.ts";
import { useDesk, yes } from "./desk.ts";
import { codexId, codexRecords, writeCodex } from "./hosts.ts";

/** The real programs, installed once; both work offline and without a key. */
const { folder, problem } = await installPrograms(agentPrograms, { scripts: true });
if (problem !== undefined) console.warn(`SKIPPED the agents' programs: ${problem}`);
const programs = folder === undefined ? undefined : join(folder, "node_modules", ".bin");
const desk = useDesk();

describe.skipIf(programs === undefined)("Codex itself", () => {
  it("lists, reads and forks the forks", { timeout: 240_000 }, async () => {
    const make = codexRecords(desk.directory);
    await writeCodex(desk.codex, [
      make.meta({ originator: "codex_cli_rs", base_instructions: null }),
      ...make.turn(),
      make.prompt("Count the words"),
      make.event({ type: "agent_message", message: "There are three." }),
      make.answer("There are three."),
      make.tokens(100, 100),
      make.event({ type: "task_complete", turn_id: "t" }),
      ...make.turn(),
      make.prompt("And the lines?"),
      make.event({ type: "agent_message", message: "One." }),
      make.answer("One."),
      make.tokens(250, 150),
      make.event({ type: "task_complete", turn_id: "t" }),
    ]);
    desk.open({ stores: [codexStore({ home: desk.codex })] });
    const whole = await desk.data("session_fork", { session_id: codexId, title: "All of it" }, { asker: yes });
    const half = await desk.data("session_fork", { session_id: codexId, message_id: "#1" }, { asker: yes });
    await using server = await appServer(desk.codex, desk.directory);
    const { data } = await server.ask("thread/list", { limit: 20 });
    const ids = data.map(({ id }: { id: string }) => id);
    expect(ids).toEqual(expect.arrayContaining([codexId, whole.fork.id, half.fork.id]));
    const turns = async (threadId: string) => {
      const { thread } = await server.ask("thread/read", { threadId, includeTurns: true });
      return thread.turns.map(({ status, items }: { status: string; items: { type: string }[] }) => [
        status,
        ...items.map(({ type }) => type),
      ]);
    };
    const one = ["completed", "userMessage", "agentMessage"];
    expect(await turns(whole.fork.id)).toEqual([one, one]);
    expect(await turns(half.fork.id)).toEqual([one]);
    const { thread } = await server.ask("thread/fork", { threadId: half.fork.id });
    expect(thread.id).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe.skipIf(programs === undefined)("opencode itself", () => {
  it("keeps what is read, and makes the forks", { timeout: 240_000 }, async () => {
    const id = "ses_0123456789abcdefghijklmnop";
    const data = join(desk.opencode, "opencode");
    const environment = {
      PATH: process.env.PATH ?? "",
      HOME: join(desk.directory, "home"),
      XDG_DATA_HOME: desk.opencode,
    };
    await mkdir(environment.HOME, { recursive: true });
    const file = join(desk.directory, "session.json");
    await writeFile(file, JSON.stringify(exported(id, desk.directory)));
    const command = join(programs ?? "", "opencode");
    execFileSync(command, ["import", file], { cwd: desk.directory, env: environment, stdio: "pipe" });
    desk.open({ stores: [opencodeStore({ data, command })] });
    const { session, messages } = await desk.data("session_read", { session_id: id });
    expect(session).toMatchObject({ id, source: "opencode", title: "Rename the parser", messages: 3, prompts: 2 });
    expect(messages[1]).toMatchObject({
      role: "assistant",
      costUsd: 0.5,
      usage: { inputTokens: 1, outputTokens: 5, reasoningTokens: 3, cacheReadTokens: 4, cacheWriteTokens: 5 },
      parts: [{ kind: "text", text: "Renamed it." }],
    });
    const home = process.env.HOME;
    process.env.HOME = environment.HOME;
    try {
      const made = await desk.data(
        "session_fork",
        { session_id: id, message_id: "#1", title: "Only the first turn" },
        { asker: yes },
      );
      expect(made).toMatchObject({ copied: 2, fork: { title: "Only the first turn", messages: 2, prompts: 1 } });
      const read = await desk.data("session_read", { session_id: made.fork.id });
      expect(read.messages.map(({ parts }: { parts: { text: string }[] }) => parts[0]?.text)).toEqual([
        "Rename the parser",
        "Renamed it.",
      ]);
    } finally {
      process.env.HOME = home;
    }
  });
});

/** A session as `opencode export` writes it. */
function exported(id: string, directory: string) {
  const at = 1_772_442_000_000;
  const model = { providerID: "p", modelID: "m" };
  const parts = (n: number, text: string) => [
    { id: `prt_0123456789abcdefghijklmn0${n}`, sessionID: id, messageID: messageId(n), type: "text", text },
  ];
  const user = (n: number, text: string) => ({
    info: { id: messageId(n), sessionID: id, role: "user", time: { created: at + n }, agent: "build", model },
    parts: parts(n, text),
  });
  const answer = {
    info: {
      id: messageId(2),
      sessionID: id,
      role: "assistant",
      time: { created: at + 2, completed: at + 2 },
      parentID: messageId(1),
      ...model,
      mode: "build",
      agent: "build",
      path: { cwd: directory, root: directory },
      cost: 0.5,
      tokens: { input: 1, output: 2, reasoning: 3, cache: { read: 4, write: 5 } },
    },
    parts: parts(2, "Renamed it."),
  };
  return {
    info: {
      id,
      slug: "rename",
      projectID: "p",
      directory,
      title: "Rename the parser",
      version: "1.18.33",
      time: { created: at, updated: at + 3 },
    },
    messages: [user(1, "Rename the parser"), answer, user(3, "Now the tests")],
  };
}

function messageId(n: number): string {
  return `msg_0123456789abcdefghijklmn0${n}`;
}

/** `codex app-server`, asked over its own protocol. */
async function appServer(home: string, directory: string) {
  const running = spawn(join(programs ?? "", "codex"), ["app-server"], {
    cwd: directory,
    env: { PATH: process.env.PATH ?? "", HOME: join(directory, "home"), CODEX_HOME: home },
    stdio: ["pipe", "pipe", "ignore"],
  });
  // biome-ignore lint/suspicious/noExplicitAny: answers of a program, looked at by the test
  const waiting = new Map<number, { done(answer: any): void; failed(error: Error): void }>();
  createInterface({ input: running.stdout }).on("line", (line) => {
    const answer = JSON.parse(line);
    const asked = waiting.get(answer.id);
    waiting.delete(answer.id);
    if (answer.error === undefined) asked?.done(answer.result);
    else asked?.failed(new Error(JSON.stringify(answer.error)));
  });
  let next = 0;
  // biome-ignore lint/suspicious/noExplicitAny: answers of a program, looked at by the test
  const ask = (method: string, params: object): Promise<any> =>
    new Promise((done, failed) => {
      next += 1;
      waiting.set(next, { done, failed });
      running.stdin.write(`${JSON.stringify({ id: next, method, params })}\n`);
    });
  await ask("initialize", { clientInfo: { name: "toolhaft-test", version: "0" } });
  running.stdin.write(`${JSON.stringify({ method: "initialized" })}\n`);
  return {
    ask,
    async [Symbol.asyncDispose]() {
      const ended = new Promise((resolve) => running.on("close", resolve));
      running.kill("SIGKILL");
      await ended;
    },
  };
}

import { execFileSync } from "node:child_process";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { fakeClock, tempWorkspace } from "@toolhaft/testing";
import { expect, test } from "vitest";
import type { ServerEntry } from "../src/entry.ts";
import { fake, until } from "./support/fake.ts";
import { familyFor } from "./support/family.ts";

const at = { filePath: "a.fake", line: 0, character: 0 };
const hover = `server.on("textDocument/hover", () => ({ contents: "fine" }));`;

test("D1 registrations are answered at once, before anything else works", async () => {
  await using f = await fake(`
    let free;
    const gate = new Promise((resolve) => { free = resolve; });
    server.on("initialized", async () => {
      const first = await server.ask("client/registerCapability", { registrations: [{ id: "h", method: "textDocument/definition" }] });
      const second = await server.ask("window/workDoneProgress/create", { token: "t" });
      if (first === null && second === null) free();
    });
    server.on("textDocument/hover", async () => { await gate; return { contents: "fine" }; });
    server.on("textDocument/definition", ({ textDocument }) => ({ uri: textDocument.uri, range: { start: { line: 1, character: 0 }, end: { line: 1, character: 3 } } }));`);
  expect((await f.family.ok("hover", at)).text).toContain("fine");
  // and the registration is effective
  expect((await f.family.ok<{ total: number }>("goto_definition", at)).data.total).toBe(1);
});

test("D1 every request of a server is answered before, during and after initialize", async () => {
  await using f = await fake(
    `
    const requests = [["workspace/configuration", { items: [{ section: "a.b" }, { section: "" }, {}, { section: "no" }] }], ["workspace/workspaceFolders"], ["window/workDoneProgress/create", { token: 1 }], ["workspace/semanticTokens/refresh"], ["workspace/diagnostic/refresh"], ["window/showMessageRequest", { type: 3, message: "hi", actions: [] }], ["window/showDocument", { uri: "file:///x" }], ["workspace/applyEdit", { edit: {} }], ["client/registerCapability", { registrations: [] }], ["client/unregisterCapability", { unregisterations: [] }], ["made/up"]];
    const answers = [];
    const all = async (when) => { for (const [method, params] of requests) answers.push([when, method, await server.ask(method, params).catch((error) => error.code)]); };
    server.on("initialize", async () => { await all("during"); return { capabilities: server.capabilities }; });
    const after = new Promise((resolve) => server.on("initialized", async () => { await all("after"); resolve(); }));
    server.on("textDocument/hover", async () => { await after; return { contents: JSON.stringify(answers) }; });`,
    { definition: { settings: { a: { b: 5 } } } },
  );
  const { text } = await f.family.ok("hover", at);
  const answers = JSON.parse(text.slice(text.indexOf('[["'), text.lastIndexOf("]]") + 2)) as [
    string,
    string,
    unknown,
  ][];
  const of = (when: string, method: string) => answers.find((one) => one[0] === when && one[1] === method)?.[2];
  for (const when of ["during", "after"]) {
    expect(of(when, "workspace/configuration")).toEqual([5, { a: { b: 5 } }, { a: { b: 5 } }, null]);
    expect(of(when, "workspace/workspaceFolders")).toMatchObject([{ name: expect.any(String) }]);
    expect(of(when, "window/showDocument")).toEqual({ success: true });
    expect(of(when, "workspace/applyEdit")).toMatchObject({ applied: false });
    expect(of(when, "made/up")).toBe(-32601);
    for (const method of [
      "window/workDoneProgress/create",
      "workspace/semanticTokens/refresh",
      "window/showMessageRequest",
      "client/registerCapability",
    ])
      expect(of(when, method)).toBeNull();
  }
});

test("D2 equal ids never cross", async () => {
  await using f = await fake(
    `server.on("textDocument/hover", async (params, id) => {
      const [value] = await server.ask("workspace/configuration", { items: [{ section: "name" }] }, id);
      return { contents: "configured " + value };
    });`,
    { definition: { settings: { name: "right" } } },
  );
  expect((await f.family.ok("hover", at)).text).toContain("configured right");
});

test("D3 a slow but normal start serves all who wait, with one process", async () => {
  await using f = await fake(
    `server.on("initialize", async () => { await server.sleep(600); return { capabilities: server.capabilities }; }); ${hover}`,
  );
  const calls = await Promise.all(Array.from({ length: 10 }, () => f.family.call("hover", at)));
  expect(calls.every((call) => call.ok)).toBe(true);
  await f.family.ok("hover", at);
  expect(f.received("initialize")).toHaveLength(1);
  const { data } = await f.family.ok<{ servers: { status: string }[] }>("servers");
  expect(data.servers).toMatchObject([{ status: "ready" }]);
});

test("D4 a dead server is found out and replaced", async () => {
  await using f = await fake(
    `let count = 0;
    server.on("textDocument/hover", () => (count++ === 0 ? { contents: "fine" } : server.silence()));
    server.on("$/toolhaft/alive", () => server.silence());`,
    { timeouts: { fast: 500, health: 500 } },
  );
  await f.family.ok("hover", at);
  const failure = await f.family.fails("hover", at);
  expect(failure).toMatchObject({ code: "timeout", retryable: true });
  // the question whether it lives is cancelled, too
  await until(() => f.received("$/cancelRequest").length > 0);
  expect((await f.family.ok("hover", at)).text).toContain("fine");
  expect(f.received("initialize")).toHaveLength(2);
});

test("D4 a slow server is kept, and its late answer is dropped", async () => {
  await using f = await fake(
    `let count = 0;
    let free;
    const third = new Promise((resolve) => { free = resolve; });
    server.on("textDocument/hover", async () => { const mine = ++count; if (mine === 3) free(); if (mine === 2) await third; return { contents: "answer " + mine }; });`,
    { timeouts: { fast: 2_000 } },
  );
  await f.family.ok("hover", at);
  expect(await f.family.fails("hover", at)).toMatchObject({ code: "timeout" });
  expect((await f.family.ok("hover", at)).text).toContain("answer 3");
  expect(f.received("initialize")).toHaveLength(1);
});

test("D5 a server that cannot be ended and has children leaves nothing behind", async () => {
  await using f = await fake(
    `const { spawn } = await import("node:child_process");
    process.on("SIGTERM", () => {});
    server.stubborn = true;
    spawn(process.execPath, ["-e", "process.on('SIGTERM',()=>{});setInterval(()=>{},1e6)", process.cwd()], { stdio: "ignore" });
    server.on("initialize", () => server.silence());`,
    { timeouts: { initialize: 1_000 } },
  );
  const failures = [];
  for (let round = 0; round < 3; round++) failures.push(await f.family.fails("hover", at));
  expect(failures.map((failure) => failure.code)).toEqual(["timeout", "timeout", "timeout"]);
  await f.family.lsp.close();
  const list = execFileSync("ps", ["-eo", "args"]).toString();
  expect(list.split("\n").filter((line) => line.includes(f.workspace.directory))).toEqual([]);
});

test("D6 only idle servers are stopped, and the next call starts them again", async () => {
  const clock = fakeClock();
  await using f = await fake(
    `const { existsSync } = await import("node:fs");
    const told = async (name) => { while (!existsSync(process.cwd() + "/" + name)) await server.sleep(20); };
    server.on("textDocument/hover", async () => {
      await told("answer");
      server.notify("$/progress", { token: 1, value: { kind: "begin", title: "working" } });
      told("finish").then(() => server.notify("$/progress", { token: 1, value: { kind: "end" } }));
      return { contents: "fine" };
    });`,
    { clock, idleMs: 60_000 },
  );
  const entry = () => f.family.lsp.pool.engine.entries[0];
  const running = f.family.ok("hover", at);
  await until(() => f.received("textDocument/hover").length === 1);
  const looks = countLooks(entry());
  clock.advance(90_000);
  await looks(3);
  expect(f.received("shutdown")).toEqual([]);
  await f.workspace.write({ answer: "" });
  expect((await running).text).toContain("fine");
  // progress runs on: not idle yet, whatever the clock says
  await until(() => entry()?.life?.progress.running().length === 1);
  clock.advance(61_000);
  // some looks at what is idle go by: none of them may take it
  await looks(3);
  expect(f.received("shutdown")).toEqual([]);
  await f.workspace.write({ finish: "" });
  await until(() => entry()?.state === "stopped");
  expect(f.received("shutdown")).toHaveLength(1);
  expect((await f.family.ok("hover", at)).text).toContain("fine");
  expect(f.received("initialize")).toHaveLength(2);
});

test("C7 frames are read by bytes, in pieces, between banners and other headers", async () => {
  await using f = await fake(`
    const log = (message) => server.frame({ method: "window/logMessage", params: { type: 3, message } });
    server.raw("Welcome to the server!\\nContent of no interest\\n");
    server.on("textDocument/hover", async (params, id) => {
      const frame = log("12 µs 日本 😀");
      const cut = frame.indexOf(Buffer.from("😀")) + 2;
      server.raw(frame.subarray(0, cut));
      await server.sleep(30);
      server.raw(frame.subarray(cut));
      server.raw("stray print\\n");
      const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", id, result: { contents: "µ 日本 😀" } }));
      server.raw(Buffer.concat([Buffer.from("Content-Type: application/vscode-jsonrpc; charset=utf-8\\r\\nContent-Length: " + body.length + "\\r\\n\\r\\n"), body]));
    });`);
  expect((await f.family.ok("hover", at)).text).toContain("µ 日本 😀");
  // nothing that belongs to the client is sent to the server
  expect(f.wire().filter((message) => message.direction === "in" && message.method === "workspace/applyEdit")).toEqual(
    [],
  );
});

test("C7 a message of ten megabytes is read, one of a hundred ends the server by name", async () => {
  await using f = await fake(`
    server.on("textDocument/hover", (params, id) => params.position.line === 0 ? { contents: "x".repeat(10e6) } : void server.raw("Content-Length: 100000000\\r\\n\\r\\n"));`);
  const { data } = await f.family.ok<{ hovers: { contents: string }[] }>("hover", at);
  expect(data.hovers[0]?.contents.length).toBeLessThanOrEqual(4_000);
  const failure = await f.family.fails("hover", { ...at, line: 1 });
  expect(failure.code).toMatch(/upstream|unavailable/);
});

test("a changed state under the request is asked again, a command is not", async () => {
  await using f = await fake(`
    let count = 0;
    server.capabilities.codeActionProvider = true;
    server.capabilities.executeCommandProvider = { commands: ["do"] };
    server.capabilities.diagnosticProvider = {};
    server.on("textDocument/diagnostic", () => ({ kind: "full", items: [] }));
    server.on("textDocument/hover", () => (count++ < 2 ? server.fail(-32801, "content modified") : { contents: "third" }));
    server.on("textDocument/codeAction", () => [{ title: "Do", command: "do" }]);
    server.on("workspace/executeCommand", () => server.fail(-32801, "content modified"));`);
  expect((await f.family.ok("hover", at)).text).toContain("third");
  const failure = await f.family.fails("execute_code_action", { filePath: "a.fake", startLine: 0, title: "Do" });
  expect(failure).toMatchObject({ code: "upstream", message: expect.stringContaining("content modified") });
  expect(f.received("workspace/executeCommand")).toHaveLength(1);
});

test("abort frees the caller at once, tells the server, and leaves it usable", async () => {
  await using f = await fake(
    `server.on("textDocument/hover", ({ position }) => (position.line === 1 ? server.silence() : { contents: "fine" }));`,
  );
  await f.family.ok("hover", at);
  const controller = new AbortController();
  const call = f.family.call("hover", { ...at, line: 1 }, { signal: controller.signal });
  await until(() => f.received("textDocument/hover").length === 2);
  controller.abort();
  const result = await call;
  expect(result).toMatchObject({ ok: false, error: { code: "cancelled" } });
  await until(() => f.received("$/cancelRequest").length === 1);
  await f.family.ok("hover", at);
  expect(f.received("initialize")).toHaveLength(1);
});

test("a server killed under a read is started again, its documents are open there, and the read succeeds", async () => {
  await using f = await fake(`
    const { existsSync, writeFileSync } = await import("node:fs");
    const marker = process.cwd() + "/died";
    server.on("textDocument/hover", async () => {
      if (!existsSync(marker)) { writeFileSync(marker, ""); process.kill(process.pid, "SIGKILL"); await server.silence(); }
      return { contents: [...server.documents.values()].map((one) => one.version).join() };
    });`);
  expect((await f.family.ok("hover", at)).text).toMatch(/\n1$/);
  expect(f.received("initialize")).toHaveLength(2);
});

test("a server killed under a command fails at once, and the next call works", async () => {
  await using f = await fake(`
    server.capabilities.codeActionProvider = true;
    server.capabilities.diagnosticProvider = {};
    server.on("textDocument/diagnostic", () => ({ kind: "full", items: [] }));
    server.on("textDocument/codeAction", () => [{ title: "Die", command: "die" }]);
    server.on("workspace/executeCommand", () => { process.kill(process.pid, "SIGKILL"); return server.silence(); });
    ${hover}`);
  const failure = await f.family.fails("execute_code_action", { filePath: "a.fake", startLine: 0, title: "Die" });
  expect(failure).toMatchObject({ code: "upstream", message: expect.stringContaining("SIGKILL") });
  expect((await f.family.ok("hover", at)).text).toContain("fine");
});

test("five crashes are a failure with its reason, until it is restarted", async () => {
  const clock = fakeClock();
  await using f = await fake(
    `
    const { existsSync } = await import("node:fs");
    server.on("textDocument/hover", () => { if (existsSync(process.cwd() + "/well")) return { contents: "fine" }; console.error("broken for a reason"); setTimeout(() => process.exit(3), 20); return server.silence(); });`,
    { clock },
  );
  const first = await f.family.fails("hover", at);
  expect(first).toMatchObject({
    code: "upstream",
    message: expect.stringMatching(/exit code 3[\s\S]*broken for a reason/),
  });
  const waiting = await f.family.fails("hover", at);
  expect(waiting).toMatchObject({ code: "unavailable", retryable: true, details: { state: "backoff" } });
  for (let round = 0; round < 3; round++) {
    clock.advance(10_000);
    await f.family.fails("hover", at);
  }
  clock.advance(10_000);
  const failed = await f.family.fails("hover", at);
  expect(failed).toMatchObject({
    code: "unavailable",
    details: { state: "failed" },
    hint: expect.stringContaining("lsp_restart_server"),
    message: expect.stringContaining("broken for a reason"),
  });
  await f.workspace.write({ well: "" });
  await f.family.ok("restart_server", { languageId: "fake" });
  expect((await f.family.ok("hover", at)).text).toContain("fine");
});

test("two roots get two processes, or two folders of one where the server takes them", async () => {
  const scenario = `server.capabilities.workspace = { workspaceFolders: { supported: true, changeNotifications: true } }; ${hover}`;
  const files = { "one/fake.root": "", "one/x.fake": "x\n", "two/fake.root": "", "two/y.fake": "y\n" };
  for (const multiRoot of [false, true]) {
    await using f = await fake(scenario, { files, definition: { multiRoot } });
    await f.family.ok("hover", { ...at, filePath: "one/x.fake" });
    await f.family.ok("hover", { ...at, filePath: "two/y.fake" });
    expect(f.received("initialize")).toHaveLength(multiRoot ? 1 : 2);
    expect(f.received("workspace/didChangeWorkspaceFolders")).toHaveLength(multiRoot ? 1 : 0);
  }
});

test("E1 a stub is quoted with what to install; a working program later on the PATH is used", async () => {
  await using workspace = await tempWorkspace({ "Cargo.toml": "[package]\n", "src/main.rs": "fn main() {}\n" });
  await using bins = await tempWorkspace();
  await mkdir(bins.path("stub"));
  await mkdir(bins.path("real"));
  const script = async (path: string, text: string) => {
    await writeFile(bins.path(path), text);
    await chmod(bins.path(path), 0o755);
  };
  await script(
    "stub/rust-analyzer",
    "#!/bin/sh\nsleep 1\necho \"error: unknown binary 'rust-analyzer' in toolchain\" >&2\nexit 1\n",
  );
  const path = process.env.PATH;
  try {
    process.env.PATH = `${bins.path("stub")}:${path}`;
    await using broken = familyFor(workspace.directory);
    const failure = await broken.fails("hover", { filePath: "src/main.rs", line: 0, character: 3 });
    expect(failure).toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("unknown binary"),
      hint: "rustup component add rust-analyzer",
    });
    const fakeServer = new URL("support/fake-server.mjs", import.meta.url).pathname;
    await writeFile(
      bins.path("scenario.mjs"),
      `export default (server) => { server.on("textDocument/hover", () => ({ contents: "working" })); server.on("initialized", () => server.notify("experimental/serverStatus", { health: "ok", quiescent: true })); };`,
    );
    await script(
      "real/rust-analyzer",
      `#!/bin/sh\nexec "${process.execPath}" "${fakeServer}" "${bins.path("scenario.mjs")}"\n`,
    );
    process.env.PATH = `${bins.path("stub")}:${bins.path("real")}:${path}`;
    await using working = familyFor(workspace.directory);
    expect((await working.ok("hover", { filePath: "src/main.rs", line: 0, character: 3 })).text).toContain("working");
  } finally {
    process.env.PATH = path;
  }
});

/** Waits until the engine has looked so many more times at whether a server is idle. */
function countLooks(entry: ServerEntry | undefined): (count: number) => Promise<void> {
  if (!entry) throw new Error("no server runs");
  const { get } = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(entry), "idleSince") ?? {};
  let seen = 0;
  Object.defineProperty(entry, "idleSince", {
    get() {
      seen++;
      return get?.call(entry);
    },
  });
  return async (count) => {
    const from = seen;
    await until(() => seen >= from + count);
  };
}

import { spawn } from "node:child_process";
import { afterEach, describe, expect, it, vi } from "vitest";
import { serverCommand } from "./clients.ts";
import { type RawClient, rawClient } from "./raw-client.ts";

const started: RawClient[] = [];
const start = (...given: Parameters<typeof rawClient>) => {
  const client = rawClient(...given);
  started.push(client);
  return client;
};

afterEach(() => {
  for (const { child } of started.splice(0)) if (child.exitCode === null) child.kill("SIGKILL");
});

// Many processes are started; on a busy machine each takes its time.
describe("the life of a server on stdio", { timeout: 300_000 }, () => {
  it("answers initialize before any family is loaded", async () => {
    const server = start({ server: { loadMs: 3_000 } });
    expect((await server.initialize()).result).toMatchObject({
      protocolVersion: "2025-11-25",
      serverInfo: { name: "toolhaft" },
    });
    expect(server.stderr()).not.toContain("loaded");
    server.send({ id: 1, method: "tools/list" });
    expect((await server.answer(1)).result).toHaveProperty("tools");
    await server.until(() => server.stderr().includes("loaded"));
    await server.end();
  });

  it("stdio-2: ends with code 0 when the client goes away, whatever is alive, and leaves no child", async () => {
    const server = start({ server: { litter: true } });
    await server.initialize();
    await server.until(() => /litter \d+/.test(server.stderr()));
    const pid = Number(/litter (\d+)/.exec(server.stderr())?.[1]);
    server.send({ id: 1, method: "tools/call", params: { name: "slow", arguments: {} } });
    expect(await server.end()).toEqual({ code: 0, signal: null });
    await vi.waitFor(() => expect(isAlive(pid)).toBe(false), { timeout: 30_000, interval: 50 });
  });

  it("stdio-3: exits 0 when stdin is at its end from the start", async () => {
    const { command, args, env } = serverCommand({});
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], env });
    const code = await new Promise((resolve) => child.on("exit", resolve));
    expect(code).toBe(0);
  });

  it("stdio-4: keeps the wire clean while a tool starts git and a server that greets", async () => {
    const server = start({ env: { PATH: process.env.PATH ?? "" } });
    await server.initialize();
    server.send({ id: 1, method: "tools/call", params: { name: "starts_programs", arguments: {} } });
    const { result } = await server.answer(1);
    expect(JSON.stringify(result)).toMatch(/git version .*, banner of a server/);
    for (const line of server.lines) expect(JSON.parse(line)).toHaveProperty("jsonrpc", "2.0");
    await server.end();
  });

  it.each(["SIGTERM", "SIGINT"] as const)(
    "ends with code 0 on %s, a running call and a timer alive",
    async (signal) => {
      const server = start({ server: { litter: true } });
      await server.initialize();
      server.send({ id: 1, method: "tools/call", params: { name: "slow", arguments: {} } });
      server.send({ id: 2, method: "tools/call", params: { name: "echo", arguments: { text: "a" } } });
      await server.answer(2);
      server.child.kill(signal);
      expect(await server.exit).toEqual({ code: 0, signal: null });
    },
  );

  it("ends when its standard output is closed", async () => {
    const server = start({ server: { litter: true } });
    await server.initialize();
    server.child.stdout?.destroy();
    server.send({ id: 1, method: "tools/call", params: { name: "echo", arguments: { text: "a" } } });
    server.send({ id: 2, method: "tools/call", params: { name: "echo", arguments: { text: "b" } } });
    expect((await server.exit).code).toBe(0);
  });

  it("ends when its parent was killed", async () => {
    const { command, args, env } = serverCommand({ server: { litter: true } });
    // A parent that starts the server, tells its pid and hangs.
    const script = `const child = require("node:child_process").spawn(${JSON.stringify(command)}, ${JSON.stringify(args)}, { stdio: ["pipe", "ignore", "ignore"] }); console.log(child.pid); setInterval(() => {}, 1000);`;
    const parent = spawn(process.execPath, ["-e", script], { env, stdio: ["ignore", "pipe", "inherit"] });
    const pid = Number(await new Promise<string>((resolve) => parent.stdout.setEncoding("utf8").once("data", resolve)));
    expect(isAlive(pid)).toBe(true);
    parent.kill("SIGKILL");
    await vi.waitFor(() => expect(isAlive(pid)).toBe(false), { timeout: 30_000, interval: 100 });
  });

  it("closes the connection on a message over 16 MiB, with the reason on stderr", async () => {
    const server = start();
    await server.initialize();
    server.send({
      id: 1,
      method: "tools/call",
      params: { name: "echo", arguments: { text: "x".repeat(17 * 1_024 * 1_024) } },
    });
    expect((await server.exit).code).toBe(0);
    expect(server.stderr()).toMatch(/toolhaft: .*(size|large|exceed)/i);
  });

  it("every line of standard output is JSON-RPC while each tool is called once and some print", async () => {
    const server = start({ server: { file: "/nonexistent/x" } });
    await server.initialize();
    server.send({ id: "list", method: "tools/list" });
    const { tools } = (await server.answer("list")).result as { tools: { name: string }[] };
    for (const { name } of tools)
      if (name !== "slow") server.send({ id: name, method: "tools/call", params: { name, arguments: {} } });
    for (const { name } of tools) if (name !== "slow") await server.answer(name);
    for (const line of server.lines) expect(JSON.parse(line)).toMatchObject({ jsonrpc: "2.0" });
    await server.end();
  });
});

describe("bad messages", () => {
  it("survives them and answers as the protocol says", async () => {
    const server = start();
    // Before initialize: a claim-less message opens a 2025 connection; the server answers and lives.
    server.send({ id: "early", method: "tools/call", params: { name: "echo", arguments: { text: "early" } } });
    await server.answer("early");
    await server.initialize();
    server.send("{ this is no JSON");
    server.send("");
    server.send("[]");
    server.send({ id: "unknown", method: "no/such/method" });
    expect((await server.answer("unknown")).error?.code).toBe(-32601);
    server.send({ id: "shape", method: "tools/call", params: { arguments: 5 } });
    expect((await server.answer("shape")).error?.code).toBe(-32602);
    server.send({ method: "notifications/cancelled", params: { requestId: "nobody" } });
    server.send({ id: "uri", method: "resources/read", params: { uri: "file:///etc/passwd" } });
    expect((await server.answer("uri")).error?.code).toBe(-32602);
    server.send({ id: "cursor", method: "tools/list", params: { cursor: "bm9uc2Vuc2U" } });
    expect((await server.answer("cursor")).error?.code).toBe(-32602);
    server.send({
      id: "token",
      method: "tools/call",
      params: { name: "echo", arguments: { text: "odd" }, _meta: { progressToken: { a: 1 } } },
    });
    expect((await server.answer("token")).error?.code).toBe(-32600);
    server.send({ id: "alive", method: "tools/call", params: { name: "echo", arguments: { text: "alive" } } });
    expect((await server.answer("alive")).result).toMatchObject({ content: [{ type: "text", text: "alive" }] });
    await server.end();
  });

  it("answers two requests with one id and lives", async () => {
    const server = start();
    await server.initialize();
    server.send({ id: 7, method: "tools/call", params: { name: "echo", arguments: { text: "one" } } });
    server.send({ id: 7, method: "tools/call", params: { name: "echo", arguments: { text: "two" } } });
    server.send({ id: 8, method: "tools/call", params: { name: "echo", arguments: { text: "three" } } });
    await server.answer(8);
    await server.answer(7);
    await server.end();
  });

  it("sends no answer to a cancelled call", async () => {
    const server = start();
    await server.initialize();
    server.send({ id: 1, method: "tools/call", params: { name: "slow", arguments: {} } });
    server.send({ method: "notifications/cancelled", params: { requestId: 1 } });
    server.send({ id: 2, method: "tools/call", params: { name: "echo", arguments: { text: "a" } } });
    await server.answer(2);
    await server.end();
    expect(server.messages().filter(({ id }) => id === 1)).toEqual([]);
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    // ESRCH: it is gone.
    return false;
  }
}

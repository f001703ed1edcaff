import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { tempWorkspace } from "@toolhaft/testing";
import { describe, expect, it } from "vitest";

const loader = fileURLToPath(new URL("../../testing/run/typescript-loader.mjs", import.meta.url));
const bin = fileURLToPath(new URL("../src/bin.ts", import.meta.url));
const program = ["--import", loader, bin];

function run(words: readonly string[], cwd: string): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [...program, ...words],
      { cwd, maxBuffer: 64 * 1_024 * 1_024 },
      (_error, out, err) => resolve({ code: child.exitCode ?? -1, out, err }),
    );
  });
}

describe("the program itself, with the real families", () => {
  it("calls a tool on a real file, and says no to a path outside with exit code 4", async () => {
    const workspace = await tempWorkspace({ "a.txt": "one\ntwo\n" });
    const outside = await tempWorkspace({ "b.txt": "secret\n" });
    const read = await run(["call", "hashline_read", '{"filePath":"a.txt"}'], workspace.directory);
    expect(read).toMatchObject({ code: 0, err: "" });
    expect(read.out).toMatch(/^1#[a-z]{2}\|one$/m);
    const refused = await run(
      ["call", "hashline_read", JSON.stringify({ filePath: outside.path("b.txt") })],
      workspace.directory,
    );
    expect(refused.code).toBe(4);
    expect(refused.err).toContain("--allow");
    expect(refused.out).not.toContain("secret");
    const missing = await run(["call", "hashline_read", '{"filePath":"c.txt"}'], workspace.directory);
    expect(missing).toMatchObject({ code: 1, out: "", err: expect.stringContaining("not_found") });
    await workspace.remove();
    await outside.remove();
  });

  it("ends quietly with 0 when its reader has gone", async () => {
    const workspace = await tempWorkspace({ "big.txt": "a line of text\n".repeat(200_000) });
    const child = spawn(process.execPath, [...program, "list", "--json"], {
      cwd: workspace.directory,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let err = "";
    child.stderr.setEncoding("utf8").on("data", (text) => {
      err += text;
    });
    child.stdout.destroy();
    const [code] = await once(child, "exit");
    expect({ code, err }).toEqual({ code: 0, err: "" });
    await workspace.remove();
  });

  it("serves an official client, prints one line, and nothing with --quiet", async () => {
    const workspace = await tempWorkspace({ "a.txt": "one\n" });
    const serve = async (...flags: string[]) => {
      const transport = new StdioClientTransport({
        command: process.execPath,
        args: [...program, "mcp", ...flags],
        cwd: workspace.directory,
        stderr: "pipe",
      });
      let err = "";
      transport.stderr?.on("data", (data) => {
        err += data;
      });
      const client = new Client({ name: "test", version: "1" });
      await client.connect(transport);
      const { tools } = await client.listTools();
      const read = await client.callTool({ name: "hashline_read", arguments: { filePath: "a.txt" } });
      await client.close();
      return { names: tools.map(({ name }) => name), read, err };
    };
    const normal = await serve("hashline");
    expect(normal.names).toContain("hashline_read");
    expect(JSON.stringify(normal.read.content)).toContain("|one");
    expect(normal.err.trim().split("\n")).toEqual([
      expect.stringMatching(/^toolhaft: \d+ tools, about \d+ tokens, the folder of the client, or .*, default policy$/),
    ]);
    const quiet = await serve("hashline", "--quiet", "--read-only", "--deny", "file.write");
    expect(quiet.err).toBe("");
    expect(quiet.names).toEqual(["hashline_read"]);
    await workspace.remove();
  });

  it("finds tools by need with --lazy", async () => {
    const workspace = await tempWorkspace({ "a.txt": "one\n" });
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [...program, "mcp", "hashline", "memory", "--lazy", "--quiet"],
      cwd: workspace.directory,
      stderr: "ignore",
    });
    const client = new Client({ name: "test", version: "1" });
    await client.connect(transport);
    expect(client.getInstructions()).toContain("tool_search");
    const names = async () => (await client.listTools()).tools.map(({ name }) => name);
    expect(await names()).toEqual(["tool_search", "tool_load", "tool_call"]);
    await client.callTool({ name: "tool_load", arguments: { names: ["hashline_read"] } });
    const input = { name: "hashline_read", input: { filePath: "a.txt" } };
    const called = await client.callTool({ name: "tool_call", arguments: input });
    expect(JSON.stringify(called.content)).toContain("|one");
    expect(await names()).toEqual(["tool_search", "tool_load", "tool_call", "hashline_read"]);
    await client.close();
    await workspace.remove();
  });

  it("serves over HTTP on loopback with a token, tells them once, and ends with 0 on SIGTERM", async () => {
    const workspace = await tempWorkspace({ "a.txt": "one\n" });
    const child = spawn(process.execPath, [...program, "mcp", "hashline", "--http", "--quiet"], {
      cwd: workspace.directory,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let err = "";
    let out = "";
    child.stdout.on("data", (data) => {
      out += data;
    });
    const ready = new Promise<void>((resolve) => {
      child.stderr.on("data", (data) => {
        err += data;
        if (err.includes("Bearer")) resolve();
      });
    });
    await ready;
    const url = /serving (\S+)/.exec(err)?.[1] ?? "";
    const token = /Authorization: (Bearer \S+)/.exec(err)?.[1] ?? "";
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/);
    expect((await fetch(url, { method: "POST" })).status).toBe(401);
    const client = new Client({ name: "test", version: "1" });
    const requestInit = { headers: { authorization: token } };
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
    const read = await client.callTool({ name: "hashline_read", arguments: { filePath: "a.txt" } });
    expect(JSON.stringify(read.content)).toContain("|one");
    await client.close();
    child.kill("SIGTERM");
    const [code] = await once(child, "exit");
    expect({ code, out, tokens: err.match(/Bearer/g)?.length }).toEqual({ code: 0, out: "", tokens: 1 });
    await workspace.remove();
  });

  it("answers wrong usage of mcp with exit code 2 before any client waits", async () => {
    const workspace = await tempWorkspace();
    expect(await run(["mcp", "hashlin"], workspace.directory)).toMatchObject({
      code: 2,
      out: "",
      err: expect.stringContaining("did you mean hashline"),
    });
    expect(await run(["mcp", "--tools", "nothing_like_it"], workspace.directory)).toMatchObject({ code: 2, out: "" });
    await workspace.remove();
  });

  it("stdio-3: mcp with nothing on standard input exits 0", async () => {
    const workspace = await tempWorkspace();
    const child = spawn(process.execPath, [...program, "mcp"], {
      cwd: workspace.directory,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [code] = await once(child, "exit");
    expect(code).toBe(0);
    await workspace.remove();
  });
});

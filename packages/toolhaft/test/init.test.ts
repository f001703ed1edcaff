import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { tempWorkspace } from "@toolhaft/testing";
import { parse } from "jsonc-parser";
import { parse as parseToml } from "smol-toml";
import { describe, expect, it } from "vitest";
import manifest from "../package.json" with { type: "json" };
import { command } from "./command.ts";

const npx = ["-y", `toolhaft@${manifest.version.split(".")[0]}`, "mcp"];
const loader = fileURLToPath(new URL("../../testing/run/typescript-loader.mjs", import.meta.url));
const bin = fileURLToPath(new URL("../src/bin.ts", import.meta.url));

interface Written {
  file: string;
  /** Where command and arguments stand in the parsed file. */
  entry(value: never): { command: string; args: string[] };
  parse(text: string): unknown;
  flags: string[];
  /** With comments, another server, and odd indentation. */
  foreign: string;
  /** Pieces of it that must be there afterwards, byte for byte. */
  kept: string[];
}

const jsonEntry = (key: string) => (value: never) =>
  (value as Record<string, Record<string, never>>)[key]?.toolhaft as never;
const json = (file: string, key: string): Written => ({
  file,
  entry: jsonEntry(key),
  parse: (text) => parse(text),
  flags: [],
  foreign: `{\n    // mine\n    "other": {"a":1,   "b":[1,2]}, /* tight */\n    "${key}": {\n        "mine": { "command": "x" }, // tail\n    },\n}\n`,
  kept: ["// mine", '"other": {"a":1,   "b":[1,2]}, /* tight */', '"mine": { "command": "x" }, // tail'],
});
const opencode = (entry: (mcp: Record<string, never>) => { command: string[] }) => (value: never) => {
  const [program = "", ...args] = entry((value as { mcp: Record<string, never> }).mcp).command;
  return { command: program, args };
};
const clients: Record<string, Written> = {
  "claude-code": json(".mcp.json", "mcpServers"),
  cursor: json(".cursor/mcp.json", "mcpServers"),
  vscode: json(".vscode/mcp.json", "servers"),
  gemini: json(".gemini/settings.json", "mcpServers"),
  opencode: {
    ...json("opencode.json", "mcp"),
    entry: opencode((mcp) => mcp.toolhaft as never),
    flags: ["--format", "v1"],
  },
  codex: {
    file: ".codex/config.toml",
    entry: jsonEntry("mcp_servers"),
    parse: (text) => parseToml(text),
    flags: [],
    foreign: '# mine\nmodel = "o9" # tight\n\n[mcp_servers.mine]\ncommand = "x"\n\n[profiles.deep]\neffort = "high"\n',
    kept: ["# mine", 'model = "o9" # tight', '[mcp_servers.mine]\ncommand = "x"', '[profiles.deep]\neffort = "high"'],
  },
};
const rows = Object.entries(clients);

describe.each(rows)("toolhaft init %s", (name, { file, entry, parse: read, flags, foreign, kept }) => {
  const init = (cwd: string, ...words: string[]) => command(["init", name, ...flags, ...words], { cwd });

  it("prints settings and writes nothing", async () => {
    const workspace = await tempWorkspace();
    const { code, out, err } = await init(workspace.directory);
    expect(code).toBe(0);
    expect(entry(read(out) as never)).toMatchObject({ command: "npx", args: npx });
    expect(err).toContain(workspace.path(file));
    expect(await readdir(workspace.directory)).toEqual([]);
    await workspace.remove();
  });

  it.each<[string, string | undefined]>([
    ["absent", undefined],
    ["empty", ""],
    ["foreign and commented", foreign],
    ["foreign with Windows line ends", foreign.replaceAll("\n", "\r\n")],
  ])("writes into a file that is %s: it parses, keeps what was there, twice is once", async (_what, before) => {
    const workspace = await tempWorkspace();
    await mkdir(dirname(workspace.path(file)), { recursive: true });
    if (before !== undefined) await writeFile(workspace.path(file), before);
    const written = await init(workspace.directory, "--write");
    expect(written).toMatchObject({ code: 0, out: expect.stringContaining("+++ ") });
    const text = await readFile(workspace.path(file), "utf8");
    expect(entry(read(text) as never)).toMatchObject({ command: "npx", args: npx });
    if (before !== undefined && before !== "") {
      const plain = text.replaceAll("\r\n", "\n");
      for (const piece of kept) expect(plain).toContain(piece);
      if (before.includes("\r\n")) expect(text.replaceAll("\r\n", "")).not.toContain("\n");
      const others = (value: unknown) => JSON.stringify(value, (key, each) => (key === "toolhaft" ? undefined : each));
      expect(others(read(text))).toBe(others(read(before)));
    }
    const again = await init(workspace.directory, "--write");
    expect(again).toMatchObject({ code: 0, out: "", err: expect.stringContaining("has it already") });
    expect(await readFile(workspace.path(file), "utf8")).toBe(text);
    expect((await readdir(dirname(workspace.path(file)))).filter((each) => each.includes("toolhaft-"))).toEqual([]);
    await workspace.remove();
  });

  it("shows another entry of ours and leaves it, unless forced", async () => {
    const workspace = await tempWorkspace();
    await init(workspace.directory, "--write");
    const before = await readFile(workspace.path(file), "utf8");
    const other = await init(workspace.directory, "fixture", "--write");
    expect(other).toMatchObject({ code: 2, out: "", err: expect.stringContaining("--force") });
    expect(other.err).toMatch(/^\+.*fixture/m);
    expect(await readFile(workspace.path(file), "utf8")).toBe(before);
    expect((await init(workspace.directory, "fixture", "--write", "--force")).code).toBe(0);
    const text = await readFile(workspace.path(file), "utf8");
    expect(entry(read(text) as never).args).toEqual([...npx, "fixture"]);
    await workspace.remove();
  });

  it("refuses a file that is broken, and changes no byte of it", async () => {
    const workspace = await tempWorkspace();
    await mkdir(dirname(workspace.path(file)), { recursive: true });
    await writeFile(workspace.path(file), "{ [broken");
    expect(await init(workspace.directory, "--write")).toMatchObject({
      code: 2,
      out: "",
      err: expect.stringContaining("mend it"),
    });
    expect(await readFile(workspace.path(file), "utf8")).toBe("{ [broken");
    await workspace.remove();
  });

  it("what it wrote starts a server that answers", async () => {
    const workspace = await tempWorkspace();
    await init(workspace.directory, "--write");
    const { args } = entry(read(await readFile(workspace.path(file), "utf8")) as never);
    const shim = await tempWorkspace({
      npx: `#!/bin/sh\n[ "$1 $2" = "${npx[0]} ${npx[1]}" ] || exit 9\nshift 2\nexec "${process.execPath}" --import "${loader}" "${bin}" "$@"\n`,
    });
    await chmod(shim.path("npx"), 0o755);
    const transport = new StdioClientTransport({
      command: shim.path("npx"),
      args: [...args, "hashline"],
      cwd: workspace.directory,
      stderr: "ignore",
    });
    const client = new Client({ name: "test", version: "1" });
    await client.connect(transport);
    expect((await client.listTools()).tools.map((tool) => tool.name)).toContain("hashline_read");
    await client.close();
    await shim.remove();
    await workspace.remove();
  });
});

describe("what differs between clients", () => {
  it("config-2: keeps comments, a trailing comma and another server of VS Code; a second run changes no byte", async () => {
    const before =
      '{\n\t// servers of mine\n\t"servers": {\n\t\t"mine": {\n\t\t\t"type": "http",\n\t\t\t"url": "https://x" // there\n\t\t},\n\t},\n}\n';
    const workspace = await tempWorkspace({ ".vscode/mcp.json": before });
    await command(["init", "vscode", "--write"], { cwd: workspace.directory });
    const after = await readFile(workspace.path(".vscode/mcp.json"), "utf8");
    expect(after.startsWith(before.slice(0, before.indexOf("\n\t},\n}")))).toBe(true);
    expect(after).toContain('\n\t\t"toolhaft": {\n\t\t\t"type": "stdio",\n\t\t\t"command": "npx",');
    expect(parse(after).servers.mine.url).toBe("https://x");
    await command(["init", "vscode", "--write"], { cwd: workspace.directory });
    expect(await readFile(workspace.path(".vscode/mcp.json"), "utf8")).toBe(after);
    await workspace.remove();
  });

  it("config-3: gives Codex a minute to start", async () => {
    const { out } = await command(["init", "codex"]);
    expect(out).toContain("[mcp_servers.toolhaft]\n");
    expect(parseToml(out)).toMatchObject({ mcp_servers: { toolhaft: { startup_timeout_sec: 60 } } });
  });

  it("config-4: starts npx by cmd on Windows", async () => {
    const { out } = await command(["init", "claude-code", "--windows"]);
    expect(JSON.parse(out).mcpServers.toolhaft).toEqual({ command: "cmd", args: ["/c", "npx", ...npx] });
  });

  it("opencode: by what the file uses, else by the program, else it has to be said", async () => {
    const run = async (text: string | undefined, words: string[] = [], path = "/nonexistent") => {
      const workspace = await tempWorkspace(text === undefined ? {} : { "opencode.jsonc": text });
      const before = process.env.PATH;
      process.env.PATH = path;
      try {
        return await command(["init", "opencode", ...words], { cwd: workspace.directory });
      } finally {
        process.env.PATH = before;
        await workspace.remove();
      }
    };
    const v1 = { type: "local", command: ["npx", ...npx], enabled: true };
    const v2 = { type: "local", command: ["npx", ...npx], disabled: false };
    const mcpOf = ({ out }: { out: string }) => JSON.parse(out).mcp;
    expect(mcpOf(await run('{"mcp": {"a": {"type": "local", "command": ["x"], "enabled": true}}} // c'))).toEqual({
      toolhaft: v1,
    });
    expect(mcpOf(await run('{"mcp": {"servers": {"a": {"type": "local"}}}}'))).toEqual({ servers: { toolhaft: v2 } });
    expect(mcpOf(await run(undefined, ["--format", "v2"]))).toEqual({ servers: { toolhaft: v2 } });
    expect(await run('{"theme": "dark"}')).toMatchObject({
      code: 2,
      out: "",
      err: expect.stringContaining("--format v1 or --format v2"),
    });
    const program = await tempWorkspace({ opencode: "#!/bin/sh\necho 2.1.0\n" });
    await chmod(program.path("opencode"), 0o755);
    expect(mcpOf(await run(undefined, [], program.directory))).toEqual({ servers: { toolhaft: v2 } });
    await program.remove();
  });

  it.each([
    ["claude-code", ".claude.json"],
    ["codex", ".codex/config.toml"],
    ["cursor", ".cursor/mcp.json"],
    ["gemini", ".gemini/settings.json"],
    ["opencode", ".config/opencode/opencode.json"],
  ])("--global of %s is ~/%s", async (name, file) => {
    const home = await tempWorkspace();
    const done = await command(
      ["init", name, "--global", "--write", ...(name === "opencode" ? ["--format", "v1"] : [])],
      {
        env: { HOME: home.directory },
      },
    );
    expect(done.code).toBe(0);
    expect((await stat(home.path(file))).isFile()).toBe(true);
    await home.remove();
  });

  it("keeps a file's rights and its link", async () => {
    const workspace = await tempWorkspace({ "real.json": "{}" });
    await chmod(workspace.path("real.json"), 0o600);
    await symlink(workspace.path("real.json"), workspace.path(".mcp.json"));
    await command(["init", "claude-code", "--write"], { cwd: workspace.directory });
    expect((await stat(workspace.path("real.json"))).mode & 0o777).toBe(0o600);
    expect(JSON.parse(await readFile(workspace.path("real.json"), "utf8")).mcpServers.toolhaft).toBeTruthy();
    await workspace.remove();
  });

  it.each([
    ['{"mcpServers":{}}', /^\{"mcpServers":\{\s+"toolhaft"/],
    ['{"mcpServers":{"a":{"command":"x"}}}', /"a":\{"command":"x"\},\s+"toolhaft"/],
    ["{}", /^\{\s+"mcpServers"/],
    ["{\n  // only\n}\n", /\/\/ only/],
    ['{"mcpServers": {"a": {"url": "http://x//y"}} /* end */}', /\/\* end \*\//],
    ['{"a": 1 // last\n}', /"a": 1, ?\/\/ last\n/],
  ])("adds to %s", async (before, expected) => {
    const workspace = await tempWorkspace({ ".mcp.json": before });
    expect((await command(["init", "claude-code", "--write"], { cwd: workspace.directory })).code).toBe(0);
    const text = await readFile(workspace.path(".mcp.json"), "utf8");
    expect(text).toMatch(expected);
    expect(parse(text).mcpServers.toolhaft.command).toBe("npx");
    await workspace.remove();
  });

  it("says what is wrong with an unknown client, a family, a folder in its place", async () => {
    expect(await command(["init", "vscod"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("did you mean vscode?"),
    });
    expect(await command(["init", "vscode", "fixtur"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("did you mean fixture?"),
    });
    const workspace = await tempWorkspace();
    await mkdir(workspace.path(".mcp.json"));
    expect(await command(["init", "claude-code", "--write"], { cwd: workspace.directory })).toMatchObject({
      code: 2,
      err: expect.stringContaining("is a folder"),
    });
    await writeFile(workspace.path("plain"), "");
    expect((await command(["init", "vscode", "--write"], { cwd: workspace.path("plain") })).code).toBe(3);
    await workspace.remove();
  });

  it.runIf(process.getuid?.() !== 0)("no right to write: exit code 3 and nothing half-written", async () => {
    const workspace = await tempWorkspace({ "x/a": "" });
    await chmod(workspace.path("x"), 0o500);
    expect((await command(["init", "claude-code", "--write"], { cwd: workspace.path("x") })).code).toBe(3);
    await chmod(workspace.path("x"), 0o700);
    expect(await readdir(workspace.path("x"))).toEqual(["a"]);
    await workspace.remove();
  });

  it("completes in a real shell", async () => {
    const script = (await command(["complete", "bash"])).out;
    expect(script).toContain("toolhaft");
    const shell = spawn("bash", ["-n"], { stdio: ["pipe", "ignore", "pipe"] });
    let err = "";
    shell.stderr.on("data", (data) => {
      err += data;
    });
    shell.stdin.end(script);
    const [code] = await once(shell, "exit");
    expect({ code, err }).toEqual({ code: 0, err: "" });
  });
});

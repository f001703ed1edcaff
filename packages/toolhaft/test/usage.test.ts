import { describe, expect, it } from "vitest";
import { command, fixtureRegistry } from "./command.ts";

describe("help and version", () => {
  it("prints help for the program and for each command on standard output", async () => {
    for (const words of [
      ["--help"],
      ["mcp", "--help"],
      ["list", "--help"],
      ["describe", "--help"],
      ["call", "--help"],
      ["doctor", "--help"],
      ["init", "--help"],
      ["trust", "--help"],
      ["memory", "--help"],
      ["complete", "--help"],
    ]) {
      const { code, out, err } = await command(words);
      expect(code).toBe(0);
      expect(err).toBe("");
      expect(out).toMatchSnapshot(words.join(" "));
    }
  });

  it("prints the version with the Node it runs on and the SQLite driver", async () => {
    expect(await command(["--version"])).toMatchObject({
      code: 0,
      out: expect.stringMatching(
        /^toolhaft \d+\.\d+\.\d+, Node v\d+\.\d+\.\d+, (better-sqlite3|node:sqlite|no SQLite driver)\n$/,
      ),
      err: "",
    });
  });

  it("loads no family for them", async () => {
    const known = fixtureRegistry();
    await command(["--help"], {}, known);
    await command(["list", "--help"], {}, known);
    expect(known.loaded).toEqual([]);
  });
});

describe("wrong usage", () => {
  it.each<[string, string[], RegExp]>([
    ["no command", [], /Usage: toolhaft/],
    ["an unknown command", ["lst"], /Did you mean list\?/],
    ["an unknown flag", ["list", "--jsn"], /Did you mean --json\?/],
    [
      "an unknown family",
      ["list", "fixtur"],
      /unknown family "fixtur": did you mean fixture\? There are: fixture, waiting, all/,
    ],
    ["an unknown family to serve", ["mcp", "nothing"], /unknown family "nothing"/],
    ["an unknown tool", ["call", "ecco", "{}"], /unknown tool "ecco": did you mean echo\?/],
    ["an unknown tool to describe", ["describe", "xyzzy"], /unknown tool "xyzzy"/],
    ["no input", ["call", "echo"], /missing required argument 'input'/],
    ["an unknown profile", ["list", "--profile", "olympia"], /Allowed choices are mcp/],
    ["a pattern that matches nothing", ["list", "--without", "ech0"], /echo/],
    ["a rule that is none", ["call", "echo", '{"text":"a"}', "--allow", ""], /--allow/],
    ["a time-out of nothing", ["call", "echo", '{"text":"a"}', "--timeout", "0"], /seconds/],
    ["a time-out that is no number", ["call", "echo", '{"text":"a"}', "--timeout", "soon"], /seconds/],
    ["a directory that is not there", ["mcp", "--directory", "/nowhere/at/all"], /--directory \/nowhere\/at\/all/],
    ["an unknown client", ["init", "zed"], /unknown client "zed"/],
    ["an unknown shell", ["complete", "tcsh"], /Allowed choices are bash/],
    ["a port that is none", ["mcp", "--http", "70000"], /a port from 0 to 65535/],
    [
      "http-3: a public address without token and name",
      ["mcp", "--http", "--host", "0.0.0.0"],
      /TOOLHAFT_TOKEN.*--allowed-host/,
    ],
    [
      "a public address without any token",
      ["mcp", "--http", "--host", "0.0.0.0", "--allowed-host", "a", "--no-auth"],
      /no-auth is for loopback only/,
    ],
    ["an address without HTTP", ["mcp", "--host", "0.0.0.0"], /--host is of use with --http only/],
    [
      "an unknown host of sessions",
      ["call", "echo", '{"text":"a"}', "--directory", "/nowhere"],
      /--directory \/nowhere/,
    ],
    ["broken JSON", ["call", "echo", '{"text":'], /the input is no JSON/],
    ["a file that is not there", ["call", "echo", "@missing.json"], /@missing.json: .*ENOENT/],
    ["nothing on standard input", ["call", "echo", "-"], /standard input holds no JSON/],
  ])("%s: exit code 2, the reason on standard error, nothing on standard output", async (_name, words, reason) => {
    const { code, out, err } = await command(words);
    expect(err).toMatch(reason);
    expect(out).toBe("");
    expect(code).toBe(2);
  });
});

describe("completion", () => {
  const completed = async (...words: string[]) =>
    (await command(["complete", "--", ...words])).out.split("\n").map((line) => line.split("\t")[0]);

  it.each(["bash", "zsh", "fish", "powershell"])("prints a script for %s, the same each time", async (shell) => {
    const first = await command(["complete", shell]);
    expect(first).toMatchObject({ code: 0, err: "", out: expect.stringContaining("toolhaft") });
    expect((await command(["complete", shell])).out).toBe(first.out);
  });

  it("offers commands, flags, families, clients and choices", async () => {
    expect(await completed("")).toEqual(expect.arrayContaining(["mcp", "list", "init", "doctor"]));
    expect(await completed("li")).toContain("list");
    expect(await completed("mcp", "--re")).toContain("--read-only");
    expect(await completed("list", "fix")).toContain("fixture");
    expect(await completed("init", "")).toEqual(expect.arrayContaining(["vscode", "codex"]));
    expect(await completed("list", "--profile", "gem")).toContain("gemini");
  });
});

import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { runExample, tempWorkspace } from "@toolhaft/testing";
import { describe, expect, it } from "vitest";
import { figureTables, replacePart, toolTables } from "../../packages/adapters/test/front-page.ts";

const root = new URL("../../", import.meta.url);
const readme = readFileSync(new URL("README.md", root), "utf8");
const command = fileURLToPath(new URL("packages/toolhaft/dist/bin.js", root));
const beside = new URL("./", import.meta.url);

const blocks = (language: string): string[] =>
  [...readme.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
    .filter(([, name]) => name === language)
    .map(([, , text = ""]) => text);
const example = (words: string): string => {
  const found = blocks("ts").filter((text) => text.includes(words));
  expect(found).toHaveLength(1);
  return found[0] ?? "";
};

// Each compiles a program and starts processes, on a machine that may be busy.
describe("the front page", { timeout: 300_000 }, () => {
  it("holds no program that is not run here", () => {
    expect(blocks("ts")).toHaveLength(3);
  });

  it("in the AI SDK: the model reads a file", async () => {
    await using workspace = await tempWorkspace({ "README.md": "a single option\n" });
    const preload = new URL("./fixtures/default-model.ts", import.meta.url);
    const printed = await runExample(example("toAiSdk("), beside, { cwd: workspace.directory, preload });
    expect(printed).toMatch(/^openai\/\S+ read .*README\.md.*a single option/);
  });

  it("by hand: text and data of a read, code and hint of a failure", async () => {
    await using workspace = await tempWorkspace({ "README.md": "a single option\n" });
    const program = example("await using hashline");
    const printed = await runExample(program, beside, { cwd: workspace.directory });
    expect(printed).toMatch(/^README\.md\nversion: [0-9a-f]{12}\n[\s\S]*1#[a-z]{2}\|a single option/);
    expect(printed).toContain("totalLines: 1");
  });

  it("a tool of your own is called", async () => {
    const calls = `${example("defineTool(")}\nconst result = await price.call({ item: "tea" });\nconsole.log(result.text);\n`;
    expect(await runExample(calls, beside)).toBe("tea: 3 €\n");
  });

  it("from the shell: every line runs", async () => {
    await using workspace = await tempWorkspace({ "README.md": "a single option\n" });
    const lines = blocks("sh").flatMap((text) => text.split("\n").filter((line) => line.startsWith("npx toolhaft ")));
    expect(lines).toHaveLength(3);
    for (const line of lines) {
      const printed = execFileSync("sh", ["-c", line.replace("npx toolhaft", '"$0" "$1"'), process.execPath, command], {
        cwd: workspace.directory,
        encoding: "utf8",
      });
      expect(printed, line).toMatch(/hashline_edit|1#[a-z]{2}\|a single option/);
    }
  });

  it("settings of a client name a command that serves", () => {
    const [settings = ""] = blocks("json");
    const { mcpServers }: { mcpServers: { toolhaft: { command: string; args: string[] } } } = JSON.parse(settings);
    expect(mcpServers.toolhaft).toEqual({ command: "npx", args: ["-y", "toolhaft", "mcp"] });
    // With the end of its input it ends, and its standard output is the protocol's alone.
    expect(execFileSync(process.execPath, [command, "mcp"], { input: "", stdio: ["pipe", "pipe", "ignore"] })).toEqual(
      Buffer.alloc(0),
    );
  });

  it("lists every tool as its definition says; after a change: npm run readme", async () => {
    expect(readme).toBe(replacePart(readme, "tools", await toolTables()));
  });

  it("has a row for every package that a release publishes, and for no other", () => {
    const folders = readdirSync(new URL("packages/", root)).filter((folder) => {
      const manifest = new URL(`packages/${folder}/package.json`, root);
      return existsSync(manifest) && JSON.parse(readFileSync(manifest, "utf8")).private !== true;
    });
    const rows = [...readme.matchAll(/^\| \[`(\S+)`\]\(packages\/([\w-]+)\)/gm)].map(([, , folder]) => folder);
    expect(rows.sort()).toEqual(folders.sort());
  });

  it("shows figures as the benches print them, a missed target included", () => {
    const row = (name: string, ratio: number, ok: boolean) => ({
      name,
      baseline: { name: "the peer" },
      ratio,
      target: { max: 1 },
      ok,
    });
    const aligned = figureTables({
      node: "v20.20.0",
      reports: [{ family: "meta", rows: [row("quick", 0.5, true), row("a | b", 2, false)] }],
    });
    const text = aligned.replace(/ +/g, " ");
    expect(text).toContain("npx pnpm bench meta");
    expect(text).toContain("| quick | the peer | 0.50 | ≤ 1 |");
    expect(text).toContain("| a \\| b | the peer | 2.00 | ≤ 1 (missed) |");
  });

  it("scripts and folders that it names are there", () => {
    const { scripts }: { scripts: Record<string, string> } = JSON.parse(
      readFileSync(new URL("package.json", root), "utf8"),
    );
    expect(scripts).toMatchObject({ start: expect.any(String), test: expect.any(String), bench: expect.any(String) });
    for (const [, path = ""] of readme.matchAll(/\]\(([^)#:]+)\)/g))
      expect(existsSync(new URL(path, root)), path).toBe(true);
  });
});

import { readFile, writeFile } from "node:fs/promises";
import { tempWorkspace } from "@toolhaft/testing";
import { describe, expect, it } from "vitest";
import { registry } from "../src/families.ts";
import { command } from "./command.ts";

/** With the real families. */
const run = (words: string[], cwd: string) => command(words, { cwd }, registry);

describe("toolhaft memory", () => {
  it("exports what a tool wrote, imports it elsewhere, checks, repairs, purges", async () => {
    const workspace = await tempWorkspace();
    const other = await tempWorkspace();
    const wrote = await run(
      [
        "call",
        "memory_write",
        '{"title":"Staging port","content":"The staging database listens on port 5433.","category":"fact"}',
      ],
      workspace.directory,
    );
    expect(wrote).toMatchObject({ code: 0 });
    expect((await run(["memory", "export", "out.jsonl"], workspace.directory)).code).toBe(0);
    expect(await readFile(workspace.path("out.jsonl"), "utf8")).toContain("5433");
    expect((await run(["memory", "export"], workspace.directory)).out).toContain("5433");
    const imported = await run(["memory", "import", workspace.path("out.jsonl"), "--json"], other.directory);
    expect(JSON.parse(imported.out)).toMatchObject({ imported: 1, problems: [] });
    expect((await run(["memory", "check"], other.directory)).out).toMatch(/^ok: 1 memories/);
    expect((await run(["memory", "repair"], other.directory)).code).toBe(0);
    const recalled = await run(["call", "memory_recall", '{"query":"staging port"}'], other.directory);
    expect(recalled.out).toContain("5433");
    expect(await run(["memory", "purge"], other.directory)).toMatchObject({
      code: 2,
      err: expect.stringContaining("--yes"),
    });
    expect((await run(["memory", "purge", "--yes", "--json"], other.directory)).out).toContain('"deleted": 0');
    await workspace.remove();
    await other.remove();
  });

  it("keeps the state where --store says", async () => {
    const workspace = await tempWorkspace({ "state/.keep": "" });
    await run(
      [
        "call",
        "memory_write",
        '{"title":"Elsewhere","content":"kept elsewhere","category":"fact"}',
        "--store",
        workspace.path("state"),
      ],
      workspace.directory,
    );
    expect((await run(["memory", "export", "--store", "state"], workspace.directory)).out).toContain("kept elsewhere");
    expect((await run(["memory", "export"], workspace.directory)).out).not.toContain("kept elsewhere");
    const database = await run(
      ["call", "memory_list", "{}", "--store", "postgres://u:secret@h/d"],
      workspace.directory,
    );
    expect(database).toMatchObject({ code: 3, out: "", err: expect.not.stringContaining("secret") });
    await workspace.remove();
  });

  it.each<[string, string[], number, RegExp]>([
    ["no action", ["memory"], 2, /missing required argument/],
    ["an unknown action", ["memory", "delete"], 2, /Allowed choices are export/],
    ["import of nothing", ["memory", "import"], 2, /needs a file/],
    ["import of an absent file", ["memory", "import", "absent.jsonl"], 2, /absent\.jsonl: .*ENOENT/],
    ["import of no export", ["memory", "import", "other.txt"], 2, /toolhaft:/],
    ["export over a file", ["memory", "export", "other.txt"], 2, /EEXIST/],
    ["days that are none", ["memory", "purge", "--idle", "soon"], 2, /whole number of days/],
  ])("%s", async (_what, words, code, message) => {
    const workspace = await tempWorkspace();
    await writeFile(workspace.path("other.txt"), "[1, 2]");
    const ran = await run(words, workspace.directory);
    expect(ran.err).toMatch(message);
    expect(ran).toMatchObject({ code, out: "" });
    expect(await readFile(workspace.path("other.txt"), "utf8")).toBe("[1, 2]");
    await workspace.remove();
  });
});

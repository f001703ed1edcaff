import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { createContext, toolset } from "@toolhaft/core";
import { tempWorkspace } from "@toolhaft/testing";
import { describe, expect, test } from "vitest";
import type { Place, Target } from "../src/index.ts";
import { createLspTools, diagnosticsAfterCommit } from "../src/index.ts";
import { fake } from "./support/fake.ts";
import { familyFor, serverModules } from "./support/family.ts";
import { typescriptProject } from "./support/projects.ts";

interface Places {
  target: Target;
  places: Place[];
  total: number;
  shown: number;
}

test("E2 the compiler nearest to the file is used, wherever the call starts", async () => {
  await using workspace = await tempWorkspace({
    "packages/a/package.json": "{}",
    "packages/a/tsconfig.json": '{ "compilerOptions": { "types": [] } }',
    "packages/a/x.ts": "export const x = 1;\n",
    "packages/b/package.json": "{}",
  });
  await mkdir(workspace.path("packages/a/node_modules"));
  await symlink(join(serverModules, "typescript"), workspace.path("packages/a/node_modules/typescript"));
  for (const directory of [".", "packages/b"]) {
    await using family = familyFor(
      workspace.path(directory),
      {},
      { worktree: workspace.directory, roots: [workspace.directory] },
    );
    await family.ok("hover", { filePath: workspace.path("packages/a/x.ts"), symbol: "x" });
    const { data } = await family.ok<{ servers: { version: string }[] }>("servers");
    expect(data.servers[0]?.version).toBe("5.9.3");
  }
});

test("E3 workspace symbols need a query, and then work in a fresh pool", async () => {
  await using workspace = await tempWorkspace(typescriptProject);
  await using family = familyFor(workspace.directory);
  for (const input of [{}, { query: "" }]) {
    expect(await family.fails("workspace_symbols", input)).toMatchObject({
      code: "invalid_input",
      text: expect.stringContaining("query"),
    });
  }
  const { data } = await family.ok<{ symbols: { name: string; path: string }[] }>("workspace_symbols", {
    query: "Circle",
  });
  expect(data.symbols[0]).toMatchObject({ name: "Circle", path: "src/shapes.ts" });

  // E4 on the same servers
  await workspace.write({
    "src/e4.ts":
      "declare const a: number, b: number;\nfunction sum(x: number, y: number) { return x + y; }\n  const total = sum(a, b);\nexport const again = [total, total];\n",
  });
  for (const character of [8 - 3, 8, 8 + 3]) {
    const { data: hover, text } = await family.ok<{ target: Target }>("hover", {
      filePath: "src/e4.ts",
      line: 2,
      character,
    });
    expect(["total", "const"]).toContain(hover.target.name);
    if (character < 8) expect(hover.target.name).toBe("const");
    else expect(text).toContain("total");
  }
  const snapped = await family.ok<Places>("find_references", { filePath: "src/e4.ts", line: 2, character: 14 });
  expect(snapped.data.target).toMatchObject({ name: "total", snapped: true, position: { line: 2, character: 8 } });
  expect(snapped.text).toContain("snapped");
  const named = await family.ok<Places>("find_references", { filePath: "src/e4.ts", symbol: "total" });
  expect(named.data.places).toEqual(snapped.data.places);
  const twice = await family.fails("hover", { filePath: "src/e4.ts", line: 3, symbol: "total" });
  expect(twice).toMatchObject({
    code: "invalid_input",
    message: expect.stringMatching(/#1 use 3:22[\s\S]*#2 use 3:29/),
  });
  const second = await family.ok<{ target: Target }>("hover", { filePath: "src/e4.ts", line: 3, symbol: "total#2" });
  expect(second.data.target.position).toEqual({ line: 3, character: 29 });
  expect(await family.fails("rename", { filePath: "src/e4.ts", line: 2, character: 14, newName: "x" })).toMatchObject({
    code: "invalid_input",
  });

  // positionBase 1 on the same pool: parameters and text change, data does not
  const lsp = createLspTools({ pool: family.lsp.pool, positionBase: 1 });
  const tool = toolset(lsp).get("lsp_find_references");
  const based = await tool?.call({ filePath: "src/e4.ts", line: 3, character: 9 }, { directory: workspace.directory });
  expect(based).toMatchObject({
    ok: true,
    data: { places: snapped.data.places, target: { position: { line: 2, character: 8 } } },
  });
  expect(based?.text).toContain("[src/e4.ts 3:9]");
  expect(based?.text).toContain("1-based");
  expect(
    await tool?.call({ filePath: "src/e4.ts", line: 0, character: 1 }, { directory: workspace.directory }),
  ).toMatchObject({ ok: false, error: { code: "invalid_input" } });

  // what an edit broke, and nothing else
  const hook = diagnosticsAfterCommit(family.lsp);
  const context = createContext({ directory: workspace.directory });
  const tsEdit = await family.ok("rename", { filePath: "src/e4.ts", symbol: "again", newName: "more" });
  expect(await hook(tsEdit.result.fileChanges ?? [], context)).toEqual([]);
  const before = "declare const a: number, b: number;\n";
  const workspaceOf = family.lsp.pool.engine.workspaceFor(workspace.directory);
  const path = workspace.path("src/e4.ts");
  const committed = await workspaceOf.edit(
    [path],
    (files) => {
      const file = files.get(path);
      if (!file) throw new Error("gone");
      const bytes = Buffer.from(Buffer.from(file.bytes).toString().replace("sum(a, b)", 'sum(a, "b")'));
      return {
        changes: [
          { kind: "replace", path, bytes, lineChanges: [{ oldStart: 3, oldLines: 1, newStart: 3, newLines: 1 }] },
        ],
        result: before,
      };
    },
    context,
  );
  const broken = await hook(committed.changes, context);
  expect(broken).toHaveLength(1);
  expect(broken[0]).toMatch(/^src\/e4\.ts 2:\d+ error 2345 /);
});

test("E5 ten thousand places stay within the text limit; every page together holds each once", async () => {
  const files = Object.fromEntries(
    Array.from({ length: 300 }, (_, index) => [
      `f/${index}.fake`,
      "foo foo foo foo foo foo foo foo foo foo foo foo foo foo foo foo foo\n",
    ]),
  );
  await using f = await fake(
    `server.capabilities.referencesProvider = true;
    server.on("textDocument/references", () => Array.from({ length: 300 }, (_, file) => Array.from({ length: 17 }, (_, n) => ({ uri: "file://" + process.cwd() + "/f/" + file + ".fake", range: { start: { line: 0, character: n * 4 }, end: { line: 0, character: n * 4 + 3 } } }))).flat());`,
    { files },
  );
  const call = { filePath: "a.fake", line: 0, symbol: "foo", limit: 1000 };
  const positions = new Set<string>();
  let input: object | undefined = call;
  let first: string | undefined;
  for (let page = 0; input; page++) {
    const { data, text }: { data: Places; text: string } = await f.family.ok<Places>("find_references", input);
    first ??= text;
    expect(text.length).toBeLessThanOrEqual(30_000);
    expect(data.total).toBe(5_100);
    for (const place of data.places) positions.add(`${place.path}:${place.range.start.character}`);
    const next: string | undefined = /more: lsp_find_references (\{.*\})$/m.exec(text)?.[1];
    input = next === undefined ? undefined : (JSON.parse(next) as object);
    expect(page).toBeLessThan(40);
  }
  expect(positions.size).toBe(5_100);
  expect(first).toMatch(/^5100 references to foo .* in 300 files/);
  const brief = await f.family.ok<Places>("find_references", { ...call, detail: "positions", limit: 200 });
  const usual = await f.family.ok<Places>("find_references", { ...call, limit: 200 });
  expect(brief.text.length).toBeLessThan(usual.text.length);
});

describe("bad input", () => {
  test("each has its own coded error", async () => {
    await using f = await fake(
      `server.on("textDocument/hover", () => ({ contents: "x" })); server.capabilities.renameProvider = true; server.on("textDocument/rename", () => server.fail(-32602, "not an identifier"));`,
      {
        files: { "b.unknown": "x\n", "c.fake/x.fake": "x\n", "bin.fake": "a\0b", "x.zig": "const a = 1;\n" },
        maxFileBytes: 1_000,
      },
    );
    await f.workspace.write({ "big.fake": "x".repeat(2_000) });
    const fails = (input: object, tool = "hover") => f.family.fails(tool, input);
    expect(await fails({}, "diagnostics")).toMatchObject({
      code: "invalid_input",
      message: expect.stringContaining("nothing was checked"),
    });

    const at = { filePath: "a.fake" };
    expect(await fails({ ...at, line: 0 })).toMatchObject({
      code: "invalid_input",
      hint: expect.stringContaining("ways:"),
    });
    expect(await fails({ ...at, symbol: "" })).toMatchObject({
      code: "invalid_input",
      text: expect.stringContaining("symbol"),
    });
    expect(await fails({ ...at, line: -1, character: 0 })).toMatchObject({
      code: "invalid_input",
      text: expect.stringContaining("line"),
    });
    expect(await fails({ ...at, line: 0.5, character: 0 })).toMatchObject({ code: "invalid_input" });
    expect(await fails({ ...at, line: 99, character: 0 })).toMatchObject({
      code: "invalid_input",
      message: "line: a.fake has 3 lines (0 to 2)",
    });
    expect(await fails({ filePath: "a.fak", line: 0, character: 0 })).toMatchObject({
      code: "not_found",
      hint: expect.stringContaining("a.fake"),
    });
    expect(await fails({ filePath: "c.fake", line: 0, character: 0 })).toMatchObject({
      code: "invalid_input",
      message: expect.stringContaining("folder"),
    });
    expect(await fails({ filePath: "bin.fake", line: 0, character: 0 })).toMatchObject({
      code: "unsupported",
      message: expect.stringContaining("binary"),
    });
    expect(await fails({ filePath: "b.unknown", line: 0, character: 0 })).toMatchObject({
      code: "unsupported",
      hint: expect.stringContaining("toolhaft.config.json"),
    });
    expect(await fails({ filePath: "x.zig", line: 0, character: 0 })).toMatchObject({
      code: "unavailable",
      hint: expect.stringContaining("zls"),
    });
    expect(await fails({ filePath: "big.fake", line: 0, character: 0 })).toMatchObject({
      code: "too_large",
      hint: expect.stringContaining("maxFileBytes"),
    });
    expect(await fails({ filePath: "/etc/hostname.fake", line: 0, character: 0 })).toMatchObject({
      code: expect.stringMatching(/denied|not_found/),
    });
    expect(await fails({ ...at, symbol: "nothing" })).toMatchObject({ code: "not_found" });
    const rename = { ...at, line: 0, symbol: "foo" };
    for (const newName of ["", "a\nb", "foo"])
      expect(await fails({ ...rename, newName }, "rename")).toMatchObject({ code: "invalid_input" });
    expect(await fails({ ...rename, newName: "1x" }, "rename")).toMatchObject({
      code: "upstream",
      message: expect.stringContaining("not an identifier"),
    });
    expect(await fails({ ...rename, newName: "x", server: "nobody" }, "rename")).toMatchObject({
      code: "not_found",
      hint: expect.stringContaining("fake"),
    });
    expect(await fails({ item: "call_nothing" }, "incoming_calls")).toMatchObject({
      code: "not_found",
      hint: expect.stringContaining("lsp_prepare_call_hierarchy"),
    });
    expect(await fails({ languageId: "fakee" }, "restart_server")).toMatchObject({
      code: "not_found",
      hint: expect.stringContaining("fake"),
    });
    expect(await f.workspace.read("a.fake")).toBe("foo();\nbar foo\n");
  });

  test("a file: URI and an absolute path are taken, too", async () => {
    await using f = await fake(`server.on("textDocument/hover", () => ({ contents: "x" }));`);
    const path = f.workspace.path("a.fake");
    for (const filePath of [path, `file://${path}`, "./a.fake"])
      expect((await f.family.ok("hover", { filePath, line: 0, character: 0 })).text).toContain("[a.fake 0:0]");
  });

  test("a configuration that does not parse is located, and the rest works", async () => {
    await using f = await fake(`server.on("textDocument/hover", () => ({ contents: "x" }));`, {
      files: {
        "toolhaft.config.json": '{\n  // a comment\n  "lsp": { "serverz": {}, "servers": { "go": { "args": 1 } }\n',
      },
    });
    await f.family.ok("hover", { filePath: "a.fake", line: 0, character: 0 });
    const { data } = await f.family.ok<{ problems: string[] }>("servers");
    expect(data.problems[0]).toMatch(/toolhaft\.config\.json \d+:\d+ is no JSON/);
    await f.workspace.write({
      "toolhaft.config.json": '{\n  "lsp": { "serverz": {}, "servers": { "go": { "args": 1 }, "json": false, } }\n}\n',
    });
    await f.family.call("restart_server", { languageId: "fake" });
    const again = await f.family.ok<{ problems: string[] }>("servers");
    expect(again.data.problems.join("\n")).toMatch(
      /2:23 lsp\.serverz is not known[\s\S]*lsp\.servers\.go\.args must be a list of strings/,
    );
  });

  test("what the folder chooses is asked for once, and left out when refused", async () => {
    await using workspace = await tempWorkspace({
      ...typescriptProject,
      "toolhaft.config.json":
        '{ "lsp": { "servers": { "mine": { "command": "node", "files": [{ "languageId": "mine", "extensions": [".mine"] }] } } } }',
      "a.mine": "x\n",
    });
    await mkdir(workspace.path("node_modules"));
    await symlink(join(serverModules, "typescript"), workspace.path("node_modules/typescript"));
    const asked: string[] = [];
    const asker = async (request: { permission: string; resources: readonly string[] }) => {
      asked.push(`${request.permission} ${request.resources.join()}`);
      return { allow: false as const };
    };
    await using family = familyFor(workspace.directory, { trust: "ask" }, { asker });
    const refused = await family.fails("hover", { filePath: "a.mine", line: 0, character: 0 });
    expect(refused.code).toBe("denied");
    const { text } = await family.ok("hover", { filePath: "src/shapes.ts", symbol: "scale" });
    expect(text).toMatch(/note from typescript: the folder's own typescript 5\.9\.3 was not used/);
    expect(asked).toEqual([`workspace.run ${workspace.directory}`]);
  });
});

test("two folders on one pool: a server each, and nothing of one in the other", async () => {
  await using f = await fake(
    `server.capabilities.diagnosticProvider = {};
    server.capabilities.renameProvider = true;
    const range = { start: { line: 0, character: 0 }, end: { line: 0, character: 3 } };
    server.on("textDocument/diagnostic", () => ({ kind: "full", items: [{ range, message: "in " + process.cwd().split("/").pop() }] }));
    server.on("textDocument/rename", ({ newName }) => ({ changes: { ["file://" + process.cwd() + "/a.fake"]: [{ range, newText: newName }] } }));`,
    { files: { "one/a.fake": "foo\n", "two/a.fake": "foo\n" } },
  );
  const call = async (folder: string, name: string, input: object) => {
    const tools = toolset(createLspTools({ pool: f.family.lsp.pool }));
    const result = await tools.get(`lsp_${name}`)?.call(input, { directory: f.workspace.path(folder) });
    if (!result?.ok) throw new Error(result?.text);
    return result.text;
  };
  const both = await Promise.all(["one", "two"].map((folder) => call(folder, "diagnostics", { filePath: "a.fake" })));
  expect(both[0]).toContain("in one");
  expect(both[1]).toContain("in two");
  // all that is open: of this folder only
  expect(await call("one", "diagnostics", {})).toMatch(/^1 error in a\.fake/);
  await call("one", "rename", { filePath: "a.fake", line: 0, symbol: "foo", newName: "bar" });
  expect(await f.workspace.read("one/a.fake")).toBe("bar\n");
  expect(await f.workspace.read("two/a.fake")).toBe("foo\n");
  expect(f.received("initialize")).toHaveLength(2);
});

test("lines end at LF, CRLF and CR alike, and columns after them are right", async () => {
  await using f = await fake(
    `server.capabilities.documentHighlightProvider = true;
    server.on("textDocument/documentHighlight", ({ position }) => [{ range: { start: position, end: { line: position.line, character: position.character + 3 } } }]);`,
    { files: { "mixed.fake": "one\r\n😀 two\rthree 😀 foo\nlast foo" } },
  );
  for (const [line, character] of [
    [2, 9],
    [3, 5],
  ]) {
    const { data } = await f.family.ok<Places>("document_highlights", { filePath: "mixed.fake", line, symbol: "foo" });
    expect(data.places).toMatchObject([
      { range: { start: { line, character } }, text: expect.stringContaining("foo") },
    ]);
  }
  expect(await f.family.fails("hover", { filePath: "mixed.fake", line: 4, character: 0 })).toMatchObject({
    message: expect.stringContaining("4 lines"),
  });
});

import { long, runs, tempWorkspace } from "@toolhaft/testing";
import { expect, test } from "vitest";
import type { EditData, Place } from "../src/index.ts";
import { fake } from "./support/fake.ts";
import { familyFor } from "./support/family.ts";
import { generatedTree } from "./support/generated-tree.ts";

interface Places {
  places: Place[];
  total: number;
  complete: boolean;
}

test("B1 the first references of a fresh pool on 600 files are all there, and equal the tenth", async () => {
  const tree = generatedTree();
  await using workspace = await tempWorkspace(tree.files);
  for (let round = 0; round < runs(20); round++) {
    await using family = familyFor(workspace.directory);
    const ask = () =>
      family.ok<Places>("find_references", { filePath: tree.definition, symbol: tree.symbol, limit: 1000 });
    const first = await ask();
    expect(first.data).toMatchObject({ complete: true, total: tree.references });
    for (let call = 0; call < 9; call++) expect((await ask()).data.places).toEqual(first.data.places);
  }
});

test("B1 with the syntax server allowed an answer is whole or marked partial, never short and complete", async () => {
  const tree = long ? generatedTree() : generatedTree(4);
  await using workspace = await tempWorkspace(tree.files);
  for (let round = 0; round < runs(8); round++) {
    await using family = familyFor(workspace.directory, {
      servers: { typescript: { initializationOptions: { tsserver: { useSyntaxServer: "auto" } } } },
    });
    const { data } = await family.ok<Places>("find_references", {
      filePath: tree.definition,
      symbol: tree.symbol,
      limit: 1000,
    });
    expect(data.total === tree.references || !data.complete).toBe(true);
  }
});

test("B3 a crash that looks like loaded is an error", async () => {
  const begin = `server.ask("window/workDoneProgress/create", { token: "p" }); server.notify("$/progress", { token: "p", value: { kind: "begin", title: "loading" } });`;
  const refs = `server.capabilities.referencesProvider = true; server.on("textDocument/references", () => server.silence());`;
  const during = `${refs} server.on("initialized", () => { ${begin} setTimeout(() => { console.error("out of memory"); process.exit(134); }, 100); });`;
  const after = `${refs} server.on("initialized", () => { ${begin} server.notify("$/progress", { token: "p", value: { kind: "end" } }); }); server.on("textDocument/references", () => { console.error("out of memory"); setTimeout(() => process.exit(134), 20); return server.silence(); });`;
  for (const scenario of [during, after]) {
    await using f = await fake(scenario, { definition: { ready: { by: "progress" } } });
    const failure = await f.family.fails("find_references", { filePath: "a.fake", line: 0, character: 0 });
    expect(failure.code).toMatch(/upstream|unavailable/);
    expect(failure.text).toMatch(/134/);
    expect(failure.text).toContain("out of memory");
    expect(failure.text).not.toMatch(/No references/);
    expect(f.received("initialize")).toHaveLength(2);
  }
});

test("B4 files that a server would leave out are opened before a rename", async () => {
  await using f = await fake(
    `server.capabilities.renameProvider = true;
    server.on("textDocument/rename", ({ newName }) => ({ changes: Object.fromEntries([...server.documents.values()].map(({ uri, text }) => [uri, [...text.matchAll(/foo/g)].map((match) => {
      const before = text.slice(0, match.index).split("\\n");
      const line = before.length - 1, character = before.at(-1).length;
      return { range: { start: { line, character }, end: { line, character: character + 3 } }, newText: newName };
    })])) }));`,
    {
      definition: { editsOpenFilesOnly: true },
      files: { "b.fake": "foo\n", "c/d.fake": "x foo\n", "e.fake": "food\n" },
    },
  );
  const { data } = await f.family.ok<EditData>("rename", {
    filePath: "a.fake",
    line: 0,
    symbol: "foo",
    newName: "baz",
  });
  expect(data.files.map((file) => file.path)).toEqual(["a.fake", "b.fake", "c/d.fake"]);
  expect(await f.workspace.read("c/d.fake")).toBe("x baz\n");
  expect(await f.workspace.read("e.fake")).toBe("food\n");
});

const loading = `
  server.capabilities.referencesProvider = true; server.capabilities.renameProvider = true; server.capabilities.workspaceSymbolProvider = true; server.capabilities.diagnosticProvider = {};
  server.on("initialized", () => server.notify("$/progress", { token: 1, value: { kind: "begin", title: "indexing", percentage: 62 } }));
  for (const method of ["textDocument/references", "textDocument/hover", "textDocument/rename", "workspace/symbol"]) server.on(method, () => null);
  server.on("textDocument/diagnostic", () => ({ kind: "full", items: [] }));`;
const tools: [string, object][] = [
  ["find_references", { filePath: "a.fake", line: 0, character: 0 }],
  ["hover", { filePath: "a.fake", line: 0, character: 0 }],
  ["diagnostics", { filePath: "a.fake" }],
  ["rename", { filePath: "a.fake", line: 0, symbol: "foo", newName: "x" }],
  ["workspace_symbols", { query: "foo", filePath: "a.fake" }],
];

test("the four situations give four different answers", async () => {
  const nothing = loading.replace(/server.on\("initialized".*\n/, "");
  await using empty = await fake(nothing);
  await using none = await fake(
    `server.capabilities = { textDocumentSync: 1 }; server.on("textDocument/publishNothing", () => {});`,
    { timeouts: { push: 300 } },
  );
  await using wait = await fake(loading, {
    definition: { ready: { by: "progress" } },
    timeouts: { ready: 300, call: 8_000 },
  });
  await using broken = await fake(
    nothing
      .replaceAll("() => null", `() => server.fail(-32603, "inner trouble")`)
      .replace(`() => ({ kind: "full", items: [] })`, `() => server.fail(-32603, "inner trouble")`),
  );
  for (const [tool, input] of tools) {
    const results = [];
    for (const one of [empty, none, wait, broken]) results.push(await one.family.call(tool, input));
    const [first, second, third, fourth] = results;
    if (tool === "rename") expect(first).toMatchObject({ ok: false, error: { code: "invalid_input" } });
    else expect(first).toMatchObject({ ok: true, data: { complete: true } });
    // every server may push diagnostics: one that is silent is not known to be clean
    expect(second).toMatchObject({ ok: false, error: { code: tool === "diagnostics" ? "timeout" : "unsupported" } });
    expect(third).toMatchObject({
      ok: false,
      error: { code: "unavailable", retryable: true, details: { state: "loading" } },
    });
    expect(third?.text).toMatch(/fake is not ready: .*62 %/);
    expect(fourth).toMatchObject({ ok: false, error: { code: "upstream" } });
    expect(fourth?.text).toContain("inner trouble");
    expect(new Set(results.map((result) => result.text)).size).toBe(4);
  }
});

test("a non-empty answer of a loading server is partial and says so first", async () => {
  await using f = await fake(
    loading
      .replace(`"textDocument/hover", `, "")
      .replace(
        `server.on("initialized"`,
        `server.on("textDocument/hover", () => ({ contents: "some" })); server.on("initialized"`,
      ),
    {
      definition: { ready: { by: "progress" } },
      timeouts: { ready: 300 },
    },
  );
  const { data, text } = await f.family.ok<{ complete: boolean }>("hover", {
    filePath: "a.fake",
    line: 0,
    character: 0,
  });
  expect(data.complete).toBe(false);
  expect(text).toMatch(/^PARTIAL \(fake is indexing, 62 %\): /);
});

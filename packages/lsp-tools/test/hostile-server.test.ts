import { truncate } from "node:fs/promises";
import { identify, isRunning } from "@toolhaft/process";
import { expect, test } from "vitest";
import type { DiagnosticsData, Place } from "../src/index.ts";
import { fake, until } from "./support/fake.ts";

const at = { filePath: "a.fake", line: 0, character: 0 };
const fine = `server.on("textDocument/hover", () => ({ contents: "fine" }));`;
/** Answers every request of these methods with what a file of the workspace holds, whatever that is. */
const replay = (methods: readonly string[]) => `
  const { readFileSync } = await import("node:fs");
  const stored = () => JSON.parse(readFileSync(process.cwd() + "/answer.json", "utf8").replaceAll("URI:", "file://" + process.cwd() + "/"));
  for (const method of ${JSON.stringify(methods)}) server.on(method, stored);
  ${fine}`;

test("a flood on stderr is kept in bounded memory, and the last words of it are what is quoted", async () => {
  await using f = await fake(`
    server.on("textDocument/hover", async ({ position }) => {
      const { writeSync } = await import("node:fs");
      const line = "noise ".repeat(200) + "\\n";
      for (let n = 0; n < 2000; n++) writeSync(2, line);
      writeSync(2, "the last words\\n");
      if (position.line === 1) process.exit(7);
      return { contents: "fine" };
    });`);
  expect((await f.family.ok("hover", at)).text).toContain("fine");
  const [entry] = f.family.lsp.pool.engine.entries;
  expect(entry?.life?.child.stderrTail.total).toBeGreaterThan(2_000_000);
  expect(entry?.life?.child.stderrTail.text().length).toBeLessThanOrEqual(64 * 1024);
  const failure = await f.family.fails("hover", { ...at, line: 1 });
  expect(failure).toMatchObject({ code: "upstream", message: expect.stringContaining("the last words") });
  expect(failure.text.length).toBeLessThan(5_000);
});

test("a server that never reads its input is found out, named and replaced", async () => {
  await using f = await fake(
    `const { existsSync, writeFileSync } = await import("node:fs");
    if (!existsSync(process.cwd() + "/again")) {
      server.on("initialized", () => { writeFileSync(process.cwd() + "/again", ""); setInterval(() => {}, 1e6); process.stdin.pause(); });
    }
    ${fine}`,
    { files: { "big.fake": "word ".repeat(40_000) }, timeouts: { fast: 1_000, ready: 1_000, health: 500 } },
  );
  const failure = await f.family.fails("hover", { ...at, filePath: "big.fake" });
  expect(failure).toMatchObject({ code: "timeout", message: expect.stringContaining("fake") });
  // on a busy machine the new one, too, may take more than a second
  await until(async () => (await f.family.call("hover", { ...at, filePath: "big.fake" })).ok);
  expect(f.received("initialize").length).toBeGreaterThan(1);
});

test("a second answer to one request, and answers that nobody asked for, change nothing", async () => {
  await using f = await fake(`
    let count = 0;
    server.on("textDocument/hover", (params, id) => {
      server.send({ id: 9999, result: "nobody asked" });
      server.send({ id, result: { contents: "answer " + ++count } });
      server.send({ id, result: { contents: "answer " + count + " again" } });
    });`);
  for (const round of [1, 2, 3]) expect((await f.family.ok("hover", at)).text).toContain(`answer ${round}`);
  expect(f.received("initialize")).toHaveLength(1);
});

test.each([
  ["a body that is no JSON", `server.raw("Content-Length: 9\\r\\n\\r\\n{broken!}")`],
  [
    "a body of another length",
    `server.raw("Content-Length: 5\\r\\n\\r\\n" + JSON.stringify({ jsonrpc: "2.0", id, result: null }))`,
  ],
  ["a length that is no number", `server.raw("Content-Length: many\\r\\n\\r\\n{}")`],
  ["the end of its output", `process.stdout.end()`],
])("%s is an error that names the server, and the next call works", async (_, fault) => {
  await using f = await fake(
    `server.on("textDocument/hover", ({ position }, id) => { if (position.line === 1) { ${fault}; return server.silence(); } return { contents: "fine" }; });`,
    { timeouts: { fast: 2_000, health: 500 } },
  );
  await f.family.ok("hover", at);
  const failure = await f.family.fails("hover", { ...at, line: 1 });
  expect(failure.code).toMatch(/^(?:upstream|timeout|unavailable)$/);
  expect(failure.text).toContain("fake");
  // the read was repeated on a second process, which did the same: that is what the wait of a second is for
  await f.family.ok("restart_server", { languageId: "fake" });
  expect((await f.family.ok("hover", at)).text).toContain("fine");
});

test("a server that ends between two calls is started again, and the call after it succeeds", async () => {
  await using f = await fake(fine);
  for (let round = 0; round < 5; round++) {
    const { pid } = f.family.lsp.pool.engine.entries[0] ?? {};
    // not awaited: the call meets the process dead, dying, or still alive, and must not care
    if (pid !== undefined) process.kill(pid, "SIGKILL");
    if (round > 0) f.family.lsp.pool.engine.entries[0]?.pardon();
    expect((await f.family.ok("hover", at)).text).toContain("fine");
  }
});

const nonsense = [
  7,
  "words",
  true,
  {},
  [null],
  [7],
  ["words"],
  [{}],
  [[]],
  { contents: 7, range: "none", items: 7, data: "x", signatures: 7, uri: 7, documentChanges: 7, kind: 7 },
  [{ uri: "URI:a.fake" }],
  [{ uri: 7, range: { start: { line: 0, character: 0 }, end: { line: 0, character: 1 } } }],
  [{ uri: "URI:a.fake", range: { start: { line: "0" }, end: {} }, name: 7, kind: "x", selectionRange: {} }],
  [{ uri: "URI:a.fake", range: { start: { line: -4, character: -1 }, end: { line: 1e12, character: 1e12 } } }],
  [
    {
      name: "x",
      label: "x",
      kind: 1,
      location: {},
      range: {},
      position: {},
      color: {},
      newText: 7,
      edits: 7,
      command: 7,
    },
  ],
  { changes: { "URI:a.fake": [{ newText: 7 }] } },
  { documentChanges: [{ kind: "create" }, {}] },
  { items: [null, { label: 7 }], isIncomplete: "x" },
  { signatures: [null, { label: 7, parameters: 7 }] },
  { kind: "full", items: [null, { message: 7, range: null }] },
  { data: [1, 2, 3, "x", null] },
] as const;
const everyTool: [string, object][] = [
  ["diagnostics", { filePath: "a.fake" }],
  ["goto_definition", at],
  ["goto_type_definition", at],
  ["goto_implementation", at],
  ["goto_declaration", at],
  ["find_references", at],
  ["document_highlights", at],
  ["document_symbols", { filePath: "a.fake" }],
  ["workspace_symbols", { query: "foo", filePath: "a.fake" }],
  ["hover", at],
  ["signature_help", at],
  ["completion", at],
  ["prepare_rename", at],
  ["rename", { ...at, newName: "x" }],
  ["code_actions", { filePath: "a.fake", startLine: 0 }],
  ["execute_code_action", { filePath: "a.fake", startLine: 0, title: "x" }],
  ["format_document", { filePath: "a.fake" }],
  ["format_range", { filePath: "a.fake", startLine: 0 }],
  ["prepare_call_hierarchy", at],
  ["incoming_calls", at],
  ["outgoing_calls", at],
  ["type_hierarchy_supertypes", at],
  ["type_hierarchy_subtypes", at],
  ["folding_ranges", { filePath: "a.fake" }],
  ["selection_ranges", { filePath: "a.fake", positions: [{ line: 0, character: 0 }] }],
  ["semantic_tokens", { filePath: "a.fake" }],
  ["code_lens", { filePath: "a.fake" }],
  ["inlay_hints", { filePath: "a.fake" }],
  ["document_links", { filePath: "a.fake" }],
  ["document_colors", { filePath: "a.fake" }],
];

test("answers of any wrong shape are the server's fault: never a crash of ours, never a written file", async () => {
  const methods = [
    ..."diagnostic definition typeDefinition implementation declaration references documentHighlight documentSymbol signatureHelp completion prepareRename rename codeAction formatting rangeFormatting prepareCallHierarchy prepareTypeHierarchy foldingRange selectionRange semanticTokens/full codeLens inlayHint documentLink documentColor hover"
      .split(" ")
      .map((name) => `textDocument/${name}`),
    "workspace/symbol",
  ];
  const announce = `Object.assign(server.capabilities, { definitionProvider: true, typeDefinitionProvider: true, implementationProvider: true, declarationProvider: true, referencesProvider: true, documentHighlightProvider: true, documentSymbolProvider: true, workspaceSymbolProvider: true, signatureHelpProvider: {}, completionProvider: {}, renameProvider: { prepareProvider: true }, codeActionProvider: true, documentFormattingProvider: true, documentRangeFormattingProvider: true, callHierarchyProvider: true, typeHierarchyProvider: true, foldingRangeProvider: true, selectionRangeProvider: true, semanticTokensProvider: { legend: { tokenTypes: ["a"], tokenModifiers: [] }, full: true }, codeLensProvider: {}, inlayHintProvider: true, documentLinkProvider: {}, colorProvider: true, diagnosticProvider: {} });`;
  await using f = await fake(`${announce}\n${replay(methods).replace(fine, "")}`, { timeouts: { push: 300 } });
  const before = await f.workspace.read("a.fake");
  const wrong: string[] = [];
  for (const answer of nonsense) {
    await f.workspace.write({ "answer.json": JSON.stringify(answer) });
    for (const [tool, input] of everyTool) {
      const result = await f.family.call(tool, input);
      const said = `${tool} on ${JSON.stringify(answer).slice(0, 100)}: ${result.text.slice(0, 150)}`;
      if (!result.ok && result.error.code === "internal") wrong.push(said);
      if (result.text.includes("undefined") || result.text.includes("[object") || result.text.includes("NaN"))
        wrong.push(said);
    }
    expect(await f.workspace.read("a.fake")).toBe(before);
  }
  expect(wrong).toEqual([]);
  expect(f.received("initialize")).toHaveLength(1);
}, 300_000);

test("a file of fifty megabytes is too large, and no server is told of it", async () => {
  await using f = await fake(fine, { files: { "huge.fake": "" } });
  await truncate(f.workspace.path("huge.fake"), 50 * 1024 * 1024);
  expect(await f.family.fails("hover", { ...at, filePath: "huge.fake" })).toMatchObject({
    code: "too_large",
    hint: expect.stringContaining("maxFileBytes"),
  });
  expect(f.received("textDocument/didOpen")).toEqual([]);
});

test("what is printed under five thousand diagnostics and nineteen thousand completions stays within the cap", async () => {
  await using f = await fake(`
    const range = (n) => ({ start: { line: n % 2, character: 0 }, end: { line: n % 2, character: 3 } });
    server.capabilities.diagnosticProvider = {};
    server.capabilities.completionProvider = {};
    server.on("textDocument/diagnostic", () => ({ kind: "full", items: Array.from({ length: 5000 }, (_, n) => ({ range: range(n), severity: 1 + (n % 4), code: "c" + n, message: "trouble " + n + " " + "x".repeat(n % 7 === 0 ? 700 : 5) })) }));
    server.on("textDocument/completion", () => ({ isIncomplete: false, items: Array.from({ length: 19000 }, (_, n) => ({ label: "item" + n, kind: 6, ...(n % 20 === 0 && { detail: "d".repeat(3000), documentation: "w".repeat(9000) }) })) }));`);
  const seen = new Set<string>();
  let input: object | undefined = { filePath: "a.fake", limit: 1000 };
  for (let page = 0; input; page++) {
    const { data, text }: { data: DiagnosticsData; text: string } = await f.family.ok("diagnostics", input);
    expect(text.length).toBeLessThanOrEqual(30_000);
    expect(data.total).toBe(5_000);
    // what the text shows, not what the data holds: the next call continues after the last line that was printed
    const printed = [...text.matchAll(/ c(\d+) trouble/g)].map((match) => String(match[1]));
    for (const code of printed) {
      expect(seen.has(code), `${code} twice`).toBe(false);
      seen.add(code);
    }
    const next: string | undefined = /more: lsp_diagnostics (\{.*\})$/m.exec(text)?.[1];
    input = next === undefined ? undefined : (JSON.parse(next) as object);
    expect(page).toBeLessThan(200);
  }
  expect(seen.size).toBe(5_000);
  const completion = await f.family.ok<{ total: number; items: unknown[] }>("completion", { ...at, maxItems: 100 });
  expect(completion.data).toMatchObject({ total: 19_000 });
  expect(completion.data.items).toHaveLength(100);
  expect(completion.text.length).toBeLessThanOrEqual(30_000);
  expect(completion.text).toMatch(/^100 of 19000 completions/);
});

test("ten thousand references: every page within the cap, each place printed exactly once", async () => {
  const files = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`f/${n}.fake`, "foo\n".repeat(100)]));
  await using f = await fake(
    `server.capabilities.referencesProvider = true;
    server.on("textDocument/references", () => Array.from({ length: 10000 }, (_, n) => ({ uri: "file://" + process.cwd() + "/f/" + (n % 100) + ".fake", range: { start: { line: Math.floor(n / 100), character: 0 }, end: { line: Math.floor(n / 100), character: 3 } } })));`,
    { files },
  );
  for (const detail of ["positions", "block"]) {
    const seen = new Set<string>();
    let input: object | undefined = { ...at, limit: 1000, detail };
    for (let page = 0; input; page++) {
      const { data, text }: { data: { places: Place[]; total: number; offset: number }; text: string } =
        await f.family.ok("find_references", input);
      expect(text.length).toBeLessThanOrEqual(30_000);
      expect(data.total).toBe(10_000);
      const next: string | undefined = /more: lsp_find_references (\{.*\})$/m.exec(text)?.[1];
      const upTo = next === undefined ? data.total : (JSON.parse(next) as { offset: number }).offset;
      for (const place of data.places.slice(0, upTo - data.offset)) {
        const key = `${place.path}:${place.range.start.line}`;
        expect(seen.has(key), `${key} twice`).toBe(false);
        seen.add(key);
      }
      input = next === undefined ? undefined : (JSON.parse(next) as object);
      expect(page).toBeLessThan(300);
    }
    expect(seen.size, detail).toBe(10_000);
  }
});

test("a server that forks and floods is gone with everything it started when the family closes", async () => {
  const f = await fake(`
    const { spawn } = await import("node:child_process");
    const child = spawn(process.execPath, ["-e", "setInterval(() => process.stderr.write('x'.repeat(1e5)), 5)"], { stdio: ["ignore", "ignore", "inherit"] });
    server.on("textDocument/hover", () => ({ contents: "child " + child.pid }));`);
  const { text } = await f.family.ok("hover", at);
  const identity = await identify(Number(/child (\d+)/.exec(text)?.[1]));
  expect(identity && (await isRunning(identity))).toBe(true);
  await f[Symbol.asyncDispose]();
  if (identity) await until(async () => !(await isRunning(identity)));
});

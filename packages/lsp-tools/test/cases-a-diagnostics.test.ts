import { execFile } from "node:child_process";
import { rename, rm } from "node:fs/promises";
import { promisify } from "node:util";
import { identify, isRunning } from "@toolhaft/process";
import { tempWorkspace } from "@toolhaft/testing";
import { expect, test } from "vitest";
import type { DiagnosticsData, Place } from "../src/index.ts";
import { pathToUri, uriKey, uriToPath } from "../src/uris.ts";
import { fake, until } from "./support/fake.ts";
import { familyFor } from "./support/family.ts";

const run = promisify(execFile);
const one = (message: string, severity = 1) =>
  `{ range: { start: { line: 0, character: 0 }, end: { line: 0, character: 3 } }, severity: ${severity}, message: ${JSON.stringify(message)} }`;
const messages = (data: DiagnosticsData) =>
  data.files.flatMap((file) => file.diagnostics.map((diagnostic) => diagnostic.message));

test("A1 the first publish, pull or question is the answer", async () => {
  await using workspace = await tempWorkspace({
    "tsconfig.json": '{ "compilerOptions": { "strict": true, "types": [] } }',
    "src/a.ts": 'export const n: number = "x";\n',
  });
  await using family = familyFor(workspace.directory);
  const { data } = await family.ok<DiagnosticsData>("diagnostics", { filePath: "src/a.ts" });
  expect(data.files).toMatchObject([{ freshness: "current", diagnostics: [{ code: "2322" }] }]);

  // A5: the file is changed by others, and back
  const write = (text: string) =>
    run(process.execPath, [
      "-e",
      `require("fs").writeFileSync(${JSON.stringify(workspace.path("src/a.ts"))}, ${JSON.stringify(text)})`,
    ]);
  await write('export const n: number = "5";\n');
  expect((await family.ok<DiagnosticsData>("diagnostics", { filePath: "src/a.ts" })).data.counts.error).toBe(1);
  await write("export const n: number = 50;\n".padEnd(31, "\n"));
  expect((await family.ok<DiagnosticsData>("diagnostics", { filePath: "src/a.ts" })).text).toMatch(
    /^src\/a\.ts is clean · typescript/,
  );
  // twenty rewrites in a row: the last state counts
  for (let round = 0; round < 20; round++)
    await workspace.write({ "src/a.ts": `export const n: number = ${round % 2 ? 1 : '"x"'};\n` });
  expect((await family.ok<DiagnosticsData>("diagnostics", { filePath: "src/a.ts" })).data.counts.error).toBe(0);
});

test("A2 no pull where none is offered", async () => {
  await using f = await fake(`
    server.on("textDocument/diagnostic", () => server.silence());
    server.on("textDocument/didOpen", async ({ textDocument }) => {
      await server.sleep(300);
      server.notify("textDocument/publishDiagnostics", { uri: textDocument.uri, version: textDocument.version, diagnostics: [${one("pushed")}] });
    });`);
  const { data } = await f.family.ok<DiagnosticsData>("diagnostics", { filePath: "a.fake" });
  expect(messages(data)).toEqual(["pushed"]);
  expect(f.received("textDocument/diagnostic")).toEqual([]);
});

test("A2 pull that is registered later is used, and no more once it is unregistered", async () => {
  await using f = await fake(`
    const registered = new Promise((resolve) => server.on("initialized", async () => {
      await server.sleep(200);
      await server.ask("client/registerCapability", { registrations: [{ id: "r", method: "textDocument/diagnostic", registerOptions: { documentSelector: [{ language: "fake" }], interFileDependencies: false, workspaceDiagnostics: false } }] });
      resolve();
    }));
    server.capabilities.documentHighlightProvider = true;
    server.on("textDocument/documentHighlight", async () => { await registered; return null; });
    server.on("textDocument/diagnostic", () => ({ kind: "full", resultId: "1", items: [${one("pulled")}] }));
    server.on("textDocument/hover", async () => {
      await server.ask("client/unregisterCapability", { unregisterations: [{ id: "r", method: "textDocument/diagnostic" }] });
      return { contents: "unregistered" };
    });
    server.on("textDocument/didChange", ({ textDocument }) => server.notify("textDocument/publishDiagnostics", { uri: textDocument.uri, version: textDocument.version, diagnostics: [${one("pushed")}] }));`);
  // answered once the registration has been
  await f.family.ok("document_highlights", { filePath: "a.fake", line: 0, character: 0 });
  expect(messages((await f.family.ok<DiagnosticsData>("diagnostics", { filePath: "a.fake" })).data)).toEqual([
    "pulled",
  ]);
  await f.family.ok("hover", { filePath: "a.fake", line: 0, character: 0 });
  await f.workspace.write({ "a.fake": "changed\n" });
  expect(messages((await f.family.ok<DiagnosticsData>("diagnostics", { filePath: "a.fake" })).data)).toEqual([
    "pushed",
  ]);
  expect(f.received("textDocument/diagnostic")).toHaveLength(1);
});

test("A2 an unchanged report keeps the items of the one before", async () => {
  await using f = await fake(`
    server.capabilities.diagnosticProvider = { interFileDependencies: false, workspaceDiagnostics: false };
    server.on("textDocument/diagnostic", ({ previousResultId }) => previousResultId === "7" ? { kind: "unchanged", resultId: "7" } : { kind: "full", resultId: "7", items: [${one("kept")}] });`);
  for (let round = 0; round < 2; round++) {
    expect(messages((await f.family.ok<DiagnosticsData>("diagnostics", { filePath: "a.fake" })).data)).toEqual([
      "kept",
    ]);
  }
  expect(f.received("textDocument/diagnostic").map((message) => message.params?.previousResultId)).toEqual([
    undefined,
    "7",
  ]);
});

const slowAndFast = (ms: number) => ({
  fast: `server.capabilities.diagnosticProvider = {}; server.on("textDocument/diagnostic", () => ({ kind: "full", items: [] }));`,
  slow: `server.capabilities.diagnosticProvider = {}; server.on("textDocument/diagnostic", async () => { await server.sleep(${ms}); return { kind: "full", items: [${one("late", 2)}] }; });`,
});

test("A3 a slow linter beside a fast checker is waited for", async () => {
  const { fast, slow } = slowAndFast(2_000);
  await using f = await fake(fast, { more: { linter: { scenario: slow, definition: { role: "linter" } } } });
  const { data } = await f.family.ok<DiagnosticsData>("diagnostics", { filePath: "a.fake" });
  expect(messages(data)).toEqual(["late"]);
  expect(data.complete).toBe(true);
});

test("A3 past its limit it is named, and nothing is called clean", async () => {
  const { fast, slow } = slowAndFast(60_000);
  await using f = await fake(fast, {
    timeouts: { slow: 3_000, ready: 3_000 },
    more: { linter: { scenario: slow, definition: { role: "linter" } } },
  });
  const { data, text } = await f.family.ok<DiagnosticsData>("diagnostics", { filePath: "a.fake" });
  expect(data).toMatchObject({
    complete: false,
    files: [{ freshness: "unconfirmed" }],
    incomplete: expect.stringContaining("linter"),
  });
  expect(data.servers.find((server) => server.id === "linter")?.outcome).toBe("timed_out");
  expect(text).not.toMatch(/is clean/);
});

test("A4 what was published for the text before is never shown", async () => {
  await using f = await fake(
    `server.on("textDocument/didOpen", ({ textDocument }) => server.notify("textDocument/publishDiagnostics", { uri: textDocument.uri, version: 1, diagnostics: [${one("old")}] }));`,
    { timeouts: { push: 3_000 } },
  );
  expect(messages((await f.family.ok<DiagnosticsData>("diagnostics", { filePath: "a.fake" })).data)).toEqual(["old"]);
  await f.workspace.write({ "a.fake": "fixed\n" });
  const failure = await f.family.fails("diagnostics", { filePath: "a.fake" });
  expect(failure.code).toBe("timeout");
  expect(failure.message).toMatch(/has not answered for this version within .* s; not known to be clean/);
  expect(failure.text).not.toContain("old");
});

test("A4 a clean pull is not mixed with an older push", async () => {
  await using f = await fake(`
    server.capabilities.diagnosticProvider = {};
    let items = [${one("error")}];
    server.on("textDocument/didOpen", ({ textDocument }) => server.notify("textDocument/publishDiagnostics", { uri: textDocument.uri, version: 1, diagnostics: items }));
    server.on("textDocument/didChange", () => { items = []; });
    server.on("textDocument/diagnostic", () => ({ kind: "full", items }));`);
  expect(messages((await f.family.ok<DiagnosticsData>("diagnostics", { filePath: "a.fake" })).data)).toEqual(["error"]);
  await f.workspace.write({ "a.fake": "fixed\n" });
  expect((await f.family.ok<DiagnosticsData>("diagnostics", { filePath: "a.fake" })).text).toMatch(/^a\.fake is clean/);
});

test("A6 every spelling of a URI is the same file", async () => {
  const name = "a b(@)ü";
  await using f = await fake(
    `server.on("textDocument/didOpen", ({ textDocument }) => {
      const path = decodeURIComponent(textDocument.uri.slice(7));
      const low = path.split("/").map(encodeURIComponent).join("/").replace(/%[0-9A-F]{2}/g, (hex) => hex.toLowerCase());
      const some = encodeURI(path);
      for (const uri of ["file://" + low, "file://" + some, textDocument.uri]) server.notify("textDocument/publishDiagnostics", { uri, version: 1, diagnostics: [${one("found")}] });
    });`,
    { files: { [`${name}/x.fake`]: "text\n" } },
  );
  expect(messages((await f.family.ok<DiagnosticsData>("diagnostics", { filePath: `${name}/x.fake` })).data)).toEqual([
    "found",
  ]);
});

test("A6 drive letters and hex digits", () => {
  const spellings = [
    "file:///c%3A/work/a%20b.ts",
    "file:///C:/work/a b.ts",
    "file:///c:/work/a%20b.ts",
    "file:///C%3a/work/a%20b.ts",
  ];
  expect(new Set(spellings.map((uri) => uriKey(uri, true))).size).toBe(1);
  expect(uriToPath("file:///c%3A/work/a%40b.ts", true)).toBe("c:\\work\\a@b.ts");
  expect(pathToUri("C:\\work\\a b.ts", true)).toBe("file:///c%3A/work/a%20b.ts");
  expect(uriToPath("file://server/share/a.ts", true)).toBe("\\\\server\\share\\a.ts");
  expect(uriToPath("jdt://contents/x.class", true)).toBeUndefined();
});

test("A7 wedged at initialize: an error at the bound, with and without a signal; others still answer; no process is left", async () => {
  const other = `server.capabilities.diagnosticProvider = {}; server.on("textDocument/diagnostic", () => ({ kind: "full", items: [${one("from the other")}] }));`;
  await using f = await fake(`server.on("initialize", () => server.silence());`, {
    definition: { timeouts: { initialize: 1_000 } },
    more: { other: { scenario: other } },
  });
  for (const signal of [undefined, new AbortController().signal]) {
    const { data } = await f.family.ok<DiagnosticsData>(
      "diagnostics",
      { filePath: "a.fake" },
      signal ? { signal } : {},
    );
    expect(messages(data)).toEqual(["from the other"]);
    expect(data.servers.find((server) => server.id === "fake")).toMatchObject({
      outcome: "timed_out",
      message: expect.stringContaining("initialize"),
    });
    expect(data.complete).toBe(false);
  }
  expect(f.family.lsp.pool.engine.entries.find((entry) => entry.id === "fake")?.pid).toBeUndefined();
});

test("A7 alone it is a timeout that names the stage", async () => {
  await using f = await fake(`server.on("initialize", () => server.silence());`, { timeouts: { initialize: 500 } });
  const failure = await f.family.fails("hover", { filePath: "a.fake", line: 0, character: 0 });
  expect(failure).toMatchObject({
    code: "timeout",
    message: expect.stringContaining("initialize"),
    details: { stage: "initialize" },
  });
});

test.each(["watch", "sweep"] as const)("A8 changes of closed files are told as registered (%s)", async (diskSync) => {
  await using f = await fake(
    `server.capabilities.referencesProvider = true;
    let seen = [];
    let capable = false;
    server.on("initialize", ({ capabilities }) => { capable = capabilities.workspace.didChangeWatchedFiles.dynamicRegistration; return { capabilities: server.capabilities }; });
    server.on("initialized", () => capable && server.ask("client/registerCapability", { registrations: [{ id: "w", method: "workspace/didChangeWatchedFiles", registerOptions: { watchers: [{ globPattern: "**/*.dat", kind: 2 | 4 }] } }] }));
    server.on("workspace/didChangeWatchedFiles", ({ changes }) => { seen.push(...changes); });
    server.on("textDocument/references", ({ textDocument }) => seen.map((change, index) => ({ uri: textDocument.uri, range: { start: { line: 0, character: index }, end: { line: 0, character: index + 1 } } })));`,
    { files: { "x.dat": "1", "y.txt": "1", "node_modules/z.dat": "1", "gone.dat": "1" }, diskSync },
  );
  const references = { filePath: "a.fake", line: 0, character: 0 };
  await f.family.ok("find_references", references);
  await f.workspace.write({ "x.dat": "22", "y.txt": "22", "node_modules/z.dat": "22", "created.dat": "1" });
  await rm(f.workspace.path("gone.dat"));
  const { data } = await f.family.ok<{ places: Place[] }>("find_references", references);
  // changed x.dat and deleted gone.dat; not the created one (kind), the other pattern, nor node_modules
  expect(data.places).toHaveLength(2);
  const told = f
    .received("workspace/didChangeWatchedFiles")
    .flatMap((message) => (message.params?.changes ?? []) as { uri: string; type: number }[]);
  expect(told.map(({ uri, type }) => `${uri.split("/").pop()} ${type}`).sort()).toEqual(["gone.dat 3", "x.dat 2"]);
});

test("a server that dies under every request leaves what the others say: partial, and named", async () => {
  const other = `server.capabilities.diagnosticProvider = {}; server.on("textDocument/diagnostic", () => ({ kind: "full", items: [${one("from the other")}] }));`;
  await using f = await fake(
    `server.capabilities.diagnosticProvider = {}; server.on("textDocument/diagnostic", () => { process.kill(process.pid, "SIGKILL"); return server.silence(); });`,
    { more: { other: { scenario: other } } },
  );
  const { data, text } = await f.family.ok<DiagnosticsData>("diagnostics", { filePath: "a.fake" });
  expect(messages(data)).toEqual(["from the other"]);
  expect(data).toMatchObject({ complete: false, incomplete: expect.stringMatching(/fake failed: .*SIGKILL/) });
  expect(text).toMatch(/^PARTIAL \(fake failed/);
});

test("a process that a wedged start leaves is really gone", async () => {
  await using f = await fake(`server.on("initialize", () => server.silence());`, { timeouts: { initialize: 3_000 } });
  const call = f.family.call("hover", { filePath: "a.fake", line: 0, character: 0 });
  const entry = () => f.family.lsp.pool.engine.entries[0];
  await until(() => entry()?.pid !== undefined);
  const identity = await identify(Number(entry()?.pid));
  await call;
  expect(identity && (await isRunning(identity))).toBe(false);
});

test("a file that others moved is closed under its old name, and found under the new one", async () => {
  await using f = await fake(
    `server.capabilities.referencesProvider = true;
    const place = (name) => ({ uri: "file://" + process.cwd() + "/" + name, range: { start: { line: 0, character: 0 }, end: { line: 0, character: 3 } } });
    server.on("textDocument/references", () => [place("a.fake"), place("sub/moved.fake")]);
    server.on("textDocument/hover", () => ({ contents: [...server.documents.keys()].map((uri) => uri.split("/").pop()).join() }));`,
    { files: { "sub/keep.fake": "x\n" } },
  );
  const at = { line: 0, character: 0 };
  await f.family.ok("hover", { filePath: "a.fake", ...at });
  await rename(f.workspace.path("a.fake"), f.workspace.path("sub/moved.fake"));
  const { data } = await f.family.ok<{ places: Place[] }>("find_references", { filePath: "sub/moved.fake", ...at });
  expect(data.places.map((place) => place.path)).toEqual(["sub/moved.fake"]);
  expect(f.received("textDocument/didClose").map((one) => one.params?.textDocument?.uri.split("/").pop())).toEqual([
    "a.fake",
  ]);
  expect((await f.family.ok("hover", { filePath: "sub/moved.fake", ...at })).text).not.toContain("a.fake");
  expect(await f.family.fails("hover", { filePath: "a.fake", ...at })).toMatchObject({ code: "not_found" });
});

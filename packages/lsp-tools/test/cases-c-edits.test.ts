import { writeFileSync as writeSync } from "node:fs";
import { mkdir, symlink } from "node:fs/promises";
import { tempWorkspace } from "@toolhaft/testing";
import { expect, test } from "vitest";
import type { EditData } from "../src/index.ts";
import { fake } from "./support/fake.ts";
import { familyFor } from "./support/family.ts";
import { typescriptProject } from "./support/projects.ts";

/** A server that answers a rename with whatever edit a file of the workspace holds, `URI:` standing for the root. */
const replay = `
  const { readFileSync } = await import("node:fs");
  server.capabilities.renameProvider = true;
  server.on("textDocument/rename", () => JSON.parse(readFileSync(process.cwd() + "/edit.json", "utf8").replaceAll("URI:", "file://" + process.cwd() + "/")));`;
const range = (line: number, from: number, to: number, endLine = line) => ({
  start: { line, character: from },
  end: { line: endLine, character: to },
});
const rename = { filePath: "a.fake", line: 0, symbol: "foo", newName: "x" };
const ten = Array.from({ length: 10 }, (_, index) => `line ${index}\n`).join("");

test.each([
  [{}, "conflict"],
  [{ ignoreIfExists: true }, `new${ten}`],
  [{ overwrite: true }, "new"],
  [{ overwrite: true, ignoreIfExists: true }, "new"],
] as const)("C2 create over a file with %j", async (options, expected) => {
  await using f = await fake(replay, { files: { "b.txt": ten } });
  const uri = "URI:b.txt";
  await f.workspace.write({
    "edit.json": JSON.stringify({
      documentChanges: [
        { kind: "create", uri, options },
        { textDocument: { uri, version: null }, edits: [{ range: range(0, 0, 0), newText: "new" }] },
      ],
    }),
  });
  if (expected === "conflict") {
    expect(await f.family.fails("rename", rename)).toMatchObject({ code: "conflict" });
    expect(await f.workspace.read("b.txt")).toBe(ten);
  } else {
    await f.family.ok("rename", rename);
    expect(await f.workspace.read("b.txt")).toBe(expected);
  }
});

test("C2 a full folder stays unless recursive", async () => {
  await using f = await fake(replay, { files: { "dir/x.txt": "x" } });
  const edit = (options: object) =>
    f.workspace.write({
      "edit.json": JSON.stringify({ documentChanges: [{ kind: "delete", uri: "URI:dir", options }] }),
    });
  await edit({});
  expect(await f.family.fails("rename", rename)).toMatchObject({ code: "conflict" });
  expect(await f.workspace.read("dir/x.txt")).toBe("x");
  await edit({ recursive: true });
  await f.family.ok("rename", rename);
  await expect(f.workspace.read("dir/x.txt")).rejects.toThrow();
});

test("create, edit, rename and delete in one edit, in order", async () => {
  await using f = await fake(replay, { files: { "old.txt": "old\n", "gone.txt": "gone\n", "dir/in.txt": "in\n" } });
  await f.workspace.write({
    "edit.json": JSON.stringify({
      documentChanges: [
        { kind: "create", uri: "URI:fresh/new.txt" },
        {
          textDocument: { uri: "URI:fresh/new.txt", version: null },
          edits: [{ range: range(0, 0, 0), newText: "fresh\n" }],
        },
        { kind: "rename", oldUri: "URI:old.txt", newUri: "URI:moved.txt" },
        { textDocument: { uri: "URI:moved.txt", version: null }, edits: [{ range: range(0, 0, 3), newText: "new" }] },
        { kind: "delete", uri: "URI:gone.txt" },
        { kind: "rename", oldUri: "URI:dir", newUri: "URI:folder" },
      ],
    }),
  });
  const before = f.workspace.snapshot();
  const preview = await f.family.ok<EditData>("rename", { ...rename, dryRun: true });
  expect(f.workspace.snapshot()).toEqual(before);
  expect(preview.data).toMatchObject({ status: "preview", diff: expect.stringContaining("moved.txt") });
  const { data } = await f.family.ok<EditData>("rename", rename);
  expect(data.files.map((file) => `${file.operation} ${file.path}${file.to ? ` ${file.to}` : ""}`)).toEqual([
    "rename dir folder",
    "create fresh/new.txt",
    "delete gone.txt",
    "rename old.txt moved.txt",
  ]);
  expect(await f.workspace.read("moved.txt")).toBe("new\n");
  expect(await f.workspace.read("fresh/new.txt")).toBe("fresh\n");
  expect(await f.workspace.read("folder/in.txt")).toBe("in\n");
  await expect(f.workspace.read("gone.txt")).rejects.toThrow();
});

test("C3 order and ranges of text edits", async () => {
  await using f = await fake(replay);
  const apply = async (text: string, edits: object[], version: number | null = null) => {
    await f.workspace.write({
      "b.fake": text,
      "edit.json": JSON.stringify({ documentChanges: [{ textDocument: { uri: "URI:b.fake", version }, edits }] }),
    });
    await f.family.ok("rename", rename);
    return f.workspace.read("b.fake");
  };
  expect(
    await apply("aXb", [
      { range: range(0, 1, 1), newText: "1" },
      { range: range(0, 1, 1), newText: "2" },
    ]),
  ).toBe("a12Xb");
  expect(
    await apply("aXb", [
      { range: range(0, 1, 2), newText: "Y" },
      { range: range(0, 1, 1), newText: "<" },
    ]),
  ).toBe("a<Yb");
  expect(await apply("one\ntwo\n", [{ range: range(0, 0, 0, 9999), newText: "all\n" }])).toBe("all\n");
  expect(await apply("one\r\ntwo\r\n", [{ range: range(1, 0, 0), newText: "1\n2\n" }])).toBe(
    "one\r\n1\r\n2\r\ntwo\r\n",
  );
});

test("C3 an equal version is applied, a different one is a conflict", async () => {
  await using f = await fake(replay);
  const edit = (version: number) =>
    f.workspace.write({
      "edit.json": JSON.stringify({
        documentChanges: [
          { textDocument: { uri: "URI:a.fake", version }, edits: [{ range: range(0, 0, 3), newText: "bar" }] },
        ],
      }),
    });
  await edit(7);
  expect(await f.family.fails("rename", rename)).toMatchObject({ code: "conflict", retryable: true });
  expect(await f.workspace.read("a.fake")).toBe("foo();\nbar foo\n");
  await edit(1);
  await f.family.ok("rename", rename);
  expect(await f.workspace.read("a.fake")).toBe("bar();\nbar foo\n");
});

test("an empty edit is an error, an overlap is a conflict", async () => {
  await using f = await fake(replay);
  for (const edit of [null, {}, { changes: {} }, { documentChanges: [] }]) {
    await f.workspace.write({ "edit.json": JSON.stringify(edit) });
    expect(await f.family.fails("rename", rename)).toMatchObject({ code: "invalid_input" });
  }
  await f.workspace.write({
    "edit.json": JSON.stringify({
      changes: {
        "URI:a.fake": [
          { range: range(0, 0, 3), newText: "1" },
          { range: range(0, 2, 4), newText: "2" },
        ],
      },
    }),
  });
  expect(await f.family.fails("rename", rename)).toMatchObject({
    code: "conflict",
    message: expect.stringContaining("overlap"),
  });
});

test("an annotated edit has to be confirmed", async () => {
  await using f = await fake(replay);
  await f.workspace.write({
    "edit.json": JSON.stringify({
      changeAnnotations: { c: { label: "In comments", description: "changes prose", needsConfirmation: true } },
      documentChanges: [
        {
          textDocument: { uri: "URI:a.fake", version: null },
          edits: [{ range: range(0, 0, 3), newText: "x", annotationId: "c" }],
        },
      ],
    }),
  });
  const failure = await f.family.fails("rename", rename);
  expect(failure).toMatchObject({
    code: "denied",
    message: expect.stringMatching(/In comments \(changes prose\): 1 edit/),
    hint: expect.stringContaining("confirmAnnotated"),
  });
  expect(await f.workspace.read("a.fake")).toBe("foo();\nbar foo\n");
  const { data } = await f.family.ok<EditData>("rename", { ...rename, confirmAnnotated: true });
  expect(data.annotations).toMatchObject([{ label: "In comments", edits: 1 }]);
  expect(await f.workspace.read("a.fake")).toBe("x();\nbar foo\n");
});

test("a file that changes between plan and commit is a conflict", async () => {
  await using f = await fake(replay, { files: { "b.txt": "one\n" } });
  await f.workspace.write({
    "edit.json": JSON.stringify({
      changes: {
        "URI:a.fake": [{ range: range(0, 0, 3), newText: "x" }],
        "URI:b.txt": [{ range: range(0, 0, 3), newText: "two" }],
      },
    }),
  });
  const failure = await f.family.fails("rename", rename, {
    // the last moment before the locks: the question whether the file may be written
    policy: {
      check: (query) => {
        if (query.permission === "file.write" && query.resource?.endsWith("b.txt"))
          writeSync(f.workspace.path("b.txt"), "other\n");
        return { effect: "allow", reason: "test" };
      },
      visible: () => true,
      narrow: (child) => child,
    },
  });
  expect(failure.code).toBe("conflict");
  expect(await f.workspace.read("a.fake")).toBe("foo();\nbar foo\n");
  expect(await f.workspace.read("b.txt")).toBe("other\n");
});

test("a repeated applyEdit is applied once, one out of the blue is refused", async () => {
  await using f = await fake(`
    server.capabilities.codeActionProvider = true;
    server.capabilities.executeCommandProvider = { commands: ["go"] };
    server.capabilities.diagnosticProvider = {};
    server.on("textDocument/diagnostic", () => ({ kind: "full", items: [] }));
    const edit = () => ({ edit: { changes: { ["file://" + process.cwd() + "/a.fake"]: [{ range: { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } }, newText: "+" }] } } });
    let tell;
    const blue = new Promise((resolve) => { tell = resolve; });
    server.on("initialized", async () => tell(await server.ask("workspace/applyEdit", edit())));
    server.on("textDocument/hover", async () => ({ contents: JSON.stringify(await blue) }));
    server.on("textDocument/codeAction", () => [{ title: "Go", command: "go" }]);
    server.on("workspace/executeCommand", async () => { await server.ask("workspace/applyEdit", edit()); await server.ask("workspace/applyEdit", edit()); return null; });`);
  expect((await f.family.ok("hover", { filePath: "a.fake", line: 0, character: 0 })).text).toContain('"applied":false');
  await f.family.ok("execute_code_action", { filePath: "a.fake", startLine: 0, title: "go" });
  expect(await f.workspace.read("a.fake")).toBe("+foo();\nbar foo\n");
});

test.each(["utf-8", "utf-16", "utf-32"] as const)("C6 columns under %s", async (encoding) => {
  await using f = await fake(
    `server.encoding = ${JSON.stringify(encoding)};
    const width = (text) => ({ "utf-8": Buffer.byteLength(text), "utf-16": text.length, "utf-32": [...text].length })[${JSON.stringify(encoding)}];
    server.capabilities.renameProvider = true; server.capabilities.documentFormattingProvider = true; server.capabilities.documentHighlightProvider = true;
    const first = () => { const text = [...server.documents.values()][0].text; const start = width(text.slice(0, text.indexOf("foo"))); return { start: { line: 0, character: start }, end: { line: 0, character: start + 3 } }; };
    server.on("textDocument/hover", ({ position }) => ({ contents: position.character === first().start.character ? "at foo" : "elsewhere " + position.character }));
    server.on("textDocument/documentHighlight", () => [{ range: first() }]);
    server.on("textDocument/rename", ({ textDocument, newName }) => ({ changes: { [textDocument.uri]: [{ range: first(), newText: newName }] } }));
    server.on("textDocument/formatting", () => [{ range: first(), newText: "fmt" }]);`,
    { definition: { positionEncodings: [encoding, "utf-16"] }, files: { "e.fake": "/*😀*/ foo(); foo();\n" } },
  );
  const at = { filePath: "e.fake", line: 0, character: 7 };
  expect((await f.family.ok("hover", at)).text).toContain("at foo");
  const highlights = await f.family.ok<{ places: { range: { start: { character: number } } }[] }>(
    "document_highlights",
    at,
  );
  expect(highlights.data.places[0]?.range.start.character).toBe(7);
  await f.family.ok("rename", { ...at, newName: "bar" });
  expect(await f.workspace.read("e.fake")).toBe("/*😀*/ bar(); foo();\n");
  await f.workspace.write({ "e.fake": "/*😀*/ foo(); foo();\n" });
  await f.family.ok("format_document", { filePath: "e.fake" });
  expect(await f.workspace.read("e.fake")).toBe("/*😀*/ fmt(); foo();\n");
});

test("C4 C5 a rename writes, a preview does not; links that lead out are read, and written only if allowed", async () => {
  await using outside = await tempWorkspace({ "lib.ts": "export function helper() {\n  return 1;\n}\n" });
  await using workspace = await tempWorkspace({
    ...typescriptProject,
    "src/crlf.ts": '\uFEFFimport { scale } from "./shapes.js";\r\nexport { scale as again };\r\n',
  });
  await mkdir(workspace.path("vendor"));
  await symlink(outside.path("lib.ts"), workspace.path("vendor/lib.ts"));
  await using family = familyFor(workspace.directory);
  const use = { filePath: "src/main.ts", line: 13, symbol: "scale", newName: "resize" };
  const before = workspace.snapshot();
  const preview = await family.ok<EditData>("rename", { ...use, dryRun: true });
  expect(preview.data).toMatchObject({ status: "preview", diff: expect.stringContaining("+export function resize(") });
  expect(workspace.snapshot()).toEqual(before);
  const { data } = await family.ok<EditData>("rename", use);
  expect(data).toMatchObject({ status: "applied", totalFiles: 3 });
  expect(await workspace.read("src/crlf.ts")).toBe(
    '\uFEFFimport { resize } from "./shapes.js";\r\nexport { resize as again };\r\n',
  );

  expect((await family.ok("hover", { filePath: "vendor/lib.ts", symbol: "helper" })).text).toContain("vendor/lib.ts");
  const failure = await family.fails("rename", { filePath: "vendor/lib.ts", symbol: "helper", newName: "helped" });
  expect(failure.code).toBe("denied");
  expect(await outside.read("lib.ts")).toContain("helper");
  await family.ok(
    "rename",
    { filePath: "vendor/lib.ts", symbol: "helper", newName: "helped" },
    { asker: async () => ({ allow: true }) },
  );
  expect(await outside.read("lib.ts")).toContain("helped");
});

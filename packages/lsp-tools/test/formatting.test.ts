import { type Files, tempWorkspace } from "@toolhaft/testing";
import { expect, test } from "vitest";
import type { EditData } from "../src/index.ts";
import { fake } from "./support/fake.ts";
import { familyFor } from "./support/family.ts";

/** Says in the text which options it was given. */
const telling = `
  server.capabilities.documentFormattingProvider = true;
  server.on("textDocument/formatting", ({ options }) => [{ range: { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } }, newText: JSON.stringify(options) + "\\n" }]);`;

const spaces = "{\n    four\n        eight\n}\n";
const tabs = "{\n\tone\n\t\ttwo\n}\n";
const config = (lines: string) => `root = true\n${lines}`;

test.each<[string, Files, object, object]>([
  ["two spaces where nothing says anything", { "x.fake": "a\nb\n" }, {}, { tabSize: 2, insertSpaces: true }],
  ["the file's own spaces", { "x.fake": spaces }, {}, { tabSize: 4, insertSpaces: true }],
  ["the file's own tabs", { "x.fake": tabs }, {}, { insertSpaces: false }],
  [
    ".editorconfig over the file's own",
    { "x.fake": spaces, ".editorconfig": config("[*.fake]\nindent_style = tab\nindent_size = tab\ntab_width = 8\n") },
    {},
    { tabSize: 8, insertSpaces: false },
  ],
  [
    ".editorconfig of a folder above, by its own section only",
    {
      "x.fake": spaces,
      ".editorconfig": config("[*.other]\nindent_size = 7\n[{x,y}.fake]\nindent_style = space\nindent_size = 3\n"),
    },
    {},
    { tabSize: 3, insertSpaces: true },
  ],
  [
    "what .editorconfig says of line ends and the rest of a line",
    {
      "x.fake": "a",
      ".editorconfig": config("[*]\ntrim_trailing_whitespace = true\ninsert_final_newline = true\n"),
    },
    {},
    { trimTrailingWhitespace: true, insertFinalNewline: true, tabSize: 2 },
  ],
  [
    "parameters over everything",
    { "x.fake": tabs, ".editorconfig": config("[*]\nindent_style = tab\nindent_size = 8\n") },
    { tabSize: 5, insertSpaces: true },
    { tabSize: 5, insertSpaces: true },
  ],
])("the options are %s", async (_, files, wishes, expected) => {
  await using f = await fake(telling, { files: { ...files, "sub/x.fake": String(files["x.fake"]) } });
  for (const filePath of ["x.fake", "sub/x.fake"]) {
    await f.family.ok("format_document", { filePath, ...wishes });
    expect(JSON.parse((await f.workspace.read(filePath)).split("\n")[0] ?? "")).toMatchObject(expected);
  }
});

test("real formatters obey .editorconfig", async () => {
  await using workspace = await tempWorkspace({
    "tsconfig.json": "{}",
    ".editorconfig": config("[*.ts]\nindent_style = tab\n[*.css]\nindent_size = 3\nindent_style = space\n"),
    "a.ts": "export function f() {\n  return 1;\n}\n",
    "a.css": "a{color:red}\n",
  });
  await using family = familyFor(workspace.directory);
  await family.ok("format_document", { filePath: "a.ts" });
  expect(await workspace.read("a.ts")).toBe("export function f() {\n\treturn 1;\n}\n");
  await family.ok("format_document", { filePath: "a.css" });
  expect(await workspace.read("a.css")).toBe("a {\n   color: red\n}\n");
});

test.each([
  ["one\ntwo\n", "ONE\nTWO\n"],
  ["one\ntwo", "ONE\nTWO"],
  ["one\r\ntwo\r\n", "ONE\r\nTWO\r\n"],
  ["\uFEFFone\r\ntwo\r\n", "\uFEFFONE\r\nTWO\r\n"],
])("an edit that ends at (lineCount, 0) replaces %j once", async (before, after) => {
  await using f = await fake(
    `server.capabilities.documentFormattingProvider = true;
    server.on("textDocument/formatting", ({ textDocument }) => {
      const { text } = server.documents.get(textDocument.uri);
      return [{ range: { start: { line: 0, character: 0 }, end: { line: text.split("\\n").length, character: 0 } }, newText: text.toUpperCase() }];
    });`,
    { files: { "x.fake": before } },
  );
  const { data } = await f.family.ok<EditData & { content: string }>("format_document", {
    filePath: "x.fake",
    dryRun: true,
  });
  expect(data.content).toBe(after.replace("\uFEFF", ""));
  expect(await f.workspace.read("x.fake")).toBe(before);
  await f.family.ok("format_document", { filePath: "x.fake" });
  expect(await f.workspace.read("x.fake")).toBe(after);
});

test("edits of a formatter in any order; counts come from a line diff", async () => {
  await using f = await fake(
    `server.capabilities.documentFormattingProvider = true;
    const edit = (line, character, endLine, endCharacter, newText) => ({ range: { start: { line, character }, end: { line: endLine, character: endCharacter } }, newText });
    server.on("textDocument/formatting", () => [edit(3, 0, 3, 4, "FOUR"), edit(0, 0, 0, 0, "zero\\n"), edit(1, 3, 2, 0, "")]);`,
    { files: { "x.fake": "one\ntwo\nthree\nfour\n" } },
  );
  const { data, text } = await f.family.ok<EditData>("format_document", { filePath: "x.fake" });
  expect(await f.workspace.read("x.fake")).toBe("zero\none\ntwothree\nFOUR\n");
  expect(data.files).toMatchObject([{ added: 3, removed: 3 }]);
  expect(text).toBe("Formatted x.fake: 3 lines changed (+3 -3) · fake");
});

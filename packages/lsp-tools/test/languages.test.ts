import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { tempWorkspace } from "@toolhaft/testing";
import { describe, expect, test } from "vitest";
import { builtinServers, type DiagnosticsData } from "../src/index.ts";
import { interpreterOf, languageFor } from "../src/languages.ts";
import { familyFor, serverModules } from "./support/family.ts";

const languageOf = (id: string, path: string, text = "") => {
  const definition = builtinServers.find((server) => server.id === id);
  if (!definition) throw new Error(`no server ${id}`);
  return languageFor(definition, { path, overrides: {}, interpreter: interpreterOf(text) });
};

test.each([
  ["typescript", "a.ts", "typescript"],
  ["typescript", "a.mts", "typescript"],
  ["typescript", "a.d.cts", "typescript"],
  ["typescript", "a.tsx", "typescriptreact"],
  ["typescript", "a.js", "javascript"],
  ["typescript", "a.mjs", "javascript"],
  ["typescript", "a.cjs", "javascript"],
  ["typescript", "a.jsx", "javascriptreact"],
  ["typescript", "a.vue", undefined],
  ["typescript-native", "a.tsx", "typescriptreact"],
  ["vtsls", "a.tsx", "typescriptreact"],
  ["bash", "a.sh", "shellscript"],
  ["bash", "a.bash", "shellscript"],
  ["bash", "a.ksh", "shellscript"],
  ["dockerfile", "Dockerfile", "dockerfile"],
  ["dockerfile", "Dockerfile.dev", "dockerfile"],
  ["dockerfile", "Containerfile", "dockerfile"],
  ["json", "a.json", "json"],
  ["json", "a.jsonc", "jsonc"],
  ["json", "tsconfig.json", "jsonc"],
  ["json", "tsconfig.build.json", "jsonc"],
  ["json", ".eslintrc", "jsonc"],
  ["yaml", "a.yaml", "yaml"],
  ["yaml", "compose.yml", "dockercompose"],
  ["yaml", "compose.dev.yaml", "dockercompose"],
  ["yaml", "docker-compose.yml", "dockercompose"],
  ["basedpyright", "a.pyi", "python"],
  ["go", "go.mod", "go.mod"],
  ["go", "a.go", "go"],
])("%s takes %s as %s", (id, name, expected) => {
  expect(languageOf(id, `/nowhere/${name}`)).toBe(expected);
});

test.each([
  ["#!/bin/sh\n", "bash", "shellscript"],
  ["#!/usr/bin/env bash\n", "bash", "shellscript"],
  ["#!/usr/bin/env -S ksh -e\r\n", "bash", "shellscript"],
  ["#!/usr/bin/env FOO=1 bash\n", "bash", "shellscript"],
  ["#! /usr/bin/python3.12 -u\n", "basedpyright", "python"],
  ["#!/usr/bin/env node\n", "typescript", "javascript"],
  ["#!/usr/bin/env ruby\n", "bash", undefined],
  ["# !/bin/sh\n", "bash", undefined],
  ["echo\n#!/bin/sh\n", "bash", undefined],
])("a script that begins with %j", (text, id, expected) => {
  expect(languageOf(id, "/nowhere/script", text)).toBe(expected);
  // an extension says more than the first line
  expect(languageOf(id, "/nowhere/script.txt", text)).toBeUndefined();
});

test("a header is C, or C++ beside C++ sources", async () => {
  await using workspace = await tempWorkspace({ "c/a.h": "", "c/a.c": "", "cpp/a.h": "", "cpp/a.cc": "" });
  expect(languageOf("clangd", workspace.path("c/a.h"))).toBe("c");
  expect(languageOf("clangd", workspace.path("cpp/a.h"))).toBe("cpp");
});

describe.each(["typescript", "typescript7"])("with %s", (compiler) => {
  test("JSX, untyped JavaScript and a script without a name ending open as what they are", async () => {
    await using workspace = await tempWorkspace({
      "package.json": '{ "type": "module" }\n',
      "tsconfig.json":
        '{ "compilerOptions": { "jsx": "preserve", "allowJs": true, "types": [], "noEmit": true, "strict": true } }\n',
      "jsx.d.ts": "declare namespace JSX { interface IntrinsicElements { p: { id?: string } } interface Element {} }\n",
      "view.tsx": 'export const view = <p id="x">text</p>;\nexport const wrong = <p idd="x" />;\n',
      "old.jsx": "export const other = <p>text</p>;\n",
      "plain.js": "export function add(a, b) {\n  return a + b;\n}\nexport const three = add(1, 2);\n",
      run: "#!/usr/bin/env node\nfunction hello(name) {\n  return name;\n}\nhello(1);\n",
    });
    await mkdir(workspace.path("node_modules"));
    await symlink(join(serverModules, compiler), workspace.path("node_modules/typescript"));
    await using family = familyFor(workspace.directory);
    const codes = async (filePath: string) => {
      const { data } = await family.ok<DiagnosticsData>("diagnostics", { filePath, severity: "error" });
      expect(data.files[0]?.freshness).toBe("current");
      return data.files.flatMap((file) => file.diagnostics.map((one) => one.code));
    };
    // the only error is the real one: a syntax error would be 1005, 8010 or 17004
    expect(await codes("view.tsx")).toEqual(["2322"]);
    expect(await codes("old.jsx")).toEqual([]);
    expect(await codes("plain.js")).toEqual([]);
    const symbols = await family.ok<{ symbols: { name: string }[] }>("document_symbols", { filePath: "plain.js" });
    expect(symbols.data.symbols.map((one) => one.name)).toEqual(["add", "three"]);
    expect((await family.ok("hover", { filePath: "run", symbol: "hello" })).text).toContain("function hello");
  });
});

import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { type Files, tempWorkspace } from "@toolhaft/testing";
import { expect, test } from "vitest";
import type { DiagnosticsData, EditData, Place } from "../src/index.ts";
import { familyFor, serverModules, type TestFamily } from "./support/family.ts";

interface Places {
  places: Place[];
  total: number;
}

/** Servers that count columns in bytes once they are offered that: what we print stays UTF-16. */
async function underUtf8(
  id: string,
  files: Files,
  links: Record<string, string>,
  work: (family: TestFamily, read: (path: string) => Promise<string>) => Promise<void>,
): Promise<void> {
  await using workspace = await tempWorkspace(files);
  await mkdir(workspace.path("node_modules"));
  for (const [name, target] of Object.entries(links))
    await symlink(join(serverModules, target), workspace.path(`node_modules/${name}`));
  const others = ["typescript", "typescript-native", "vtsls"].filter((one) => one !== id);
  await using family = familyFor(workspace.directory, {
    servers: {
      [id]: { positionEncodings: ["utf-8", "utf-16"] },
      ...Object.fromEntries(others.map((one) => [one, false as const])),
    },
  });
  await work(family, (path) => workspace.read(path));
  const life = family.lsp.pool.engine.entries.find((entry) => entry.id === id)?.life;
  expect(life?.encoding).toBe("utf-8");
}

const columns = (data: Places) => data.places.map(({ range }) => [range.start.character, range.end.character]);

// formatting is left out here: version 7.0.2 counts its edits in UTF-16 whatever was agreed on; see biome below
test("C6 TypeScript 7 under UTF-8: hover, references, symbols, diagnostics, tokens and rename after an emoji", async () => {
  const files = {
    "tsconfig.json": '{ "compilerOptions": { "types": [], "strict": true } }\n',
    "a.ts": '/*😀é*/ function foo() {}\n/*😀*/ foo(); /*日本*/ foo();\n/*😀*/ const n: number = "x";\n',
  };
  await underUtf8("typescript-native", files, { typescript: "typescript7" }, async (family, read) => {
    const use = { filePath: "a.ts", line: 1, character: 7 };
    expect((await family.ok("hover", use)).text).toContain("function foo()");
    const references = await family.ok<Places>("find_references", use);
    expect(columns(references.data)).toEqual([
      [17, 20],
      [7, 10],
      [21, 24],
    ]);
    const symbols = await family.ok<{ symbols: { name: string; selection: Place["range"] }[] }>("document_symbols", {
      filePath: "a.ts",
    });
    expect(symbols.data.symbols.find((one) => one.name === "foo")?.selection.start).toEqual({ line: 0, character: 17 });
    const { data } = await family.ok<DiagnosticsData>("diagnostics", { filePath: "a.ts", severity: "error" });
    expect(data.files[0]?.diagnostics).toMatchObject([{ code: "2322", range: { start: { line: 2, character: 13 } } }]);
    const tokens = await family.ok<{ tokens: { text: string; line: number }[] }>("semantic_tokens", {
      filePath: "a.ts",
      startLine: 1,
      endLine: 1,
    });
    expect(tokens.data.tokens.map((one) => one.text)).toEqual(["foo", "foo"]);
    await family.ok<EditData>("rename", { ...use, newName: "bar" });
    expect(await read("a.ts")).toBe(
      '/*😀é*/ function bar() {}\n/*😀*/ bar(); /*日本*/ bar();\n/*😀*/ const n: number = "x";\n',
    );
  });
});

test("C6 biome under UTF-8: diagnostics, an action and formatting after an emoji", async () => {
  const files = {
    "package.json": '{ "type": "module" }\n',
    "biome.json": '{ "formatter": { "indentStyle": "space" } }\n',
    "a.js": "export const a = '😀日本'   ;\nconst s = '😀'; debugger; export const b = s;\n",
  };
  await underUtf8("biome", files, {}, async (family, read) => {
    const { data } = await family.ok<DiagnosticsData>("diagnostics", { filePath: "a.js" });
    const found = data.files[0]?.diagnostics.find((one) => one.code === "lint/suspicious/noDebugger");
    expect(found?.range).toEqual({ start: { line: 1, character: 16 }, end: { line: 1, character: 25 } });
    const range = { filePath: "a.js", startLine: 1, startChar: 16, endLine: 1, endChar: 25 };
    const actions = await family.ok<{ actions: { title: string }[] }>("code_actions", range);
    const title = actions.data.actions.find((one) => /unsafe fix for noDebugger/.test(one.title))?.title;
    await family.ok("execute_code_action", { ...range, title });
    expect(await read("a.js")).toBe("export const a = '😀日本'   ;\nconst s = '😀'; export const b = s;\n");
    await family.ok("format_document", { filePath: "a.js" });
    expect(await read("a.js")).toBe('export const a = "😀日本";\nconst s = "😀";\nexport const b = s;\n');
  });
});

import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { type Files, type TempWorkspace, tempWorkspace } from "@toolhaft/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Answer } from "../src/index.ts";
import { familyFor, hasClangd, serverModules } from "./support/family.ts";
import { cppProject, pythonProject, typescriptProject, webProject } from "./support/projects.ts";

// one unsupported feature of each server: the others are asked of servers that run, in the matrix
/** What a first call must give: a text that its own text holds, or an error with this code. */
type Row = [tool: string, input: object, expected: string | { code: string }];
interface Table {
  id: string;
  files: Files;
  links?: Record<string, string>;
  /** Servers of the same file that the table is not about. */
  off?: string[];
  rows: Row[];
}

const unsupported = { code: "unsupported" };
const ts = { filePath: "src/main.ts" };
const shapes = { filePath: "src/shapes.ts" };
const scale = { ...ts, line: 13, symbol: "scale" };
const typescriptRows: Row[] = [
  ["diagnostics", ts, "2322"],
  ["goto_definition", scale, "src/shapes.ts"],
  ["goto_type_definition", { ...ts, line: 2, symbol: "circle" }, "src/shapes.ts"],
  ["goto_implementation", { ...shapes, symbol: "Shape/area" }, "11:"],
  ["goto_declaration", scale, unsupported],
  ["find_references", { ...shapes, symbol: "scale" }, "5 references"],
  ["document_highlights", { ...ts, line: 6, symbol: "sum" }, "3 highlight"],
  ["document_symbols", shapes, "class Circle"],
  ["workspace_symbols", { query: "Circle" }, "src/shapes.ts"],
  ["hover", { ...shapes, symbol: "Circle/area" }, "The area of the circle."],
  ["signature_help", scale, "by: number"],
  ["completion", { ...ts, line: 8, character: 17 }, "area"],
  ["prepare_rename", scale, "scale"],
  ["rename", { ...scale, newName: "resize", dryRun: true }, "5 edits in 2 files"],
  ["code_actions", { ...ts, startLine: 3 }, "code action"],
  ["format_document", { ...ts, dryRun: true }, "already formatted"],
  ["format_range", { ...ts, startLine: 3, dryRun: true }, "already formatted"],
  ["prepare_call_hierarchy", { ...shapes, symbol: "scale" }, "call_"],
  ["incoming_calls", { ...shapes, symbol: "Shape/area" }, "total"],
  ["outgoing_calls", { ...ts, symbol: "total" }, "area"],
  ["folding_ranges", ts, "folding range"],
  ["selection_ranges", { ...ts, symbol: "total" }, "total"],
  ["semantic_tokens", { ...ts, startLine: 5, endLine: 6 }, "total function"],
  ["code_lens", shapes, "references"],
  ["inlay_hints", ts, "⟨"],
];
const py = { filePath: "main.py" };
const cc = { filePath: "main.cpp" };
const css = { filePath: "style.css" };
const main = { ...css, line: 5, character: 16 };
const html = { filePath: "index.html" };
const json = { filePath: "settings.json" };
const docker = { filePath: "Dockerfile" };
const build = { ...docker, line: 7, symbol: "build" };
const js = { filePath: "a.js" };
const linted: Files = {
  "package.json": '{ "type": "module" }\n',
  "a.js": "var a = 1;\ndebugger;\nexport const b = a  == 2;\n",
};

const tables: Table[] = [
  { id: "typescript", files: typescriptProject, rows: typescriptRows },
  {
    id: "typescript-native",
    files: typescriptProject,
    links: { typescript: "typescript7" },
    rows: typescriptRows.map((row): Row => (row[0] === "rename" ? [row[0], row[1], "2 files"] : row)),
  },
  {
    id: "basedpyright",
    files: pythonProject,
    rows: [
      ["diagnostics", py, "reportAssignmentType"],
      ["goto_definition", { ...py, line: 13, symbol: "scale" }, "shapes.py"],
      ["goto_declaration", { ...py, line: 13, symbol: "scale" }, "shapes.py"],
      ["goto_type_definition", { ...py, line: 2, symbol: "circle" }, "shapes.py"],
      ["goto_implementation", { filePath: "shapes.py", symbol: "Shape/area" }, "14:"],
      ["find_references", { filePath: "shapes.py", symbol: "scale" }, "6 references"],
      ["workspace_symbols", { query: "Circle" }, "shapes.py"],
      ["hover", { ...py, line: 2, symbol: "Circle" }, "A circle."],
      ["signature_help", { ...py, line: 13, symbol: "scale" }, "by: float"],
      ["completion", { ...py, line: 9, character: 24 }, "area"],
      ["rename", { ...py, line: 13, symbol: "scale", newName: "resize", dryRun: true }, "6 edits in 3 files"],
      ["code_actions", { ...py, startLine: 3 }, "ignore"],
      ["incoming_calls", { filePath: "shapes.py", symbol: "scale" }, "other.py"],
      ["semantic_tokens", py, "total function"],
      ["inlay_hints", py, "⟨"],
      ["format_document", py, unsupported],
    ],
  },
  {
    id: "clangd",
    files: cppProject,
    rows: [
      ["diagnostics", { ...cc, severity: "error" }, "9:"],
      ["goto_definition", { ...cc, line: 10, symbol: "scale" }, "shapes.cpp"],
      ["goto_declaration", { ...cc, line: 10, symbol: "scale" }, "shapes.h"],
      ["goto_type_definition", { ...cc, line: 8, symbol: "circle" }, "shapes.h"],
      ["goto_implementation", { filePath: "shapes.h", symbol: "geo::Shape::area" }, "implementation"],
      ["find_references", { filePath: "shapes.h", symbol: "scale" }, "4 references"],
      ["document_highlights", { ...cc, line: 3, symbol: "sum" }, "2 highlight"],
      ["document_symbols", { filePath: "shapes.h" }, "Circle"],
      ["workspace_symbols", { query: "Circle" }, "shapes.h"],
      ["hover", { ...cc, line: 10, symbol: "scale" }, "scale"],
      ["signature_help", { ...cc, line: 10, symbol: "scale" }, "double by"],
      ["completion", { ...cc, line: 3, character: 21 }, "area"],
      ["prepare_rename", { ...cc, line: 10, symbol: "scale" }, "scale"],
      ["rename", { ...cc, line: 10, symbol: "scale", newName: "resize", dryRun: true }, "4 edits in 3 files"],
      ["code_actions", { ...cc, startLine: 10, startChar: 2, endLine: 10, endChar: 6 }, "code action"],
      ["format_document", { ...cc, dryRun: true }, "main.cpp"],
      ["format_range", { ...cc, startLine: 3, dryRun: true }, "main.cpp"],
      ["incoming_calls", { filePath: "shapes.h", symbol: "scale" }, "main"],
      ["outgoing_calls", { ...cc, symbol: "total" }, unsupported],
      ["type_hierarchy_supertypes", { filePath: "shapes.h", symbol: "geo::Circle" }, "Shape"],
      ["type_hierarchy_subtypes", { filePath: "shapes.h", symbol: "geo::Shape" }, "Circle"],
      ["folding_ranges", cc, "folding range"],
      ["selection_ranges", { ...cc, symbol: "total" }, "total"],
      ["semantic_tokens", cc, "total function"],
      ["inlay_hints", cc, "⟨"],
      ["document_links", cc, "shapes.h"],
    ],
  },
  {
    id: "css",
    files: webProject,
    rows: [
      ["diagnostics", css, "unknownProperties"],
      ["goto_definition", main, "2:"],
      ["find_references", main, "3 references"],
      ["document_highlights", main, "3 highlight"],
      ["document_symbols", css, ".button"],
      ["hover", { ...css, symbol: "background" }, "background"],
      ["completion", { ...css, line: 6, character: 5 }, "color"],
      ["prepare_rename", main, "main [style.css 5:16]"],
      ["rename", { ...main, newName: "--brand", dryRun: true }, "3 edits"],
      ["code_actions", { ...css, startLine: 6 }, "'color'"],
      ["format_document", { ...css, dryRun: true }, "style.css"],
      ["document_links", css, "base.css"],
      ["document_colors", css, "#ff8800"],
      ["goto_type_definition", main, unsupported],
    ],
  },
  {
    id: "html",
    files: { ...webProject, "script.html": "<script>\nlet one = 1;\nconst two = one + one;\n</script>\n" },
    rows: [
      ["find_references", { filePath: "script.html", line: 2, character: 13 }, "3 references"],
      ["completion", { ...html, line: 5, character: 5 }, "class"],
      ["rename", { ...html, line: 4, character: 2, newName: "article", dryRun: true }, "2 edits"],
      ["format_document", { ...html, dryRun: true }, "index.html"],
      ["format_range", { ...html, startLine: 4, endLine: 7, startChar: 0, endChar: 0, dryRun: true }, "index.html"],
      ["folding_ranges", html, "folding range"],
      ["selection_ranges", { ...html, positions: [{ line: 5, character: 14 }] }, "one"],
      ["document_links", html, "style.css"],
      ["document_colors", html, "#123456"],
    ],
  },
  {
    id: "json",
    files: {
      ...webProject,
      "colors.schema.json": '{ "properties": { "main": { "type": "string", "format": "color-hex" } } }\n',
      "colors.json": '{\n  "$schema": "./colors.schema.json",\n  "main": "#aabbcc"\n}\n',
    },
    rows: [
      ["diagnostics", { filePath: "broken.json" }, "comma"],
      ["hover", { ...json, symbol: "port" }, "The port to listen on"],
      ["code_actions", { ...json, startLine: 0 }, "Sort"],
      ["format_document", { filePath: "package.json", dryRun: true }, "package.json"],
      ["folding_ranges", { filePath: "colors.json" }, "folding range"],
      ["selection_ranges", { ...json, symbol: "port" }, "port"],
      ["document_colors", { filePath: "colors.json" }, "#aabbcc"],
      ["goto_definition", { ...json, symbol: "port" }, unsupported],
    ],
  },
  {
    id: "dockerfile",
    files: webProject,
    rows: [
      ["diagnostics", docker, "BOGUS"],
      ["goto_definition", build, "2:"],
      ["document_highlights", build, "2 highlight"],
      ["document_symbols", docker, "FROM"],
      ["signature_help", { ...docker, line: 5, character: 5 }, "COPY"],
      ["prepare_rename", build, "build"],
      ["rename", { ...build, newName: "builder", dryRun: true }, "2 edits"],
      ["code_actions", { ...docker, startLine: 0 }, "No code actions"],
      ["semantic_tokens", docker, "FROM keyword"],
      ["document_links", docker, "hub.docker.com"],
      ["find_references", build, unsupported],
    ],
  },
  {
    id: "eslint",
    files: { ...linted, "eslint.config.js": 'export default [{ rules: { "no-var": "error" } }];\n' },
    links: { eslint: "eslint" },
    off: ["typescript", "typescript-native", "vtsls"],
    rows: [
      ["diagnostics", js, "no-var"],
      ["code_actions", { ...js, startLine: 0 }, "no-var"],
      ["document_highlights", { ...js, line: 0, character: 4 }, unsupported],
    ],
  },
  {
    id: "biome",
    files: { ...linted, "biome.json": "{}\n" },
    off: ["typescript", "typescript-native", "vtsls"],
    rows: [
      ["diagnostics", js, "noDebugger"],
      ["code_actions", { ...js, startLine: 1 }, "noDebugger"],
      ["format_document", { ...js, dryRun: true }, "biome"],
      ["format_range", { ...js, startLine: 2, dryRun: true }, "biome"],
      ["hover", { ...js, line: 0, character: 4 }, unsupported],
    ],
  },
  {
    id: "tailwind",
    files: {
      "package.json": '{ "dependencies": { "tailwindcss": "4" } }\n',
      "app.css": '@import "tailwindcss";\n',
      "index.html": '<!doctype html>\n<div class="text-red-500 p-4 "></div>\n',
    },
    links: { tailwindcss: "tailwindcss" },
    off: ["html"],
    rows: [
      ["hover", { ...html, line: 1, character: 16 }, "color"],
      ["completion", { ...html, line: 1, character: 29 }, "completions"],
      ["document_colors", html, "#fb2c36"],
    ],
  },
];

describe.each(tables)("$id, as the first call of a fresh pool", ({ id, files, links = {}, off = [], rows }) => {
  let workspace: TempWorkspace;
  beforeAll(async () => {
    workspace = await tempWorkspace(files);
    if (id === "clangd") {
      const commands = JSON.parse(String(files["compile_commands.json"])) as object[];
      const here = commands.map((command) => ({ ...command, directory: workspace.directory }));
      await workspace.write({ "compile_commands.json": JSON.stringify(here) });
    }
    await mkdir(workspace.path("node_modules"), { recursive: true });
    for (const [name, target] of Object.entries(links))
      await symlink(join(serverModules, target), workspace.path(`node_modules/${name}`));
  });
  afterAll(() => workspace.remove());

  test.skipIf(id === "clangd" && !hasClangd).each(rows)("%s %j", async (tool, input, expected) => {
    await using family = familyFor(workspace.directory, {
      servers: Object.fromEntries(off.map((one) => [one, false as const])),
    });
    if (typeof expected !== "string") {
      expect(await family.fails(tool, input)).toMatchObject({ ...expected, retryable: false });
      return;
    }
    const { data, text } = await family.ok<Answer>(tool, input);
    expect(text).toContain(expected);
    expect(data.complete).toBe(true);
    expect(data.servers.find((one) => one.id === id)?.outcome).toMatch(/answered|empty/);
  });
});

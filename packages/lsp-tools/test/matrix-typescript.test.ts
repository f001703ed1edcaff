import { mkdir, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { type TempWorkspace, tempWorkspace } from "@toolhaft/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { DiagnosticsData, EditData, Place } from "../src/index.ts";
import { familyFor, serverModules, type TestFamily } from "./support/family.ts";
import { typescriptProject } from "./support/projects.ts";

const servers = [
  { id: "typescript", seven: false },
  { id: "typescript-native", seven: true },
] as const;

interface Places {
  places: Place[];
  total: number;
  complete: boolean;
  servers: { id: string; outcome: string }[];
}

describe.each(servers)("$id", ({ id, seven }) => {
  let workspace: TempWorkspace;
  let family: TestFamily;
  const file = "src/main.ts";

  beforeAll(async () => {
    workspace = await tempWorkspace(typescriptProject);
    await mkdir(workspace.path("node_modules"));
    const compiler = join(serverModules, seven ? "typescript7" : "typescript");
    await symlink(compiler, workspace.path("node_modules/typescript"));
    family = familyFor(workspace.directory);
  });
  afterAll(async () => {
    await family[Symbol.asyncDispose]();
    await workspace.remove();
  });
  const lines = (data: Places) => data.places.map((place) => `${place.path}:${place.range.start.line}`);

  test("references on the first call are all there", async () => {
    const { data } = await family.ok<Places>("find_references", { filePath: "src/shapes.ts", symbol: "scale" });
    expect(lines(data)).toEqual([
      "src/main.ts:0",
      "src/main.ts:13",
      "src/main.ts:14",
      "src/main.ts:14",
      "src/shapes.ts:15",
    ]);
    expect(data).toMatchObject({ complete: true, total: 5, servers: [{ id, outcome: "answered" }] });
  });

  test("diagnostics", async () => {
    const { data, text } = await family.ok<DiagnosticsData>("diagnostics", { filePath: file, severity: "error" });
    expect(data.files).toMatchObject([
      { path: file, freshness: "current", diagnostics: [{ code: "2322", severity: "error" }] },
    ]);
    expect(text).toMatch(/^1 error/);
  });

  test("definition, type definition, implementation", async () => {
    const definition = await family.ok<Places>("goto_definition", { filePath: file, line: 13, symbol: "scale" });
    expect(lines(definition.data)).toEqual(["src/shapes.ts:15"]);
    const type = await family.ok<Places>("goto_type_definition", { filePath: file, line: 2, symbol: "circle" });
    expect(lines(type.data)).toEqual(["src/shapes.ts:6"]);
    const implementation = await family.ok<Places>("goto_implementation", {
      filePath: "src/shapes.ts",
      symbol: "Shape/area",
    });
    expect(lines(implementation.data)).toContain("src/shapes.ts:11");
  });

  test("declaration is unsupported and names the tool that does it", async () => {
    const failure = await family.fails("goto_declaration", { filePath: file, line: 13, symbol: "scale" });
    expect(failure).toMatchObject({
      code: "unsupported",
      retryable: false,
      hint: expect.stringContaining("lsp_goto_definition"),
    });
  });

  test("highlights, document symbols, workspace symbols", async () => {
    const highlights = await family.ok<Places>("document_highlights", { filePath: file, line: 6, symbol: "sum" });
    expect(highlights.data.total).toBe(3);
    const symbols = await family.ok<{ symbols: { name: string; symbol: string }[] }>("document_symbols", {
      filePath: "src/shapes.ts",
    });
    expect(symbols.data.symbols.map((one) => one.name)).toContain("Circle");
    const found = await family.ok<{ symbols: { path: string; name: string }[] }>("workspace_symbols", {
      query: "Circle",
    });
    expect(found.data.symbols[0]).toMatchObject({ name: "Circle", path: "src/shapes.ts" });
  });

  test("hover and completion", async () => {
    const hover = await family.ok("hover", { filePath: "src/shapes.ts", symbol: "Circle/area" });
    expect(hover.text).toContain("The area of the circle.");
    const completion = await family.ok<{ items: { label: string }[] }>("completion", {
      filePath: file,
      line: 8,
      character: 17,
    });
    expect(completion.data.items.map((item) => item.label)).toContain("area");
  });

  test("signature help", async () => {
    const help = await family.ok<{ signatures: { label: string }[] }>("signature_help", {
      filePath: file,
      line: 13,
      symbol: "scale",
    });
    expect(help.data.signatures[0]?.label).toContain("by: number");
  });

  test("folding and selection ranges, semantic tokens", async () => {
    const folding = await family.ok<{ total: number }>("folding_ranges", { filePath: file });
    expect(folding.data.total).toBeGreaterThan(0);
    const selection = await family.ok<{ chains: { ranges: unknown[] }[] }>("selection_ranges", {
      filePath: file,
      symbol: "total",
    });
    expect(selection.data.chains[0]?.ranges.length).toBeGreaterThan(1);
    const tokens = await family.ok<{ tokens: { text: string }[] }>("semantic_tokens", {
      filePath: file,
      startLine: 5,
      endLine: 6,
    });
    expect(tokens.data.tokens.map((token) => token.text)).toContain("total");
  });

  test("lenses and hints", async () => {
    const lenses = await family.ok<{ lenses: { title: string }[] }>("code_lens", { filePath: "src/shapes.ts" });
    expect(lenses.data.lenses.map((lens) => lens.title).join()).toMatch(/\d references/);
    const hints = await family.ok("inlay_hints", { filePath: file });
    expect(hints.text).toContain("⟨");
  });

  test("links, colours and type hierarchies are unsupported", async () => {
    for (const tool of ["document_links", "document_colors"]) {
      expect(await family.fails(tool, { filePath: file })).toMatchObject({ code: "unsupported" });
    }
    const failure = await family.fails("type_hierarchy_subtypes", { filePath: "src/shapes.ts", symbol: "Base" });
    expect(failure).toMatchObject({ code: "unsupported" });
  });

  test("call hierarchy by position and by item agree", async () => {
    type Nodes = { nodes: { name: string; path: string; sites: unknown[] }[] };
    const direct = await family.ok<Nodes>("incoming_calls", { filePath: "src/shapes.ts", symbol: "Shape/area" });
    expect(direct.data.nodes).toMatchObject([{ name: "total", path: file }]);
    const prepared = await family.ok<{ items: { item: string }[] }>("prepare_call_hierarchy", {
      filePath: "src/shapes.ts",
      symbol: "Shape/area",
    });
    const byItem = await family.ok<Nodes>("incoming_calls", { item: prepared.data.items[0]?.item });
    expect(byItem.data.nodes).toEqual(direct.data.nodes);
    const outgoing = await family.ok<Nodes>("outgoing_calls", { filePath: file, symbol: "total" });
    expect(outgoing.data.nodes.map((node) => node.name)).toContain("area");
  });

  test("code actions: several shapes, executed", async () => {
    type Actions = { actions: { title: string; kind: string; shape: string; disabled?: string }[] };
    const { data } = await family.ok<Actions>("code_actions", { filePath: file, startLine: 3 });
    expect(data.actions.length).toBeGreaterThan(0);
    await workspace.write({
      "src/unused.ts": 'import { scale, Circle } from "./shapes.js";\nexport const one = new Circle(1);\n',
    });
    const title = seven ? "unused" : "Remove unused declaration";
    const unused = await family.ok<Actions>("code_actions", {
      filePath: "src/unused.ts",
      startLine: 0,
      kind: "quickfix",
    });
    const action = unused.data.actions.find((one) =>
      one.title.toLowerCase().includes(seven ? "scale" : title.toLowerCase()),
    );
    if (!action) {
      // version 7 offers no fix for an unused import yet: what it has is listed above
      expect(seven).toBe(true);
      await rm(workspace.path("src/unused.ts"));
      return;
    }
    const preview = await family.ok<EditData>("execute_code_action", {
      filePath: "src/unused.ts",
      startLine: 0,
      title: action.title,
      dryRun: true,
    });
    expect(preview.data).toMatchObject({
      status: "preview",
      diff: expect.stringContaining("-import { scale, Circle }"),
    });
    expect(await workspace.read("src/unused.ts")).toContain("scale");
    const done = await family.ok<EditData>("execute_code_action", {
      filePath: "src/unused.ts",
      startLine: 0,
      title: action.title,
    });
    expect(done.data.status).toBe("applied");
    expect(await workspace.read("src/unused.ts")).not.toContain("scale");
    await rm(workspace.path("src/unused.ts"));
  });

  test("formatting", async () => {
    await workspace.write({ "src/ugly.ts": "export const a={b:1,\nc:2}\n" });
    const preview = await family.ok<EditData & { content: string }>("format_document", {
      filePath: "src/ugly.ts",
      dryRun: true,
    });
    expect(preview.data.content).toContain("const a = {");
    const done = await family.ok<EditData>("format_document", { filePath: "src/ugly.ts" });
    expect(done.data.status).toBe("applied");
    expect(await workspace.read("src/ugly.ts")).toBe(preview.data.content);
    const again = await family.ok<EditData>("format_document", { filePath: "src/ugly.ts" });
    expect(again.text).toMatch(/is already formatted/);
    await workspace.write({ "src/ugly.ts": "export const a={b:1}\nexport const c={d:1}\n" });
    await family.ok("format_range", { filePath: "src/ugly.ts", startLine: 1 });
    expect(await workspace.read("src/ugly.ts")).toBe("export const a={b:1}\nexport const c = { d: 1 }\n");
  });

  test("rename at a use renames everywhere", async () => {
    const check = await family.ok<{ renameable: string }>("prepare_rename", {
      filePath: file,
      line: 13,
      symbol: "scale",
    });
    expect(check.data.renameable).toBe("yes");
    const { data, result } = await family.ok<EditData>("rename", {
      filePath: file,
      line: 13,
      symbol: "scale",
      newName: "resize",
    });
    expect(data).toMatchObject({ status: "applied", totalFiles: 2, totalEdits: 5 });
    expect(result.fileChanges?.map((change) => change.path).sort()).toEqual(["src/main.ts", "src/shapes.ts"]);
    expect(await workspace.read("src/main.ts")).toContain('import { Circle, resize, type Shape } from "./shapes.js";');
    expect(await workspace.read("src/shapes.ts")).toContain("export function resize(");
    const after = await family.ok<Places>("find_references", { filePath: "src/shapes.ts", symbol: "resize" });
    expect(after.data.total).toBe(5);
  });

  test("the compiler of the folder answers, and its version is shown", async () => {
    const { data } = await family.ok<{ servers: { id: string; version: string; status: string }[] }>("servers");
    const server = data.servers.find((one) => one.id === id);
    expect(server).toMatchObject({ status: "ready", version: seven ? expect.stringMatching(/^7\./) : "5.9.3" });
  });
});

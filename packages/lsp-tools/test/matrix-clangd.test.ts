import { type TempWorkspace, tempWorkspace } from "@toolhaft/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { DiagnosticsData, EditData, Place } from "../src/index.ts";
import { familyFor, hasClangd, type TestFamily } from "./support/family.ts";
import { cppProject } from "./support/projects.ts";

interface Places {
  places: Place[];
  total: number;
  complete: boolean;
}
const lines = (data: Places) => data.places.map((place) => `${place.path}:${place.range.start.line}`);

describe.skipIf(!hasClangd)("clangd", () => {
  let workspace: TempWorkspace;
  let family: TestFamily;
  beforeAll(async () => {
    workspace = await tempWorkspace();
    const commands = JSON.parse(String(cppProject["compile_commands.json"])) as { directory: string }[];
    for (const command of commands) command.directory = workspace.directory;
    await workspace.write({ ...cppProject, "compile_commands.json": JSON.stringify(commands) });
    family = familyFor(workspace.directory);
  });
  afterAll(async () => {
    await family[Symbol.asyncDispose]();
    await workspace.remove();
  });

  test("references across files on the first call", async () => {
    const { data } = await family.ok<Places>("find_references", { filePath: "shapes.h", symbol: "scale" });
    expect(lines(data)).toEqual(["main.cpp:10", "main.cpp:14", "shapes.cpp:3", "shapes.h:11"]);
    expect(data.complete).toBe(true);
  });

  test("diagnostics by push with a version", async () => {
    const { data } = await family.ok<DiagnosticsData>("diagnostics", { filePath: "main.cpp", severity: "error" });
    expect(data.files[0]).toMatchObject({ freshness: "current", diagnostics: [{ range: { start: { line: 9 } } }] });
  });

  test("definition, declaration, type definition, implementation", async () => {
    const scale = { filePath: "main.cpp", line: 10, symbol: "scale" };
    expect(lines((await family.ok<Places>("goto_definition", scale)).data)).toEqual(["shapes.cpp:3"]);
    expect(lines((await family.ok<Places>("goto_declaration", scale)).data)).toEqual(["shapes.h:11"]);
    expect(
      lines(
        (await family.ok<Places>("goto_type_definition", { filePath: "main.cpp", line: 8, symbol: "circle" })).data,
      ),
    ).toEqual(["shapes.h:6"]);
    expect(
      (await family.ok<Places>("goto_implementation", { filePath: "shapes.h", symbol: "geo::Shape::area" })).data.total,
    ).toBeGreaterThan(0);
  });

  test("highlights, symbols, hover, signature, completion", async () => {
    expect(
      (await family.ok<Places>("document_highlights", { filePath: "main.cpp", line: 3, symbol: "sum" })).data.total,
    ).toBe(2);
    expect((await family.ok("document_symbols", { filePath: "shapes.h" })).text).toMatch(/Circle/);
    expect(
      (await family.ok<{ symbols: { name: string }[] }>("workspace_symbols", { query: "Circle" })).data.symbols[0]
        ?.name,
    ).toBe("Circle");
    expect((await family.ok("hover", { filePath: "main.cpp", line: 10, symbol: "scale" })).text).toContain("scale");
    expect((await family.ok("signature_help", { filePath: "main.cpp", line: 10, symbol: "scale" })).text).toContain(
      "double by",
    );
    const completion = await family.ok<{ items: { label: string }[] }>("completion", {
      filePath: "main.cpp",
      line: 3,
      character: 21,
    });
    expect(completion.data.items.map((item) => item.label).join()).toContain("area");
  });

  test("type hierarchy both ways, calls inwards", async () => {
    type Nodes = { nodes: { name: string; cycle?: true }[] };
    expect(
      (await family.ok<Nodes>("type_hierarchy_supertypes", { filePath: "shapes.h", symbol: "geo::Circle" })).data.nodes,
    ).toMatchObject([{ name: "Shape" }]);
    expect(
      (await family.ok<Nodes>("type_hierarchy_subtypes", { filePath: "shapes.h", symbol: "geo::Shape" })).data.nodes,
    ).toMatchObject([{ name: "Circle" }]);
    const calls = await family.ok<Nodes>("incoming_calls", { filePath: "shapes.h", symbol: "scale" });
    expect(calls.data.nodes).toMatchObject([{ name: "main" }]);
    const prepared = await family.ok<{ items: unknown[] }>("prepare_call_hierarchy", {
      filePath: "shapes.h",
      symbol: "scale",
    });
    expect(prepared.data.items).toHaveLength(1);
  });

  test("folding, selection, tokens, hints, links", async () => {
    expect((await family.ok<{ total: number }>("folding_ranges", { filePath: "main.cpp" })).data.total).toBeGreaterThan(
      1,
    );
    expect((await family.ok("selection_ranges", { filePath: "main.cpp", symbol: "total" })).text).toContain("total");
    expect(
      (await family.ok<{ total: number }>("semantic_tokens", { filePath: "main.cpp" })).data.total,
    ).toBeGreaterThan(10);
    expect((await family.ok<{ total: number }>("inlay_hints", { filePath: "main.cpp" })).data.total).toBeGreaterThan(0);
    expect((await family.ok("document_links", { filePath: "main.cpp" })).text).toContain("shapes.h");
  });

  test("formatting, whole and in part", async () => {
    await workspace.write({ "ugly.cpp": "int  a=1;\nint  b=2;\n" });
    await family.ok("format_range", { filePath: "ugly.cpp", startLine: 1 });
    expect(await workspace.read("ugly.cpp")).toBe("int  a=1;\nint b = 2;\n");
    await family.ok("format_document", { filePath: "ugly.cpp" });
    expect(await workspace.read("ugly.cpp")).toBe("int a = 1;\nint b = 2;\n");
  });

  test("code actions", async () => {
    const { data } = await family.ok<{ actions: { title: string; shape: string }[] }>("code_actions", {
      filePath: "main.cpp",
      startLine: 10,
      startChar: 2,
      endLine: 10,
      endChar: 6,
    });
    const expand = data.actions.find((one) => /deduced type/i.test(one.title));
    expect(expand).toBeDefined();
    await family.ok("execute_code_action", {
      filePath: "main.cpp",
      startLine: 10,
      startChar: 2,
      endLine: 10,
      endChar: 6,
      title: expand?.title,
    });
    expect(await workspace.read("main.cpp")).toMatch(/ Circle bigger = /);
    // the type is written without its namespace: put back what compiles
    await workspace.write({ "main.cpp": String(cppProject["main.cpp"]) });
  });

  test("rename over header and sources", async () => {
    expect(
      (await family.ok<{ renameable: string }>("prepare_rename", { filePath: "main.cpp", line: 10, symbol: "scale" }))
        .data.renameable,
    ).toBe("yes");
    const { data } = await family.ok<EditData>("rename", {
      filePath: "main.cpp",
      line: 10,
      symbol: "scale",
      newName: "resize",
    });
    expect(data).toMatchObject({ status: "applied", totalFiles: 3, totalEdits: 4 });
    expect(await workspace.read("shapes.h")).toContain("Circle resize(");
  });

  test("without a compilation database answers across files are partial and say what to make", async () => {
    await using bare = await tempWorkspace({ "a.cpp": "int twice(int x) { return 2 * x; }\nint four = twice(2);\n" });
    await using own = familyFor(bare.directory);
    const { data, text } = await own.ok<Places & { incomplete: string }>("find_references", {
      filePath: "a.cpp",
      symbol: "twice",
    });
    expect(data.complete).toBe(false);
    expect(text).toMatch(/^PARTIAL \(.*compile_commands\.json/);
  });
});

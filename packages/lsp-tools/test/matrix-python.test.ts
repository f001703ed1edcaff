import { type TempWorkspace, tempWorkspace } from "@toolhaft/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { DiagnosticsData, EditData, Place } from "../src/index.ts";
import { familyFor, type TestFamily } from "./support/family.ts";
import { pythonProject } from "./support/projects.ts";

let workspace: TempWorkspace;
let family: TestFamily;

beforeAll(async () => {
  workspace = await tempWorkspace(pythonProject);
  family = familyFor(workspace.directory);
});
afterAll(async () => {
  await family[Symbol.asyncDispose]();
  await workspace.remove();
});

interface Places {
  places: Place[];
  total: number;
  complete: boolean;
}
const lines = (data: Places) => data.places.map((place) => `${place.path}:${place.range.start.line}`);

test("B2 references cover files that nobody opened, on the first call", async () => {
  const { data } = await family.ok<Places>("find_references", { filePath: "shapes.py", symbol: "scale" });
  expect(lines(data)).toEqual(["main.py:0", "main.py:13", "other.py:0", "other.py:2", "other.py:3", "shapes.py:18"]);
  expect(data.complete).toBe(true);
});

test("diagnostics by dynamic pull", async () => {
  const { data } = await family.ok<DiagnosticsData>("diagnostics", { filePath: "main.py", severity: "error" });
  expect(data.files[0]).toMatchObject({
    freshness: "current",
    diagnostics: [{ code: "reportAssignmentType", range: { start: { line: 3 } } }],
  });
});

test("definition, type definition, declaration, implementation", async () => {
  const scale = { filePath: "main.py", line: 13, symbol: "scale" };
  expect(lines((await family.ok<Places>("goto_definition", scale)).data)).toEqual(["shapes.py:18"]);
  expect(lines((await family.ok<Places>("goto_declaration", scale)).data)).toEqual(["shapes.py:18"]);
  expect(
    lines((await family.ok<Places>("goto_type_definition", { filePath: "main.py", symbol: "circle", line: 2 })).data),
  ).toEqual(["shapes.py:8"]);
  const implementation = await family.ok<Places>("goto_implementation", {
    filePath: "shapes.py",
    symbol: "Shape/area",
  });
  expect(lines(implementation.data)).toContain("shapes.py:14");
});

test("workspace symbols, hover, signature, completion", async () => {
  expect(
    (await family.ok<{ symbols: { name: string }[] }>("workspace_symbols", { query: "Circle" })).data.symbols[0]?.name,
  ).toBe("Circle");
  expect((await family.ok("hover", { filePath: "main.py", line: 2, symbol: "Circle" })).text).toContain("A circle.");
  expect((await family.ok("signature_help", { filePath: "main.py", line: 13, symbol: "scale" })).text).toContain(
    "by: float",
  );
  const completion = await family.ok<{ items: { label: string }[] }>("completion", {
    filePath: "main.py",
    line: 9,
    character: 24,
  });
  expect(completion.data.items.map((item) => item.label)).toContain("area");
});

test("call hierarchy, tokens, hints", async () => {
  const incoming = await family.ok<{ nodes: { path: string }[] }>("incoming_calls", {
    filePath: "shapes.py",
    symbol: "scale",
  });
  expect(incoming.data.nodes.map((node) => node.path)).toEqual(["main.py", "other.py"]);
  expect((await family.ok<{ total: number }>("semantic_tokens", { filePath: "main.py" })).data.total).toBeGreaterThan(
    5,
  );
  expect((await family.ok("inlay_hints", { filePath: "main.py" })).text).toContain("⟨");
});

test("formatting and folding are unsupported", async () => {
  for (const tool of ["format_document", "folding_ranges"]) {
    expect(await family.fails(tool, { filePath: "main.py" })).toMatchObject({ code: "unsupported" });
  }
  expect(await family.fails("selection_ranges", { filePath: "main.py", symbol: "total" })).toMatchObject({
    code: "unsupported",
  });
  expect(await family.fails("type_hierarchy_supertypes", { filePath: "shapes.py", symbol: "Circle" })).toMatchObject({
    code: "unsupported",
  });
});

test("code actions", async () => {
  const { data } = await family.ok<{ actions: { title: string }[] }>("code_actions", {
    filePath: "main.py",
    startLine: 3,
  });
  expect(data.actions.length).toBeGreaterThan(0);
  const title = data.actions.find((one) => one.title.includes("ignore"))?.title;
  const done = await family.ok<EditData>("execute_code_action", { filePath: "main.py", startLine: 3, title });
  expect(done.data.status).toBe("applied");
  expect(await workspace.read("main.py")).toMatch(/wrong: int = "x".*ignore/);
});

test("C1 rename answered with documentChanges", async () => {
  const { data } = await family.ok<EditData>("rename", {
    filePath: "main.py",
    line: 13,
    symbol: "scale",
    newName: "resize",
  });
  expect(data).toMatchObject({ status: "applied", totalFiles: 3, totalEdits: 6 });
  expect(await workspace.read("other.py")).toContain("bigger = resize(Circle(1), 3)");
});

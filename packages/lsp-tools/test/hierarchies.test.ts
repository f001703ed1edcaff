import { writeFile } from "node:fs/promises";
import { tempWorkspace } from "@toolhaft/testing";
import { expect, test } from "vitest";
import { fake } from "./support/fake.ts";
import { familyFor } from "./support/family.ts";

interface Tree {
  nodes: { name: string; depth: number; parent: number; cycle?: true }[];
  total: number;
  complete: boolean;
  incomplete?: string;
}
const rows = (tree: Tree) => tree.nodes.map((one) => `${one.depth} ${one.name}${one.cycle ? " cycle" : ""}`);

test("calls that come back to themselves end there, and say so", async () => {
  await using workspace = await tempWorkspace({
    "tsconfig.json": '{ "compilerOptions": { "types": [] } }',
    "a.ts":
      "export function even(n: number): boolean {\n  return n === 0 || odd(n - 1);\n}\nexport function odd(n: number): boolean {\n  return n !== 0 && even(n - 1);\n}\nexport function self(n: number): number {\n  return n < 1 ? 0 : self(n - 1);\n}\n",
  });
  await using family = familyFor(workspace.directory);
  for (const tool of ["incoming_calls", "outgoing_calls"]) {
    const { data, text } = await family.ok<Tree>(tool, { filePath: "a.ts", symbol: "even", depth: 5 });
    expect(rows(data)).toEqual(["1 odd", "2 even cycle"]);
    expect(text).toContain("(cycle)");
    const self = await family.ok<Tree>(tool, { filePath: "a.ts", symbol: "self", depth: 5 });
    expect(rows(self.data)).toEqual(["1 self cycle"]);
  }

  // a handle answers like its position, and dies with its document and with its server
  const prepare = async () => {
    const { data } = await family.ok<{ items: { item: string }[] }>("prepare_call_hierarchy", {
      filePath: "a.ts",
      symbol: "even",
    });
    return data.items[0]?.item;
  };
  const item = await prepare();
  const byItem = await family.ok<Tree>("incoming_calls", { item, depth: 5 });
  expect(rows(byItem.data)).toEqual(["1 odd", "2 even cycle"]);
  await writeFile(workspace.path("a.ts"), `// above\n${await workspace.read("a.ts")}`);
  const changed = await family.fails("incoming_calls", { item });
  expect(changed).toMatchObject({
    code: "not_found",
    message: expect.stringContaining("changed"),
    hint: expect.stringContaining("lsp_prepare_call_hierarchy"),
  });
  const again = await prepare();
  await family.ok("restart_server", { languageId: "typescript" });
  expect(await family.fails("outgoing_calls", { item: again })).toMatchObject({
    code: "not_found",
    message: expect.stringContaining("restarted"),
  });
});

/** Types `T0 … Tn` in a file, each with the children that `below` names. */
const types = (below: string) => `
  server.capabilities.typeHierarchyProvider = true;
  const uri = "file://" + process.cwd() + "/a.fake";
  const range = { start: { line: 0, character: 0 }, end: { line: 0, character: 3 } };
  const type = (n) => ({ name: "T" + n, kind: 5, uri, data: { n }, range, selectionRange: { start: { line: 0, character: n % 1000 }, end: { line: 0, character: n % 1000 } } });
  server.on("textDocument/prepareTypeHierarchy", () => [type(0)]);
  const below = ({ item: { data: { n } } }) => (${below}).map(type);
  server.on("typeHierarchy/supertypes", below);
  server.on("typeHierarchy/subtypes", below);`;

test("a server whose types are their own parents is walked once round", async () => {
  await using f = await fake(types("[(n + 1) % 3]"));
  for (const tool of ["type_hierarchy_supertypes", "type_hierarchy_subtypes"]) {
    const { data } = await f.family.ok<Tree>(tool, { filePath: "a.fake", line: 0, character: 0, depth: 5 });
    expect(rows(data)).toEqual(["1 T1", "2 T2", "3 T0 cycle"]);
    expect(data.nodes.map((node) => node.parent)).toEqual([-1, 0, 1]);
  }
});

test("a diamond is no cycle", async () => {
  await using f = await fake(types("n === 0 ? [1, 2] : n < 3 ? [3] : []"));
  const { data } = await f.family.ok<Tree>("type_hierarchy_subtypes", {
    filePath: "a.fake",
    line: 0,
    character: 0,
    depth: 5,
  });
  expect(rows(data)).toEqual(["1 T1", "1 T2", "2 T3", "2 T3"]);
});

test("a tree too wide to walk is marked partial, never a short one as whole", async () => {
  await using f = await fake(types("Array.from({ length: 60 }, (_, at) => n * 60 + at + 1)"));
  const { data, text } = await f.family.ok<Tree>("type_hierarchy_subtypes", {
    filePath: "a.fake",
    line: 0,
    character: 0,
    depth: 3,
  });
  expect(data.complete).toBe(false);
  expect(data.incomplete).toMatch(/2000/);
  expect(text).toMatch(/^PARTIAL \(/);
});

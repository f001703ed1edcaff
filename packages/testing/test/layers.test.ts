import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { checkLayers, formatFault } from "../src/layers.ts";

const made: string[] = [];

/** A small house: core, workspace, two families, mcp; with the given files laid over it. */
function house(files: Record<string, string>): string {
  const root = mkdtempSync(join(tmpdir(), "toolhaft-layers-"));
  made.push(root);
  const manifest = (name: string, dependencies: string[] = [], subpaths: string[] = ["."]) =>
    JSON.stringify(
      {
        name: `@toolhaft/${name}`,
        exports: Object.fromEntries(subpaths.map((path) => [path, {}])),
        dependencies: Object.fromEntries(dependencies.map((dependency) => [dependency, "workspace:^"])),
      },
      null,
      2,
    );
  const all: Record<string, string> = {
    "packages/core/package.json": manifest("core", [], [".", "./node"]),
    "packages/core/src/index.ts": "export const core = 1;\n",
    "packages/core/src/node.ts": 'import "node:fs";\nexport {};\n',
    "packages/workspace/package.json": manifest("workspace", ["@toolhaft/core"]),
    "packages/workspace/src/index.ts":
      'import { core } from "@toolhaft/core";\nimport "@toolhaft/core/node";\nexport { core };\n',
    "packages/memory/package.json": manifest("memory", ["@toolhaft/core", "zod"]),
    "packages/memory/src/index.ts":
      'import { z } from "zod";\nimport { readFile } from "node:fs/promises";\nexport { z, readFile };\n',
    "packages/web/package.json": manifest("web", ["@toolhaft/core"]),
    "packages/web/src/index.ts": "export {};\n",
    "packages/mcp/package.json": manifest("mcp", ["@toolhaft/core"]),
    "packages/mcp/src/index.ts": "export {};\n",
    ...files,
  };
  for (const [name, text] of Object.entries(all)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  return root;
}

const faultsOf = (files: Record<string, string>) => checkLayers(house(files)).map(formatFault);

afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true });
});

describe("layer check", () => {
  it("accepts a house whose imports go down", () => {
    expect(faultsOf({})).toEqual([]);
  });

  it("names file, line and both floors of a sideways import, and of the manifest that allows it", () => {
    const faults = faultsOf({
      "packages/memory/package.json":
        '{\n  "name": "@toolhaft/memory",\n  "dependencies": {\n    "@toolhaft/web": "workspace:^"\n  }\n}\n',
      "packages/memory/src/index.ts": '// one\nexport { web } from "@toolhaft/web";\n',
    });
    expect(faults).toEqual([
      "packages/memory/package.json:4: memory (floor 3) imports web (floor 3): imports only go down, this goes sideways",
      "packages/memory/src/index.ts:2: memory (floor 3) imports web (floor 3): imports only go down, this goes sideways",
    ]);
  });

  it("refuses an upward import, also of a type and also by import()", () => {
    const message = "web (floor 3) imports mcp (floor 5): imports only go down, this goes up";
    expect(
      faultsOf({
        "packages/web/src/index.ts":
          'import type { A } from "@toolhaft/mcp";\nexport const later = () => import("@toolhaft/mcp");\nexport type B = A | import("@toolhaft/mcp").C;\n',
      }),
    ).toEqual([1, 2, 3].map((line) => `packages/web/src/index.ts:${line}: ${message}`));
  });

  it("refuses a deep import of another package, by name and by path", () => {
    expect(
      faultsOf({
        "packages/web/src/index.ts":
          'export { a } from "@toolhaft/core/src/tool.ts";\nexport { b } from "../../core/src/index.ts";\n',
      }),
    ).toEqual([
      'packages/web/src/index.ts:1: "@toolhaft/core/src/tool.ts" is no declared subpath of @toolhaft/core: it has ., ./node',
      'packages/web/src/index.ts:2: "../../core/src/index.ts" leaves packages/web/src: import a package by its name',
    ]);
  });

  it("refuses node: behind core's root, however deep, and allows it at core/node", () => {
    expect(
      faultsOf({
        "packages/core/src/index.ts": 'export { a } from "./a.ts";\n',
        "packages/core/src/a.ts": '\nimport { sep } from "node:path";\nexport const a = sep;\n',
      }),
    ).toEqual([
      'packages/core/src/a.ts:2: core\'s root reaches "node:path": it must run without Node; put it behind @toolhaft/core/node',
    ]);
  });

  it("refuses a dependency that no manifest names, and testing in sources", () => {
    const [undeclared, testing] = faultsOf({
      "packages/testing/package.json": '{ "name": "@toolhaft/testing" }',
      "packages/web/src/index.ts": 'import "undici";\nimport "@toolhaft/testing";\n',
    });
    expect(undeclared).toBe('packages/web/src/index.ts:1: "undici" is not declared in packages/web/package.json');
    expect(testing).toBe(
      "packages/web/src/index.ts:2: testing (floor 1) is for tests only; web (floor 3) imports it from its sources",
    );
  });

  it("refuses a cycle of values inside a package and lets types meet", () => {
    const faults = faultsOf({
      "packages/web/src/a.ts": 'import { b } from "./b.ts";\nexport const a = b;\n',
      "packages/web/src/b.ts": 'import { a } from "./a.ts";\nexport const b = () => a;\n',
      "packages/web/src/c.ts": 'import type { D } from "./d.ts";\nexport interface C { d: D }\n',
      "packages/web/src/d.ts": 'import { type C } from "./c.ts";\nexport interface D { c: C }\n',
    });
    expect(faults).toEqual([
      "packages/web/src/b.ts:1: import cycle: packages/web/src/a.ts -> packages/web/src/b.ts -> packages/web/src/a.ts",
    ]);
  });

  it("asks for the floor of a package it does not know", () => {
    const [fault] = faultsOf({ "packages/chat/package.json": '{\n  "name": "@toolhaft/chat"\n}' });
    expect(fault).toBe(
      'packages/chat/package.json:2: package "chat" has no floor: add it to packages/testing/src/layers.ts',
    );
  });

  it("holds for this repository", () => {
    const repository = fileURLToPath(new URL("../../../", import.meta.url));
    expect(checkLayers(repository).map(formatFault)).toEqual([]);
  });
});

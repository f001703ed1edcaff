import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { type Files, runs, tempWorkspace } from "@toolhaft/testing";
import { expect, test } from "vitest";
import type { Place } from "../src/index.ts";
import { familyFor, hasClangd, serverModules } from "./support/family.ts";
import { generatedTree } from "./support/generated-tree.ts";

interface Case {
  id: string;
  files: Files;
  references: number;
  filePath: string;
  symbol: string;
  compiler?: string;
}

const tree = generatedTree();
const users = Array.from({ length: 20 }, (_, at) => at);
const cases: Case[] = [
  { id: "typescript-native", ...tree, filePath: tree.definition, compiler: "typescript7" },
  {
    id: "basedpyright",
    files: {
      "pyproject.toml": '[project]\nname = "x"\nversion = "0"\n',
      "lib/core.py": "class Core:\n    def target(self) -> int:\n        return 1\n",
      ...Object.fromEntries(
        users.map((at) => [
          `use/u${at}.py`,
          `from lib.core import Core\n\ncore = Core()\nprint(core.target() + core.target())\n`,
        ]),
      ),
    },
    filePath: "lib/core.py",
    symbol: "Core/target",
    references: 1 + 2 * users.length,
  },
  {
    id: "clangd",
    files: {
      "core.h": "#pragma once\nint target(int x);\n",
      "core.cpp": '#include "core.h"\nint target(int x) { return x; }\n',
      ...Object.fromEntries(
        users.map((at) => [`u${at}.cpp`, `#include "core.h"\nint f${at}() { return target(1) + target(2); }\n`]),
      ),
    },
    filePath: "core.h",
    symbol: "target",
    references: 2 + 2 * users.length,
  },
];

test.each(cases.filter((one) => one.id !== "clangd" || hasClangd))(
  "B1 the first references of a fresh pool equal the tenth: $id",
  async (one) => {
    await using workspace = await tempWorkspace(one.files);
    if (one.id === "clangd") {
      const sources = Object.keys(one.files).filter((name) => name.endsWith(".cpp"));
      const commands = sources.map((file) => ({ directory: workspace.directory, file, command: `c++ -c ${file}` }));
      await workspace.write({ "compile_commands.json": JSON.stringify(commands) });
    }
    if (one.compiler !== undefined) {
      await mkdir(workspace.path("node_modules"));
      await symlink(join(serverModules, one.compiler), workspace.path("node_modules/typescript"));
    }
    for (let round = 0; round < runs(20); round++) {
      await using family = familyFor(workspace.directory);
      const ask = async () => {
        const { data } = await family.ok<{ places: Place[]; total: number; complete: boolean }>("find_references", {
          filePath: one.filePath,
          symbol: one.symbol,
          limit: 1000,
        });
        return data;
      };
      const first = await ask();
      expect(first, `round ${round}`).toMatchObject({
        complete: true,
        total: one.references,
        servers: [{ id: one.id, outcome: "answered" }],
      });
      for (let call = 0; call < 9; call++) expect((await ask()).places).toEqual(first.places);
    }
  },
);

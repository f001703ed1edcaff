import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { type Files, long, runs, type TempWorkspace, tempWorkspace } from "@toolhaft/testing";
import { describe, expect, test } from "vitest";
import type { Place } from "../src/index.ts";
import { familyFor, hasClangd, serverModules } from "./support/family.ts";
import { otherProcess } from "./support/other-process.ts";

interface Project {
  id: string;
  files: Files;
  compiler?: string;
  /** Where `target` is defined. */
  definition: string;
  /** A file that names `target` so many times. */
  user(uses: number): string;
  extension: string;
}

const tsconfig = '{ "compilerOptions": { "module": "nodenext", "types": [], "noEmit": true } }\n';
const typescript = {
  files: {
    "package.json": '{ "type": "module" }\n',
    "tsconfig.json": tsconfig,
    "lib.ts": "export const target = 1;\n",
  },
  definition: "lib.ts",
  extension: "ts",
  user: (uses: number) =>
    `import { target } from "./lib.js";\n${Array.from({ length: uses - 1 }, (_, at) => `export const v${at} = target;\n`).join("")}`,
};
const projects: Project[] = [
  { id: "typescript", compiler: "typescript", ...typescript },
  { id: "typescript-native", compiler: "typescript7", ...typescript },
  {
    id: "basedpyright",
    files: { "pyproject.toml": '[project]\nname = "x"\nversion = "0"\n', "lib.py": "target = 1\n" },
    definition: "lib.py",
    extension: "py",
    user: (uses) =>
      `from lib import target\n${Array.from({ length: uses - 1 }, (_, at) => `v${at} = target\n`).join("")}`,
  },
  {
    id: "clangd",
    files: { "compile_flags.txt": "-std=c++17\n", "lib.h": "#pragma once\nint target();\n" },
    definition: "lib.h",
    extension: "cpp",
    user: (uses) => `#include "lib.h"\n${Array.from({ length: uses }, (_, at) => `int v${at} = target();\n`).join("")}`,
  },
];
const modes = ["watch", "sweep"] as const;
// in the short suite each server meets one of the two ways to look at the disk, and each way two servers
const cases = projects.flatMap((project, at) =>
  modes.filter((_, index) => long || index === at % 2).map((mode) => ({ ...project, mode })),
);

/** A folder with the project, and the compiler that it chooses. */
async function setUp(project: Project): Promise<TempWorkspace> {
  const workspace = await tempWorkspace(project.files);
  if (project.compiler !== undefined) {
    await mkdir(workspace.path("node_modules"));
    await symlink(join(serverModules, project.compiler), workspace.path("node_modules/typescript"));
  }
  return workspace;
}

describe.each(cases)("$id, by $mode", (project) => {
  test.skipIf(project.id === "clangd" && !hasClangd)(
    "what another process created, changed or deleted just before a call is in its answer",
    async () => {
      await using workspace = await setUp(project);
      await using family = familyFor(workspace.directory, { diskSync: project.mode });
      const change = otherProcess();
      const uses = async () => {
        const { data } = await family.ok<{ places: Place[]; complete: boolean; servers: { id: string }[] }>(
          "find_references",
          { filePath: project.definition, symbol: "target", limit: 1000 },
        );
        expect(data).toMatchObject({ complete: true, servers: [{ id: project.id }] });
        const found: Record<string, number> = {};
        for (const { path } of data.places) if (path !== project.definition) found[path] = (found[path] ?? 0) + 1;
        return found;
      };
      expect(await uses()).toEqual({});
      // how the disk is looked at is ours, and the same for all servers: one of them is asked 200 times in either way
      const rounds = runs(project.mode === "sweep" && project.id !== "typescript" ? 50 : 200);
      const expected: Record<string, number> = {};
      for (let round = 0; round < rounds; round++) {
        const name = `user${Math.floor(round / 3) % 7}.${project.extension}`;
        const [created, changed] = [2 + (round % 3), 5 + (round % 4)];
        const now = expected[name] === undefined ? created : round % 3 === 1 ? changed : undefined;
        await change({ [workspace.path(name)]: now === undefined ? null : project.user(now) });
        if (now === undefined) delete expected[name];
        else expected[name] = now;
        expect(await uses(), `round ${round}`).toEqual(expected);
      }
    },
  );
});

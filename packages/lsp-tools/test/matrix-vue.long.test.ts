import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { tempWorkspace } from "@toolhaft/testing";
import { expect, test } from "vitest";
import type { DiagnosticsData } from "../src/index.ts";
import { familyFor, serverModules } from "./support/family.ts";

test("D7 Vue answers with its TypeScript side, and says what is missing without it", async () => {
  await using workspace = await tempWorkspace({
    "package.json": '{ "dependencies": { "vue": "3" } }',
    "tsconfig.json": '{ "compilerOptions": { "strict": true, "types": [] }, "include": ["*.vue", "*.ts"] }',
    "App.vue":
      '<script setup lang="ts">\nconst count: number = "x";\nfunction twice(n: number) { return n * 2; }\nconst doubled = twice(count);\n</script>\n<template><p>{{ doubled }}</p></template>\n',
  });
  await mkdir(workspace.path("node_modules"));
  for (const name of ["typescript"]) await symlink(join(serverModules, name), workspace.path(`node_modules/${name}`));
  await using family = familyFor(workspace.directory);
  expect((await family.ok("hover", { filePath: "App.vue", line: 1, symbol: "count" })).text).toContain("number");
  const definition = await family.ok<{ places: { range: { start: { line: number } } }[] }>("goto_definition", {
    filePath: "App.vue",
    line: 3,
    symbol: "twice",
  });
  expect(definition.data.places.map((place) => place.range.start.line)).toContain(2);
  const { data } = await family.ok<DiagnosticsData>("diagnostics", { filePath: "App.vue", severity: "error" });
  expect(data.files[0]?.diagnostics.map((one) => one.code)).toContain("2322");

  await using without = familyFor(workspace.directory, {
    servers: { typescript: false, "typescript-native": false, vtsls: false },
  });
  const result = await without.call("hover", { filePath: "App.vue", line: 1, symbol: "count" });
  expect(result.text).toMatch(/typescript/);
});

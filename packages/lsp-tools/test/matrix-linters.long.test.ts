import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { type TempWorkspace, tempWorkspace } from "@toolhaft/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { DiagnosticsData, EditData } from "../src/index.ts";
import { familyFor, serverModules, type TestFamily } from "./support/family.ts";

let workspace: TempWorkspace;
let family: TestFamily;

beforeAll(async () => {
  workspace = await tempWorkspace({
    "package.json": '{ "name": "demo", "type": "module" }\n',
    "tsconfig.json":
      '{ "compilerOptions": { "strict": true, "allowJs": true, "noEmit": true, "types": [] }, "include": ["*.js"] }\n',
    "eslint.config.js":
      'export default [{ files: ["**/*.js"], rules: { "no-var": "error", "no-debugger": "warn", eqeqeq: "error" } }];\n',
    "biome.json": '{ "linter": { "enabled": true }, "formatter": { "indentStyle": "space", "indentWidth": 2 } }\n',
    "a.js":
      "// @ts-check\nvar a = 1;\ndebugger;\n/** @type {number} */\nexport const b = 'x';\nexport const c = a == b;\n",
  });
  await mkdir(workspace.path("node_modules"));
  await symlink(join(serverModules, "eslint"), workspace.path("node_modules/eslint"));
  family = familyFor(workspace.directory);
});
afterAll(async () => {
  await family[Symbol.asyncDispose]();
  await workspace.remove();
});

test("three servers on one file: merged and attributed", async () => {
  const { data } = await family.ok<DiagnosticsData>("diagnostics", { filePath: "a.js" });
  expect(data.servers.map((one) => one.id)).toEqual(["typescript", "eslint", "biome"]);
  const by = (id: string) => data.files[0]?.diagnostics.filter((one) => one.server === id).map((one) => one.code);
  expect(by("typescript")).toContain("2322");
  expect(by("eslint")).toEqual(expect.arrayContaining(["no-var", "no-debugger", "eqeqeq"]));
  expect(by("biome")).toContain("lint/suspicious/noDebugger");
  expect(data.files[0]?.freshness).toBe("current");
});

test("one of them killed: what the others say is there, and the next call is whole again", async () => {
  const eslint = family.lsp.pool.engine.entries.find((entry) => entry.id === "eslint");
  process.kill(Number(eslint?.pid), "SIGKILL");
  const { data } = await family.ok<DiagnosticsData>("diagnostics", { filePath: "a.js" });
  expect(data.files[0]?.diagnostics.some((one) => one.server === "biome")).toBe(true);
  const again = await family.ok<DiagnosticsData>("diagnostics", { filePath: "a.js" });
  expect(again.data.complete).toBe(true);
});

test("eslint: a fix whose command sends the edit back", async () => {
  const range = { filePath: "a.js", startLine: 1 };
  const { data } = await family.ok<{ actions: { title: string; server: string; shape: string }[] }>(
    "code_actions",
    range,
  );
  const fix = data.actions.find((one) => one.server === "eslint" && one.title.includes("no-var"));
  expect(fix).toMatchObject({ shape: "server_command" });
  const preview = await family.ok<EditData>("execute_code_action", {
    ...range,
    title: fix?.title,
    server: "eslint",
    dryRun: true,
  });
  expect(preview.data).toMatchObject({ status: "preview", diff: expect.stringContaining("-var a = 1;") });
  expect(await workspace.read("a.js")).toContain("var a = 1;");
  const done = await family.ok<EditData>("execute_code_action", { ...range, title: fix?.title, server: "eslint" });
  expect(done.data).toMatchObject({ status: "applied", server: "eslint" });
  expect(await workspace.read("a.js")).toContain("let a = 1;");
});

test("biome: an action that has to be resolved, and formatting though it announces nothing statically", async () => {
  const range = { filePath: "a.js", startLine: 2 };
  const { data } = await family.ok<{ actions: { title: string; server: string; shape: string }[] }>(
    "code_actions",
    range,
  );
  const fix = data.actions.find((one) => one.server === "biome" && /debugger/i.test(one.title));
  expect(fix).toBeDefined();
  await family.ok("execute_code_action", { ...range, title: fix?.title, server: "biome" });
  expect(await workspace.read("a.js")).not.toContain("debugger");
  const formatted = await family.ok<EditData>("format_document", { filePath: "a.js" });
  expect(formatted.text).toContain("· biome");
  expect(await workspace.read("a.js")).toContain('export const b = "x";');
});

test("hover is not for biome", async () => {
  await workspace.write({ "only/biome.json": "{}\n", "only/data.graphql": "type A { b: Int }\n" });
  const failure = await family.fails("hover", { filePath: "only/data.graphql", line: 0, character: 5 });
  expect(failure.code).toMatch(/unsupported|unavailable/);
});

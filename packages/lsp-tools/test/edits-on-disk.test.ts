import { execFileSync } from "node:child_process";
import { chmod, cp, mkdir, stat, symlink } from "node:fs/promises";
import { join } from "node:path";
import { changedPaths, long, tempWorkspace } from "@toolhaft/testing";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { EditData } from "../src/index.ts";
import { type Fake, fake, until } from "./support/fake.ts";
import { familyFor, serverModules } from "./support/family.ts";

/** Two packages: the second one uses the first by import, re-export, shorthand, type and a call through an alias. */
const packages = {
  "package.json": '{ "private": true, "type": "module" }\n',
  "tsconfig.json":
    '{ "compilerOptions": { "strict": true, "target": "es2022", "module": "nodenext", "lib": ["es5"], "noEmit": true, "types": [] }, "include": ["packages"] }\n',
  "packages/a/package.json": '{ "name": "a", "type": "module", "exports": "./src/scale.ts" }\n',
  "packages/a/src/index.ts": 'export { scale, type Scale } from "./scale.js";\r\n',
  "packages/a/src/scale.ts":
    "\uFEFF/** Scales. */\r\nexport function scale(by: number): number {\r\n  return by * 2; /* 😀 */\r\n}\r\nexport type Scale = typeof scale;\r\n",
  "packages/b/package.json": '{ "name": "b", "type": "module" }\n',
  "packages/b/src/use.ts":
    'import { scale, type Scale } from "a";\n\nexport const tools = { scale };\nexport const double: Scale = (by) => /* 😀 */ scale(scale(by));\nexport { scale as again } from "a";\nexport const third = tools.scale(3);\n',
  "packages/b/src/script.ts":
    '#!/usr/bin/env node\nimport * as a from "a";\nimport { tools } from "./use.js";\n\na.scale(tools.scale(1));\n',
};

/** What the compiler says of the whole tree. */
function compile(directory: string): string[] {
  const config = ts.readConfigFile(join(directory, "tsconfig.json"), ts.sys.readFile);
  const { fileNames, options } = ts.parseJsonConfigFileContent(config.config, ts.sys, directory);
  const diagnostics = ts.getPreEmitDiagnostics(ts.createProgram(fileNames, options));
  return diagnostics.map((one) => ts.flattenDiagnosticMessageText(one.messageText, "\n"));
}

const compilers = long ? ["typescript", "typescript7"] : ["typescript7"];
describe.each(compilers)("a rename over two packages by %s", (compiler) => {
  test.each([
    ["at the definition", { filePath: "packages/a/src/scale.ts", line: 1, symbol: "scale" }],
    ["at a use in the other package", { filePath: "packages/b/src/use.ts", line: 3, symbol: "scale#1" }],
  ])("%s compiles afterwards, keeps line ends, BOM and mode, and is what its preview said", async (_, target) => {
    await using workspace = await tempWorkspace(packages);
    await mkdir(workspace.path("node_modules"));
    await symlink(workspace.path("packages/a"), workspace.path("node_modules/a"));
    await symlink(join(serverModules, compiler), workspace.path("node_modules/typescript"));
    await chmod(workspace.path("packages/b/src/script.ts"), 0o755);
    await chmod(workspace.path("packages/a/src/scale.ts"), 0o640);
    await using family = familyFor(workspace.directory);
    const before = workspace.snapshot();
    const preview = await family.ok<EditData>("rename", { ...target, newName: "resize", dryRun: true });
    expect(changedPaths(before, workspace.snapshot())).toEqual([]);

    await using copy = await tempWorkspace();
    await cp(workspace.path("packages"), copy.path("packages"), { recursive: true });
    execFileSync("git", ["apply", "--whitespace=nowarn", "-"], { cwd: copy.directory, input: preview.data.diff });

    const { data } = await family.ok<EditData>("rename", { ...target, newName: "resize" });
    expect(data).toMatchObject({ status: "applied", totalFiles: preview.data.totalFiles });
    expect(compile(workspace.directory)).toEqual([]);
    const definition = await workspace.read("packages/a/src/scale.ts");
    expect(definition).toBe(
      "\uFEFF/** Scales. */\r\nexport function resize(by: number): number {\r\n  return by * 2; /* 😀 */\r\n}\r\nexport type Scale = typeof resize;\r\n",
    );
    const mode = async (path: string) => ((await stat(workspace.path(path))).mode & 0o777).toString(8);
    expect(await mode("packages/b/src/script.ts")).toBe("755");
    expect(await mode("packages/a/src/scale.ts")).toBe("640");
    // the diff, applied by somebody else, gives the same bytes
    for (const path of Object.keys(packages).filter((one) => one.endsWith(".ts")))
      expect(await copy.read(path), path).toBe(await workspace.read(path));
    // no alias of the old name is left but where the old name is part of an interface
    expect(await workspace.read("packages/b/src/use.ts")).toBe(
      'import { resize, type Scale } from "a";\n\nexport const tools = { scale: resize };\nexport const double: Scale = (by) => /* 😀 */ resize(resize(by));\nexport { resize as again } from "a";\nexport const third = tools.scale(3);\n',
    );
    expect(await workspace.read("packages/b/src/script.ts")).toContain("a.resize(tools.scale(1));");
  });
});

test("the packages compile before any rename", async () => {
  await using workspace = await tempWorkspace(packages);
  await mkdir(workspace.path("node_modules"));
  await symlink(workspace.path("packages/a"), workspace.path("node_modules/a"));
  expect(compile(workspace.directory)).toEqual([]);
});

test("a rename waits while the server loads, and writes nothing before", async () => {
  await using f = await fake(
    `const { existsSync } = await import("node:fs");
    server.capabilities.renameProvider = true;
    server.on("initialized", async () => {
      server.notify("$/progress", { token: 1, value: { kind: "begin", title: "indexing" } });
      while (!existsSync(process.cwd() + "/loaded")) await server.sleep(20);
      server.notify("$/progress", { token: 1, value: { kind: "end" } });
    });
    server.on("textDocument/rename", ({ textDocument, newName }) => ({ changes: { [textDocument.uri]: [{ range: { start: { line: 0, character: 0 }, end: { line: 0, character: 3 } }, newText: newName }] } }));`,
    { definition: { ready: { by: "progress" } } },
  );
  const rename = f.family.ok<EditData>("rename", { filePath: "a.fake", line: 0, symbol: "foo", newName: "bar" });
  const life = () => f.family.lsp.pool.engine.entries[0]?.life;
  await until(() => life()?.progress.running().length === 1 && life()?.documents.list().length === 1);
  expect(f.received("textDocument/rename")).toEqual([]);
  expect(await f.workspace.read("a.fake")).toBe("foo();\nbar foo\n");
  await f.workspace.write({ loaded: "" });
  expect((await rename).data.status).toBe("applied");
  expect(await f.workspace.read("a.fake")).toBe("bar();\nbar foo\n");
});

test("a rename of a server that never finishes loading is unavailable, was never asked for, and wrote nothing", async () => {
  await using f = await fake(
    `server.capabilities.renameProvider = true;
    server.on("initialized", () => server.notify("$/progress", { token: 1, value: { kind: "begin", title: "indexing" } }));
    server.on("textDocument/rename", ({ textDocument, newName }) => ({ changes: { [textDocument.uri]: [] } }));`,
    { definition: { ready: { by: "progress" } }, timeouts: { ready: 300, call: 3_000 } },
  );
  const failure = await f.family.fails("rename", { filePath: "a.fake", line: 0, symbol: "foo", newName: "bar" });
  expect(failure).toMatchObject({ code: "unavailable", retryable: true });
  expect(failure.text).toMatch(/^Nothing was written\./);
  expect(f.received("textDocument/rename")).toEqual([]);
  expect(await f.workspace.read("a.fake")).toBe("foo();\nbar foo\n");
});

describe("resource operations in every combination of options", () => {
  let f: Fake;
  beforeAll(async () => {
    f = await fake(`
      const { readFileSync } = await import("node:fs");
      server.capabilities.renameProvider = true;
      server.on("textDocument/rename", () => JSON.parse(readFileSync(process.cwd() + "/edit.json", "utf8").replaceAll("URI:", "file://" + process.cwd() + "/")));`);
  });
  afterAll(() => f[Symbol.asyncDispose]());

  const flags = [undefined, false, true] as const;
  const insert = (uri: string, newText: string) => ({
    textDocument: { uri, version: null },
    edits: [{ range: { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } }, newText }],
  });
  const old = { "w/file.txt": "file\n", "w/other.txt": "other\n", "w/full/in.txt": "in\n", "w/first.txt": "first\n" };
  let row = 0;

  /** The files below a fresh folder after the edit, or the code of the refusal. */
  async function after(operations: (base: string) => object[]): Promise<Record<string, string> | string> {
    const folder = `r${row++}`;
    await f.workspace.write(Object.fromEntries(Object.entries(old).map(([path, text]) => [`${folder}/${path}`, text])));
    await mkdir(f.workspace.path(`${folder}/w/empty`));
    const base = `URI:${folder}/w`;
    // an edit before and after: a refusal must take back both
    const documentChanges = [insert(`${base}/first.txt`, "1 "), ...operations(base), insert(`${base}/first.txt`, "2 ")];
    await f.workspace.write({ "edit.json": JSON.stringify({ documentChanges }) });
    const before = f.workspace.snapshot();
    const input = { filePath: "a.fake", line: 0, symbol: "foo", newName: "x" };
    const preview = await f.family.call("rename", { ...input, dryRun: true });
    expect(changedPaths(before, f.workspace.snapshot())).toEqual([]);
    const result = await f.family.call("rename", input);
    expect(preview.ok).toBe(result.ok);
    if (!result.ok) {
      expect(changedPaths(before, f.workspace.snapshot())).toEqual([]);
      return result.error.code;
    }
    const now: Record<string, string> = {};
    for (const path of f.workspace.snapshot().keys()) {
      if (path.startsWith(`${folder}/w/`) && !path.endsWith("/"))
        now[path.slice(folder.length + 3)] = await f.workspace.read(path);
    }
    return now;
  }
  const unchanged = { "file.txt": "file\n", "other.txt": "other\n", "full/in.txt": "in\n", "first.txt": "2 1 first\n" };
  const without = (...names: string[]) =>
    Object.fromEntries(Object.entries(unchanged).filter(([name]) => !names.includes(name)));
  const options = (given: Record<string, boolean | undefined>) => JSON.parse(JSON.stringify(given)) as object;

  test("create: over nothing, a file, a folder", async () => {
    for (const overwrite of flags) {
      for (const ignoreIfExists of flags) {
        const given = options({ overwrite, ignoreIfExists });
        const create = (name: string) =>
          after((base) => [
            { kind: "create", uri: `${base}/${name}`, options: given },
            insert(`${base}/${name}`, "new"),
          ]);
        expect(await create("made/new.txt")).toEqual({ ...unchanged, "made/new.txt": "new" });
        const over = overwrite ? "new" : ignoreIfExists ? "newfile\n" : undefined;
        expect(await create("file.txt"), JSON.stringify(given)).toEqual(
          over === undefined ? "conflict" : { ...unchanged, "file.txt": over },
        );
        expect(await create("full")).toBe("conflict");
      }
    }
  });

  test("rename: onto nothing, a file, itself; a folder onto nothing and onto a folder", async () => {
    for (const overwrite of flags) {
      for (const ignoreIfExists of flags) {
        const given = options({ overwrite, ignoreIfExists });
        const rename = (from: string, to: string, then: (base: string) => object[] = () => []) =>
          after((base) => [
            { kind: "rename", oldUri: `${base}/${from}`, newUri: `${base}/${to}`, options: given },
            ...then(base),
          ]);
        const says = JSON.stringify(given);
        const moved = (base: string) => [insert(`${base}/new/moved.txt`, "x")];
        expect(await rename("file.txt", "new/moved.txt", moved), says).toEqual({
          ...without("file.txt"),
          "new/moved.txt": "xfile\n",
        });
        expect(await rename("file.txt", "other.txt", (base) => [insert(`${base}/other.txt`, "x")]), says).toEqual(
          overwrite
            ? { ...without("file.txt"), "other.txt": "xfile\n" }
            : ignoreIfExists
              ? { ...unchanged, "other.txt": "xother\n" }
              : "conflict",
        );
        expect(await rename("file.txt", "file.txt"), says).toEqual(unchanged);
        expect(await rename("gone.txt", "new.txt"), says).toBe("not_found");
        expect(await rename("full", "folder", (base) => [insert(`${base}/folder/in.txt`, "x")]), says).toEqual({
          ...without("full/in.txt"),
          "folder/in.txt": "xin\n",
        });
        expect(await rename("full", "empty"), says).toEqual(!overwrite && ignoreIfExists ? unchanged : "conflict");
      }
    }
  });

  test("delete: a file, an empty and a full folder, nothing", async () => {
    for (const recursive of flags) {
      for (const ignoreIfNotExists of flags) {
        const given = options({ recursive, ignoreIfNotExists });
        const remove = (name: string) => after((base) => [{ kind: "delete", uri: `${base}/${name}`, options: given }]);
        const says = JSON.stringify(given);
        expect(await remove("file.txt"), says).toEqual(without("file.txt"));
        expect(await remove("empty"), says).toEqual(unchanged);
        expect(await remove("full"), says).toEqual(recursive ? without("full/in.txt") : "conflict");
        expect(await remove("gone.txt"), says).toEqual(ignoreIfNotExists ? unchanged : "not_found");
      }
    }
  });

  test("what comes later sees what came earlier: swaps, places taken again", async () => {
    const rename = (base: string, from: string, to: string, given: object = {}) => ({
      kind: "rename",
      oldUri: `${base}/${from}`,
      newUri: `${base}/${to}`,
      options: given,
    });
    expect(
      await after((base) => [
        rename(base, "file.txt", "tmp.txt"),
        rename(base, "other.txt", "file.txt"),
        rename(base, "tmp.txt", "other.txt"),
      ]),
    ).toEqual({ ...unchanged, "file.txt": "other\n", "other.txt": "file\n" });
    expect(
      await after((base) => [
        { kind: "delete", uri: `${base}/file.txt` },
        { kind: "create", uri: `${base}/file.txt` },
        insert(`${base}/file.txt`, "again"),
      ]),
    ).toEqual({ ...unchanged, "file.txt": "again" });
    expect(
      await after((base) => [
        { kind: "create", uri: `${base}/a.txt` },
        insert(`${base}/a.txt`, "made"),
        rename(base, "a.txt", "deep/er/b.txt"),
        rename(base, "other.txt", "a.txt"),
      ]),
    ).toEqual({ ...without("other.txt"), "deep/er/b.txt": "made", "a.txt": "other\n" });
    expect(
      await after((base) => [
        rename(base, "file.txt", "moved.txt"),
        { kind: "create", uri: `${base}/file.txt` },
        insert(`${base}/file.txt`, "in its place"),
      ]),
    ).toEqual({ ...unchanged, "file.txt": "in its place", "moved.txt": "file\n" });
    // a folder's place is used once: refused whole
    expect(
      await after((base) => [
        { kind: "delete", uri: `${base}/full`, options: { recursive: true } },
        { kind: "create", uri: `${base}/full` },
      ]),
    ).toBe("unsupported");
  });
});

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { changedPaths, long, startChild, type TempWorkspace, tempWorkspace } from "@toolhaft/testing";
import { createWorkspace } from "@toolhaft/workspace";
import { expect, test } from "vitest";

const fixture = (name: string) => fileURLToPath(new URL(`support/${name}`, import.meta.url));
const names = ["b.fake", "c/d.fake", "e.fake"];
const files = {
  "a.fake": "foo();\r\n😀 foo\r\n",
  ...Object.fromEntries(names.map((name) => [name, "one foo\n"])),
  "gone.txt": "x\n",
  "old.txt": "x\n",
};
/** Edits of four files, a file created, one renamed, one deleted. */
const scenario = `export default (server) => {
  server.capabilities.renameProvider = true;
  const uri = (name) => "file://" + process.cwd() + "/" + name;
  const edit = (name, line, character) => ({ textDocument: { uri: uri(name), version: null }, edits: [{ range: { start: { line, character }, end: { line, character: character + 3 } }, newText: "bar" }] });
  server.on("textDocument/rename", () => ({ documentChanges: [
    edit("a.fake", 0, 0), edit("a.fake", 1, 3), ...${JSON.stringify(names)}.map((name) => edit(name, 0, 4)),
    { kind: "create", uri: uri("made.txt") }, { kind: "rename", oldUri: uri("old.txt"), newUri: uri("new.txt") }, { kind: "delete", uri: uri("gone.txt") },
  ] }));
};`;

test("a host killed at any file-system call of a commit leaves all old or all new", async () => {
  await using tools = await tempWorkspace({ "scenario.mjs": scenario });
  const servers = {
    fake: {
      command: process.execPath,
      args: [fixture("fake-server.mjs"), tools.path("scenario.mjs")],
      files: [{ languageId: "fake", extensions: [".fake"] }],
      ready: { by: "none" },
    },
  };
  const run = async (workspace: TempWorkspace, killAt: number) => {
    const rename = { filePath: "a.fake", line: 0, symbol: "foo", newName: "bar" };
    const lockDir = tools.path("locks");
    const order = { directory: workspace.directory, lockDir, servers, killAt, rename };
    const child = startChild(fixture("killed-rename.mjs"), [JSON.stringify(order)]);
    const ended = await child.ended;
    return { ended, said: child.lines[0], stderr: child.stderr() };
  };
  await using whole = await tempWorkspace(files);
  const before = whole.snapshot();
  const done = await run(whole, 0);
  expect(done).toMatchObject({ ended: 0, said: expect.stringContaining('"ok":true') });
  const after = whole.snapshot();
  expect(changedPaths(before, after)).toHaveLength(names.length + 5);
  const { calls } = JSON.parse(done.said ?? "") as { calls: number };

  let old = 0;
  const step = long ? 1 : Math.ceil(calls / 5);
  for (let killAt = 1; killAt <= calls; killAt += step) {
    await using workspace = await tempWorkspace(files);
    const killed = await run(workspace, killAt);
    expect(killed, `call ${killAt} of ${calls}`).toMatchObject({ ended: "SIGKILL" });
    // the next use of the folder finds what the dead one left
    await using next = createWorkspace({ root: workspace.directory, lockDir: tools.path("locks") });
    await next.recover();
    const now = workspace.snapshot();
    const [fromOld, fromNew] = [changedPaths(before, now), changedPaths(after, now)];
    expect(fromOld.length === 0 || fromNew.length === 0, `call ${killAt}: ${fromOld} / ${fromNew}`).toBe(true);
    if (fromOld.length === 0) old++;
  }
  expect(old).toBeGreaterThan(0);
  expect(existsSync(whole.path("made.txt"))).toBe(true);
});

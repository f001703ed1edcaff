import { execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { snapshotOf } from "@toolhaft/testing";
import { describe, expect, it } from "vitest";
import { createWorkspace, nodeFileSystem, type OpenMode } from "../src/index.ts";
import { arena } from "./arena.ts";
import { change, create, expectError, replaceLine } from "./edits.ts";
import { countingFileSystem } from "./fixtures/counting-file-system.mjs";
import { run, scenarios } from "./fixtures/scenarios.mjs";
import { expectNothingLeft, newPlace, treeOf } from "./kills.ts";

describe("a workspace", () => {
  it("opens nothing when it is made", async () => {
    await using place = await arena();
    const fileSystem = countingFileSystem(nodeFileSystem, () => undefined);
    const workspace = createWorkspace({ root: place.path("not/there"), lockDir: place.path("nor/here"), fileSystem });
    expect(fileSystem.calls).toBe(0);
    await workspace.close();
    expect(fileSystem.calls).toBe(0);
    expect(readdirSync(place.root)).toEqual([]);
  });

  it("writes nothing for reads, history and recovery where nothing is to be repaired", async () => {
    await using place = await arena({ a: "a\n" });
    rmSync(place.lockDir, { recursive: true });
    await place.workspace.read("a", place.scope);
    await place.workspace.resolve("a", "write", place.scope);
    expect(await place.workspace.history()).toEqual([]);
    expect(await place.workspace.recover()).toEqual([]);
    expect(readdirSync(place.root)).toEqual(["a"]);
    expect(existsSync(place.lockDir)).toBe(false);
  });

  it("keeps its state out of git, in folders of mode 0700", async () => {
    await using place = await arena();
    await change(place.workspace, [create("a", "x\n")], place.scope);
    expect(await place.read(".toolhaft/.gitignore")).toBe("*\n");
    const [id] = readdirSync(place.path(".toolhaft/workspace/commits"));
    expect(statSync(place.path(`.toolhaft/workspace/commits/${id}`)).mode & 0o777).toBe(0o700);
    rmSync(place.path(".toolhaft"), { recursive: true });
    await change(place.workspace, [create("b", "x\n")], place.scope);
    expect(await place.read("b")).toBe("x\n");
    expect(await place.read(".toolhaft/.gitignore")).toBe("*\n");
  });

  it("refuses a state folder that leads elsewhere", async () => {
    await using place = await arena({ a: "a\n" });
    const { symlinkSync } = await import("node:fs");
    mkdirSync(`${place.root}-elsewhere`);
    symlinkSync(`${place.root}-elsewhere`, place.path(".toolhaft"));
    await expectError(replaceLine(place.workspace, "a", 1, ["A"], place.scope), "denied", "in the way");
    expect(await place.read("a")).toBe("a\n");
  });

  it("once closed answers unavailable, and has let everything go", async () => {
    await using place = await arena({ a: "a\n" });
    const staged = await place.workspace.stage(place.scope);
    const running = replaceLine(place.workspace, "a", 1, ["A"], place.scope);
    await place.workspace.close();
    await running;
    expect(await place.read("a")).toBe("A\n");
    expect(existsSync(staged.path)).toBe(false);
    expect(place.locks()).toEqual([]);
    await expectError(place.workspace.read("a", place.scope), "unavailable", "closed");
    await expectError(replaceLine(place.workspace, "a", 1, ["B"], place.scope), "unavailable", "closed");
    await place.workspace.close();
  });

  it("leaves no timer or handle that keeps a process alive, closed or not", async () => {
    await using place = await arena({ "log.txt": "" });
    const program = fileURLToPath(new URL("./fixtures/leaver.mjs", import.meta.url));
    for (const close of [true, false]) {
      const child = spawn(
        process.execPath,
        [program, JSON.stringify({ root: place.root, lockDir: place.lockDir, close })],
        { stdio: "inherit" },
      );
      expect(await new Promise((resolve) => child.once("close", resolve))).toBe(0);
    }
    expect(place.locks()).toEqual([]);
  });
});

describe("abort", () => {
  it.each(["five", "replace", "in-place"])(
    "at any call of %s: before the decision nothing has changed, after it everything",
    async (name) => {
      await using fresh = await newPlace();
      await using twin = createWorkspace({ ...fresh, fsync: false, undo: { commits: 0 } });
      const old = treeOf(fresh.root);
      await run(twin, fresh.root, name);
      const next = treeOf(fresh.root);
      const seen = new Set<string>();
      let last = Number.POSITIVE_INFINITY;
      for (let at = 1; at <= last; at += name === "five" ? 7 : 2) {
        await using place = await newPlace();
        const stop = new AbortController();
        const fileSystem = countingFileSystem(nodeFileSystem, (call) => {
          if (call === at) stop.abort();
        });
        await using workspace = createWorkspace({ ...place, fsync: false, fileSystem });
        const { paths, plan } = scenarios[name] ?? { paths: [], plan: () => [] };
        const scope = { directory: place.root, signal: stop.signal };
        const outcome = await workspace
          .edit(paths, (files) => ({ changes: plan(files), result: undefined }), scope)
          .then(
            () => "done",
            (error: { code: string }) => error.code,
          );
        expect(["done", "cancelled"]).toContain(outcome);
        expect(treeOf(place.root)).toBe(outcome === "done" ? next : old);
        expectNothingLeft(place);
        seen.add(outcome);
        if (outcome === "done") last = fileSystem.calls;
      }
      expect([...seen].sort()).toEqual(["cancelled", "done"]);
    },
  );

  it("before the call starts nothing, and nobody is asked", async () => {
    await using place = await arena({ a: "a\n" });
    let asked = 0;
    const scope = { ...place.scope, signal: AbortSignal.abort(), ask: async () => void asked++ };
    await expectError(replaceLine(place.workspace, "a", 1, ["A"], scope), "cancelled");
    await expectError(place.workspace.read("a", scope), "cancelled");
    expect(asked).toBe(0);
  });
});

describe("a dry run", () => {
  it("answers what the real call answers, refuses what it refuses, and writes nothing", async () => {
    for (const name of Object.keys(scenarios)) {
      await using place = await newPlace();
      await using workspace = createWorkspace({ ...place, fsync: false });
      const { paths, plan } = scenarios[name] ?? { paths: [], plan: () => [] };
      const scope = { directory: place.root };
      const edit = (dryRun: boolean) =>
        workspace.edit(paths, (files) => ({ changes: plan(files), result: files.size }), scope, { dryRun });
      const before = treeOf(place.root);
      const dry = await edit(true);
      expect(treeOf(place.root)).toBe(before);
      expect([existsSync(place.lockDir), existsSync(join(place.root, ".toolhaft"))]).toEqual([false, false]);
      const { id, ...real } = await edit(false);
      expect(id).toMatch(/^[0-9A-Z]{26}$/);
      expect(dry).toEqual(real);
    }
    await using place = await arena({ a: "a\n" });
    await expectError(change(place.workspace, [create("a", "x\n")], place.scope, { dryRun: true }), "conflict");
    await expectError(change(place.workspace, [create("../x", "x\n")], place.scope, { dryRun: true }), "denied");
  });
});

describe("what a reader sees", () => {
  it("is never new content under the old name of a move, nor half a file", async () => {
    await using place = await newPlace();
    const old = readFileSync(join(place.root, "d.txt"), "utf8");
    const seen = new Set<string>();
    const fileSystem = countingFileSystem(nodeFileSystem, () => {
      const read = (path: string) =>
        existsSync(join(place.root, path)) ? readFileSync(join(place.root, path), "utf8") : undefined;
      const [from, to] = [read("d.txt"), read("moved/e.txt")];
      expect([old, undefined]).toContain(from);
      expect(from ?? to).toBeDefined();
      if (to !== undefined) expect(to).toMatch(/^moved line 1\n(.*\n)*moved line 4\n$/);
      seen.add(`${from !== undefined} ${to !== undefined}`);
    });
    await using workspace = createWorkspace({ ...place, fsync: false, fileSystem });
    await run(workspace, place.root, "move-edited");
    expect([...seen]).toEqual(["true false", "true true", "false true"]);
  });

  it("of a file written in place is whole, because reads of such files wait for its lock", async () => {
    const size = 700_000;
    await using place = await arena({ big: "a".repeat(size) }, { writeMode: "in-place", lockTimeoutMs: 60_000 });
    let writing = true;
    const write = async () => {
      for (const letter of ["b", "c", "d", "e", "f"])
        await replaceLine(place.workspace, "big", 1, [letter.repeat(size)], place.scope);
      writing = false;
    };
    const read = async () => {
      while (writing) {
        const { bytes } = await place.workspace.read("big", place.scope);
        expect(bytes.length).toBe(size);
        expect(bytes[0]).toBe(bytes[size - 1]);
      }
    };
    await Promise.all([write(), read()]);
  });
});

describe("changes in a reply", () => {
  it("carry states, counts and a diff that git applies", async () => {
    await using place = await arena({ "a b.txt": "1\n2\n3", gone: "x\ny\n", "old name": "k\nl\n", ünï: "u\n" });
    await using copy = await arena({ "a b.txt": "1\n2\n3", gone: "x\ny\n", "old name": "k\nl\n", ünï: "u\n" });
    const { changes } = await change(
      place.workspace,
      [
        {
          kind: "replace",
          path: "a b.txt",
          bytes: Buffer.from("1\nTWO\n3"),
          lineChanges: [{ oldStart: 2, oldLines: 1, newStart: 2, newLines: 1 }],
        },
        { kind: "delete", path: "gone" },
        {
          kind: "move",
          path: "old name",
          to: "sub/new name",
          bytes: Buffer.from("k\nL\n"),
          lineChanges: [{ oldStart: 2, oldLines: 1, newStart: 2, newLines: 1 }],
        },
        create("made", "m\n"),
        { kind: "move", path: "ünï", to: "üni" },
      ],
      place.scope,
    );
    expect(
      changes.map(({ kind, path, from, additions, deletions }) => [kind, path, from, additions, deletions]),
    ).toEqual([
      ["modify", "a b.txt", undefined, 1, 1],
      ["delete", "gone", undefined, 0, 2],
      ["move", "sub/new name", "old name", 1, 1],
      ["create", "made", undefined, 1, 0],
      ["move", "üni", "ünï", 0, 0],
    ]);
    expect(changes[0]).toMatchObject({
      before: { bytes: 5, lines: 3, mode: 0o644 },
      after: { bytes: 7, lines: 3 },
      diffTruncated: false,
    });
    execFileSync("git", ["apply", "--whitespace=nowarn", "-"], {
      cwd: copy.root,
      input: changes.map(({ diff }) => diff).join(""),
    });
    expect(snapshotOf(copy.root)).toEqual(snapshotOf(place.root));
  });

  it("name files outside the directory by absolute paths, and linked ones by their real name", async () => {
    await using place = await arena({ "sub/x": "x\n", a: "a\n" });
    const { symlinkSync } = await import("node:fs");
    symlinkSync("../a", place.path("sub/link"));
    const scope = { directory: place.path("sub") };
    const { changes } = await change(
      place.workspace,
      [
        { kind: "delete", path: "x" },
        { kind: "delete", path: "link" },
      ],
      scope,
    );
    expect(changes.map(({ path }) => path)).toEqual(["x", place.path("a")]);
  });

  it("cut a long diff at a whole hunk", async () => {
    const lines = Array.from({ length: 20_000 }, (_, k) => `line ${k}\n`);
    await using place = await arena({ a: lines.join("") });
    const after = lines.map((line, k) => (k % 10 === 0 ? `new ${line}` : line));
    const lineChanges = lines.flatMap((_, k) =>
      k % 10 === 0 ? [{ oldStart: k + 1, oldLines: 1, newStart: k + 1, newLines: 1 }] : [],
    );
    const { changes } = await change(
      place.workspace,
      [{ kind: "replace", path: "a", bytes: Buffer.from(after.join("")), lineChanges }],
      place.scope,
    );
    expect(changes[0]).toMatchObject({ additions: 2_000, deletions: 2_000, diffTruncated: true });
    expect(Buffer.byteLength(changes[0]?.diff ?? "")).toBeLessThanOrEqual(65_536);
  });
});

describe("a staged file", () => {
  it("grows by pieces in order, with mode 0600, and is put in place by one commit", async () => {
    await using place = await arena();
    const staged = await place.workspace.stage(place.scope);
    await Promise.all(["one\n", "two\n", "three"].map((text) => staged.append(Buffer.from(text))));
    expect(staged.bytes).toBe(13);
    expect(statSync(staged.path).mode & 0o777).toBe(0o600);
    const { changes } = await change(place.workspace, [{ kind: "adopt", path: "deep/file", staged }], place.scope);
    expect(await place.read("deep/file")).toBe("one\ntwo\nthree");
    expect(changes[0]).toMatchObject({
      kind: "create",
      path: "deep/file",
      additions: 3,
      after: { bytes: 13, lines: 3 },
    });
    expect(statSync(place.path("deep/file"))).toMatchObject({ nlink: 1, mode: expect.any(Number) });
    expect(statSync(place.path("deep/file")).mode & 0o777).toBe(0o666 & ~process.umask());
    expect(existsSync(staged.path)).toBe(false);
    await expectError(staged.append(Buffer.from("x")), "internal", "closed");
    await place.workspace.undo(undefined, place.scope);
    expect(existsSync(place.path("deep"))).toBe(false);
  });

  it("replaces only when it may, keeping mode and links of what it replaces", async () => {
    await using place = await arena({ a: "old\n", b: "b\n" });
    chmodSync(place.path("a"), 0o755);
    linkSync(place.path("b"), place.path("twin"));
    for (const path of ["a", "b"]) {
      const staged = await place.workspace.stage(place.scope);
      await staged.append(Buffer.from("fresh\n"));
      await expectError(
        change(place.workspace, [{ kind: "adopt", path, staged }], place.scope),
        "conflict",
        "exists already",
      );
      await change(place.workspace, [{ kind: "adopt", path, staged, overwrite: true }], place.scope);
    }
    expect([await place.read("a"), await place.read("twin")]).toEqual(["fresh\n", "fresh\n"]);
    expect(statSync(place.path("a")).mode & 0o777).toBe(0o755);
    await place.workspace.undo(undefined, place.scope);
    await place.workspace.undo(undefined, place.scope);
    expect([await place.read("a"), await place.read("twin")]).toEqual(["old\n", "b\n"]);
  });

  it("may be binary, replace a binary file, and be larger than what may be read", async () => {
    await using place = await arena({ "x.bin": Buffer.from([0, 1]) }, { maxFileBytes: 1_000 });
    const staged = await place.workspace.stage(place.scope);
    await staged.append(Buffer.alloc(5_000));
    const { changes } = await change(
      place.workspace,
      [{ kind: "adopt", path: "x.bin", staged, overwrite: true }],
      place.scope,
    );
    expect(changes[0]).toMatchObject({
      kind: "modify",
      before: { bytes: 2 },
      after: { bytes: 5_000 },
      diffTruncated: true,
    });
    expect(readFileSync(place.path("x.bin"))).toEqual(Buffer.alloc(5_000));
  });

  it("can be discarded, and is gone for commits then", async () => {
    await using place = await arena();
    const staged = await place.workspace.stage(place.scope);
    await staged.discard();
    await staged.discard();
    expect(existsSync(staged.path)).toBe(false);
    await expectError(change(place.workspace, [{ kind: "adopt", path: "x", staged }], place.scope), "internal", "gone");
    const other = await place.again().stage(place.scope);
    await expectError(
      change(place.workspace, [{ kind: "adopt", path: "x", staged: other }], place.scope),
      "internal",
      "another workspace",
    );
  });

  it("survives a commit that failed, and a full disk", async () => {
    await using place = await arena({ a: "a\n" });
    let full = false;
    const workspace = place.again({
      fileSystem: {
        ...nodeFileSystem,
        async open(path, how, mode) {
          const file = await nodeFileSystem.open(path, how, mode);
          return {
            ...file,
            async write(bytes, position) {
              if (!full || !path.includes("staged")) return file.write(bytes, position);
              await file.write(bytes.subarray(0, 1), position);
              throw Object.assign(new Error("ENOSPC"), { code: "ENOSPC" });
            },
          };
        },
      },
    });
    const staged = await workspace.stage(place.scope);
    await staged.append(Buffer.from("one\n"));
    full = true;
    await expectError(staged.append(Buffer.from("lost\n")), "unavailable", "no space");
    full = false;
    await staged.append(Buffer.from("two\n"));
    await expectError(
      change(workspace, [{ kind: "adopt", path: "x", staged }, create("a", "taken\n")], place.scope),
      "conflict",
    );
    expect(readFileSync(staged.path, "utf8")).toBe("one\ntwo\n");
    await change(workspace, [{ kind: "adopt", path: "x", staged }], place.scope);
    expect(await place.read("x")).toBe("one\ntwo\n");
  });

  it("is copied where it cannot be linked", async () => {
    await using place = await arena();
    const exdev = () => Promise.reject(Object.assign(new Error("EXDEV"), { code: "EXDEV" }));
    const workspace = place.again({
      fileSystem: {
        ...nodeFileSystem,
        link: (from, to) => (from.includes("staged") ? exdev() : nodeFileSystem.link(from, to)),
      },
    });
    const staged = await workspace.stage(place.scope);
    await staged.append(Buffer.from("x\n"));
    await change(workspace, [{ kind: "adopt", path: "x", staged }], place.scope);
    expect(await place.read("x")).toBe("x\n");
    expect(readdirSync(place.path(".toolhaft/workspace/staged"))).toEqual([]);
  });
});

it("a file system that knows no case renames one file to its other spelling", async () => {
  await using place = await arena({ "Readme.md": "x\n" });
  // Both spellings lead to the one file, as on macOS and Windows.
  const spelled = (path: string) =>
    existsSync(path)
      ? path
      : path.replace(/readme\.md$/i, (name) => (name === "Readme.md" ? "README.md" : "Readme.md"));
  const real = (path: string) => (lstatSync(spelled(path), { throwIfNoEntry: false }) ? spelled(path) : path);
  const fileSystem = {
    ...nodeFileSystem,
    realpath: async (path: string) => {
      await nodeFileSystem.realpath(real(path));
      return path;
    },
    open: (path: string, how: OpenMode, mode?: number) =>
      nodeFileSystem.open(how === "read" ? real(path) : path, how, mode),
    stat: (path: string) => nodeFileSystem.stat(real(path)),
    lstat: (path: string) => nodeFileSystem.lstat(real(path)),
  };
  const workspace = place.again({ fileSystem });
  await change(workspace, [{ kind: "move", path: "Readme.md", to: "README.md" }], place.scope);
  expect(readdirSync(place.root).sort()).toEqual([".toolhaft", "README.md"]);
  await workspace.undo(undefined, place.scope);
  expect(readdirSync(place.root).sort()).toEqual([".toolhaft", "Readme.md"]);
  writeFileSync(place.path("done"), "");
});

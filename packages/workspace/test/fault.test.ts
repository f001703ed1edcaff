import { lstatSync } from "node:fs";
import { join } from "node:path";
import { ToolError } from "@toolhaft/core";
import { long, snapshotOf } from "@toolhaft/testing";
import { describe, expect, it } from "vitest";
import { createWorkspace, type FileSystem, nodeFileSystem } from "../src/index.ts";
import { countingFileSystem } from "./fixtures/counting-file-system.mjs";
import { run, scenarios } from "./fixtures/scenarios.mjs";
import { expectNothingLeft, newPlace, type Place, treeOf } from "./kills.ts";

const fault = (code: string) => Object.assign(new Error(`${code}: injected`), { code });

/** Names, modes, contents and inodes. */
function exactly(root: string): string {
  const inode = (path: string) => lstatSync(join(root, path)).ino;
  return [...snapshotOf(root)].map(([path, what]) => `${path} ${what} ${inode(path)}`).join("\n");
}

/** A file system that fails at call `n`, in the way `fail` decides. */
function failing(
  fail: (call: number, name: string, args: readonly unknown[]) => unknown,
): FileSystem & { calls: number } {
  return countingFileSystem(nodeFileSystem, fail);
}

async function callsOf(scenario: string, fsync: boolean): Promise<number> {
  await using place = await newPlace();
  const fileSystem = failing(() => undefined);
  await using workspace = createWorkspace({ ...place, fsync, fileSystem });
  await run(workspace, place.root, scenario);
  return fileSystem.calls;
}

/** Runs one commit under faults: it is all old, with every inode as it was, or all new. */
async function expectAllOrNothing(
  place: Place,
  scenario: string,
  fileSystem: FileSystem,
  next: string,
  fsync = false,
): Promise<"old" | "new"> {
  const before = exactly(place.root);
  await using workspace = createWorkspace({ ...place, fsync, fileSystem });
  const outcome = await run(workspace, place.root, scenario).then(
    () => "new" as const,
    (error: unknown) => {
      expect(error).toBeInstanceOf(ToolError);
      return error instanceof ToolError ? error : "old";
    },
  );
  if (outcome === "new") expect(treeOf(place.root)).toBe(next);
  else expect(exactly(place.root)).toBe(before);
  expectNothingLeft(place);
  return outcome === "new" ? "new" : "old";
}

async function newTree(scenario: string): Promise<string> {
  await using place = await newPlace();
  await using workspace = createWorkspace({ ...place, fsync: false, undo: { commits: 0 } });
  await run(workspace, place.root, scenario);
  return treeOf(place.root);
}

const codes = ["ENOSPC", "EACCES", "EXDEV", "EIO", "EPERM"];

const range = (count: number) => Array.from({ length: count }, (_, k) => k + 1);

/** Every call in the long suite, otherwise some of them. */
function callsToFail(calls: number, offset: number, every: number): number[] {
  return long ? range(calls) : range(calls).filter((call) => call % every === offset % every);
}

const names = ["three", "five", "replace", "in-place", "move-over", "delete-linked", "delete-folder"];

describe.each(names)("a fault in the commit %s", (name) => {
  it.each(codes)("%s at any call leaves everything old or everything new", { timeout: 600_000 }, async (code) => {
    const next = await newTree(name);
    const fsync = long || code === "EIO";
    const calls = await callsOf(name, fsync);
    const seen = { old: 0, new: 0 };
    const at =
      name === "three"
        ? callsToFail(calls, code.length, code === "ENOSPC" ? 1 : 3)
        : callsToFail(calls, code.length, 11);
    for (const one of at) {
      await using place = await newPlace();
      const fileSystem = failing((call) => {
        if (call === one) throw fault(code);
      });
      seen[await expectAllOrNothing(place, name, fileSystem, next, fsync)]++;
    }
    expect(seen.old + seen.new).toBe(at.length);
    if (name === "three" && code === "ENOSPC") expect(seen.old).toBeGreaterThan(0);
  });

  it("a disk that is full from any call on takes the commit back", { timeout: 600_000 }, async () => {
    const next = await newTree(name);
    for (const at of callsToFail(await callsOf(name, false), 3, 11)) {
      await using place = await newPlace();
      const fileSystem = failing((call, method, args) => {
        const needsSpace = ["write", "mkdir", "link"].includes(method) || (method === "open" && args[1] === "create");
        if (call >= at && needsSpace) throw fault("ENOSPC");
      });
      await expectAllOrNothing(place, name, fileSystem, next);
    }
  });
});

describe("short writes", () => {
  it("are carried on until all bytes are written", async () => {
    await using place = await newPlace();
    const half: FileSystem = {
      ...nodeFileSystem,
      async open(path, how, mode) {
        const file = await nodeFileSystem.open(path, how, mode);
        return {
          ...file,
          write: (bytes, position) => file.write(bytes.subarray(0, Math.ceil(bytes.length / 2)), position),
        };
      },
    };
    expect(await expectAllOrNothing(place, "five", half, await newTree("five"))).toBe("new");
  });

  it("that take nothing are a full disk", async () => {
    await using place = await newPlace();
    const none: FileSystem = {
      ...nodeFileSystem,
      async open(path, how, mode) {
        const file = await nodeFileSystem.open(path, how, mode);
        const isBody = path.includes(".toolhaft-");
        return isBody ? { ...file, write: async () => 0 } : file;
      },
    };
    const before = exactly(place.root);
    await using workspace = createWorkspace({ ...place, fileSystem: none });
    await expect(run(workspace, place.root, "five")).rejects.toMatchObject({ code: "unavailable" });
    expect(exactly(place.root)).toBe(before);
    expectNothingLeft(place);
  });
});

it("crash-1: a full disk at any one write of a two-file edit is `unavailable`, both files old, nothing left", async () => {
  const two = { paths: ["a.txt", "d.txt"] };
  scenarios.two = {
    ...two,
    plan: (files) =>
      two.paths.map((path) => ({
        kind: "replace",
        path,
        bytes: Buffer.from("new\n"),
        lineChanges: [{ oldStart: 1, oldLines: files.get(path)?.lineCount ?? 0, newStart: 1, newLines: 1 }],
      })),
  };
  let failed = 0;
  for (let at = 1; ; at++) {
    await using place = await newPlace();
    let writes = 0;
    const fileSystem = failing((_, name) => {
      if (name === "write" && ++writes === at) throw fault("ENOSPC");
    });
    const before = exactly(place.root);
    await using workspace = createWorkspace({ ...place, fileSystem });
    const error: unknown = await run(workspace, place.root, "two").then(
      () => undefined,
      (reason: unknown) => reason,
    );
    if (writes < at) break;
    expect(error).toMatchObject({ code: "unavailable", hint: expect.stringContaining("free some space") });
    expect(exactly(place.root)).toBe(before);
    expectNothingLeft(place);
    failed++;
  }
  expect(failed).toBeGreaterThanOrEqual(4);
});

it("a file system without hard links works by copies and checked renames", async () => {
  for (const name of Object.keys(scenarios)) {
    await using place = await newPlace();
    // Hard links that exist already stay what they are.
    const fileSystem: FileSystem = { ...nodeFileSystem, link: () => Promise.reject(fault("EPERM")) };
    expect(await expectAllOrNothing(place, name, fileSystem, await newTree(name)), name).toBe("new");
  }
});

it("a rollback that fails is `internal` and names each file with the place of its old content", async () => {
  await using place = await newPlace();
  const fileSystem: FileSystem = {
    ...nodeFileSystem,
    async unlink(path) {
      if (path.endsWith("/f.txt")) throw fault("EIO");
      return nodeFileSystem.unlink(path);
    },
    async rename(from, to) {
      if (/old-\d+$/.test(from)) throw fault("EIO");
      return nodeFileSystem.rename(from, to);
    },
  };
  await using workspace = createWorkspace({ ...place, fsync: false, fileSystem });
  const error: unknown = await run(workspace, place.root, "three").catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: "internal" });
  if (!(error instanceof ToolError)) throw error;
  expect(error.message).toMatch(/a\.txt: .*EIO.*old content in .*old-\d/);
  const backup = /old content in (\S+)/.exec(error.message)?.[1] ?? "";
  expect(lstatSync(backup).isFile()).toBe(true);
});

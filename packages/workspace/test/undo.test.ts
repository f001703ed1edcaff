import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { snapshotOf } from "@toolhaft/testing";
import { describe, expect, it } from "vitest";
import type { Change } from "../src/index.ts";
import { arena } from "./arena.ts";
import { change, create, expectError, replaceLine } from "./edits.ts";

const commits = (root: string) => readdirSync(join(root, ".toolhaft/workspace/commits"));

describe("undo", () => {
  const changes: [string, readonly Change[]][] = [
    [
      "a replace",
      [
        {
          kind: "replace",
          path: "a",
          bytes: Buffer.from("A\n"),
          lineChanges: [{ oldStart: 1, oldLines: 2, newStart: 1, newLines: 1 }],
        },
      ],
    ],
    ["a create", [create("new/deep/x", "x\n")]],
    ["a delete", [{ kind: "delete", path: "a" }]],
    ["a move", [{ kind: "move", path: "a", to: "far/b" }]],
    [
      "a move with edits",
      [
        {
          kind: "move",
          path: "a",
          to: "far/b",
          bytes: Buffer.from("A\n"),
          lineChanges: [{ oldStart: 1, oldLines: 2, newStart: 1, newLines: 1 }],
        },
      ],
    ],
    ["a move over a file", [{ kind: "move", path: "a", to: "b", overwrite: true }]],
    [
      "a move with edits over a file",
      [{ kind: "move", path: "a", to: "b", overwrite: true, bytes: Buffer.from("A\n"), lineChanges: [] }],
    ],
    ["a moved folder", [{ kind: "move", path: "dir", to: "far/dir" }]],
    ["a deleted folder", [{ kind: "delete", path: "dir" }]],
    [
      "an edit of a hard link",
      [
        {
          kind: "replace",
          path: "twin",
          bytes: Buffer.from("T\n"),
          lineChanges: [{ oldStart: 1, oldLines: 1, newStart: 1, newLines: 1 }],
        },
      ],
    ],
    ["a delete of a hard link", [{ kind: "delete", path: "twin" }]],
    [
      "many at once",
      [
        { kind: "delete", path: "a" },
        create("x", "x\n"),
        { kind: "move", path: "dir", to: "folder" },
        { kind: "move", path: "b", to: "c" },
      ],
    ],
  ];
  it.each(changes)("of %s restores bytes, modes and names; undoing that does it again, and so on", async (_, list) => {
    await using place = await arena({ a: "a\nb\n", b: "b\n", "dir/x": "x\n", "dir/sub/y": "y\n", "dir/twin": "t\n" });
    chmodSync(place.path("a"), 0o751);
    linkSync(place.path("dir/twin"), place.path("twin"));
    const before = snapshotOf(place.root);
    await change(place.workspace, list, place.scope);
    const after = snapshotOf(place.root);
    expect(after).not.toEqual(before);
    for (let round = 0; round < 3; round++) {
      const undone = await place.workspace.undo(undefined, place.scope);
      expect(snapshotOf(place.root)).toEqual(before);
      const [newest] = await place.workspace.history();
      expect(newest?.id).toBe(undone.id);
      await place.workspace.undo(undone.id, place.scope);
      expect(snapshotOf(place.root)).toEqual(after);
    }
    await place.workspace.undo(undefined, place.scope);
    expect(snapshotOf(place.root)).toEqual(before);
    await expectError(place.workspace.undo(undefined, place.scope), "not_found", "nothing to undo");
  });

  it("of an edit restores the mode as well, and keeps both names of a hard link", async () => {
    await using place = await arena({ a: "a\n" });
    linkSync(place.path("a"), place.path("twin"));
    await replaceLine(place.workspace, "a", 1, ["A"], place.scope);
    chmodSync(place.path("a"), 0o600);
    await place.workspace.undo(undefined, place.scope);
    expect(readFileSync(place.path("twin"), "utf8")).toBe("a\n");
    expect(statSync(place.path("a")).ino).toBe(statSync(place.path("twin")).ino);
    expect(statSync(place.path("a")).mode & 0o777).toBe(0o644);
  });

  it("copies what it restores, so that a later edit in place does not change the kept content", async () => {
    await using place = await arena({ a: "one\n" }, { writeMode: "in-place" });
    await replaceLine(place.workspace, "a", 1, ["two"], place.scope);
    await place.workspace.undo(undefined, place.scope);
    await replaceLine(place.workspace, "a", 1, ["three"], place.scope);
    await place.workspace.undo(undefined, place.scope);
    expect(await place.read("a")).toBe("one\n");
  });

  it("takes the session's newest commit that is neither an undo nor undone, or the one named", async () => {
    await using place = await arena({ a: "a\n", b: "b\n", c: "c\n" });
    const first = await replaceLine(place.workspace, "a", 1, ["A"], place.scope);
    await replaceLine(place.workspace, "b", 1, ["B"], place.scope);
    await replaceLine(place.workspace, "c", 1, ["C"], { ...place.scope, sessionId: "other" });
    await place.workspace.undo(undefined, place.scope);
    expect([await place.read("a"), await place.read("b"), await place.read("c")]).toEqual(["A\n", "b\n", "C\n"]);
    await place.workspace.undo(first.id, { ...place.scope, sessionId: "third" });
    expect(await place.read("a")).toBe("a\n");
    await expectError(place.workspace.undo(first.id, place.scope), "conflict", "undone already");
    const [, , , , oldest] = await place.workspace.history();
    expect(oldest).toMatchObject({ id: first.id, undone: true, sessionId: "s" });
  });

  it("is refused whole after a foreign change, and names both versions", async () => {
    await using place = await arena({ a: "a\n", b: "b\n" });
    await change(place.workspace, [{ kind: "move", path: "b", to: "c" }, create("x", "x\n")], place.scope);
    writeFileSync(place.path("x"), "theirs\n");
    const before = snapshotOf(place.root);
    const error = await expectError(place.workspace.undo(undefined, place.scope), "conflict", "nothing was restored");
    expect(error.details).toMatchObject({
      expected: expect.stringMatching(/^[0-9a-f]{64}$/),
      found: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(snapshotOf(place.root)).toEqual(before);
    writeFileSync(place.path("x"), "x\n");
    writeFileSync(place.path("b"), "somebody\n");
    await expectError(place.workspace.undo(undefined, place.scope), "conflict", "b exists already");
  });

  it("of an unknown commit lists the last ones with their files", async () => {
    await using place = await arena({ a: "a\n" });
    await expectError(
      place.workspace.undo("01ABC", place.scope),
      "not_found",
      "no commit 01ABC is kept; there are no commits",
    );
    for (let n = 0; n < 7; n++) await change(place.workspace, [create(`f${n}`, "x\n")], place.scope);
    const error = await expectError(place.workspace.undo("01ABC", place.scope), "not_found");
    expect(error.message.match(/f\d/g)).toEqual(["f6", "f5", "f4", "f3", "f2"]);
  });

  it("removes folders that its commit made, if they are empty", async () => {
    await using place = await arena({ a: "a\n" });
    await change(place.workspace, [create("x/y/z", "z\n"), create("p/q", "q\n")], place.scope);
    writeFileSync(place.path("p/other"), "");
    await place.workspace.undo(undefined, place.scope);
    expect([existsSync(place.path("x")), existsSync(place.path("p/other"))]).toEqual([false, true]);
  });

  it("asks for every path it writes", async () => {
    await using place = await arena({ a: "a\n" });
    await change(place.workspace, [{ kind: "move", path: "a", to: "b" }], place.scope);
    const asked: string[] = [];
    const ask = async ({ permission, resources }: { permission: string; resources: readonly string[] }) => {
      asked.push(permission, ...resources);
    };
    await place.workspace.undo(undefined, { ...place.scope, ask });
    expect(asked).toEqual(["file.write", place.path("b"), place.path("a")]);
  });

  it("on a dry run tells the same changes and writes nothing", async () => {
    await using place = await arena({ a: "a\n" });
    await replaceLine(place.workspace, "a", 1, ["A"], place.scope);
    const before = [snapshotOf(place.root), commits(place.root), place.locks()];
    const dry = await place.workspace.undo(undefined, place.scope, { dryRun: true });
    expect(dry.id).toBeUndefined();
    expect([snapshotOf(place.root), commits(place.root), place.locks()]).toEqual(before);
    const real = await place.workspace.undo(undefined, place.scope);
    expect(real.changes).toEqual(dry.changes);
  });
});

describe("history", () => {
  it("is pruned oldest first beyond a count", async () => {
    await using place = await arena({}, { undo: { commits: 3 } });
    for (let n = 0; n < 6; n++) await change(place.workspace, [create(`f${n}`, "x\n")], place.scope);
    const names = (await place.workspace.history()).map(({ files }) => files[0]?.path.at(-1));
    expect(names).toEqual(["5", "4", "3"]);
    expect(commits(place.root)).toHaveLength(3);
  });

  it("is pruned oldest first beyond a sum of bytes, deleted folders counted", async () => {
    await using place = await arena({}, { undo: { bytes: 2_500 } });
    for (let n = 0; n < 4; n++) writeFileSync(place.path(`f${n}`), "x".repeat(1_000));
    mkdirSync(place.path("dir"));
    writeFileSync(place.path("dir/big"), "x".repeat(1_000));
    for (let n = 0; n < 4; n++) await change(place.workspace, [{ kind: "delete", path: `f${n}` }], place.scope);
    expect(await place.workspace.history()).toHaveLength(2);
    await change(place.workspace, [{ kind: "delete", path: "dir" }], place.scope);
    expect((await place.workspace.history()).map(({ files }) => files[0]?.path.split("/").at(-1))).toEqual([
      "dir",
      "f3",
    ]);
  });

  it("may be kept not at all", async () => {
    await using place = await arena({ a: "a\n" }, { undo: { commits: 0 } });
    await replaceLine(place.workspace, "a", 1, ["A"], place.scope);
    expect(commits(place.root)).toEqual([]);
    await expectError(place.workspace.undo(undefined, place.scope), "not_found");
  });

  it("prunes commits of other workspace objects, too", async () => {
    await using place = await arena({}, { undo: { commits: 2 } });
    await change(place.workspace, [create("a", "x\n")], place.scope);
    await change(place.again(), [create("b", "x\n")], place.scope);
    await change(place.workspace, [create("c", "x\n")], place.scope);
    expect(commits(place.root)).toHaveLength(2);
  });

  it("holds paths, versions and line changes, newest first, and is told to listeners", async () => {
    await using place = await arena({ a: "a\nb\n" });
    const told: unknown[] = [];
    const stop = place.workspace.onCommit((commit) => told.push(commit));
    const done = await replaceLine(place.workspace, "a", 2, ["B", "C"], place.scope);
    const [record] = await place.workspace.history();
    expect(record).toEqual({
      id: done.id,
      sessionId: "s",
      time: expect.any(Number),
      files: [
        {
          path: place.path("a"),
          before: done.changes[0]?.before?.version,
          after: done.changes[0]?.after?.version,
          lineChanges: [{ oldStart: 2, oldLines: 1, newStart: 2, newLines: 2 }],
        },
      ],
    });
    expect(told).toEqual([record]);
    stop();
    await replaceLine(place.workspace, "a", 1, ["A"], place.scope);
    expect(told).toHaveLength(1);
  });

  it("survives a listener that throws, and says so", async () => {
    await using place = await arena();
    place.workspace.onCommit(() => {
      throw new Error("listener broke");
    });
    const { notes } = await change(place.workspace, [create("a", "x\n")], place.scope);
    expect(notes.join()).toContain("listener broke");
    expect(await place.read("a")).toBe("x\n");
  });
});

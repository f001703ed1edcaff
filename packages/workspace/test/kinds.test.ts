import { chmodSync, linkSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { describe, expect, it } from "vitest";
import { spliceLines, type Workspace } from "../src/index.ts";
import { arena, makeFifo } from "./arena.ts";
import { change, create, expectError, replaceLine } from "./edits.ts";

const hex = (text: string) => Buffer.from(text.replaceAll(" ", ""), "hex");
const scopeOf = (place: { scope: { directory: string; sessionId: string } }) => place.scope;

describe("what is no text file", () => {
  it.each([
    ["UTF-16LE", "FF FE 61 00 0A 00", "UTF-16LE"],
    ["UTF-16BE", "FE FF 00 61 00 0A", "UTF-16BE"],
    ["UTF-32LE", "FF FE 00 00 61 00 00 00", "UTF-32LE"],
    ["UTF-32BE", "00 00 FE FF 00 00 00 61", "UTF-32BE"],
    ["a NUL byte", "61 62 00 0A", "binary (NUL at byte 2)"],
  ])("encoding-2, kind-1: %s is unsupported for reads and edits", async (_, bytes, words) => {
    await using place = await arena({ x: hex(bytes) });
    await expectError(place.workspace.read("x", place.scope), "unsupported", words);
    await expectError(replaceLine(place.workspace, "x", 1, ["y"], place.scope), "unsupported", words);
    expect(readFileSync(place.path("x"))).toEqual(hex(bytes));
  });

  it("kind-1: a folder, a FIFO, a socket and a device are named and never waited for", async () => {
    await using place = await arena({ "dir/x": "x\n" });
    makeFifo(place.path("fifo"));
    const server = createServer().listen(place.path("socket"));
    await new Promise((resolve) => server.once("listening", resolve));
    const scope = { ...place.scope, ask: async () => undefined };
    for (const [path, words] of [
      ["dir", "a folder"],
      ["fifo", "a named pipe (FIFO)"],
      ["socket", "a socket"],
      ["/dev/zero", "a character device"],
    ] as const) {
      await expectError(place.workspace.read(path, scope), "unsupported", words);
      await expectError(replaceLine(place.workspace, path, 1, ["y"], scope), "unsupported", words);
      await expectError(change(place.workspace, [create(path, "y\n")], scope), "conflict", "exists already");
    }
    for (const path of ["fifo", "socket"]) {
      await expectError(change(place.workspace, [{ kind: "delete", path }], scope), "unsupported");
    }
    server.close();
  });

  it("a file swapped for a FIFO between the look and the opening is refused, not waited for", async () => {
    await using place = await arena({ x: "x\n" });
    const { nodeFileSystem } = await import("../src/index.ts");
    const { rmSync } = await import("node:fs");
    const workspace = place.again({
      fileSystem: {
        ...nodeFileSystem,
        async open(path, how, mode) {
          if (path === place.path("x")) {
            rmSync(path);
            makeFifo(path);
          }
          return nodeFileSystem.open(path, how, mode);
        },
      },
    });
    await expectError(workspace.read("x", place.scope), "unsupported", "FIFO");
  });

  it("a file over the limit is too_large with both figures; it can still be moved and deleted", async () => {
    await using place = await arena({ x: "x".repeat(2_000), y: "y\n" }, { maxFileBytes: 1_000 });
    await expectError(place.workspace.read("x", place.scope), "too_large", /2000 bytes.*1000/);
    await expectError(replaceLine(place.workspace, "x", 1, ["y"], place.scope), "too_large", /2000 bytes.*1000/);
    await expectError(
      change(place.workspace, [create("new", "z".repeat(1_001))], place.scope),
      "too_large",
      /1001 bytes.*1000/,
    );
    await expectError(replaceLine(place.workspace, "y", 1, ["z".repeat(2_000)], place.scope), "too_large");
    const moved = await change(place.workspace, [{ kind: "move", path: "x", to: "z" }], place.scope);
    expect(moved.changes[0]).toMatchObject({
      kind: "move",
      before: { bytes: 2_000 },
      after: { bytes: 2_000 },
      additions: 0,
    });
    await change(place.workspace, [{ kind: "delete", path: "z" }], place.scope);
    await place.workspace.undo(undefined, place.scope);
    expect(await place.read("z")).toHaveLength(2_000);
  });

  it("a binary file can be moved, deleted and brought back", async () => {
    const bytes = hex("00 01 02 FF");
    await using place = await arena({ "x.bin": bytes });
    const { changes } = await change(place.workspace, [{ kind: "delete", path: "x.bin" }], place.scope);
    expect(changes[0]).toMatchObject({ additions: 0, deletions: 0, diffTruncated: true });
    expect(changes[0]?.diff).toContain("Binary files a/x.bin and /dev/null differ");
    await place.workspace.undo(undefined, place.scope);
    expect(readFileSync(place.path("x.bin"))).toEqual(bytes);
  });

  it("a missing file is not_found", async () => {
    await using place = await arena();
    await expectError(place.workspace.read("gone", place.scope), "not_found", "gone does not exist");
    await expectError(change(place.workspace, [{ kind: "delete", path: "gone" }], place.scope), "not_found");
    await expectError(change(place.workspace, [{ kind: "move", path: "gone", to: "x" }], place.scope), "not_found");
  });

  it("CR-only line ends: one line to read, unsupported to edit", async () => {
    await using place = await arena({ x: "a\rb\r" });
    expect(await place.workspace.read("x", place.scope)).toMatchObject({
      lineCount: 1,
      lineEnds: { lf: 0, crlf: 0, loneCr: 2 },
    });
    await expectError(replaceLine(place.workspace, "x", 1, ["y"], place.scope), "unsupported", "CR-only line ends");
    expect(await place.read("x")).toBe("a\rb\r");
  });
});

describe("encodings", () => {
  it("encoding-1: bytes that are not UTF-8 take ASCII only", async () => {
    await using place = await arena({ x: hex("63 61 66 E9 0A 62 0A") });
    expect((await place.workspace.read("x", place.scope)).encoding).toBe("unknown-8bit");
    await replaceLine(place.workspace, "x", 2, ["B"], place.scope);
    expect(readFileSync(place.path("x"))).toEqual(hex("63 61 66 E9 0A 42 0A"));
    await expectError(replaceLine(place.workspace, "x", 2, ["é"], place.scope), "unsupported", "U+00E9");
    expect(readFileSync(place.path("x"))).toEqual(hex("63 61 66 E9 0A 42 0A"));
  });

  const gbk = hex("D6 D0 CE C4 0D 0A B6 FE 0A");
  const withGbk = (place: { again(options: object): Workspace }) => place.again({ encodingOf: () => "gbk" });

  it("a labelled file is shown decoded, edited in its encoding, and changed back byte for byte", async () => {
    await using place = await arena({ x: gbk });
    const workspace = withGbk(place);
    expect((await workspace.read("x", place.scope)).text(1)).toBe("中文");
    const { changes } = await replaceLine(workspace, "x", 1, ["汉字"], place.scope);
    expect(changes[0]?.diff).toContain("-中文\r\n+汉字\r\n");
    expect(readFileSync(place.path("x"))).toEqual(hex("BA BA D7 D6 0D 0A B6 FE 0A"));
    await replaceLine(workspace, "x", 1, ["中文"], place.scope);
    expect(readFileSync(place.path("x"))).toEqual(gbk);
    await expectError(replaceLine(workspace, "x", 1, ["한국"], place.scope), "unsupported", "한");
    await replaceLine(place.workspace, "x", 2, ["two"], place.scope);
    await expectError(replaceLine(place.workspace, "x", 2, ["二"], place.scope), "unsupported");
    expect(readFileSync(place.path("x"))).toEqual(hex("D6 D0 CE C4 0D 0A 74 77 6F 0A"));
  });

  it.each([
    ["shift_jis", "日本語"],
    ["windows-1252", "naïve – €"],
    ["big5", "繁體"],
    ["euc-kr", "한국어"],
    ["koi8-r", "Привет"],
    ["gb18030", "中文𠀀"],
  ])("%s is written and read back", async (label, text) => {
    await using place = await arena({ x: "a\nb\n" }, { encodingOf: () => label });
    await replaceLine(place.workspace, "x", 2, [text], place.scope);
    expect((await place.workspace.read("x", place.scope)).text(2)).toBe(text);
    await replaceLine(place.workspace, "x", 2, ["b"], place.scope);
    expect(await place.read("x")).toBe("a\nb\n");
  });

  it.each([
    ["iso-2022-jp", "cannot be edited by bytes"],
    ["utf-16le", "cannot be edited by bytes"],
    ["no-such-code", "is unknown"],
  ])("the label %s is refused", async (label, words) => {
    await using place = await arena({ x: "a\n" }, { encodingOf: () => label });
    await expectError(place.workspace.read("x", place.scope), "unsupported", words);
    await expectError(replaceLine(place.workspace, "x", 1, ["b"], place.scope), "unsupported", words);
  });

  it("a BOM settles the encoding; no label is asked for, and it stays once", async () => {
    await using place = await arena({ x: hex("EF BB BF 61 0A") }, { encodingOf: () => "gbk" });
    expect(await place.workspace.read("x", place.scope)).toMatchObject({ encoding: "utf-8", bom: true });
    await replaceLine(place.workspace, "x", 1, ["é"], place.scope);
    expect(readFileSync(place.path("x"))).toEqual(hex("EF BB BF C3 A9 0A"));
  });

  it.each([
    ["\ud83d", "not well-formed Unicode"],
    ["a\0b", "NUL"],
  ])("payload %j is refused", async (text, words) => {
    await using place = await arena({ x: "a\n" });
    await expectError(replaceLine(place.workspace, "x", 1, [text], place.scope), "invalid_input", words);
    expect(await place.read("x")).toBe("a\n");
  });
});

describe("mode, owner and links", () => {
  it("links-2: modes stay, whatever the umask", async () => {
    const umask = process.umask(0o077);
    try {
      await using place = await arena({ a: "a\n", b: "b\n", c: "c\n" });
      for (const [path, mode] of [
        ["a", 0o755],
        ["b", 0o600],
        ["c", 0o2755],
      ] as const) {
        chmodSync(place.path(path), mode);
        await replaceLine(place.workspace, path, 1, ["x"], place.scope);
        expect((statSync(place.path(path)).mode & 0o7777).toString(8)).toBe(mode.toString(8));
      }
      await change(
        place.workspace,
        [create("new", "x\n"), { ...create("run", "x\n"), mode: 0o755 } as never],
        place.scope,
      );
      expect(statSync(place.path("new")).mode & 0o7777).toBe(0o600);
      expect(statSync(place.path("run")).mode & 0o7777).toBe(0o755);
    } finally {
      process.umask(umask);
    }
  });

  it("the group stays where the process may give it", async () => {
    const [other] = (process.getgroups?.() ?? []).filter((group) => group !== process.getgid?.());
    const gid = other ?? (process.getuid?.() === 0 ? 12_345 : undefined);
    await using place = await arena({ a: "a\n" });
    if (gid !== undefined) {
      const { chownSync } = await import("node:fs");
      chownSync(place.path("a"), process.getuid?.() ?? 0, gid);
    }
    const before = statSync(place.path("a"));
    await replaceLine(place.workspace, "a", 1, ["A"], place.scope);
    expect(statSync(place.path("a"))).toMatchObject({ uid: before.uid, gid: before.gid });
  });

  it("an owner that cannot be kept is a warning, and no set-id bit goes to somebody else", async () => {
    await using place = await arena({ a: "a\n" });
    chmodSync(place.path("a"), 0o4755);
    const { nodeFileSystem } = await import("../src/index.ts");
    const workspace = place.again({
      fileSystem: {
        ...nodeFileSystem,
        async open(path, how, mode) {
          const file = await nodeFileSystem.open(path, how, mode);
          if (!path.includes(".toolhaft-")) return file;
          return {
            ...file,
            stat: async () => ({ ...(await file.stat()), uid: 4_711 }),
            chown: () => Promise.reject(Object.assign(new Error("EPERM"), { code: "EPERM" })),
          };
        },
      },
    });
    const { notes } = await replaceLine(workspace, "a", 1, ["A"], place.scope);
    expect(notes).toEqual(["owner_not_kept: the owner of a could not be kept"]);
    expect(statSync(place.path("a")).mode & 0o7777).toBe(0o755);
  });

  it("a file without write bits is denied, to whoever asks", async () => {
    await using place = await arena({ a: "a\n", b: "b\n" });
    chmodSync(place.path("a"), 0o444);
    const list = [
      replaceLine(place.workspace, "a", 1, ["A"], place.scope),
      change(place.workspace, [{ kind: "delete", path: "a" }], place.scope),
      change(place.workspace, [{ kind: "move", path: "a", to: "c" }], place.scope),
      change(place.workspace, [{ kind: "move", path: "b", to: "a", overwrite: true }], place.scope),
    ];
    for (const attempt of list) await expectError(attempt, "denied", "read-only (mode 0444)");
    expect([await place.read("a"), await place.read("b")]).toEqual(["a\n", "b\n"]);
  });

  it.each(["replace", "in-place"] as const)(
    "a hard-linked file keeps its inode and all names with writeMode %s",
    async (writeMode) => {
      await using place = await arena({ a: "a\n" }, { writeMode });
      linkSync(place.path("a"), place.path("twin"));
      const { ino } = statSync(place.path("a"));
      await replaceLine(place.workspace, "twin", 1, ["longer than before"], place.scope);
      await replaceLine(place.workspace, "a", 1, ["s"], place.scope);
      expect(statSync(place.path("twin"))).toMatchObject({ ino, nlink: 2 });
      expect(await place.read("twin")).toBe("s\n");
      expect(await place.read("a")).toBe("s\n");
    },
  );

  it("writeMode in-place keeps the inode of every file", async () => {
    await using place = await arena({ a: "a\n" }, { writeMode: "in-place" });
    const { ino } = statSync(place.path("a"));
    await replaceLine(place.workspace, "a", 1, ["A"], place.scope);
    expect(statSync(place.path("a"))).toMatchObject({ ino, nlink: 1 });
  });

  it("a pure move keeps inode and mode, and no second name", async () => {
    await using place = await arena({ a: "a\n" });
    chmodSync(place.path("a"), 0o640);
    const { ino } = statSync(place.path("a"));
    await change(place.workspace, [{ kind: "move", path: "a", to: "deep/b" }], place.scope);
    expect(statSync(place.path("deep/b"))).toMatchObject({ ino, nlink: 1 });
    await replaceLine(place.workspace, "deep/b", 1, ["b"], place.scope);
    expect(statSync(place.path("deep/b")).mode & 0o777).toBe(0o640);
  });
});

describe("changes that cannot be made", () => {
  it("create and move never overwrite unasked", async () => {
    await using place = await arena({ a: "a\n", b: "b\n" });
    mkdirSync(place.path("dir"));
    await expectError(change(place.workspace, [create("a", "x\n")], place.scope), "conflict", "a exists already");
    await expectError(
      change(place.workspace, [{ kind: "move", path: "a", to: "b" }], place.scope),
      "conflict",
      "b exists already",
    );
    await expectError(
      change(place.workspace, [{ kind: "move", path: "a", to: "dir", overwrite: true }], place.scope),
      "unsupported",
      "a folder",
    );
    await expectError(
      change(place.workspace, [{ kind: "move", path: "dir", to: "b" }], place.scope),
      "conflict",
      "b exists already",
    );
    await change(place.workspace, [{ kind: "move", path: "a", to: "b", overwrite: true }], place.scope);
    expect(await place.read("b")).toBe("a\n");
  });

  it("empty-3: no bytes, while the line changes remove only line 1, is internal", async () => {
    await using place = await arena({ x: "a\nb\nc\n" });
    const emptied = (lines: number) => ({
      kind: "replace" as const,
      path: "x",
      bytes: new Uint8Array(),
      lineChanges: [{ oldStart: 1, oldLines: lines, newStart: 1, newLines: 0 }],
    });
    await expectError(change(place.workspace, [emptied(1)], place.scope), "internal", "would leave no bytes");
    expect(await place.read("x")).toBe("a\nb\nc\n");
    await change(place.workspace, [emptied(3)], place.scope);
    expect(await place.read("x")).toBe("");
    writeFileSync(place.path("x"), "a\nb\n");
    await change(place.workspace, [emptied(1)], place.scope, { allowEmpty: true });
    expect(await place.read("x")).toBe("");
  });

  it("the BOM alone counts as no bytes", async () => {
    await using place = await arena({ x: hex("EF BB BF 61 0A") });
    const bytes = hex("EF BB BF");
    await expectError(
      change(place.workspace, [{ kind: "replace", path: "x", bytes, lineChanges: [] }], place.scope),
      "internal",
    );
  });

  it("a replace that changes nothing rejects the whole call", async () => {
    await using place = await arena({ a: "a\n", b: "b\n" });
    const same = { kind: "replace" as const, path: "a", bytes: Buffer.from("a\n"), lineChanges: [] };
    await expectError(
      change(place.workspace, [same, create("new", "x\n")], place.scope),
      "invalid_input",
      "nothing to change in a",
    );
    await expectError(
      place.read("new").catch(() => place.workspace.read("new", place.scope)),
      "not_found",
    );
  });

  it("a plan that throws, names a foreign path or names one twice rejects the call", async () => {
    await using place = await arena({ a: "a\n", b: "b\n" });
    const edit = (paths: string[], changes: () => never[]) =>
      place.workspace.edit(paths, () => ({ changes: changes(), result: undefined }), place.scope);
    await expectError(
      edit(["a"], () => {
        throw new Error("plan broke");
      }),
      "internal",
      "plan broke",
    );
    const outside = { kind: "delete", path: "b" } as never;
    await expectError(
      edit(["a"], () => [outside]),
      "internal",
      "b, which is not among the paths",
    );
    await expectError(
      edit(["b"], () => [{ kind: "move", path: "b", to: "c" } as never]),
      "internal",
      "c, which is not among the paths",
    );
    await expectError(
      edit(["b"], () => [outside, outside]),
      "invalid_input",
      "two changes",
    );
    expect(place.locks()).toEqual([]);
  });

  it("a plan may name a file by its real path, and change nothing", async () => {
    await using place = await arena({ a: "a\n" });
    const nothing = await place.workspace.edit(
      ["a"],
      (files) => ({ changes: [], result: files.get("a")?.text(1) }),
      place.scope,
    );
    expect(nothing).toEqual({ changes: [], result: "a", notes: [] });
    await place.workspace.edit(
      ["./a"],
      () => ({ changes: [{ kind: "delete", path: place.path("a") }], result: undefined }),
      place.scope,
    );
    await expectError(place.workspace.read("a", place.scope), "not_found");
  });
});

describe("folders", () => {
  it("move after the files inside them, which are named by their old path", async () => {
    await using place = await arena({ "lib/a": "a\n", "lib/b": "b\n" });
    await place.workspace.edit(
      ["lib", "src/lib", "lib/a", "lib/b", "lib/new"],
      (files) => {
        const file = files.get("lib/a");
        if (!file) throw new Error("gone");
        const { bytes, changes } = spliceLines(file, [{ at: 1, remove: 1, insert: ["A"] }]);
        return {
          changes: [
            { kind: "move", path: "lib", to: "src/lib" },
            { kind: "replace", path: "lib/a", bytes, lineChanges: changes },
            { kind: "delete", path: "lib/b" },
            create("lib/new", "new\n"),
          ],
          result: undefined,
        };
      },
      scopeOf(place),
    );
    expect([await place.read("src/lib/a"), await place.read("src/lib/new")]).toEqual(["A\n", "new\n"]);
    await expectError(place.workspace.read("lib/a", place.scope), "not_found");
    await expectError(place.workspace.read("src/lib/b", place.scope), "not_found");
  });

  it("cannot be moved into themselves, hold the workspace, or be changed twice", async () => {
    await using place = await arena({ "lib/a": "a\n", "lib/in/x": "x\n" });
    const fails = (changes: Parameters<typeof change>[1]) => change(place.workspace, changes, place.scope);
    await expectError(fails([{ kind: "move", path: "lib", to: "lib/in/deep" }]), "invalid_input", "into itself");
    await expectError(fails([{ kind: "delete", path: "." }]), "denied", "holds the workspace itself");
    await expectError(
      fails([{ kind: "delete", path: "lib" }, create("lib/b", "b\n")]),
      "invalid_input",
      "lies in a folder",
    );
    await expectError(
      fails([{ kind: "move", path: "lib", to: "far" }, create("far/b", "b\n")]),
      "invalid_input",
      "lies in a folder",
    );
    await expectError(
      fails([
        { kind: "move", path: "lib", to: "far" },
        { kind: "delete", path: "lib/in" },
      ]),
      "unsupported",
      "a folder inside it",
    );
    expect(await place.read("lib/in/x")).toBe("x\n");
  });
});

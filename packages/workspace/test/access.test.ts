import { mkdirSync, readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Ask, PermissionRequest } from "@toolhaft/core";
import { ToolError } from "@toolhaft/core";
import { snapshotOf, tempWorkspace } from "@toolhaft/testing";
import { describe, expect, it } from "vitest";
import { createWorkspace } from "../src/index.ts";
import { absolutePath, refuseWindowsNames } from "../src/paths.ts";
import { change, create, expectError, replaceLine } from "./edits.ts";

/** A root inside a folder that also holds what lies outside. */
async function arena() {
  const outer = await tempWorkspace({
    "root/a.txt": "a\nb\n",
    "outside/secret.txt": "secret\n",
    "rootbeer/x.txt": "x\n",
  });
  const root = outer.path("root");
  const workspace = createWorkspace({ root, lockDir: outer.path("locks"), fsync: false });
  return {
    outer,
    root,
    workspace,
    scope: { directory: root },
    [Symbol.asyncDispose]: async () => {
      await workspace.close();
      await outer.remove();
    },
  };
}

function recorder(answer: (request: PermissionRequest) => void = () => undefined) {
  const asked: PermissionRequest[] = [];
  const ask: Ask = async (request) => {
    asked.push(request);
    answer(request);
  };
  return { asked, ask };
}

const no = () => {
  throw new ToolError("denied", "not today");
};

describe("paths", () => {
  it.each([
    ["", "the path is empty"],
    ["a\0b", "NUL"],
  ])("refuse %j", async (path, words) => {
    await using place = await arena();
    await expectError(place.workspace.read(path, place.scope), "invalid_input", words);
    await expectError(change(place.workspace, [create(path, "x\n")], place.scope), "invalid_input", words);
  });

  it("are never expanded: ~ and URLs are names", async () => {
    await using place = await arena();
    await change(place.workspace, [create("~/x.txt", "x\n"), create("file:/y.txt", "y\n")], place.scope);
    expect(await place.outer.read("root/~/x.txt")).toBe("x\n");
    expect(await place.outer.read("root/file:/y.txt")).toBe("y\n");
  });

  it("resolve against the directory of the scope", async () => {
    await using place = await arena();
    mkdirSync(join(place.root, "sub"));
    await change(place.workspace, [create("x.txt", "x\n")], { directory: join(place.root, "sub") });
    expect(await place.outer.read("root/sub/x.txt")).toBe("x\n");
    const resolved = await place.workspace.resolve("../a.txt", "read", { directory: join(place.root, "sub") });
    expect(resolved).toMatchObject({ path: join(place.root, "a.txt"), kind: "file", inside: true });
  });

  it("that go through a file are told so", async () => {
    await using place = await arena();
    await expectError(
      change(place.workspace, [create("a.txt/b", "x\n")], place.scope),
      "invalid_input",
      "a file, not a folder",
    );
    await expectError(place.workspace.read("a.txt/b", place.scope), "invalid_input", "a file, not a folder");
  });

  it("that are too long are told so", async () => {
    await using place = await arena();
    await expectError(
      change(place.workspace, [create("x".repeat(300), "x\n")], place.scope),
      "invalid_input",
      "too long",
    );
  });

  it("on Windows never name streams, devices or device paths", () => {
    for (const path of ["a.txt:stream", "NUL", "dir\\con.txt", "com1", "\\\\.\\pipe\\x", "\\\\?\\C:\\x", "lpt9.log"]) {
      expect(() => refuseWindowsNames(path), path).toThrow(/stream|device/);
    }
    for (const path of ["C:\\a\\b.txt", "console.txt", "com10", "nulls/a", "a\\auxiliary.ts"]) {
      expect(() => refuseWindowsNames(path), path).not.toThrow();
    }
    expect(() => absolutePath("a:b", "/x", "win32")).toThrow(/stream/);
    expect(absolutePath("a:b", "/x", "linux")).toBe("/x/a:b");
  });
});

describe("confinement", () => {
  const outside: [string, (place: { root: string; outer: { path(p: string): string } }) => string][] = [
    ["a path with ..", () => "../outside/secret.txt"],
    ["an absolute path", ({ outer }) => outer.path("outside/secret.txt")],
    ["a name that only begins like the root", ({ outer }) => outer.path("rootbeer/x.txt")],
    [
      "a link to a file outside",
      ({ root, outer }) => {
        symlinkSync(outer.path("outside/secret.txt"), join(root, "link"));
        return "link";
      },
    ],
    [
      "a linked folder outside",
      ({ root }) => {
        symlinkSync("../outside", join(root, "dir"));
        return "dir/secret.txt";
      },
    ],
    [
      "a chain of links outside",
      ({ root }) => {
        symlinkSync("../outside", join(root, "one"));
        symlinkSync("one/secret.txt", join(root, "two"));
        return "two";
      },
    ],
  ];
  it.each(outside)("asks for %s, on read and on write, and is refused without a gate", async (_, prepare) => {
    await using place = await arena();
    const path = prepare(place);
    const real = path.includes("rootbeer")
      ? place.outer.path("rootbeer/x.txt")
      : place.outer.path("outside/secret.txt");
    const before = place.outer.snapshot();
    for (const attempt of [
      () => place.workspace.read(path, place.scope),
      () => replaceLine(place.workspace, path, 1, ["no"], place.scope),
    ]) {
      const error = await expectError(attempt(), "denied", "outside the workspace");
      expect(error.details).toMatchObject({ by: "no_asker", resource: real });
    }
    const refused = recorder(no);
    await expectError(place.workspace.read(path, { ...place.scope, ask: refused.ask }), "denied", "not today");
    await expectError(
      replaceLine(place.workspace, path, 1, ["no"], { ...place.scope, ask: refused.ask }),
      "denied",
      "not today",
    );
    expect(refused.asked.map(({ permission, resources }) => [permission, ...resources])).toEqual([
      ["file.read", real],
      ["file.write", real],
    ]);
    expect(refused.asked[0]?.reason).toContain("outside the workspace");
    expect(place.outer.snapshot()).toEqual(before);

    const { ask } = recorder();
    await replaceLine(place.workspace, path, 1, ["yes"], { ...place.scope, ask });
    expect(readFileSync(real, "utf8")).toBe("yes\n");
  });

  it("asks the gate inside the roots too, with the real path, so that deny rules see it", async () => {
    await using place = await arena();
    symlinkSync("a.txt", join(place.root, "link"));
    const { asked, ask } = recorder();
    await place.workspace.read("link", { ...place.scope, ask });
    await replaceLine(place.workspace, "link", 1, ["A"], { ...place.scope, ask });
    expect(asked.map(({ permission, resources }) => [permission, ...resources])).toEqual([
      ["file.read", join(place.root, "a.txt")],
      ["file.write", join(place.root, "a.txt")],
    ]);
    const denied = recorder(no);
    await expectError(place.workspace.read("a.txt", { ...place.scope, ask: denied.ask }), "denied");
  });

  it("asks once for all files of a call", async () => {
    await using place = await arena();
    const { asked, ask } = recorder();
    await change(place.workspace, [create("x", "x\n"), create("y", "y\n")], { ...place.scope, ask });
    expect(asked.map(({ resources }) => resources)).toEqual([[join(place.root, "x"), join(place.root, "y")]]);
  });

  it("takes an extra root for reading or for writing", async () => {
    await using place = await arena();
    for (const access of ["read", "write"] as const) {
      const extraRoots = [{ path: place.outer.path("outside"), access }];
      await using workspace = createWorkspace({
        root: place.root,
        extraRoots,
        lockDir: place.outer.path("locks"),
        fsync: false,
      });
      expect((await workspace.read("../outside/secret.txt", place.scope)).text(1)).toBe("secret");
      const write = change(workspace, [create("../outside/new.txt", "x\n")], place.scope);
      if (access === "read") await expectError(write, "denied", "outside");
      else await write;
    }
    expect(await place.outer.read("outside/new.txt")).toBe("x\n");
  });

  it("judges a read by the path as given where links are lexical, and a write never", async () => {
    await using place = await arena();
    symlinkSync("../outside", join(place.root, "dir"));
    const lexical = { ...place.scope, links: "lexical" as const };
    expect((await place.workspace.read("dir/secret.txt", lexical)).text(1)).toBe("secret");
    const { asked, ask } = recorder();
    await place.workspace.read("dir/secret.txt", { ...lexical, ask });
    expect(asked[0]?.resources).toEqual([join(place.root, "dir/secret.txt")]);
    await expectError(place.workspace.read(place.outer.path("outside/secret.txt"), lexical), "denied");
    await expectError(replaceLine(place.workspace, "dir/secret.txt", 1, ["no"], lexical), "denied");
  });

  it("works with a root that is itself a link", async () => {
    await using place = await arena();
    symlinkSync("root", place.outer.path("alias"));
    await using workspace = createWorkspace({
      root: place.outer.path("alias"),
      lockDir: place.outer.path("locks"),
      fsync: false,
    });
    const scope = { directory: place.outer.path("alias") };
    const { changes } = await replaceLine(workspace, "a.txt", 1, ["A"], scope);
    expect(changes[0]?.path).toBe("a.txt");
    expect(await place.outer.read("root/a.txt")).toBe("A\nb\n");
  });
});

describe("links", () => {
  it("links-1: an edit through a link keeps the link and changes what it leads to", async () => {
    await using place = await arena();
    symlinkSync("a.txt", join(place.root, "link"));
    mkdirSync(join(place.root, "far"));
    symlinkSync("../link", join(place.root, "far/relative"));
    symlinkSync("far", join(place.root, "folder"));
    await replaceLine(place.workspace, "link", 1, ["one"], place.scope);
    await replaceLine(place.workspace, "folder/relative", 2, ["two"], place.scope);
    expect(readlinkSync(join(place.root, "link"))).toBe("a.txt");
    expect(readlinkSync(join(place.root, "far/relative"))).toBe("../link");
    expect(await place.outer.read("root/a.txt")).toBe("one\ntwo\n");
  });

  it.each([
    ["a link that leads nowhere", "gone.txt", "leads nowhere"],
    ["a link to itself", "trap", "circle"],
  ])("denies %s, on read and on write", async (_, target, words) => {
    await using place = await arena();
    symlinkSync(target, join(place.root, "trap"));
    const { ask, asked } = recorder();
    for (const path of ["trap", "trap/below.txt"]) {
      await expectError(place.workspace.read(path, { ...place.scope, ask }), "denied", words);
      await expectError(change(place.workspace, [create(path, "x\n")], { ...place.scope, ask }), "denied", words);
    }
    expect(asked).toEqual([]);
    expect(readlinkSync(join(place.root, "trap"))).toBe(target);
  });
});

describe("protected paths", () => {
  it.each([".git/config", "sub/.git/hooks/x", "vendor/pkg/.git"])(
    "ask before %s is written, never before it is read",
    async (path) => {
      await using place = await arena();
      await place.outer.write({ [`root/${path}`]: "x\n" });
      expect((await place.workspace.read(path, place.scope)).text(1)).toBe("x");
      await expectError(replaceLine(place.workspace, path, 1, ["y"], place.scope), "denied", "protected: .git");
      const { ask, asked } = recorder();
      await replaceLine(place.workspace, path, 1, ["y"], { ...place.scope, ask });
      expect(asked[0]?.reason).toContain("protected: .git");
      expect(await place.outer.read(`root/${path}`)).toBe("y\n");
    },
  );

  it("match whole names, and can be chosen", async () => {
    await using place = await arena();
    await change(place.workspace, [create(".github/x.yml", "x\n"), create("a.git/x", "x\n")], place.scope);
    const options = { root: place.root, lockDir: place.outer.path("locks"), fsync: false };
    await using workspace = createWorkspace({ ...options, protectedPaths: ["secrets", "ci/keys"] });
    await change(workspace, [create(".git/x", "x\n"), create("ci/other", "x\n")], place.scope);
    await expectError(
      change(workspace, [create("deep/secrets/x", "x\n")], place.scope),
      "denied",
      "protected: secrets",
    );
    await expectError(
      change(workspace, [create("deep/ci/keys/x", "x\n")], place.scope),
      "denied",
      "protected: ci/keys",
    );
  });

  it("of the tools' own state are never written, whoever is asked", async () => {
    await using place = await arena();
    await change(place.workspace, [create("x.txt", "x\n")], place.scope);
    symlinkSync(".toolhaft", join(place.root, "innocent"));
    const { ask, asked } = recorder();
    for (const path of [".toolhaft/x", "sub/.toolhaft/x", "innocent/workspace/x", ".toolhaft/.gitignore"]) {
      await expectError(
        change(place.workspace, [create(path, "x\n")], { ...place.scope, ask }),
        "denied",
        "state of these tools",
      );
    }
    expect(asked).toEqual([]);
    expect((await place.workspace.read(".toolhaft/.gitignore", place.scope)).text(1)).toBe("*");
  });

  it("of a state folder elsewhere are never written", async () => {
    await using place = await arena();
    const stateDir = join(place.root, "state");
    await using workspace = createWorkspace({
      root: place.root,
      stateDir,
      lockDir: place.outer.path("locks"),
      fsync: false,
    });
    await change(workspace, [create("x.txt", "x\n")], place.scope);
    await expectError(change(workspace, [create("state/x", "x\n")], place.scope), "denied");
    await expectError(change(workspace, [{ kind: "delete", path: "state" }], place.scope), "denied");
  });
});

describe("a path that ends in a slash", () => {
  it("names a folder: no file is read, made or moved by it", async () => {
    await using place = await arena();
    const before = snapshotOf(place.root);
    await expectError(place.workspace.read("a.txt/", place.scope), "invalid_input", "it is no folder");
    await expectError(
      replaceLine(place.workspace, "a.txt/", 1, ["x"], place.scope),
      "invalid_input",
      "it is no folder",
    );
    await expectError(change(place.workspace, [create("new/", "x\n")], place.scope), "invalid_input", "names a folder");
    const move = { kind: "move", path: "a.txt", to: "new/" } as const;
    await expectError(change(place.workspace, [move], place.scope), "invalid_input", "names a folder");
    await expectError(place.workspace.read("./", place.scope), "unsupported", "folder");
    expect(snapshotOf(place.root)).toEqual(before);
  });
});

describe("folders of the tools' own", () => {
  it("that cannot be made are `unavailable`, with what to do, and nothing is written", async () => {
    await using place = await arena();
    writeFileSync(join(place.root, "file"), "in the way");
    const before = place.outer.snapshot();
    const lockDir = place.outer.path("locks");
    for (const [options, words] of [
      [{ lockDir: place.outer.path("absent/locks") }, "the lock folder"],
      [{ lockDir: join(place.root, "file", "locks") }, "the lock folder"],
      [{ lockDir, stateDir: join(place.root, "file", "state") }, "file/state/commits"],
    ] as const) {
      await using workspace = createWorkspace({ root: place.root, fsync: false, ...options });
      const error = await expectError(change(workspace, [create("x.txt", "x\n")], place.scope), "unavailable", words);
      expect(error.hint).toMatch(/choose another (lockDir|stateDir)$/);
      rmSync(lockDir, { recursive: true, force: true });
      expect(place.outer.snapshot()).toEqual(before);
    }
  });
});

describe("one file named twice", () => {
  it("is refused before anything is read, whether by path, link or hard link", async () => {
    await using place = await arena();
    symlinkSync("a.txt", join(place.root, "soft"));
    const { linkSync } = await import("node:fs");
    linkSync(join(place.root, "a.txt"), join(place.root, "hard"));
    const before = place.outer.snapshot();
    for (const twin of ["./a.txt", "sub/../a.txt", "soft", "hard", join(place.root, "a.txt"), "a.txt"]) {
      let planned = false;
      const attempt = place.workspace.edit(
        ["a.txt", twin],
        () => {
          planned = true;
          return { changes: [], result: undefined };
        },
        place.scope,
      );
      await expectError(attempt, "invalid_input", "the same file");
      expect(planned).toBe(false);
    }
    expect(place.outer.snapshot()).toEqual(before);
  });
});

describe("a folder swapped during the call", () => {
  it("is noticed before the rename: nothing is written there", async () => {
    await using place = await arena();
    await place.outer.write({ "root/sub/x.txt": "x\n", "outside/x.txt": "x\n" });
    const { nodeFileSystem } = await import("../src/index.ts");
    const { renameSync } = await import("node:fs");
    let swapped = false;
    const fileSystem = {
      ...nodeFileSystem,
      // The backup is the last thing made before the check.
      async link(existing: string, path: string) {
        await nodeFileSystem.link(existing, path);
        if (existing.endsWith("x.txt") && !swapped) {
          swapped = true;
          renameSync(join(place.root, "sub"), join(place.root, "sub-before"));
          symlinkSync("../outside", join(place.root, "sub"));
        }
      },
    };
    await using workspace = createWorkspace({
      root: place.root,
      lockDir: place.outer.path("locks"),
      fsync: false,
      fileSystem,
    });
    await expectError(
      replaceLine(workspace, "sub/x.txt", 1, ["X"], place.scope),
      "conflict",
      "was replaced during the call",
    );
    expect(swapped).toBe(true);
    expect(await place.outer.read("outside/x.txt")).toBe("x\n");
    expect(await place.outer.read("root/sub-before/x.txt")).toBe("x\n");
    writeFileSync(join(place.root, "alive"), "");
  });
});

import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { FileSystem } from "@toolhaft/workspace";
import { nodeFileSystem } from "@toolhaft/workspace";
import { describe, expect, it } from "vitest";
import type { ApplyPatchData } from "../src/tools/apply-patch.ts";
import type { HashlineEditData } from "../src/tools/edit.ts";
import type { EditFileData } from "../src/tools/edit-file.ts";
import { anchorIn, data, desk, expectRejected } from "./desk.ts";

const envelope = (...lines: string[]) => ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");

async function patched(name: string, start: string, ...lines: string[]) {
  const at = desk();
  at.put(name, start);
  const result = await at.call("apply_patch", { patch: envelope(...lines) });
  return { at, result };
}

describe("apply_patch: where a hunk goes", () => {
  it("place-1", async () => {
    const start = "class A:\n  x\nclass B:\n  y\n";
    const { at, result } = await patched("f", start, "*** Update File: f", "@@ class A:", "+  z");
    expect(result.ok, result.text).toBe(true);
    expect(at.text("f")).toBe("class A:\n  z\n  x\nclass B:\n  y\n");
  });

  it("place-2", async () => {
    const hunk = ["@@", "    ctx", "-old", "+new"];
    const { at, result } = await patched("f", "    ctx\n    old\n", "*** Update File: f", ...hunk);
    expect(at.text("f")).toBe("    ctx\n    new\n");
    expect(data<ApplyPatchData>(result).warnings).toMatchObject([{ code: "loose_match" }]);
  });
});

describe("apply_patch: add, move and newline", () => {
  it("move-1", async () => {
    const move = ["*** Update File: foo", "*** Move to: foo", "-a", "+b"];
    const { at, result } = await patched("foo", "a\n", ...move);
    expect(result.ok, result.text).toBe(true);
    expect(at.text("foo")).toBe("b\n");
  });

  it("move-2", async () => {
    const { at, result } = await patched("a", "old\n", "*** Add File: a", "+new");
    expectRejected(result, "conflict", "a exists already");
    expect(at.text("a")).toBe("old\n");
  });

  it("patch-1", async () => {
    const { at } = await patched("f", "x", "*** Update File: f", "@@", "-x", "+y");
    expect(at.text("f")).toBe("y");
  });
});

describe("edit_file: what must not match, and what a loose match keeps", () => {
  it("guard-1", async () => {
    const at = desk();
    at.put("f", "function foo() {\n  return 1;\n}\n");
    const call = { path: "f", old_content: "function foo() {\n}\n", new_content: "x\n" };
    const result = await at.call("edit_file", call);
    expectRejected(result, "conflict", /not found.*lines 1-2/s);
    expect(result.text).toContain("-}\n+  return 1;");
  });

  it("guard-2", async () => {
    const at = desk();
    at.put("f", "a\n");
    expectRejected(await at.call("edit_file", { path: "f", old_content: "", new_content: "x" }), "invalid_input");
    expect(at.text("f")).toBe("a\n");
  });

  it("carry-1", async () => {
    const at = desk();
    at.put("f", "if ok:\n  foo()\n  bar()\n");
    const call = { path: "f", old_content: "    foo()\n", new_content: "    baz()\n" };
    const result = await at.call("edit_file", call);
    expect(at.text("f")).toBe("if ok:\n  baz()\n  bar()\n");
    expect(data<EditFileData>(result).warnings).toMatchObject([{ code: "loose_match" }]);
  });
});

describe("diffs", () => {
  it("diff-1", async () => {
    const at = desk();
    const old = Array.from({ length: 100 }, (_, index) => `line ${index + 1}\n`).join("");
    at.put("f", old);
    const result = await at.notation("f", [["R50", ["new"]]]);
    const diff = data<HashlineEditData>(result).files[0]?.diff ?? "";
    expect(diff.match(/^@@.*$/gm)).toEqual(["@@ -47,7 +47,7 @@"]);
    for (const [command, args] of [
      ["git", ["apply", "-"]],
      ["patch", ["-p1", "-s"]],
    ] as const) {
      const other = desk();
      other.put("f", old);
      const env = { ...process.env, GIT_CEILING_DIRECTORIES: join(other.directory, "..") };
      execFileSync(command, args, { cwd: other.directory, input: diff, env });
      expect(other.text("f")).toBe(at.text("f"));
    }
  });
});

describe("crash and races", () => {
  it("crash-1", async () => {
    for (let failing = 1; failing <= 2; failing++) {
      let writes = 0;
      let armed = false;
      const full: FileSystem = {
        ...nodeFileSystem,
        async open(path, mode, ...rest) {
          const file = await nodeFileSystem.open(path, mode, ...rest);
          const fail = async (...args: Parameters<typeof file.write>) => {
            if (armed && path.includes(".toolhaft-") && ++writes === failing) {
              throw Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
            }
            return file.write(...args);
          };
          return new Proxy(file, {
            get: (target, key) => {
              if (key === "write") return fail;
              const value: unknown = Reflect.get(target, key);
              return typeof value === "function" ? value.bind(target) : value;
            },
          });
        },
      };
      const at = desk({}, { fileSystem: full });
      at.put("a", "a\n");
      at.put("b", "b\n");
      const [a, b] = [await at.read("a"), await at.read("b")];
      armed = true;
      const result = await at.call("hashline_edit", {
        files: [
          { filePath: "a", version: a.version, edits: [{ pos: anchorIn(a, 1), lines: ["A"] }] },
          { filePath: "b", version: b.version, edits: [{ pos: anchorIn(b, 1), lines: ["B"] }] },
        ],
      });
      expect(writes).toBe(failing);
      expectRejected(result, "unavailable", /ENOSPC|space/);
      expect([at.text("a"), at.text("b")]).toEqual(["a\n", "b\n"]);
      expect(readdirSync(at.directory).filter((name) => name.startsWith(".toolhaft-"))).toEqual([]);
    }
  });

  it("a reader never sees new content at the old path of a move", async () => {
    const at = desk();
    at.put("from", "old\n");
    let seen = 0;
    let running = true;
    const reader = (async () => {
      while (running) {
        if (existsSync(join(at.directory, "from"))) {
          try {
            expect(at.text("from")).toBe("old\n");
            seen++;
          } catch (error) {
            if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
          }
        }
        await new Promise((resolve) => setImmediate(resolve));
      }
    })();
    for (let round = 0; round < 10; round++) {
      const patch = envelope("*** Update File: from", "*** Move to: to", "-old", "+new");
      await at.ok("apply_patch", { patch });
      expect(at.text("to")).toBe("new\n");
      await at.ok("apply_patch", { patch: envelope("*** Delete File: to") });
      writeFileSync(join(at.directory, "from"), "old\n");
    }
    running = false;
    await reader;
    expect(seen).toBeGreaterThan(0);
  });
});

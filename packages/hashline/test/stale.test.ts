import { rmSync } from "node:fs";
import { join } from "node:path";
import { createContext } from "@toolhaft/core";
import { runs } from "@toolhaft/testing";
import { spliceBytes } from "@toolhaft/workspace";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createHashline } from "../src/hashline.ts";
import type { HashlineEditData } from "../src/tools/edit.ts";
import { anchorIn, data, desk, expectRejected, toolOf, warningsOf } from "./desk.ts";

const lines = (...texts: string[]) => texts.map((text) => `${text}\n`).join("");

/** Version and anchors that a refused call shows, ready to be sent. */
function answers(text: string): { version: string; anchors: string[] } {
  const version = /version "([0-9a-f]{12})"/.exec(text)?.[1] ?? "";
  return { version, anchors: [...text.matchAll(/^(\d+#[a-z]+)\|/gm)].map((match) => match[1] ?? "") };
}

describe("what a version decides", () => {
  it("accepts 12, 13 and 64 digits and upper case, and refuses 11", async () => {
    for (const [digits, upper] of [
      [12, false],
      [13, false],
      [64, false],
      [64, true],
      [12, true],
    ] as const) {
      const at = desk();
      at.put("f", "a\n");
      const read = await at.read("f");
      const cut = read.version.slice(0, digits);
      const result = await at.edit("f", upper ? cut.toUpperCase() : cut, [{ pos: anchorIn(read, 1), lines: ["b"] }]);
      expect(result.ok, result.text).toBe(true);
    }
    const at = desk();
    at.put("f", "a\n");
    const read = await at.read("f");
    const short = await at.edit("f", read.version.slice(0, 11), [{ pos: anchorIn(read, 1), lines: ["b"] }]);
    expectRejected(short, "invalid_input");
  });

  it("refuses a wrong hash with the right anchor and the lines near it that carry the code", async () => {
    const at = desk();
    at.put("f", lines("a", "b", "c", "d", "e"));
    const read = await at.read("f");
    const wrong = `2#${anchorIn(read, 4).slice(2)}`;
    const result = await at.edit("f", read.version, [{ pos: wrong, lines: ["x"] }]);
    expectRejected(result, "invalid_input", `${anchorIn(read, 4)} near it carries that code`);
    expect(result.text).toContain(`which is ${anchorIn(read, 2)}`);
    expect(result).toMatchObject({
      error: { details: [{ filePath: "f", edit: 0, line: 2, expected: anchorIn(read, 2), actual: wrong }] },
    });
    const again = await at.edit("f", read.version, [{ pos: answers(result.text).anchors[3] ?? "", lines: ["x"] }]);
    expect(again.ok, again.text).toBe(true);
    expect(at.text("f")).toBe(lines("a", "b", "c", "x", "e"));
  });

  it("refuses a line past the end and shows the last ones", async () => {
    const at = desk();
    at.put("f", lines("a", "b"));
    const read = await at.read("f");
    const result = await at.edit("f", read.version, [{ pos: "7#aa", lines: ["x"] }]);
    expectRejected(result, "invalid_input", "past the end: 2 lines");
    expect(answers(result.text).anchors).toContain(anchorIn(read, 2));
  });

  it("refuses an unknown version whatever the anchors say, and can be answered from the reply", async () => {
    const at = desk();
    at.put("f", lines("a", "b", "c"));
    const read = await at.read("f");
    const result = await at.edit("f", "0".repeat(12), [{ pos: anchorIn(read, 2), lines: ["x"] }]);
    expectRejected(result, "conflict", "not 000000000000, which is not known here");
    const { version, anchors } = answers(result.text);
    expect((await at.edit("f", version, [{ pos: anchors[1] ?? "", lines: ["x"] }])).ok).toBe(true);
    expect(at.text("f")).toBe(lines("a", "x", "c"));
  });

  it("creates a new file with its folders, and only where there is none", async () => {
    const at = desk();
    const created = await at.edited("deep/er/f", "new", [{ op: "append", lines: ["a", "b"] }]);
    expect(at.text("deep/er/f")).toBe(lines("a", "b"));
    expect(created.files[0]).toMatchObject({ created: true, totalLines: 2, additions: 2, deletions: 0 });
    const again = await at.edit("deep/er/f", "new", [{ op: "append", lines: ["x"] }]);
    expectRejected(again, "conflict", "exists already");
    const anchored = await at.edit("g", "new", [{ pos: "1#aa", lines: ["x"] }]);
    expectRejected(anchored, "invalid_input", "no lines to address");
  });

  it("tells a missing file, what creates it and what is like it", async () => {
    const at = desk();
    at.put("config.json", "{}\n");
    const result = await at.edit("confg.json", "0".repeat(12), [{ pos: "1#aa", lines: ["x"] }]);
    expectRejected(result, "not_found", /version "new" creates it/);
    expect(result.text).toContain("config.json?");
  });

  it("does not map at all when told to refuse", async () => {
    const at = desk({ stale: "reject" });
    at.put("f", lines("a", "b"));
    const read = await at.read("f");
    at.put("f", lines("top", "a", "b"));
    expectRejected(await at.notation("f", [["R2", ["x"]]], read), "conflict");
  });
});

describe("lines of an older version", () => {
  it("are refused when deleted beside an equal sibling", async () => {
    const block = ["if (x) {", "  y();", "}"];
    const at = desk();
    at.put("f", lines(...block, ...block, "end"));
    const read = await at.read("f");
    at.put("f", lines(...block, "end"));
    const result = await at.notation("f", [["R2", ["  z();"]]], read);
    expectRejected(result, "conflict", "cannot be told from lines like it");
    expect(at.text("f")).toBe(lines(...block, "end"));
  });

  it("follow edits made through the workspace exactly, also where text alone would not tell", async () => {
    const at = desk();
    at.put("f", lines("}", "}", "}"));
    const read = await at.read("f");
    await at.notation("f", [["A1", ["}"]]], read);
    const result = await at.notation("f", [["R3", ["last"]]], read);
    expect(result.ok, result.text).toBe(true);
    expect(at.text("f")).toBe(lines("}", "}", "}", "last"));
  });

  it("follow edits of other tools through the same workspace", async () => {
    const at = desk();
    at.put("f", lines("a", "b", "c"));
    const read = await at.read("f");
    await at.workspace.edit(
      ["f"],
      (files) => {
        const file = files.get("f");
        if (!file) throw new Error("gone");
        const { bytes, changes } = spliceBytes(file, [{ start: 0, end: 0, insert: Buffer.from("x\ny\n") }]);
        return { changes: [{ kind: "replace", path: "f", bytes, lineChanges: changes }], result: undefined };
      },
      at.context,
    );
    const result = await at.notation("f", [["R3", ["C"]]], read);
    expect(result.ok, result.text).toBe(true);
    expect(at.text("f")).toBe(lines("x", "y", "a", "b", "C"));
  });

  it("must stand together: a range torn apart is refused", async () => {
    const at = desk();
    at.put("f", lines("a", "b", "c", "d"));
    const read = await at.read("f");
    at.put("f", lines("a", "b", "new", "c", "d"));
    const result = await at.notation("f", [["R2..3", ["x"]]], read);
    expectRejected(result, "conflict", "lines 2-3 are no longer together");
    const { version, anchors } = answers(result.text);
    const again = await at.edit("f", version, [{ pos: anchors[1] ?? "", end: anchors[3] ?? "", lines: ["x"] }]);
    expect(again.ok, again.text).toBe(true);
  });

  it("names both versions and the edited line, with fresh anchors", async () => {
    const at = desk();
    at.put("f", lines("a", "b", "c"));
    const read = await at.read("f");
    at.put("f", lines("a", "B!", "c"));
    const result = await at.notation("f", [["R2", ["x"]]], read);
    const now = await at.read("f");
    const change = `f changed since ${read.version.slice(0, 12)}, now ${now.version.slice(0, 12)}; line 2 was edited, so edit 1 has no place. Lines now:\n`;
    expect(result.text).toContain(`Rejected, nothing written. conflict: ${change}${anchorIn(now, 1)}|a\n`);
  });

  it("find their way after undo, and after a move of the file", async () => {
    const at = desk();
    at.put("f", lines("a", "b", "c"));
    const read = await at.read("f");
    await at.notation("f", [["P^", ["top"]]], read);
    await at.ok("undo_edit", {});
    expect((await at.notation("f", [["R1", ["A"]]], read)).ok).toBe(true);
    await at.ok("apply_patch", { patch: "*** Begin Patch\n*** Update File: f\n*** Move to: g\n*** End Patch" });
    const moved = await at.edit("g", read.version, [{ pos: anchorIn(read, 3), lines: ["C"] }]);
    expect(moved.ok, moved.text).toBe(true);
    expect(at.text("g")).toBe(lines("A", "b", "C"));
  });

  it("can be edited from a new process while the file is unchanged, and not after", async () => {
    const at = desk();
    at.put("f", lines("a", "b"));
    const read = await at.read("f");
    const other = createHashline({ workspace: at.workspace });
    const call = (text: string) => ({
      files: [{ filePath: "f", version: read.version, edits: [{ pos: anchorIn(read, 1), lines: [text] }] }],
    });
    const context = createContext({ directory: at.directory });
    expect((await toolOf(other, "hashline_edit").call(call("x"), context)).ok).toBe(true);
    at.put("f", lines("z"));
    const third = createHashline({ workspace: at.workspace });
    expectRejected(await toolOf(third, "hashline_edit").call(call("y"), context), "conflict");
  });

  it("never lead an edit to another line, whatever happened to the file in between", async () => {
    const text = fc.array(fc.constantFrom("}", "", "a", "b", "c"), { minLength: 1, maxLength: 7 });
    const at = desk();
    const { hashline, context } = at;
    await fc.assert(
      fc.asyncProperty(text, text, fc.nat(), async (before, outside, pick) => {
        at.put("f", lines(...before));
        const read = await at.read("f");
        at.put("f", lines(...outside));
        const line = 1 + (pick % before.length);
        const edits = [{ pos: anchorIn(read, line), lines: ["NEW"] }];
        const files = [{ filePath: "f", version: read.version, edits }];
        const result = await toolOf(hashline, "hashline_edit").call({ files }, context);
        const now = at.text("f").split("\n").slice(0, -1);
        if (!result.ok) {
          expect(now).toEqual(outside);
          return;
        }
        const place = now.indexOf("NEW");
        expect(outside[place]).toBe(before[line - 1]);
        expect(now.toSpliced(place, 1)).toEqual(outside.toSpliced(place, 1));
      }),
      { numRuns: runs(1_000) },
    );
  });
});

describe("replies", () => {
  it("carry the versions and anchors of an immediate read, for ten edits in a row", async () => {
    const at = desk();
    at.put("f", lines("start"));
    let { version } = await at.read("f");
    let anchor = anchorIn(await at.read("f"), 1);
    for (let round = 0; round < 10; round++) {
      const { files } = await at.edited("f", version, [{ op: "append", pos: anchor, lines: [`round ${round}`] }]);
      const [file] = files;
      if (!file) throw new Error("no file");
      const now = await at.read("f");
      expect(file.version).toBe(now.version);
      for (const one of file.anchors) expect(`${one.line}#${one.hash}`).toBe(anchorIn(now, one.line));
      version = file.version;
      const last = file.anchors.at(-1);
      anchor = `${last?.line}#${last?.hash}`;
    }
    expect(at.text("f")).toBe(lines("start", ...Array.from({ length: 10 }, (_, round) => `round ${round}`)));
  });

  it("show a diff with new anchors on kept and added lines and old ones on removed lines", async () => {
    const at = desk();
    at.put("src/app.ts", lines("a", "b", "c", "d", "e", "f"));
    const read = await at.read("src/app.ts");
    const result = await at.notation("src/app.ts", [["R3", ["x", "y"]]], read);
    const now = await at.read("src/app.ts");
    expect(result.text).toBe(
      [
        `src/app.ts  version: ${now.version.slice(0, 12)}  +2 -1`,
        ` ${anchorIn(now, 1)}|a`,
        ` ${anchorIn(now, 2)}|b`,
        `-${anchorIn(read, 3)}|c`,
        `+${anchorIn(now, 3)}|x`,
        `+${anchorIn(now, 4)}|y`,
        ` ${anchorIn(now, 5)}|d`,
        ` ${anchorIn(now, 6)}|e`,
        "Lines 4-6 are now 5-7, hashes unchanged.",
      ].join("\n"),
    );
    expect(data<HashlineEditData>(result).files[0]?.remap).toEqual([{ from: [4, 6], to: [5, 7] }]);
  });

  it("tell when anchors become wider, with those of a fresh read", async () => {
    const at = desk();
    at.put("f", "x\n".repeat(2_000));
    const result = await at.notation("f", [["A2000", ["y"]]]);
    expect(result.text).toContain("Anchors now have 3 letters: take them from here or read again.");
    const [file] = data<HashlineEditData>(result).files;
    const now = await at.read("f", { offset: 1_990 });
    for (const one of file?.anchors ?? []) expect(`${one.line}#${one.hash}`).toBe(anchorIn(now, one.line));
    expect(file?.hashWidth).toBe(3);
  });

  it("keep within the limit however many files there are", async () => {
    const at = desk({ maxTextChars: 4_000 });
    const files = [];
    for (let index = 0; index < 20; index++) {
      at.put(`f${index}`, lines("a", "b"));
      const read = await at.read(`f${index}`);
      files.push({
        filePath: `f${index}`,
        version: read.version,
        edits: [{ pos: anchorIn(read, 1), lines: ["x".repeat(1_000)] }],
      });
    }
    const result = await at.call("hashline_edit", { files });
    expect(result.ok, result.text).toBe(true);
    expect(result.text.length).toBeLessThanOrEqual(4_000);
    expect(result.text.match(/version: /g)).toHaveLength(20);
  });
});

describe("lines that were shown", () => {
  const long = () => Array.from({ length: 100 }, (_, index) => `line ${index + 1}\n`).join("");

  it("warns of replaced lines that were not shown, in a version that was read in part", async () => {
    const at = desk();
    at.put("f", long());
    const part = await at.read("f", { offset: 10, limit: 5 });
    const all = await at.read("f", { offset: 1 });
    const other = at.session();
    await at.ok("hashline_read", { filePath: "f", offset: 10, limit: 5 }, other);
    const call = (line: number) => ({
      files: [{ filePath: "f", version: part.version, edits: [{ pos: anchorIn(all, line), lines: ["x"] }] }],
    });
    const unseen = await at.call("hashline_edit", { ...call(20), dryRun: true }, other);
    expect(warningsOf(unseen)).toEqual(["unseen_lines"]);
    const seen = await at.call("hashline_edit", { ...call(12), dryRun: true }, other);
    expect(warningsOf(seen)).toEqual([]);
    const stranger = await at.call("hashline_edit", { ...call(20), dryRun: true }, at.session());
    expect(warningsOf(stranger)).toEqual([]);
  });

  it("refuses them when told to, reveals them, and then takes them as shown", async () => {
    const at = desk({ seenGuard: "reject" });
    at.put("f", long());
    const all = await at.read("f");
    const session = at.session();
    await at.ok("hashline_read", { filePath: "f", limit: 5 }, session);
    const edits = [{ pos: anchorIn(all, 50), end: anchorIn(all, 52), lines: ["x"] }];
    const call = { files: [{ filePath: "f", version: all.version, edits }] };
    const refused = await at.call("hashline_edit", call, session);
    expectRejected(refused, "conflict", "lines 50-52 were not shown to this session");
    expect(refused.text).toContain(`${anchorIn(all, 51)}|line 51`);
    expect((await at.call("hashline_edit", call, session)).ok).toBe(true);
  });

  it("says nothing when switched off", async () => {
    const at = desk({ seenGuard: "off" });
    at.put("f", long());
    const all = await at.read("f");
    const session = at.session();
    await at.ok("hashline_read", { filePath: "f", limit: 5 }, session);
    const edits = [{ pos: anchorIn(all, 50), lines: ["x"] }];
    const result = await at.call("hashline_edit", { files: [{ filePath: "f", version: all.version, edits }] }, session);
    expect(warningsOf(result)).toEqual([]);
  });

  it("follows marks through edits, and counts cut lines as not shown", async () => {
    const at = desk({ seenGuard: "reject", maxLineChars: 20 });
    at.put("f", `${"y".repeat(30)}\n${long()}`);
    const read = await at.read("f", { limit: 10 });
    const first = await at.notation("f", [["A5", ["x", "y"]]], read);
    const version = data<HashlineEditData>(first).files[0]?.version ?? "";
    const now = await at.read("f", { offset: 12, limit: 1 });
    expect((await at.edit("f", version, [{ pos: anchorIn(now, 12), lines: ["z"] }])).ok).toBe(true);
    const cut = await at.notation("f", [["A1", ["x"]]], await at.read("f", { limit: 1 }));
    expectRejected(cut, "conflict", "line 1 was not shown".replace("was", "were"));
  });
});

describe("all or nothing", () => {
  it("tells all problems of all files in one reply and writes none", async () => {
    const at = desk();
    for (const name of ["a", "b", "c"]) at.put(name, lines("1", "2"));
    const [a, b] = [await at.read("a"), await at.read("b")];
    at.put("b", lines("1", "changed"));
    const result = await at.call("hashline_edit", {
      files: [
        { filePath: "a", version: a.version, edits: [{ pos: anchorIn(a, 1), lines: ["x"] }] },
        { filePath: "b", version: b.version, edits: [{ pos: anchorIn(b, 2), lines: ["x"] }] },
        {
          filePath: "c",
          version: a.version,
          edits: [
            { pos: "1#zz", lines: ["x"] },
            { pos: "9#zz", lines: ["x"] },
          ],
        },
        { filePath: "gone", version: a.version, edits: [{ pos: "1#zz", lines: ["x"] }] },
      ],
    });
    expectRejected(result, "conflict", "Valid, not written: a");
    for (const words of ["b changed since", "c: edit 1: 1#zz", "edit 2: 9#zz is past the end", "no file gone"]) {
      expect(result.text).toContain(words);
    }
    expect(["a", "b", "c"].map((name) => at.text(name))).toEqual([
      lines("1", "2"),
      lines("1", "changed"),
      lines("1", "2"),
    ]);
  });

  it("returns on a dry run the data of the real call and writes nothing at all", async () => {
    const at = desk();
    at.put("f", lines("a", "b"));
    const read = await at.read("f");
    const edits = [{ pos: anchorIn(read, 1), lines: ["x", "y"] }];
    const dry = await at.edited("f", read.version, edits, { dryRun: true });
    expect(at.text("f")).toBe(lines("a", "b"));
    expect(await at.workspace.history()).toEqual([]);
    const real = await at.edited("f", read.version, edits);
    const { commitId, ...rest } = real;
    expect(commitId).toBeDefined();
    expect(dry).toEqual({ ...rest, dryRun: true });
  });

  it("lands both of two parallel edits of one version on different lines, and one of two on the same", async () => {
    const at = desk();
    at.put("f", lines("a", "b", "c"));
    const read = await at.read("f");
    const both = await Promise.all(["x", "y"].map((text) => at.notation("f", [["R2", [text]]], read)));
    expect(both.map((result) => result.ok).sort()).toEqual([false, true]);
    const refused = both.find((result) => !result.ok);
    expect(refused).toMatchObject({ error: { code: "conflict" } });
  });

  it("changes nothing after an abort", async () => {
    const at = desk();
    at.put("f", lines("a"));
    const read = await at.read("f");
    const stop = new AbortController();
    stop.abort();
    const context = createContext({ directory: at.directory, signal: stop.signal });
    const edits = [{ pos: anchorIn(read, 1), lines: ["x"] }];
    const result = await at.call(
      "hashline_edit",
      { files: [{ filePath: "f", version: read.version, edits }] },
      context,
    );
    expectRejected(result, "cancelled");
    expect(at.text("f")).toBe(lines("a"));
  });

  it("refuses more than 5 MiB of new text before any lock", async () => {
    const at = desk();
    const edits = [{ op: "append" as const, lines: ["x".repeat(5 * 1024 * 1024)] }];
    expectRejected(await at.edit("f", "new", edits), "too_large", /5242881.*5242880/);
  });

  it("refuses what may not be written", async () => {
    const at = desk();
    const edits = [{ op: "append" as const, lines: ["x"] }];
    expectRejected(await at.edit("../outside", "new", edits), "denied");
    expectRejected(await at.edit(".toolhaft/x", "new", edits), "denied");
    expectRejected(await at.edit(".git/config", "new", edits), "denied");
    rmSync(join(at.directory, ".git"), { force: true, recursive: true });
  });
});

describe("afterCommit", () => {
  it("is told what changed, and its failure is a note, not a failure of the edit", async () => {
    let told = 0;
    const at = desk({
      async afterCommit(changes) {
        told += changes.length;
        throw new Error("no formatter");
      },
    });
    at.put("f", lines("a"));
    const result = await at.notation("f", [["R1", ["b"]]]);
    expect(told).toBe(1);
    expect(result.text).toContain("note: written, but what runs after a write failed: no formatter");
    expect(at.text("f")).toBe(lines("b"));
  });

  it("keeps per-edit lines and the next edit right when it rewrites the file", async () => {
    const at = desk({
      async afterCommit() {
        at.put("f", `// header\n${at.text("f")}`);
        return [];
      },
    });
    at.put("f", lines("a", "b", "c"));
    const first = data<HashlineEditData>(await at.notation("f", [["R2", ["x", "y"]]]));
    expect(first.files[0]?.edits).toEqual([{ index: 0, oldLines: [2, 2], newLines: [3, 4] }]);
    const now = await at.read("f");
    expect(first.files[0]?.version).toBe(now.version);
  });
});

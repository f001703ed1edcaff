import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { ToolError } from "@toolhaft/core";
import { runs } from "@toolhaft/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parsePatch } from "../src/patch.ts";
import type { ApplyPatchData } from "../src/tools/apply-patch.ts";
import { data, desk, expectRejected } from "./desk.ts";

const envelope = (...lines: string[]) => ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");

async function patched(start: string, ...hunk: string[]) {
  const at = desk();
  at.put("f", start);
  const result = await at.call("apply_patch", { patch: envelope("*** Update File: f", ...hunk) });
  return { at, result, text: at.text("f"), warnings: result.ok ? data<ApplyPatchData>(result).warnings : [] };
}

describe("parsePatch", () => {
  it.each([
    ["a code fence", (patch: string) => `\`\`\`patch\n${patch}\n\`\`\`\n`],
    ["a here-document", (patch: string) => `apply_patch <<'EOF'\n${patch}\nEOF\n`],
    ["CRLF", (patch: string) => patch.replaceAll("\n", "\r\n")],
    ["blank lines around", (patch: string) => `\n\n${patch}\n\n`],
    ["an indent of the whole", (patch: string) => `\`\`\`\n${patch.replace(/^/gm, "\t ")}\n\`\`\``],
    ["a line on the missing newline", (patch: string) => patch.replace("+b", "+b\n\\ No newline at end of file")],
  ])("ignores %s", (_, wrap) => {
    const patch = envelope("*** Update File: f", "@@", "-a", "+b");
    expect(parsePatch(wrap(patch)).sections).toMatchObject([
      {
        kind: "update",
        path: "f",
        hunks: [
          {
            lines: [
              { sign: "-", text: "a" },
              { sign: "+", text: "b" },
            ],
          },
        ],
      },
    ]);
  });

  it.each<[string, string, RegExp]>([
    ["no envelope", "hello", /patch line 1: no "\*\*\* Begin Patch"/],
    ["no end", "*** Begin Patch\n*** Delete File: f", /no "\*\*\* End Patch"/],
    ["text before it", `see:\n${envelope("*** Delete File: f")}`, /patch line 1: text before/],
    ["text after it", `${envelope("*** Delete File: f")}\nthanks`, /text after/],
    ["no sections", envelope(), /no sections/],
    ["an unknown section", envelope("*** Rename File: f"), /patch line 2: not the start of a section/],
    ["no path", envelope("*** Add File:"), /no path/],
    [
      "a bare line in an added file",
      envelope("*** Add File: f", "+a", "b"),
      /patch line 4: not a line of an added file: "b"/,
    ],
    ["a bare line in a hunk", envelope("*** Update File: f", "@@", "x"), /patch line 4: not a line of a hunk: "x"/],
    ["an update without hunks", envelope("*** Update File: f"), /an update without hunks/],
    ["a hunk without lines", envelope("*** Update File: f", "@@ a", "*** Delete File: g"), /a hunk without lines/],
  ])("refuses %s with its line", (_, patch, words) => {
    expect(() => parsePatch(patch)).toThrow(
      expect.objectContaining({ code: "invalid_input", message: expect.stringMatching(words) }),
    );
  });

  it("throws nothing but ToolError, whatever it is given", () => {
    const line = fc.constantFrom(
      "*** Begin Patch",
      "*** End Patch",
      "*** Add File: a",
      "*** Delete File: a",
      "*** Update File: a",
      "*** Update File: a -> b",
      "*** Move to: b",
      "*** End of File",
      "@@",
      "@@ x",
      "@@ -1,2 +1,2 @@",
      "+a",
      "-a",
      " a",
      "",
      "a",
      "```",
      "EOF",
      "\\ No newline at end of file",
      "\r",
      "@@@",
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 14 }), (lines) => {
        try {
          parsePatch(envelope(...lines));
        } catch (error) {
          expect(error).toBeInstanceOf(ToolError);
        }
      }),
      { numRuns: runs(20_000) },
    );
  });
});

describe("placing hunks", () => {
  it.each<[string, string, string[], string, string]>([
    ["exact", "a\nb\nc\n", ["@@", " a", "-b", "+B"], "a\nB\nc\n", "exact"],
    ["trailing blanks", "a  \nb\n", ["@@", " a", "-b", "+B"], "a  \nB\n", "trailing"],
    ["indent", "\ta\n\tb\n", ["@@", "   a", "-  b", "+  B"], "\ta\n\tB\n", "indent"],
    [
      "look-alikes",
      "x \u2013 \u201cy\u201d\nb\n",
      ["@@", ' x - "y"', "-b", "+B"],
      "x \u2013 \u201cy\u201d\nB\n",
      "lookalike",
    ],
    ["two hunks in order", "a\nb\na\nb\n", ["@@", " a", "-b", "+1", "@@", " a", "-b", "+2"], "?", "?"],
    [
      "an enclosing line",
      "class A\n  x\nclass B\n  x\n",
      ["@@ class B", "-  x", "+  y"],
      "class A\n  x\nclass B\n  y\n",
      "exact",
    ],
    [
      "nested enclosing lines",
      "class A\n f\n  x\nclass B\n f\n  x\n",
      ["@@ class B", "@@ f", "-  x", "+  y"],
      "class A\n f\n  x\nclass B\n f\n  y\n",
      "exact",
    ],
    [
      "a line that contains the enclosing text",
      "class A {\n  x\n}\nclass B {\n  x\n}\n",
      ["@@ class B", "-  x", "+  y"],
      "class A {\n  x\n}\nclass B {\n  y\n}\n",
      "exact",
    ],
    ["a line number that settles a tie", "x\na\nx\n", ["@@ -3,1 +3,1 @@", "-x", "+y"], "x\na\ny\n", "exact"],
    ["the end of the file", "x\na\nx\n", ["@@", "-x", "+y", "*** End of File"], "x\na\ny\n", "exact"],
    ["interleaved groups", "a\nb\nc\n", ["@@", "-a", "+1", "-b", "+2", " c"], "1\n2\nc\n", "exact"],
    ["an empty line as context", "a\n\nb\n", ["@@", " a", "", "-b", "+c"], "a\n\nc\n", "exact"],
    ["no @@ at all", "a\nb\n", [" a", "-b", "+c"], "a\nc\n", "exact"],
    ["CRLF", "a\r\nb\r\n", ["@@", " a", "-b", "+c", "+d"], "a\r\nc\r\nd\r\n", "exact"],
    [
      "hunks that blank lines part",
      "a\nb\nc\n",
      ["", "@@", "-a", "+A", "", "@@", "-c", "+C", ""],
      "A\nb\nC\n",
      "exact",
    ],
    ["an enclosing line closed by @@", "f:\n x\ng:\n x\n", ["@@ g: @@", "- x", "+ y"], "f:\n x\ng:\n y\n", "exact"],
    ["a line that ends in @@", "a @@\n x\na\n x\n", ["@@ a @@", "- x", "+ y"], "a @@\n y\na\n x\n", "exact"],
    ["an enclosing line sent twice", "f:\n x\ng:\n x\n", ["@@ g:", " g:", "- x", "+ y"], "f:\n x\ng:\n y\n", "exact"],
    [
      "nested enclosing lines that are equal",
      "g:\ng:\n x\n",
      ["@@ g:", "@@ g:", "- x", "+ y"],
      "g:\ng:\n y\n",
      "exact",
    ],
  ])("finds %s", async (name, start, hunk, expected, pass) => {
    const { result, text, warnings } = await patched(start, ...hunk);
    if (expected === "?") {
      expectRejected(result, "conflict", /ambiguous/);
      return;
    }
    expect(result.ok, result.text).toBe(true);
    expect(text, name).toBe(expected);
    expect(data<ApplyPatchData>(result).files[0]?.hunks.at(-1)?.pass).toBe(pass);
    expect(warnings.map(({ code }) => code)).toEqual(pass === "indent" || pass === "lookalike" ? ["loose_match"] : []);
  });

  it("puts added lines without a place at the end of the file, with a warning", async () => {
    const { text, warnings } = await patched("a\n", "@@", "+b");
    expect(text).toBe("a\nb\n");
    expect(warnings.map(({ code }) => code)).toEqual(["appended_at_end"]);
    expect((await patched("a\nb\n", "@@ a", "+x")).warnings).toEqual([]);
  });

  it.each<[string, string, string[], string, RegExp]>([
    [
      "lines that are not there",
      "a\nb\n",
      ["@@", " a", "-x", "+y"],
      "conflict",
      /f: hunk 1 \(patch line 3\) fits nowhere.*Closest place: lines 1-2.*in the file\):\n@@ -1,2 \+1,2 @@\n a\n-x\n\+b/s,
    ],
    [
      "lines that stand twice",
      "a\nb\na\nb\n",
      ["@@", " a", "-b", "+c"],
      "conflict",
      /ambiguous: its lines stand at lines 1, 3.*enclosing line/s,
    ],
    [
      "an enclosing line that is not there",
      "a\n",
      ["@@ class X", "-a", "+b"],
      "conflict",
      /its line "@@ class X" was not found/,
    ],
    [
      "an enclosing text that several lines contain",
      "fooA\nfooB\nx\n",
      ["@@ foo", "-x", "+y"],
      "conflict",
      /"foo" stands at lines 1, 2/,
    ],
    [
      "an enclosing line that stands twice, with the block behind each",
      "f\n x\nf\n x\n",
      ["@@ f", "- x", "+ y"],
      "conflict",
      /lines 2, 4/,
    ],
    [
      "the second hunk before the first",
      "a\nb\nc\n",
      ["@@", "-b", "+B", "@@", "-a", "+A"],
      "conflict",
      /hunk 2.*behind line 2.*they stand before it, at line 1\nhint: .*from top to bottom/s,
    ],
    [
      "the header of a unified diff",
      "a\nb\n",
      ["--- a/f", "+++ b/f", "@@ -1,2 +1,2 @@", " a", "-b", "+B"],
      "conflict",
      /hint: leave the lines "---" and "\+\+\+" out/,
    ],
    ["an end of file that is none", "a\nb\n", ["@@", "-a", "+A", "*** End of File"], "conflict", /fits nowhere/],
    ["a patch that changes nothing", "a\n", ["@@", " a"], "invalid_input", /./],
    ["an indent that cannot be carried", "\ta\n", ["@@", "-  a", "+   b"], "conflict", /indent/],
  ])("refuses %s", async (_, start, hunk, code, words) => {
    const { result, text } = await patched(start, ...hunk);
    expectRejected(result, code, words);
    expect(text).toBe(start);
  });
});

describe("apply_patch", () => {
  it("adds, updates, moves and deletes in one call and tells so", async () => {
    const at = desk();
    at.put("src/app.ts", "a\nb\n");
    at.put("src/old.ts", "x\n");
    at.put("src/gone.ts", "y\n");
    const { text, data: told } = await at.ok<ApplyPatchData>("apply_patch", {
      patch: envelope(
        "*** Update File: src/app.ts",
        "@@",
        "-b",
        "+c",
        "+d",
        "*** Add File: src/port.ts",
        "+1",
        "+2",
        "*** Update File: src/old.ts",
        "*** Move to: src/new.ts",
        "*** Delete File: src/gone.ts",
      ),
    });
    expect(text.split("\n")).toEqual([
      `M src/app.ts  +2 -1  version: ${told.files[0]?.file?.version.slice(0, 12)}`,
      `A src/port.ts  +2  version: ${told.files[1]?.file?.version.slice(0, 12)}`,
      "R src/old.ts -> src/new.ts",
      "D src/gone.ts  -1",
    ]);
    expect(at.text("src/port.ts")).toBe("1\n2\n");
    expect(at.text("src/new.ts")).toBe("x\n");
    expect(existsSync(join(at.directory, "src/gone.ts"))).toBe(false);
    expect((await at.read("src/app.ts")).version).toBe(told.files[0]?.file?.version);
  });

  it("keeps inode and mode on a pure rename, and takes the arrow form", async () => {
    const at = desk();
    at.put("a", "x\n");
    const before = statSync(join(at.directory, "a"));
    await at.ok("apply_patch", { patch: envelope("*** Update File: a -> dir/b") });
    const after = statSync(join(at.directory, "dir/b"));
    expect([after.ino, after.mode]).toEqual([before.ino, before.mode]);
  });

  it("merges two updates of one file, the second searching from the top", async () => {
    const at = desk();
    at.put("f", "a\nb\nc\n");
    const patch = envelope("*** Update File: f", "@@", "-c", "+C", "*** Update File: ./f", "@@", "-a", "+A");
    await at.ok("apply_patch", { patch });
    expect(at.text("f")).toBe("A\nb\nC\n");
  });

  it.each<[string, string[], string, RegExp]>([
    [
      "updates that overlap",
      ["*** Update File: f", "@@", " a", "-b", "+B", "*** Update File: f", "@@", "-b", "+x"],
      "invalid_input",
      /hunks 1 and 2 overlap/,
    ],
    [
      "a path named twice",
      ["*** Update File: f", "@@", "-a", "+A", "*** Delete File: ./f"],
      "invalid_input",
      /named twice/,
    ],
    ["a move onto another file", ["*** Update File: f", "*** Move to: g"], "conflict", /g exists already/],
    [
      "a move onto a path of the patch",
      ["*** Update File: f", "*** Move to: h", "*** Add File: h", "+x"],
      "invalid_input",
      /named twice/,
    ],
    ["an update of a missing file", ["*** Update File: nope", "@@", "-a", "+b"], "not_found", /no file nope/],
    ["a deletion of a missing file", ["*** Delete File: nope"], "not_found", /no file nope/],
    ["NUL in an added file", ["*** Add File: n", "+a\0"], "invalid_input", /NUL/],
  ])("refuses %s", async (_, lines, code, words) => {
    const at = desk();
    at.put("f", "a\nb\n");
    at.put("g", "g\n");
    expectRejected(await at.call("apply_patch", { patch: envelope(...lines) }), code, words);
    expect([at.text("f"), at.text("g")]).toEqual(["a\nb\n", "g\n"]);
  });

  it("changes nothing when the last of ten files fails", async () => {
    const at = desk();
    const lines: string[] = [];
    for (let index = 0; index < 10; index++) {
      at.put(`f${index}`, "a\n");
      lines.push(`*** Update File: f${index}`, "@@", index === 9 ? "-zzz" : "-a", "+b");
    }
    expectRejected(await at.call("apply_patch", { patch: envelope(...lines) }), "conflict", /f9: hunk 1/);
    for (let index = 0; index < 10; index++) expect(at.text(`f${index}`)).toBe("a\n");
  });

  it("refuses more than 1 MiB and more than 200 files before any lock", async () => {
    const at = desk();
    const long = envelope("*** Add File: f", `+${"x".repeat(1_048_576)}`);
    expectRejected(await at.call("apply_patch", { patch: long }), "too_large", /1048576/);
    const many = Array.from({ length: 201 }, (_, index) => `*** Add File: f${index}`);
    expectRejected(await at.call("apply_patch", { patch: envelope(...many) }), "too_large", /201.*200/);
  });

  it("writes nothing on a dry run", async () => {
    const at = desk();
    const { text } = await at.ok("apply_patch", { patch: envelope("*** Add File: f", "+a"), dry_run: true });
    expect(text).toMatch(/^Dry run, nothing written\.\nA f {2}\+1/);
    expect(existsSync(join(at.directory, "f"))).toBe(false);
  });
});

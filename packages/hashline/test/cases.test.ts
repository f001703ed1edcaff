import { chmodSync, linkSync, lstatSync, mkdirSync, rmSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { HashlineEditData } from "../src/tools/edit.ts";
import { anchorIn, data, desk, expectRejected, type Shorthand, warningsOf } from "./desk.ts";

/** One call on a fresh file: the bytes afterwards, and what the reply says. */
async function run(start: string | Uint8Array, edits: readonly Shorthand[]) {
  const at = desk();
  at.put("f", start);
  const result = await at.notation("f", edits);
  return { at, result, text: at.text("f") };
}

describe("payload that repeats a neighbour", () => {
  it.each<[string, string, Shorthand, string, number]>([
    ["edges-1", "aaa\nbbb\nccc\n", ["A2", ["bbb", "NEW"]], "aaa\nbbb\nbbb\nNEW\nccc\n", 2],
    [
      "edges-2",
      "v=(\n <s>\n  <Old/>\n </s>\n);\n",
      ["R3", ["  <New/>", " </s>"]],
      "v=(\n <s>\n  <New/>\n </s>\n </s>\n);\n",
      4,
    ],
    ["edges-3", "#[napi]\nfn a(){}\n", ["R2", ["#[napi]", "fn b(){}"]], "#[napi]\n#[napi]\nfn b(){}\n", 1],
  ])("%s", async (_, start, edit, expected, line) => {
    const { result, text } = await run(start, [edit]);
    expect(text).toBe(expected);
    expect(data<HashlineEditData>(result).warnings).toMatchObject([{ code: "edge_repeats", line }]);
    expect(result.text).toContain(`repeats line ${line} (old number)`);
  });
});

describe("payload written as it is", () => {
  it.each<[string, string, Shorthand[], string]>([
    ["looks-1", "# T\n- a\n- b\n", [["R2", ["- A"]]], "# T\n- A\n- b\n"],
    ["looks-2", "n\n", [["R1", ["+1", "+2", "-3"]]], "+1\n+2\n-3\n"],
    [
      "repair-1",
      "x(\n  a,\n             ),\n",
      [["R2", ["  a,", "                  ),"]]],
      "x(\n  a,\n                  ),\n             ),\n",
    ],
    ["repair-2", "if x:\n    y()\nz()\n", [["R2", ["w()"]]], "if x:\nw()\nz()\n"],
    ["repair-3", "const a =\n  1;\nend\n", [["R1..2", ["const a = 1;"]]], "const a = 1;\nend\n"],
    ["repair-4", "foo(aaaa, bbbb);\nend\n", [["R1", ["foo(aaaa,", " bbbb);"]]], "foo(aaaa,\n bbbb);\nend\n"],
    [
      "order-1",
      "a\nb\n",
      [
        ["A1", ["x"]],
        ["A1", ["y"]],
      ],
      "a\nx\ny\nb\n",
    ],
    ["order-2", "a\nb\nc\n", [["A2", ["N"]], ["D2"]], "a\nN\nc\n"],
    ["empty-1", "", [["P^", ["h"]]], "h\n"],
    ["eol-1", "a\r\nb\r\nc\r\n", [["R2", ["B"]]], "a\r\nB\r\nc\r\n"],
    ["eol-2", "a\nb\r\nc\n", [["P^", ["h"]]], "h\na\nb\r\nc\n"],
    ["unicode-1", "in\u00a0cur\nb\n", [["R2", ["B"]]], "in\u00a0cur\nB\n"],
    ["unicode-2", "x\n", [["R1", ["\\u00A0"]]], "\\u00A0\n"],
    ["space-1", "t:\n\tcmd\n", [["R2", ["\tnew"]]], "t:\n\tnew\n"],
    ["final-1", "a\nb\nc", [["A3", ["X"]]], "a\nb\nc\nX"],
    ["final-2", "a\nb\n", [["A$", ["c"]]], "a\nb\nc\n"],
  ])("%s", async (_, start, edits, expected) => {
    const { result, text } = await run(start, edits);
    expect(result.ok, result.text).toBe(true);
    expect(text).toBe(expected);
  });

  it("looks-3", async () => {
    const start = "---\ntitle\n";
    const { result, text } = await run(start, [["R1..2", ["1#aa|---", "2#bb|title", "[Showing lines 1-2 of 9]"]]]);
    expectRejected(result, "invalid_input", /anchor.*edit_file/s);
    expect(text).toBe(start);
  });

  it("eol-3", async () => {
    const { result, text } = await run("a\rb\nc\n", [["R2", ["C"]]]);
    expect(text).toBe("a\rb\nC\n");
    expect(data<HashlineEditData>(result).files[0]?.totalLines).toBe(2);
  });

  it.each([
    ["separator-1", "\u2028"],
    ["separator-1 with form feed", "\f"],
  ])("%s", async (_, sign) => {
    const { at, text } = await run(`a${sign}b\nc\n`, [["R2", ["C"]]]);
    expect(text).toBe(`a${sign}b\nC\n`);
    expect((await at.read("f")).lines).toHaveLength(2);
  });

  it("unicode-1: an anchor on the line with NBSP matches", async () => {
    const { text } = await run("in\u00a0cur\nb\n", [["A1", ["x"]]]);
    expect(text).toBe("in\u00a0cur\nx\nb\n");
  });

  it("unicode-3", async () => {
    const { result, text } = await run("x\n", [["R1", ["a\ud83d"]]]);
    expectRejected(result, "invalid_input", "not well-formed Unicode");
    expect(text).toBe("x\n");
  });

  it("bom-1", async () => {
    const { at } = await run("\ufeffa\nb\n", [["R1", ["A"]]]);
    expect(at.bytes("f")).toEqual(Buffer.from("\ufeffA\nb\n"));
  });
});

describe("what one call covers", () => {
  it("scope-1", async () => {
    const { result, text } = await run("l1\nl2\nl3\nl4\nl5\n", [["R3", ["a", "b", "c"]]]);
    expect(text).toBe("l1\nl2\na\nb\nc\nl4\nl5\n");
    expect(data<HashlineEditData>(result).files[0]?.edits[0]).toEqual({ index: 0, oldLines: [3, 3], newLines: [3, 5] });
  });

  it("scope-2", async () => {
    const lines = Array.from({ length: 80 }, (_, index) => `L${index + 1}`);
    const { text } = await run(`${lines.join("\n")}\n`, [["D10..12"], ["D40..42"], ["D70..72"]]);
    const gone = new Set([10, 11, 12, 40, 41, 42, 70, 71, 72]);
    expect(text).toBe(
      lines
        .filter((_, index) => !gone.has(index + 1))
        .map((line) => `${line}\n`)
        .join(""),
    );
  });
});

describe("file changed since it was read", () => {
  it("stale-1", async () => {
    const at = desk();
    at.put("f", "a\nb\nc\n");
    const first = await at.read("f");
    await at.notation("f", [["P^", ["top"]]], first);
    const result = await at.notation("f", [["R2", ["B"]]], first);
    expect(at.text("f")).toBe("top\na\nB\nc\n");
    const hash = anchorIn(first, 2).slice(2);
    expect(data<HashlineEditData>(result).files[0]?.remapped).toEqual([{ given: `2#${hash}`, applied: `3#${hash}` }]);
    expect(result.text).toContain(`2#${hash} is now 3#${hash}`);
  });

  it("stale-2", async () => {
    const at = desk();
    const lines = "L1\nL2\nL3\nL4\nL5\nL6\n";
    at.put("f", lines);
    const first = await at.read("f");
    at.put("f", `N\n${lines}`);
    const result = await at.notation("f", [["R5", ["Z"]]], first);
    expect(at.text("f")).toBe("N\nL1\nL2\nL3\nL4\nZ\nL6\n");
    expect(result.text).toMatch(/5#(..) is now 6#\1/);
  });

  it("stale-3", async () => {
    const at = desk();
    at.put("f", "line one 263\nline two 4471\n");
    const first = await at.read("f");
    at.put("f", "line one 410\nline two 6970\n");
    const result = await at.notation("f", [["R1", ["X"]]], first);
    const now = await at.read("f");
    expectRejected(result, "conflict", now.version.slice(0, 12));
    expect(result.text).toContain(`${anchorIn(now, 1)}|line one 410`);
    expect(at.text("f")).toBe("line one 410\nline two 6970\n");
  });
});

describe("anchors and ranges", () => {
  it("seen-1", async () => {
    const at = desk({ seenGuard: "reject" });
    at.put("f", Array.from({ length: 1_400 }, (_, index) => `line ${index + 1}\n`).join(""));
    const part = await at.read("f", { offset: 1_118, limit: 9 });
    await at.read("f", { offset: 1_284, limit: 17 });
    const result = await at.notation("f", [["A1122", ["x"]]], part);
    expect(result.ok, result.text).toBe(true);
  });

  it("anchor-1", async () => {
    const at = desk();
    at.put("f", "x\n".repeat(12));
    const read = await at.read("f");
    const edit = { pos: anchorIn(read, 10), end: anchorIn(read, 7), lines: ["y"] };
    const result = await at.edit("f", read.version, [edit]);
    expectRejected(result, "invalid_input", /line 7.*line 10/);
    expect(at.text("f")).toBe("x\n".repeat(12));
  });

  it("anchor-2", async () => {
    const at = desk();
    at.put("f", `${"a\n".repeat(9)}  FireDAC,\n`);
    const read = await at.read("f");
    const anchor = anchorIn(read, 10);
    const wrong = await at.edit("f", read.version, [{ pos: `${anchor}|  Other,`, lines: ["x"] }]);
    expectRejected(wrong, "invalid_input");
    const right = await at.edit("f", read.version, [{ pos: `${anchor}|  FireDAC,`, lines: ["x"] }]);
    expect(right.ok, right.text).toBe(true);
  });

  it("anchor-3", async () => {
    const at = desk();
    at.put("f", "x\n".repeat(10));
    const result = await at.call("hashline_read", { filePath: "f", offset: 999 });
    expect(result).toMatchObject({
      ok: false,
      error: { code: "invalid_input", message: "offset 999 is past the end: 10 lines" },
    });
    expect(result.text).toContain('hashline_read {"filePath":"f","offset":1}');
  });

  it.each<[string, string, Shorthand[]]>([
    [
      "overlap-1",
      "a\nb\nc\nd\n",
      [
        ["R1..3", ["X"]],
        ["R2", ["Y"]],
      ],
    ],
    [
      "overlap-2",
      "a\nb\nc\nd\ne\n",
      [
        ["R2..4", ["X", "Y", "Z"]],
        ["A2", ["N"]],
      ],
    ],
  ])("%s", async (_, start, edits) => {
    const { result, text } = await run(start, edits);
    expectRejected(result, "invalid_input", /edit 2: it and edit 1/);
    expect(text).toBe(start);
  });
});

describe("empty files and encodings", () => {
  it("empty-2", async () => {
    const { result, text } = await run("hello\n", [["D1"]]);
    expect(text).toBe("");
    expect(warningsOf(result)).toEqual(["file_emptied"]);
  });

  it("empty-3", async () => {
    const at = desk();
    at.put("f", "a\nb\nc\n");
    const change = {
      kind: "replace" as const,
      path: "f",
      bytes: new Uint8Array(),
      lineChanges: [{ oldStart: 1, oldLines: 1, newStart: 1, newLines: 0 }],
    };
    const edit = at.workspace.edit(["f"], () => ({ changes: [change], result: undefined }), at.context);
    await expect(edit).rejects.toMatchObject({ code: "internal" });
    expect(at.text("f")).toBe("a\nb\nc\n");
  });

  it("encoding-1", async () => {
    const at = desk();
    at.put("f", Buffer.from("636166e90a620a", "hex"));
    expect((await at.notation("f", [["R2", ["B"]]])).ok).toBe(true);
    expect(at.bytes("f").toString("hex")).toBe("636166e90a420a");
    expectRejected(await at.notation("f", [["R2", ["é"]]]), "unsupported", /"é"/);
    expect(at.bytes("f").toString("hex")).toBe("636166e90a420a");
  });

  it("encoding-2", async () => {
    const at = desk();
    at.put("f", Buffer.from("fffe61000a00", "hex"));
    const read = await at.call("hashline_read", { filePath: "f" });
    expect(read).toMatchObject({ ok: false, error: { code: "unsupported" } });
    expect(read.text).toContain("UTF-16LE");
    expectRejected(await at.edit("f", "0123456789ab", [{ pos: "1#aa", lines: ["x"] }]), "unsupported", "UTF-16LE");
    expectRejected(await at.call("edit_file", { path: "f", old_content: "a", new_content: "b" }), "unsupported");
    expect(at.bytes("f").toString("hex")).toBe("fffe61000a00");
  });
});

describe("version and width from one call to the next", () => {
  it("next-1", async () => {
    const at = desk();
    at.put("f", Array.from({ length: 2_000 }, (_, index) => `${index}\n`).join(""));
    const read = await at.read("f");
    expect(read.hashWidth).toBe(2);
    expect((await at.notation("f", [["R1", ["x"]]], read)).ok).toBe(true);
  });

  it("next-2", async () => {
    const { at, result } = await run("a\nb\nc\n", [["R2", ["x", "y"]]]);
    expect(data<HashlineEditData>(result).files[0]?.version).toBe((await at.read("f")).version);
  });
});

describe("long lines", () => {
  it("size-1", async () => {
    const at = desk();
    at.put("f", `${"x".repeat(71_000)}\n1\n2\n3\n4\n5\n`);
    const { text, data: read } = await at.ok<Awaited<ReturnType<typeof at.read>>>("hashline_read", {
      filePath: "f",
      limit: 3,
    });
    expect(read.lines[0]).toMatchObject({ hiddenChars: 69_000 });
    expect(text).toContain("…[+69000 chars]");
    expect(text).toContain('next: hashline_read {"filePath":"f","offset":4,"limit":3}');
    expectRejected(await at.notation("f", [["R1", ["x"]]]), "invalid_input", /edit_file/);
    const pair = await at.notation("f", [["D1"], ["A1", ["x"]]]);
    expect(pair.ok, pair.text).toBe(true);
    expect(at.text("f")).toBe("x\n1\n2\n3\n4\n5\n");
  });
});

describe("links and modes", () => {
  it("links-1", async () => {
    const at = desk();
    at.put("real", "a\nb\n");
    symlinkSync("real", join(at.directory, "link"));
    expect((await at.notation("link", [["R1", ["A"]]])).ok).toBe(true);
    expect(lstatSync(join(at.directory, "link")).isSymbolicLink()).toBe(true);
    expect(at.text("real")).toBe("A\nb\n");
  });

  it("links-2", async () => {
    const at = desk();
    const old = process.umask(0o077);
    try {
      for (const mode of [0o755, 0o600, 0o2755]) {
        at.put("f", "a\n");
        chmodSync(join(at.directory, "f"), mode);
        expect((await at.notation("f", [["R1", ["b"]]])).ok).toBe(true);
        expect(statSync(join(at.directory, "f")).mode & 0o7777).toBe(mode);
        rmSync(join(at.directory, "f"));
      }
    } finally {
      process.umask(old);
    }
  });
});

describe("several writers and files", () => {
  it("race-1", async () => {
    const at = desk();
    at.put("f", Array.from({ length: 100 }, (_, index) => `${index + 1}\n`).join(""));
    const read = await at.read("f");
    const results = await Promise.all([
      at.notation("f", [["R50", ["FIFTY"]]], read),
      at.notation("f", [["R75", ["SEVENTY-FIVE"]]], read),
    ]);
    for (const result of results) expect(result.ok, result.text).toBe(true);
    const lines = at.text("f").split("\n");
    expect([lines[49], lines[74], lines.length]).toEqual(["FIFTY", "SEVENTY-FIVE", 101]);
  });

  it("batch-1", async () => {
    const at = desk();
    at.put("A", "a\n");
    at.put("B", "b\n");
    const read = await at.read("A");
    const result = await at.call("hashline_edit", {
      files: [
        { filePath: "A", version: read.version, edits: [{ pos: anchorIn(read, 1), lines: ["x"] }] },
        { filePath: "B", version: "000000000000", edits: [{ pos: "1#aa", lines: ["x"] }] },
      ],
    });
    expectRejected(result, "conflict", "Valid, not written: A");
    expect([at.text("A"), at.text("B")]).toEqual(["a\n", "b\n"]);
  });

  it("batch-2", async () => {
    const at = desk();
    at.put("f", "a\n");
    symlinkSync("f", join(at.directory, "link"));
    linkSync(join(at.directory, "f"), join(at.directory, "hard"));
    const read = await at.read("f");
    for (const twin of ["./f", "link", "hard"]) {
      const edits = [{ pos: anchorIn(read, 1), lines: ["x"] }];
      const files = ["f", twin].map((filePath) => ({ filePath, version: read.version, edits }));
      expectRejected(await at.call("hashline_edit", { files }), "invalid_input", /same file/);
      expect(at.text("f")).toBe("a\n");
    }
  });
});

describe("version means bytes", () => {
  it("bytes-1", async () => {
    const { result } = await run("a\r\nb\r\n", [["R1", ["x"]]]);
    expect(result.ok, result.text).toBe(true);
  });

  it("bytes-2", async () => {
    const at = desk({
      async afterCommit() {
        at.put("f", "formatted\nb\nc\n");
        return ["formatted"];
      },
    });
    at.put("f", "a\nb\nc\n");
    const result = await at.notation("f", [["R1", ["x"]]]);
    const [file] = data<HashlineEditData>(result).files;
    const now = await at.read("f");
    expect(file?.version).toBe(now.version);
    expect(file?.anchors[0]).toMatchObject({ line: 1, text: "formatted", hash: now.lines[0]?.hash });
    expect(file?.diff).toContain("-a\n+formatted\n");
    expect(warningsOf(result)).toEqual(["changed_after_write"]);
    expect(result.text).toContain("note: formatted");
  });
});

describe("what is not a text file", () => {
  it("kind-1", async () => {
    const at = desk();
    at.put("bin", Buffer.from("61620063", "hex"));
    mkdirSync(join(at.directory, "dir"));
    for (const [name, words] of [
      ["bin", /NUL at byte 2/],
      ["dir", /folder/],
    ] as const) {
      const read = await at.call("hashline_read", { filePath: name });
      expect(read).toMatchObject({ ok: false, error: { code: "unsupported" } });
      expect(read.text).toMatch(words);
      expectRejected(await at.edit(name, "0123456789ab", [{ pos: "1#aa", lines: ["x"] }]), "unsupported", words);
    }
  });
});

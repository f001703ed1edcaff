import { describe, expect, it } from "vitest";
import type { EditFileData } from "../src/tools/edit-file.ts";
import { data, desk, expectRejected } from "./desk.ts";

describe("edit_file", () => {
  it.each<[string, string, object, string, string]>([
    ["exact", "let a = 1;\n", { old_content: "a = 1", new_content: "b = 2" }, "let b = 2;\n", "exact"],
    ["lines", "a\nb\nc\n", { old_content_lines: ["a", "b"], new_content_lines: ["x"] }, "x\nc\n", "exact"],
    ["removal", "a\nb\nc\n", { old_content: "b\n", new_content: "" }, "a\nc\n", "exact"],
    [
      "trailing blanks",
      "foo()  \nbar()\n",
      { old_content: "foo()\nbar()\n", new_content: "x\n" },
      "x\n",
      "line_trimmed",
    ],
    ["runs of blanks", "a  =  1\n", { old_content: "a = 1\n", new_content: "b\n" }, "b\n", "whitespace_normalised"],
    [
      "another indent",
      "    a\n      b\n",
      { old_content: "a\n  b\n", new_content: "a\n    c\n" },
      "    a\n        c\n",
      "indent_flexible",
    ],
    [
      "a block",
      "fn a() {\n  one();\n  two();\n  three();\n}\nend a\n",
      { old_content: "fn a() {\n  one();\n  twx();\n  three();\n}\nend a\n", new_content: "fn a() {\n}\nend a\n" },
      "fn a() {\n}\nend a\n",
      "block_anchor",
    ],
  ])("replaces text: %s", async (_, start, input, expected, strategy) => {
    const at = desk();
    at.put("f", start);
    const result = await at.call("edit_file", { path: "f", ...input });
    expect(result.ok, result.text).toBe(true);
    expect(at.text("f")).toBe(expected);
    const { strategy: used, warnings, file, mode } = data<EditFileData>(result);
    expect([used, mode]).toEqual([strategy, "text"]);
    expect(warnings.map(({ code }) => code)).toEqual(strategy === "exact" ? [] : ["loose_match"]);
    expect(result.text.includes("@@")).toBe(strategy !== "exact");
    expect((await at.read("f")).version).toBe(file.version);
  });

  it("says in one line what an exact edit did", async () => {
    const at = desk();
    at.put("src/app.ts", "a\nb\nc\n");
    const { text, data: told } = await at.ok<EditFileData>("edit_file", {
      path: "src/app.ts",
      old_content: "b",
      new_content: "x",
    });
    expect(text).toBe(`Edited src/app.ts: line 2, +1 -1, version: ${told.file.version.slice(0, 12)}`);
  });

  it("replaces every place when that many are expected, and shows the diff", async () => {
    const at = desk();
    at.put("f", "a\nb\na\n");
    const { text, data: told } = await at.ok<EditFileData>("edit_file", {
      path: "f",
      old_content: "a",
      new_content: "x",
      expected_replacements: 2,
    });
    expect(at.text("f")).toBe("x\nb\nx\n");
    expect(told.matches).toEqual([
      { startLine: 1, endLine: 1 },
      { startLine: 3, endLine: 3 },
    ]);
    expect(text).toContain("@@ -1,3 +1,3 @@");
  });

  it.each<[string, object, string, RegExp]>([
    ["text that is not there", { old_content: "zzz", new_content: "x" }, "conflict", /not found in f/],
    [
      "another count",
      { old_content: "a", new_content: "x", expected_replacements: 3 },
      "conflict",
      /found in f 2 times by exact, not 3: lines 1, 3/,
    ],
    ["one of several", { old_content: "a", new_content: "x" }, "conflict", /2 times.*hint: send more of the text/s],
    [
      "another version",
      { old_content: "b", new_content: "x", version: "0".repeat(12) },
      "conflict",
      /not 000000000000/,
    ],
    ["no mode", { new_content: "x" }, "invalid_input", /neither old_content nor start_line/],
    ["both modes", { old_content: "a", start_line: 1, new_content: "x" }, "invalid_input", /exclude each other/],
    ["end without start", { end_line: 1, new_content: "x" }, "invalid_input", /end_line without start_line/],
    [
      "both forms of the old text",
      { old_content: "a", old_content_lines: ["a"], new_content: "x" },
      "invalid_input",
      /exclude/,
    ],
    [
      "both forms of the new text",
      { old_content: "a", new_content: "x", new_content_lines: ["x"] },
      "invalid_input",
      /exclude/,
    ],
    ["no new text", { old_content: "a" }, "invalid_input", /new_content is missing/],
    ["an empty old text", { old_content_lines: [], new_content: "x" }, "invalid_input", /old text is empty/],
    ["equal texts", { old_content: "b", new_content: "b" }, "invalid_input", /equal/],
    [
      "a range past the end",
      { start_line: 2, end_line: 12, new_content: "x" },
      "invalid_input",
      /end_line 12, file has 3 lines/,
    ],
    ["a start past the end", { start_line: 9, new_content: "x" }, "invalid_input", /start_line 9, file has 3 lines/],
    [
      "a range the wrong way round",
      { start_line: 3, end_line: 2, new_content: "x" },
      "invalid_input",
      /end_line 2 is before start_line 3/,
    ],
    ["a result without text", { start_line: 1, end_line: 3, new_content: "" }, "invalid_input", /empty.*allow_empty/s],
    ["loose text with fuzzy off", { old_content: "b \n", new_content: "x", fuzzy: false }, "conflict", /not found/],
    ["a short version", { old_content: "b", new_content: "x", version: "abc" }, "invalid_input", /version/],
    [
      "no count",
      { old_content: "b", new_content: "x", expected_replacements: 0 },
      "invalid_input",
      /expected_replacements/,
    ],
    ["a lone surrogate", { old_content: "b", new_content: "\ud83d" }, "invalid_input", /well-formed/],
    ["a file that would be as before", { start_line: 2, new_content: "b" }, "invalid_input", /unchanged/],
  ])("refuses %s", async (_, input, code, words) => {
    const at = desk();
    at.put("f", "a\nb\na\n");
    expectRejected(await at.call("edit_file", { path: "f", ...input }), code, words);
    expect(at.text("f")).toBe("a\nb\na\n");
  });

  it("refuses a missing file and says what creates one", async () => {
    const at = desk();
    at.put("main.ts", "a\n");
    const result = await at.call("edit_file", { path: "mian.ts", old_content: "a", new_content: "b" });
    expectRejected(result, "not_found", /apply_patch with Add File/);
    expect(result.text).toContain("main.ts?");
  });

  it("shows up to three closest places with their diffs", async () => {
    const at = desk();
    at.put("f", "const a = load(1);\nconst b = load(2);\nconst c = load(3);\n");
    const result = await at.call("edit_file", { path: "f", old_content: "const b = load(5);", new_content: "x" });
    expectRejected(result, "conflict", /Closest places:\nlines 2-2, 94 % alike/);
    expect(result.text).toContain("-const b = load(5);\n+const b = load(2);");
  });

  it.each<[string, object, string]>([
    ["at the start", { start_line: 1, new_content: "x\ny" }, "x\ny\nb\nc\n"],
    ["at the end", { start_line: 3, new_content_lines: ["x"] }, "a\nb\nx\n"],
    ["over several lines", { start_line: 1, end_line: 2, new_content: "x\n" }, "x\nc\n"],
    ["of one line into none", { start_line: 2, new_content_lines: [] }, "a\nc\n"],
    ["into a blank line", { start_line: 2, new_content: "\n" }, "a\n\nc\n"],
  ])("replaces a range %s", async (_, input, expected) => {
    const at = desk();
    at.put("f", "a\nb\nc\n");
    const { data: told, text } = await at.ok<EditFileData>("edit_file", { path: "f", ...input });
    expect(at.text("f")).toBe(expected);
    expect(told.mode).toBe("range");
    expect(told.strategy).toBeUndefined();
    expect(text).not.toContain("@@");
  });

  it("refuses a range after a foreign change, and takes it again after a read", async () => {
    const at = desk();
    at.put("f", "a\nb\n");
    await at.read("f");
    at.put("f", "new\na\nb\n");
    const call = { path: "f", start_line: 2, new_content: "x" };
    expectRejected(await at.call("edit_file", call), "conflict", /it changed since it was shown/);
    await at.read("f");
    await at.ok("edit_file", call);
    await at.ok("edit_file", { ...call, new_content: "y" });
    expect(at.text("f")).toBe("new\ny\nb\n");
  });

  it("empties a file only when that is allowed, with a warning", async () => {
    const at = desk();
    at.put("f", "a\n");
    const { data: told } = await at.ok<EditFileData>("edit_file", {
      path: "f",
      old_content: "a\n",
      new_content: "",
      allow_empty: true,
    });
    expect(at.text("f")).toBe("");
    expect(told.warnings.map(({ code }) => code)).toEqual(["file_emptied"]);
  });

  it("keeps CRLF, the byte order mark and literal dollar signs", async () => {
    const at = desk();
    at.put("f", "\ufeffa\r\nb\r\n");
    await at.ok("edit_file", { path: "f", old_content: "a\nb", new_content: "\ufeff$&\nx" });
    expect(at.bytes("f")).toEqual(Buffer.from("\ufeff$&\r\nx\r\n"));
  });

  it("refuses an indent that cannot be carried, naming both", async () => {
    const at = desk();
    at.put("f", "  foo()\n");
    const result = await at.call("edit_file", { path: "f", old_content: "    foo()\n", new_content: "\tbar()\n" });
    expectRejected(result, "conflict", /1 tab.*4 spaces for 2 spaces/);
  });

  it("writes nothing on a dry run", async () => {
    const at = desk();
    at.put("f", "a\n");
    const { text, data: told } = await at.ok<EditFileData>("edit_file", {
      path: "f",
      old_content: "a",
      new_content: "b",
      dry_run: true,
    });
    expect(text).toMatch(/^Dry run, nothing written\. Would edit f: line 1/);
    expect(at.text("f")).toBe("a\n");
    expect(told.commitId).toBeUndefined();
  });
});

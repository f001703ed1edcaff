import { runs } from "@toolhaft/testing";
import { parseText } from "@toolhaft/workspace";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { annotate } from "../src/annotate.ts";
import type { HashlineEdit } from "../src/edit.ts";
import { planEdits } from "../src/edit-plan.ts";
import { createLineHasher, hashWidthOf } from "../src/line-hash.ts";
import type { HashlineReadData } from "../src/tools/read.ts";
import { type EditInput, shorthand } from "./desk.ts";

const hasher = await createLineHasher();

function seen(text: string): HashlineReadData {
  const file = parseText(Buffer.from(text));
  return { lines: annotate(file, hasher) } as unknown as HashlineReadData;
}

function planned(text: string, ...edits: (readonly [string, (string | string[])?])[]) {
  const read = seen(text);
  const list = edits.map(([place, lines]) => shorthand(place, lines, read));
  return planEdits(parseText(Buffer.from(text)), list, hasher);
}

const after = (...args: Parameters<typeof planned>) => Buffer.from(planned(...args).bytes).toString("utf8");

describe("order and overlap", () => {
  it.each<[string, Parameters<typeof planned>, string]>([
    [
      "appends in request order, then prepends to the next line",
      ["a\nb\n", ["P2", ["p"]], ["A1", ["x"]], ["A1", ["y"]]],
      "a\nx\ny\np\nb\n",
    ],
    [
      "prepend at the first line of a replaced range goes before it",
      ["a\nb\nc\n", ["R2..3", ["X"]], ["P2", ["p"]]],
      "a\np\nX\n",
    ],
    [
      "append at the last line of a replaced range goes after it",
      ["a\nb\nc\n", ["A2", ["q"]], ["R1..2", ["X"]]],
      "X\nq\nc\n",
    ],
    ["inserts at the ends of the file", ["a\n", ["A$", ["z"]], ["P^", ["h"]]], "h\na\nz\n"],
    ["two identical inserts are both applied", ["a\n", ["A1", ["x"]], ["A1", ["x"]]], "a\nx\nx\n"],
    ["a string is split as a file is", ["a\n", ["A1", "x\ny\n"]], "a\nx\ny\n"],
    ["an array element with a newline is split, too", ["a\n", ["A1", ["x\r\ny", "z\r"]]], "a\nx\ny\nz\n"],
    ["one blank line is written as such", ["a\nb\n", ["R1", [""]]], "\nb\n"],
  ])("%s", (_, args, expected) => {
    expect(after(...args)).toBe(expected);
  });

  it.each<[string, Parameters<typeof planned>, RegExp]>([
    [
      "two replaces that share a line",
      ["a\nb\nc\n", ["R1..2", ["x"]], ["R2..3", ["y"]]],
      /edit 2: it and edit 1 both replace line 2/,
    ],
    ["two identical replaces", ["a\n", ["R1", ["x"]], ["R1", ["x"]]], /both replace line 1/],
    [
      "an insert inside a replaced range",
      ["a\nb\nc\n", ["A1", ["x"]], ["R1..3", ["y"]]],
      /edit 2: it and edit 1 overlap.*lines 1-3/,
    ],
    ["an insert of nothing", ["a\n", ["A1", []]], /append of nothing/],
    ["an empty string on replace", ["a\n", ["R1", ""]], /lines is ""/],
  ])("refuses %s", (_, args, words) => {
    expect(() => planned(...args)).toThrow(words);
  });

  it.each<[string, EditInput, RegExp]>([
    ["replace without pos", { lines: ["x"] }, /replace needs pos/],
    ["end with an insert", { op: "append", pos: "1#aa", end: "1#aa", lines: ["x"] }, /end goes with replace/],
    ["neither lines nor from", { pos: "1#aa" }, /lines is missing/],
    ["both lines and from", { pos: "1#aa", lines: ["x"], from: "1#aa" }, /exclude each other/],
    ["a range of from the wrong way round", { pos: "1#aa", from: "3#aa..1#aa" }, /from ends at line 1/],
    ["a pos that is no anchor", { pos: "line 1", lines: ["x"] }, /"line 1" is no anchor/],
    ["NUL in the payload", { pos: "1#aa", lines: ["a\0"] }, /NUL/],
  ])("refuses %s", (_, edit, words) => {
    expect(() => planEdits(parseText(Buffer.from("a\nb\nc\n")), [edit], hasher)).toThrow(words);
  });

  it("tells every problem of a call at once", () => {
    const edits = [{ lines: ["x"] }, { pos: "nonsense", lines: ["x"] }, { pos: "1#aa" }];
    expect(() => planEdits(parseText(Buffer.from("a\n")), edits, hasher)).toThrow(/edit 1.*edit 2.*edit 3/);
  });

  it("gives the same bytes for disjoint edits in any order", () => {
    const file = parseText(Buffer.from(Array.from({ length: 30 }, (_, index) => `line ${index}\n`).join("")));
    const lines = annotate(file, hasher);
    const edits = Array.from({ length: 10 }, (_, index): HashlineEdit => {
      const { line, hash } = lines[index * 3] ?? { line: 1, hash: "" };
      const op = (["replace", "append", "prepend"] as const)[index % 3];
      return { op, pos: `${line}#${hash}`, lines: [`new ${index}`] };
    });
    const expected = planEdits(file, edits, hasher).bytes;
    fc.assert(
      fc.property(fc.shuffledSubarray(edits, { minLength: edits.length }), (shuffled) => {
        expect(planEdits(file, shuffled, hasher).bytes).toEqual(expected);
      }),
      { numRuns: runs(1_000) },
    );
  });

  it("copies lines by from, and moves them with a delete", () => {
    const read = seen("a\n  b\t\nc\n");
    const [first, second] = read.lines.map(({ line, hash }) => `${line}#${hash}`);
    const file = parseText(Buffer.from("a\n  b\t\nc\n"));
    const move = [
      { op: "append" as const, from: `${first}..${second}` },
      { pos: first, end: second, lines: [] },
    ];
    expect(Buffer.from(planEdits(file, move, hasher).bytes).toString()).toBe("c\na\n  b\t\n");
    const dotted = [{ op: "append" as const, from: `${first}|a..${second}|  b\t` }];
    expect(Buffer.from(planEdits(file, dotted, hasher).bytes).toString()).toBe("a\n  b\t\nc\na\n  b\t\n");
  });
});

describe("payload is literal", () => {
  it.each([
    "+ x",
    "- x",
    "> x",
    "# x",
    "12",
    "$& $1 $$",
    "\\n \\u0041 \\\\",
    "a\u00a0b",
    "\u201cx\u201d",
    "\ue000",
    "x  \t",
    "\tx",
    "1: x",
    "\u2028",
    "```",
    "<<<<<<< ours",
  ])("writes %j byte for byte", (line) => {
    expect(after("a\nb\n", ["R2", [line]])).toBe(`a\n${line}\n`);
  });

  it("agrees for the string and the array form", () => {
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[ab +\t-]{0,5}$/), { minLength: 1, maxLength: 4 }), (lines) => {
        const asArray = after("a\nz\n", ["A1", lines]);
        expect(after("a\nz\n", ["A1", `${lines.join("\n")}\n`])).toBe(asArray);
      }),
    );
  });

  it("leaves every byte outside the edited lines alone, for any bytes", () => {
    const part = fc
      .constantFrom("\n", "\r\n", "\r", "a", "  ", "\u2028", "é", "\ufeff")
      .map((text) => Buffer.from(text));
    const anything = fc.array(fc.oneof(part, fc.uint8Array({ minLength: 1, maxLength: 2 })), { maxLength: 30 });
    fc.assert(
      fc.property(
        anything.map((parts) => Buffer.concat(parts)),
        fc.nat(),
        fc.boolean(),
        (bytes, pick, insert) => {
          const file = parseText(bytes);
          if (file.lineCount === 0) return;
          const line = 1 + (pick % file.lineCount);
          const { start, end, next } = file.line(line);
          const pos = `${line}#${hasher.code(bytes, start, end, hashWidthOf(file.lineCount))}`;
          const edit: HashlineEdit = insert ? { op: "append", pos, lines: ["NEW"] } : { pos, lines: ["NEW"] };
          const result = Buffer.from(planEdits(file, [edit], hasher).bytes);
          const at = insert ? next : start;
          expect(result.subarray(0, insert ? end : start)).toEqual(
            Buffer.from(bytes.subarray(0, insert ? end : start)),
          );
          const rest = Buffer.from(bytes.subarray(insert ? next : end));
          expect(result.subarray(result.length - rest.length)).toEqual(rest);
          expect(result.includes("NEW", at)).toBe(true);
        },
      ),
      { numRuns: runs(5_000) },
    );
  });
});

describe("warnings", () => {
  const codes = (...args: Parameters<typeof planned>) => planned(...args).warnings.map(({ code }) => code);

  it.each<[string, Parameters<typeof planned>, Parameters<typeof planned>]>([
    ["edge_repeats", ["a\nb\n", ["A1", ["a"]]], ["\nb\n", ["A1", [""]]]],
    ["edge_repeats", ["a\nb\n", ["R1", ["x", "b"]]], ["a\nb\n", ["R1", ["x", "b"]], ["R2", ["c"]]]],
    ["duplicate_insert", ["a\n", ["A1", ["x"]], ["A1", ["x"]]], ["a\nb\n", ["A1", ["x"]], ["A2", ["x"]]]],
    ["looks_like_line_numbers", ["a\n", ["R1", ["7|x", "8|y"]]], ["a\n", ["R1", ["7|x", "9|y"]]]],
    ["looks_like_line_numbers", ["a\n", ["R1", ["  1\tx", "  2\ty"]]], ["a\n", ["R1", ["1: x"]]]],
    ["bom_ignored", ["a\nb\n", ["R1", ["\ufeffx"]]], ["a\nb\n", ["R2", ["\ufeffx"]]]],
    ["bom_ignored", ["a\nb\n", ["D1"], ["A1", ["\ufeffx"]]], ["a\nb\n", ["A1", ["\ufeffx"]]]],
    ["replacement_character", ["a\n", ["R1", ["\ufffd"]]], ["\ufffd\na\n", ["R2", ["b"]]]],
    ["file_emptied", ["a\nb\n", ["D1..2"]], ["a\nb\n", ["D1"]]],
    ["no_op_edit", ["a\nb\n", ["R1", ["a"]], ["R2", ["c"]]], ["a\nb\n", ["R1", ["x"]], ["R2", ["c"]]]],
  ])("%s is raised, and not by its harmless neighbour", (code, raised, harmless) => {
    expect(codes(...raised)).toContain(code);
    expect(codes(...harmless)).not.toContain(code);
  });

  it("does not write a byte order mark that would land at the start", () => {
    expect(after("a\n", ["P^", ["\ufeffx"]])).toBe("x\na\n");
    expect(after("\ufeffa\n", ["P^", ["\ufeffx"]])).toBe("\ufeffx\na\n");
  });

  it("refuses a call that changes nothing", () => {
    expect(() => planned("a\n", ["R1", ["a"]])).toThrow(/unchanged/);
  });
});

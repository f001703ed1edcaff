import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type FindOptions, findText } from "../src/find-text.ts";
import { indentCarrier } from "../src/indent.ts";
import { replaceText } from "../src/replace-text.ts";
import { parseText } from "../src/text-model.ts";

const parse = (text: string) => parseText(Buffer.from(text));

function replaced(text: string, needle: string, replacement: string, options?: FindOptions) {
  const file = parse(text);
  const match = findText(file, needle, options);
  if (match.kind !== "found") return match.kind;
  return `${match.strategy}: ${Buffer.from(replaceText(file, match, needle, replacement).bytes).toString("utf8")}`;
}

describe("findText", () => {
  it.each<[string, string, string, string]>([
    ["a part of a line", "let a = 1;\n", "= 1", "exact"],
    ["trailing blanks", "foo();  \nbar();\n", "foo();\nbar();\n", "line_trimmed"],
    ["a CR at the end of the needle's line", "foo();\nbar();\n", "foo();\r\nbar();\r", "line_trimmed"],
    ["runs of blanks", "a  =   1;\n", "a = 1;\n", "whitespace_normalised"],
    ["an indent of another kind", "\ta = 1;\n", "    a = 1;\n", "whitespace_normalised"],
    ["another indent", "if x:\n    foo()\n", "foo()\nbar", "missing"],
    ["an indent that the needle lacks", "  foo()\n  bar()\n", "foo()\nbar()\n", "indent_flexible"],
    [
      "a block between its ends",
      "fn a() {\n  one();\n  two();\n  three();\n}\nend a\n",
      "fn a() {\n  one();\n  twx();\n  three();\n}\nend a\n",
      "block_anchor",
    ],
  ])("finds %s", (_, text, needle, strategy) => {
    const match = findText(parse(text), needle);
    expect(match.kind === "found" ? match.strategy : match.kind).toBe(strategy);
  });

  it("stops at the first strategy that hits, whatever the count", () => {
    const match = findText(parse("x = 1;\n  x = 1;\nx = 1; \n"), "x = 1;\n", { expected: 3 });
    expect(match).toMatchObject({ kind: "ambiguous", strategy: "exact", total: 2 });
  });

  it.each([
    ["exact", "aXa\naXa\n", "aXa"],
    ["line_trimmed", "foo \nbar\nfoo \nbar\n", "foo\nbar\n"],
    ["whitespace_normalised", "a  b\na  b\n", "a b\n"],
    ["indent_flexible", "  a\n  b\n  a\n  b\n", "a\nb\n"],
    ["block_anchor", "f1\none x\nl1\nf1\none y\nl1\n", "f1\none z\nl1\n"],
  ])("counts every place of %s", (strategy, text, needle) => {
    const match = findText(parse(text), needle);
    if (strategy === "block_anchor") expect(match.kind).toBe("missing");
    else expect(match).toMatchObject({ kind: "ambiguous", strategy, total: 2 });
    if (strategy !== "block_anchor") {
      expect(findText(parse(text), needle, { expected: 2 })).toMatchObject({ kind: "found", strategy });
    }
  });

  it("counts places of block_anchor and never uses it for several", () => {
    const block = "f1\nsame1\nsame2\nsame3\none x\nl1\n";
    const needle = "f1\nsame1\nsame2\nsame3\none z\nl1\n";
    expect(findText(parse(block + block), needle)).toMatchObject({
      kind: "ambiguous",
      strategy: "block_anchor",
      total: 2,
    });
    expect(findText(parse(block + block), needle, { expected: 2 }).kind).toBe("missing");
    expect(findText(parse(block), needle)).toMatchObject({ kind: "found", strategy: "block_anchor", similarity: 0.95 });
  });

  it("takes no block whose inner lines agree less than the limits", () => {
    const file = (inner: string) => parse(`start a\n${inner}\nend a\n`);
    const needle = (inner: string) => `start a\n${inner}\nend a\n`;
    // 3 of 5 equal is 60 %: just enough. 2 of 4 is not.
    expect(findText(file("1x\n2x\n3x\n4y\n5y"), needle("1x\n2x\n3x\n4z\n5z")).kind).toBe("found");
    expect(findText(file("1x\n2x\n3y\n4y"), needle("1x\n2x\n3z\n4z")).kind).toBe("missing");
    // One line in four may differ, but by no more than half.
    expect(findText(file("1x\n2x\n3x\nabcd"), needle("1x\n2x\n3x\nabzz")).kind).toBe("found");
    expect(findText(file("1x\n2x\n3x\nabcd"), needle("1x\n2x\n3x\nazzz")).kind).toBe("missing");
    expect(findText(parse("{\n1x\n}\n"), "{\n1x \n}\nx").kind).toBe("missing");
    expect(findText(parse("---\n1x\n2x\n3x\nab\n---\n"), "---\n1x\n2x\n3x\nac\n---\n").kind).toBe("missing");
  });

  it("finds no two places that overlap", () => {
    expect(findText(parse("aaa"), "aa")).toMatchObject({ kind: "ambiguous", total: 2, overlapping: true });
    expect(findText(parse("aaa"), "aa", { expected: 2 })).toMatchObject({ kind: "ambiguous", overlapping: true });
    expect(findText(parse("} \n} \n} \n"), "}\n}\n", { expected: 2 })).toMatchObject({ overlapping: true });
  });

  it("finds exact text in CRLF files whichever terminator the needle has", () => {
    expect(findText(parse("a\r\nb\r\nc\r\n"), "b\nc")).toMatchObject({
      strategy: "exact",
      places: [{ start: 3, end: 7 }],
    });
    expect(findText(parse("a\r\nb\nc\r\n"), "a\r\nb\r\n")).toMatchObject({ places: [{ start: 0, end: 5 }] });
    expect(findText(parse("a\r\nb\r\n"), "\nb")).toMatchObject({
      places: [{ start: 1, end: 4, startLine: 1, endLine: 2 }],
    });
  });

  it("finds exact text only, when told so", () => {
    expect(findText(parse("foo \n"), "foo\n", { fuzzy: false }).kind).toBe("missing");
  });

  it("does not take a far-off block for the text, but shows it", () => {
    const match = findText(parse("function foo() {\n  return 1;\n}\n"), "function foo() {\n}\n");
    expect(match).toMatchObject({ kind: "missing", closest: [{ line: 1, endLine: 2 }] });
    expect(match.kind === "missing" && match.closest[0]?.diff).toMatch(/^@@ [\s\S]*-}\n\+ {2}return 1;\n/);
  });

  it("shows up to three places, best first, that do not overlap", () => {
    const text = Array.from({ length: 50 }, (_, index) => `const value${index} = compute(${index});\n`).join("");
    const match = findText(parse(text), "const value7 = compute(8);\nconst value8 = compute(8);\n");
    if (match.kind !== "missing") throw new Error("found");
    expect(match.closest.length).toBeLessThanOrEqual(3);
    expect(match.closest[0]).toMatchObject({ line: 8, endLine: 9 });
    expect(match.closest[0]?.similarity).toBeGreaterThan(0.9);
  });

  it("finds what it took from the text, for any text", () => {
    fc.assert(
      fc.property(
        fc.stringMatching(/^[ab\n\r]{1,20}$/),
        fc.nat(20),
        fc.integer({ min: 1, max: 6 }),
        (text, start, length) => {
          const needle = text.slice(start, start + length);
          if (needle === "" || /\r(?!\n)/.test(needle) || /^\n/.test(needle)) return;
          const match = findText(parse(text), needle, { fuzzy: false });
          expect(match.kind).not.toBe("missing");
        },
      ),
    );
  });
});

describe("replaceText", () => {
  it.each<[string, string, string, string, string]>([
    ["writes replacement text literally", "a\n", "a", "$& $1 \\u0041", "exact: $& $1 \\u0041\n"],
    ["keeps the terminators of the replaced lines", "a\r\nb\nc\r\n", "a\nb\n", "x\ny\nz\n", "exact: x\r\ny\nz\nc\r\n"],
    ["takes the line's terminator where no line ends in the text", "a\r\nb\r\n", "a", "x\ny", "exact: x\r\ny\r\nb\r\n"],
    ["keeps a missing final newline", "x", "x", "y\n", "exact: y"],
    ["keeps the final newline", "a\nb\n", "b\n", "c", "exact: a\nc\n"],
    [
      "keeps the final newline where the last line goes with the newline before it",
      "a\nb\n",
      "\nb\n",
      "",
      "exact: a\n",
    ],
    ["joins lines where the text in the middle says so", "a\nb\nc\n", "b\n", "x", "exact: a\nxc\n"],
    ["may leave nothing", "a\n", "a\n", "", "exact: "],
    [
      "carries the indent over (carry-1)",
      "if ok:\n  foo()\n  bar()\n",
      "    foo()\n",
      "    baz()\n",
      "whitespace_normalised: if ok:\n  baz()\n  bar()\n",
    ],
    [
      "carries tabs for spaces",
      "\tif x:\n\t\ty()\n",
      "    if x:\n        y()\n",
      "    if x:\n        y()\n            z()\n",
      "whitespace_normalised: \tif x:\n\t\ty()\n\t\t\tz()\n",
    ],
    [
      "carries spaces for tabs",
      "  a\n    b\n",
      "\ta\n\t\tb\n",
      "\ta\n\t\t\tc\n",
      "whitespace_normalised: \u0020 a\n      c\n",
    ],
    [
      "shifts where both use spaces",
      "    a\n      b\n",
      "a\n  b\n",
      "a\n    c\n",
      "indent_flexible: \u0020   a\n        c\n",
    ],
    [
      "keeps CRLF in a loose match",
      "  a \r\n  b\r\n",
      "  a\n  b\n",
      "  c\n  d\n  e\n",
      "line_trimmed: \u0020 c\r\n  d\r\n  e\r\n",
    ],
    ["keeps a missing final newline in a loose match", "x\n  a ", "  a\n", "  b\n", "line_trimmed: x\n  b"],
  ])("%s", (_, text, needle, replacement, result) => {
    expect(replaced(text, needle, replacement)).toBe(result);
  });

  it("replaces every place", () => {
    expect(replaced("a b a\n", "a", "x", { expected: 2 })).toBe("exact: x b x\n");
    expect(replaced("  f\n\tf\n", "f\n", "g\nh\n", { expected: 2 })).toBe("exact:   g\nh\n\tg\nh\n");
    expect(replaced("  f \n\tf \n", "f\n", "g\nh\n", { expected: 2 })).toBe("indent_flexible:   g\n  h\n\tg\n\th\n");
  });

  it("refuses an indent that no rule carries, naming both", () => {
    expect(() => replaced("  foo()\n", "    foo()\n", "\tbar()\n")).toThrow(
      expect.objectContaining({ code: "conflict", message: expect.stringMatching(/1 tab.*4 spaces for 2 spaces/) }),
    );
    expect(() => replaced("  foo()\n", "    foo()\n", "bar()\n")).toThrow(/no indent/);
  });

  it("writes payload in the encoding of the file or not at all", () => {
    const file = parseText(Buffer.from("636166e90a620a", "hex"));
    const match = findText(file, "b");
    if (match.kind !== "found") throw new Error("missing");
    expect(() => replaceText(file, match, "b", "é")).toThrow(expect.objectContaining({ code: "unsupported" }));
    expect(Buffer.from(replaceText(file, match, "b", "c").bytes).toString("hex")).toBe("636166e90a630a");
  });
});

describe("indentCarrier", () => {
  it("does not guess where pairs contradict each other", () => {
    const carry = indentCarrier([
      { wanted: "", found: "" },
      { wanted: "", found: "  " },
    ]);
    expect(carry("")).toBe(undefined);
  });

  it("leaves indents alone where the wanted ones are those of the file", () => {
    const carry = indentCarrier([{ wanted: "\t", found: "\t" }]);
    expect(carry("\t  ")).toBe("\t  ");
  });
});

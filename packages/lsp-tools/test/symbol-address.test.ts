import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { FlatSymbol } from "../src/index.ts";
import { resolveSymbol } from "../src/index.ts";
import { decodeColumn, encodeColumn, excerpt, nearestIdentifier, sourceText } from "../src/positions.ts";
import { addressAll, matchSymbols, nameSegments, parseSymbol } from "../src/symbol-address.ts";

const symbol = (name: string, line: number, ancestors: string[] = []): FlatSymbol => ({
  name,
  kind: "function",
  range: { start: { line, character: 0 }, end: { line, character: 9 } },
  selection: { start: { line, character: 0 }, end: { line, character: name.length } },
  ancestors,
  depth: ancestors.length,
});
const lines = (symbols: FlatSymbol[], address: string) =>
  matchSymbols(symbols, parseSymbol(address)).map((one) => one.selection.start.line);

describe("addresses", () => {
  const list = [
    symbol("main", 0),
    symbol("Circle", 1),
    symbol("area", 2, ["Circle"]),
    symbol("Square", 3),
    symbol("area", 4, ["Square"]),
    symbol("main", 5, ["Square"]),
    symbol("(*T).Area", 6),
    symbol("operator()", 7, ["Functor"]),
    symbol("operator<<", 8),
    symbol("#count", 9, ["Circle"]),
    symbol("compare<T>(a, b)", 10),
    symbol("a.b", 11),
    symbol("面積", 12),
    symbol("Box<int>", 13),
    symbol("size", 14, ["Box<int>"]),
  ];
  test.each([
    ["area", [2, 4]],
    ["Circle/area", [2]],
    ["Circle.area", [2]],
    ["Circle::area", [2]],
    ["/main", [0]],
    ["main", [0, 5]],
    ["T/Area", [6]],
    ["Area", [6]],
    ["operator()", [7]],
    ["Functor::operator()", [7]],
    ["operator<<", [8]],
    ["#count", [9]],
    ["Circle/#count", [9]],
    ["compare", [10]],
    ["a.b", [11]],
    ["a\\.b", [11]],
    ["面積", [12]],
    ["Box/size", [14]],
    ["nothing", []],
  ])("%s", (address, expected) => {
    expect(lines(list, address)).toEqual(expected);
  });

  test("only a final #digits is an occurrence", () => {
    expect(parseSymbol("foo#2")).toMatchObject({ segments: ["foo"], occurrence: 2 });
    expect(parseSymbol("#count")).toMatchObject({ segments: ["#count"], occurrence: undefined });
    expect(parseSymbol("a#b")).toMatchObject({ segments: ["a#b"], occurrence: undefined });
    expect(nameSegments("(Receiver).Method")).toEqual(["Receiver", "Method"]);
  });

  test("the address that is printed leads back to exactly its symbol", () => {
    const name = fc.oneof(
      fc.constantFrom("a", "b", "a.b", "a/b", "x::y", "#1", "f#2", "(*T).m", "g(x)", "operator<<", "名"),
      fc.string({ minLength: 1, maxLength: 6 }),
    );
    fc.assert(
      fc.property(
        fc.array(fc.record({ name, ancestors: fc.array(name, { maxLength: 2 }) }), { minLength: 1, maxLength: 8 }),
        (rows) => {
          const symbols = rows.map((row, line) => symbol(row.name, line, row.ancestors));
          const source = sourceText(symbols.map((one) => one.name).join("\n"));
          for (const [index, address] of addressAll(symbols).entries()) {
            const hit = resolveSymbol({ symbol: address, source, symbols, shown: "x" });
            expect(hit.position.line).toBe(index);
          }
        },
      ),
    );
  });

  test("several hits are listed, none has near names", () => {
    const source = sourceText("area area\nCircle");
    const ask = (query: object) => () =>
      resolveSymbol({ symbol: "area", source, symbols: [], shown: "a.ts", ...query });
    expect(ask({})).toThrow(/#1 use 0:0 \| area area\n#2 use 0:5/);
    expect(ask({ line: 0 })).toThrow(/several places fit/);
    expect(ask({ line: 0, character: 8 })().position.character).toBe(5);
    expect(ask({ symbol: "area#2" })().position.character).toBe(5);
    expect(ask({ symbol: "area#3" })).toThrow(/there is no #3/);
    expect(ask({ symbol: "Cirkle" })).toThrow(
      expect.objectContaining({ code: "not_found", hint: expect.stringContaining("Circle") }),
    );
    expect(ask({ symbol: "are" })).toThrow(/there is no symbol/);
  });
});

describe("positions", () => {
  test("offset and position are inverse, in all three encodings", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 60 }), fc.nat(60), (text, at) => {
        const source = sourceText(text);
        const offset = Math.min(at, text.length);
        const position = source.positionAt(offset);
        const line = source.line(position.line);
        const inside = position.character <= line.length && !/[\ud800-\udbff]$/.test(line.slice(0, position.character));
        if (!inside || source.offsetAt(position) !== offset) return;
        for (const encoding of ["utf-8", "utf-16", "utf-32"] as const) {
          const column = encodeColumn(line, position.character, encoding);
          expect(decodeColumn(line, column, encoding)).toBe(position.character);
        }
      }),
    );
  });

  test("the nearest identifier: touching, left, right on a tie", () => {
    const at = (column: number) => nearestIdentifier("  const total = sum", column)?.word.text;
    expect([at(0), at(8), at(11), at(13), at(14), at(15)]).toEqual([
      "const",
      "total",
      "total",
      "total",
      "total",
      "sum",
    ]);
    expect(nearestIdentifier("a  b", 2)?.word.text).toBe("b");
    expect(nearestIdentifier("== ;", 1)).toBeUndefined();
  });

  test("an excerpt is cut around its column, at whole characters", () => {
    const line = `${"😀".repeat(80)}here${"😀".repeat(80)}`;
    const text = excerpt(line, 160);
    expect(text.length).toBeLessThanOrEqual(100);
    expect(text).toContain("here");
    expect(text).not.toMatch(/(?<![\ud800-\udbff])[\udc00-\udfff]|[\ud800-\udbff](?![\udc00-\udfff])/);
  });
});

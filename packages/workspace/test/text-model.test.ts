import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { splitPayload } from "../src/payload.ts";
import { lineAt, parseText } from "../src/text-model.ts";
import { anyBytes } from "./arbitraries.ts";

const parse = (text: string) => parseText(Buffer.from(text));
const texts = (text: string) => {
  const model = parse(text);
  return Array.from({ length: model.lineCount }, (_, index) => model.text(index + 1));
};

describe("parseText", () => {
  it.each([
    ["", 0],
    ["\n", 1],
    ["a", 1],
    ["a\n", 1],
    ["a\n\n", 2],
    ["\ufeff", 0],
    ["\ufeff\n", 1],
    ["\r", 1],
    ["a\rb", 1],
  ])("counts %j as %i lines", (text, lines) => {
    expect(parse(text).lineCount).toBe(lines);
  });

  it("gives a CR before LF to the terminator and any other to the content", () => {
    const model = parse("a\r\nb\rc\r\r\nd\r");
    expect(texts("a\r\nb\rc\r\r\nd\r")).toEqual(["a", "b\rc\r", "d\r"]);
    expect(model.line(1)).toEqual({ start: 0, end: 1, next: 3 });
    expect(model.line(3)).toEqual({ start: 9, end: 11, next: 11 });
    expect(model.lineEnds).toEqual({ lf: 0, crlf: 2, loneCr: 3 });
    expect(model.finalNewline).toBe(false);
  });

  it("takes form feed, VT, NEL, U+2028 and U+2029 as content", () => {
    expect(texts("a\fb\vc\u0085d\u2028e\u2029f\n")).toEqual(["a\fb\vc\u0085d\u2028e\u2029f"]);
  });

  it("leaves the byte order mark out of line 1 and keeps a second one in it", () => {
    const model = parse("\ufeff\ufeffa\n");
    expect(model.bom).toBe(true);
    expect(model.text(1)).toBe("\ufeffa");
    expect(model.line(1).start).toBe(3);
  });

  it("shows bytes that are not UTF-8 as U+FFFD and names the encoding", () => {
    const model = parseText(Buffer.from("636166e90a620a", "hex"));
    expect(model.encoding).toBe("unknown-8bit");
    expect(model.text(1)).toBe("caf\ufffd");
    expect(() => model.encode("é")).toThrow(/not UTF-8.*"é" \(U\+00E9\)/);
    expect(model.encode("e")).toEqual(Buffer.from("e"));
  });

  it.each(["\ud83d", "a\udc00b"])("refuses to encode %j", (text) => {
    expect(() => parse("").encode(text)).toThrow(expect.objectContaining({ code: "invalid_input" }));
  });

  it("refuses to encode NUL", () => {
    expect(() => parse("").encode("a\0")).toThrow(/NUL/);
  });

  it("throws for a line that does not exist", () => {
    expect(() => parse("a\n").line(2)).toThrow("line 2 is not in 1-1");
    expect(() => parse("").line(1)).toThrow(RangeError);
    expect(() => parse("a").line(0)).toThrow(RangeError);
  });

  it("tiles any bytes with lines, each terminator at its end", () => {
    fc.assert(
      fc.property(anyBytes, (bytes) => {
        const model = parseText(bytes);
        let at = model.bom ? 3 : 0;
        for (let n = 1; n <= model.lineCount; n++) {
          const { start, end, next } = model.line(n);
          expect(start).toBe(at);
          expect(["", "\n", "\r\n"]).toContain(Buffer.from(bytes.subarray(end, next)).toString("latin1"));
          expect(Buffer.from(bytes.subarray(start, end)).includes(10)).toBe(false);
          if (next > start) expect(lineAt(model, next - 1)).toBe(n);
          at = next;
        }
        expect(at).toBe(bytes.length);
        const { lf, crlf, loneCr } = model.lineEnds;
        const latin1 = Buffer.from(bytes).toString("latin1");
        expect(lf + crlf).toBe(latin1.split("\n").length - 1);
        expect(crlf).toBe(latin1.split("\r\n").length - 1);
        expect(crlf + loneCr).toBe(latin1.split("\r").length - 1);
      }),
    );
  });
});

describe("splitPayload", () => {
  it.each<[string | string[], string[]]>([
    ["", []],
    ["\n", [""]],
    ["x\ny", ["x", "y"]],
    ["x\ny\n", ["x", "y"]],
    ["x\r\ny\r\n", ["x", "y"]],
    ["x\n\n", ["x", ""]],
    ["x\ry", ["x\ry"]],
    ["x\r", ["x"]],
    ["\r\n", [""]],
    [[], []],
    [[""], [""]],
    [
      ["x", ""],
      ["x", ""],
    ],
    [
      ["x\ny", "z\n"],
      ["x", "y", "z"],
    ],
    [
      ["x\r", "y\r\n"],
      ["x", "y"],
    ],
    [["\n"], [""]],
    [["a\u2028b\f"], ["a\u2028b\f"]],
  ])("splits %j into %j", (payload, lines) => {
    expect(splitPayload(payload)).toEqual(lines);
  });

  it("gives the same for a string and for the array of its lines", () => {
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[ab\r\t ]{0,4}$/), { minLength: 1 }), (lines) => {
        expect(splitPayload(lines.map((line) => `${line}\n`).join(""))).toEqual(splitPayload(lines));
      }),
    );
  });

  it("counts the lines of a string as a file of that text has them", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[ab\n]{0,12}$/), (text) => {
        expect(splitPayload(text)).toHaveLength(parse(text).lineCount);
      }),
    );
  });
});

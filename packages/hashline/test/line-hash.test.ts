import { parseText } from "@toolhaft/workspace";
import { describe, expect, it } from "vitest";
import xxhash from "xxhash-wasm";
import { parseAnchor } from "../src/anchor.ts";
import { createLineHasher, hashWidthOf } from "../src/line-hash.ts";

describe("createLineHasher", () => {
  it("is XXH32 of the content without trailing blanks, in letters, most significant first", async () => {
    const hasher = await createLineHasher();
    const { h32Raw } = await xxhash();
    for (const text of ["", "}", "const a = 1;", "漢字", "\u00a0"]) {
      const bytes = Buffer.from(text);
      const hash = h32Raw(bytes, 0) >>> 0;
      for (const width of [2, 3, 4]) {
        const code = hasher.code(bytes, 0, bytes.length, width);
        expect(code).toMatch(new RegExp(`^[a-z]{${width}}$`));
        expect([...code].reduce((value, letter) => value * 26 + letter.charCodeAt(0) - 97, 0)).toBe(hash % 26 ** width);
        const padded = Buffer.from(`${text} \t\r `);
        expect(hasher.code(padded, 0, padded.length, width)).toBe(code);
      }
    }
  });

  it("depends on nothing but the bytes of the line", async () => {
    const hasher = await createLineHasher();
    const file = parseText(Buffer.from("}\nx\n}  \n  }\n"));
    const codes = [1, 2, 3, 4].map((line) => {
      const { start, end } = file.line(line);
      return hasher.code(file.bytes, start, end, 2);
    });
    expect(codes[0]).toBe(codes[2]);
    expect(codes[0]).not.toBe(codes[3]);
  });

  it("is two letters wide up to 2,000 lines", () => {
    expect([0, 2_000, 2_001].map((lines) => hashWidthOf(lines))).toEqual([2, 2, 3]);
    expect(hashWidthOf(5, 4)).toBe(4);
  });
});

describe("parseAnchor", () => {
  it.each([
    ["11#ab", { line: 11, hash: "ab" }],
    ["  11 # ab  ", { line: 11, hash: "ab" }],
    ["11#abcd|  x | y", { line: 11, hash: "abcd", tail: "  x | y" }],
    ["11#ab|", { line: 11, hash: "ab", tail: "" }],
    ["11#ab|x\n", { line: 11, hash: "ab", tail: "x" }],
  ])("reads %j", (text, anchor) => {
    expect(parseAnchor(text)).toEqual(anchor);
  });

  it.each(["", "11", "#ab", "11#", "11#a", "11#abcde", "11#AB", "11:ab", "L11#ab", "+11#ab|x", "11#a1", "x 11#ab"])(
    "refuses %j with the grammar",
    (text) => {
      expect(() => parseAnchor(text)).toThrow(
        expect.objectContaining({ code: "invalid_input", hint: expect.stringContaining("LINE#HASH") }),
      );
    },
  );
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { byteNeedle } from "../src/transcripts/byte-needle.ts";

const word = fc.string({ unit: fc.constantFrom(...'abKZ09 -[{"\\/éÉßжЖ語😀'), minLength: 1, maxLength: 8 });

describe("byteNeedle", () => {
  it("finds a text wherever JSON holds it", () => {
    fc.assert(
      fc.property(word, fc.string(), fc.string(), (text, before, after) => {
        const line = Buffer.from(JSON.stringify({ t: before + text + after }));
        const place = Buffer.byteLength(JSON.stringify({ t: before }).slice(0, -2));
        for (const bothCases of [true, false]) {
          const found = byteNeedle(text, bothCases).within(line)(0);
          expect(found).toBeGreaterThanOrEqual(0);
          expect(found).toBeLessThanOrEqual(place);
        }
      }),
    );
  });

  it.each([
    ["Word", "wORD"],
    ["éCLAIR", "Éclair"],
    ["жук", "ЖУК"],
  ])("finds %s as %s when case does not count", (text, other) => {
    const line = Buffer.from(JSON.stringify(`xx ${other} yy`));
    expect(byteNeedle(text, true).within(line)(0)).toBe(4);
    expect(byteNeedle(text, false).within(line)(0)).toBe(-1);
  });

  it("finds a text written with escapes", () => {
    expect(byteNeedle("語", true).within(Buffer.from('"\\u8a9e"'))(0)).toBe(1);
  });

  it("goes on from a place, on bytes at any address", () => {
    const bytes = Buffer.from("xneedle needle").subarray(1);
    const find = byteNeedle("Needle", true).within(bytes);
    expect([find(0), find(1), find(8)]).toEqual([0, 7, -1]);
  });
});

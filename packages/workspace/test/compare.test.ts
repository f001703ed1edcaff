import { runs } from "@toolhaft/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareLines, refineChanges } from "../src/compare.ts";
import { mapLine } from "../src/splice.ts";
import { parseText } from "../src/text-model.ts";

const model = (lines: readonly string[]) => parseText(Buffer.from(lines.map((line) => `${line}\n`).join("")));

/** All longest common subsequences as lists of pairs, by trying everything. */
function allLongest(a: readonly string[], b: readonly string[]): (readonly [number, number])[][] {
  let best: (readonly [number, number])[][] = [];
  const walk = (i: number, j: number, pairs: (readonly [number, number])[]): void => {
    if (pairs.length > (best[0]?.length ?? -1)) best = [];
    if (pairs.length === (best[0]?.length ?? pairs.length)) best.push([...pairs]);
    for (let x = i; x < a.length; x++) {
      for (let y = j; y < b.length; y++) {
        if (a[x] === b[y]) walk(x + 1, y + 1, [...pairs, [x, y]]);
      }
    }
  };
  walk(0, 0, []);
  return best;
}

function forcedByBruteForce(a: readonly string[], b: readonly string[]): (number | undefined)[] {
  const all = allLongest(a, b);
  return a.map((_, x) => {
    const partners = new Set(all.map((pairs) => pairs.find(([left]) => left === x)?.[1]));
    const [only] = partners;
    return partners.size === 1 && only !== undefined ? only + 1 : undefined;
  });
}

const few = fc.array(fc.constantFrom("a", "b", "}"), { maxLength: 8 });

describe("compareLines", () => {
  it("maps exactly the lines that every longest common subsequence pairs alike", () => {
    fc.assert(
      fc.property(few, few, (a, b) => {
        const map = compareLines(model(a), model(b));
        expect(a.map((_, index) => map.map(index + 1))).toEqual(forcedByBruteForce(a, b));
      }),
      { numRuns: runs(10_000) },
    );
  });

  it("maps the same lines when thousands of equal lines surround the difference", () => {
    fc.assert(
      fc.property(few, few, fc.integer({ min: 0, max: 400 }), fc.integer({ min: 0, max: 400 }), (a, b, top, bottom) => {
        const head = Array.from({ length: top }, (_, index) => (index % 3 ? "}" : `h${index % 40}`));
        const tail = Array.from({ length: bottom }, (_, index) => (index % 3 ? "}" : `t${index % 40}`));
        const short = [...head.slice(-3), "|", ...a, "!", ...tail.slice(0, 3)];
        const shortNew = [...head.slice(-3), "|", ...b, "!", ...tail.slice(0, 3)];
        const map = compareLines(model([...head, "|", ...a, "!", ...tail]), model([...head, "|", ...b, "!", ...tail]));
        const alone = compareLines(model(short), model(shortNew));
        const offset = head.length - head.slice(-3).length;
        for (let line = 1; line <= short.length; line++) {
          const expected = alone.map(line);
          expect(map.map(line + offset)).toBe(expected === undefined ? undefined : expected + offset);
        }
      }),
      { numRuns: runs(1_000) },
    );
  });

  it("agrees with the table of lengths where texts differ by more than 2,000 edits", () => {
    const a = Array.from({ length: 1_500 }, (_, index) => (index % 5 === 0 ? `keep ${index}` : `old ${index}`));
    const b = Array.from({ length: 1_500 }, (_, index) => (index % 5 === 0 ? `keep ${index}` : `new ${index}`));
    const map = compareLines(model(a), model(b));
    a.forEach((text, index) => {
      expect(map.map(index + 1)).toBe(text.startsWith("keep") ? index + 1 : undefined);
    });
  });

  it("counts a region over 4 million cells that differs throughout as changed, and keeps what surrounds it", () => {
    const lines = (word: string, count: number) => Array.from({ length: count }, (_, index) => `${word} ${index}`);
    const a = [...lines("top", 10), "}", ...lines("old", 2_500), "}", ...lines("end", 10)];
    const b = [...lines("top", 10), "}", ...lines("new", 2_500), "}", ...lines("end", 10)];
    const map = compareLines(model(a), model(b));
    expect(map.map(10)).toBe(10);
    expect(map.map(11)).toBe(undefined);
    expect(map.map(100)).toBe(undefined);
    expect(map.map(a.length)).toBe(b.length);
  });

  it("does not send a deleted twin to its sibling", () => {
    const block = ["if (x) {", "  y();", "}"];
    const map = compareLines(model([...block, ...block, "end"]), model([...block, "end"]));
    expect([1, 2, 3, 4, 5, 6].map((line) => map.map(line))).toEqual(Array(6).fill(undefined));
    expect(map.map(7)).toBe(4);
  });

  it("takes lines with other terminators as equal unless told not to", () => {
    const lf = parseText(Buffer.from("a\nb\n"));
    const crlf = parseText(Buffer.from("a\r\nb\r\n"));
    expect(compareLines(lf, crlf).map(2)).toBe(2);
    expect(compareLines(lf, crlf, { terminators: true }).map(2)).toBe(undefined);
  });

  it("knows a line that gains its final newline, and a text that gains a byte order mark", () => {
    expect(compareLines(parseText(Buffer.from("a\nb")), parseText(Buffer.from("a\nb\nc\n"))).map(2)).toBe(2);
    expect(compareLines(parseText(Buffer.from("a\nb\n")), parseText(Buffer.from("\ufeffx\na\nb\n"))).map(1)).toBe(2);
  });
});

describe("refineChanges", () => {
  it("keeps surroundings that were sent along with an edit, but not one of two likes", () => {
    const before = model(["a", "b", "c", "d"]);
    const after = model(["a", "b", "new", "c", "d"]);
    const changes = refineChanges(before, after, [{ oldStart: 1, oldLines: 4, newStart: 1, newLines: 5 }]);
    expect([1, 2, 3, 4].map((line) => mapLine(changes, line))).toEqual([1, 2, 4, 5]);
    const twins = refineChanges(model(["}"]), model(["}", "}"]), [
      { oldStart: 1, oldLines: 1, newStart: 1, newLines: 2 },
    ]);
    expect(mapLine(twins, 1)).toBe(undefined);
  });
});

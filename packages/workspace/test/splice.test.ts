import { runs } from "@toolhaft/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type LineSplice, mapLine, spliceBytes, spliceLines } from "../src/splice.ts";
import { parseText } from "../src/text-model.ts";
import { anyBytes, splicesFor } from "./arbitraries.ts";

const parse = (text: string) => parseText(Buffer.from(text));
const spliced = (text: string, ...splices: LineSplice[]) =>
  Buffer.from(spliceLines(parse(text), splices).bytes).toString("utf8");

interface OracleLine {
  content: string;
  end: string;
}

/** The same rules on an array of lines and a final-newline flag, by a split of the latin-1 string. */
function oracle(bytes: Uint8Array, splices: readonly LineSplice[]): Buffer {
  const whole = Buffer.from(bytes).toString("latin1");
  const bom = whole.startsWith("\xef\xbb\xbf") ? "\xef\xbb\xbf" : "";
  const lines: OracleLine[] = [];
  for (const match of whole.slice(bom.length).matchAll(/([^\n]*?)(\r?\n)|[^\n]+$/g)) {
    lines.push({ content: match[1] ?? match[0], end: match[2] ?? "" });
  }
  const finalNewline = lines.length === 0 || lines.at(-1)?.end !== "";
  const ends = lines.map(({ end }) => end).filter((end) => end !== "");
  const crlf = ends.filter((end) => end === "\r\n").length;
  const majority = crlf * 2 === ends.length ? (ends[0] ?? "\n") : crlf * 2 > ends.length ? "\r\n" : "\n";

  const gaps: OracleLine[][] = Array.from({ length: lines.length + 2 }, () => []);
  const removed = new Set<number>();
  const endOf = (n: number) => lines[n - 1]?.end || majority;
  for (const { at, remove, insert, terminatorOf } of splices) {
    insert.forEach((content, k) => {
      const anchor = remove > 0 ? at + Math.min(k, remove - 1) : (terminatorOf ?? Math.max(1, at - 1));
      gaps[at]?.push({ content: Buffer.from(content).toString("latin1"), end: endOf(anchor) });
    });
    for (let n = at; n < at + remove; n++) removed.add(n);
  }
  const result: OracleLine[] = [];
  lines.forEach((line, index) => {
    result.push(...(gaps[index + 1] ?? []));
    if (!removed.has(index + 1)) result.push({ content: line.content, end: line.end || majority });
  });
  result.push(...(gaps[lines.length + 1] ?? []));
  const text = result.map(({ content, end }, index) => {
    if (index === result.length - 1 && !finalNewline) return content;
    return content + (content.endsWith("\r") ? "\r\n" : end);
  });
  return Buffer.from(bom + text.join(""), "latin1");
}

const asciiOnly = (bytes: Uint8Array, splices: readonly LineSplice[]) =>
  parseText(bytes).encoding === "utf-8"
    ? splices
    : splices.map((splice) => ({ ...splice, insert: splice.insert.map((line) => line.replace("é", "e")) }));

const fileAndSplices = anyBytes.chain((bytes) =>
  fc.tuple(
    fc.constant(bytes),
    splicesFor(parseText(bytes).lineCount).map((splices) => asciiOnly(bytes, splices)),
  ),
);

describe("spliceLines", () => {
  it("equals the array of lines on random files and edits", () => {
    fc.assert(
      fc.property(fileAndSplices, ([bytes, splices]) => {
        const result = spliceLines(parseText(bytes), splices);
        expect(Buffer.from(result.bytes).toString("hex")).toBe(oracle(bytes, splices).toString("hex"));
      }),
      { numRuns: runs(10_000) },
    );
  });

  it("keeps every untouched line byte for byte at the place its changes tell", () => {
    fc.assert(
      fc.property(fileAndSplices, ([bytes, splices]) => {
        const before = parseText(bytes);
        const { bytes: written, changes } = spliceLines(before, splices);
        const after = parseText(written);
        let mapped = 0;
        for (let n = 1; n <= before.lineCount; n++) {
          const moved = mapLine(changes, n);
          if (moved === undefined) continue;
          mapped++;
          const old = before.line(n);
          const now = after.line(moved);
          expect(Buffer.from(written.subarray(now.start, now.end))).toEqual(
            Buffer.from(bytes.subarray(old.start, old.end)),
          );
        }
        const kept = before.lineCount - splices.reduce((sum, { remove }) => sum + remove, 0);
        const added = splices.reduce((sum, { insert }) => sum + insert.length, 0);
        // A blank last line without final newline is no line.
        const blankEnd = !before.finalNewline && (after.lineCount === 0 || after.finalNewline) ? 1 : 0;
        expect(after.lineCount).toBe(Math.max(0, kept + added - (before.lineCount > 0 ? blankEnd : 0)));
        expect(after.lineCount - mapped).toBe(changes.reduce((sum, { newLines }) => sum + newLines, 0));
        expect(before.lineCount - mapped).toBe(changes.reduce((sum, { oldLines }) => sum + oldLines, 0));
      }),
      { numRuns: runs(10_000) },
    );
  });

  it.each<[string, string, LineSplice[], string]>([
    [
      "a line put first takes the first line's end",
      "a\nb\r\nc\n",
      [{ at: 1, remove: 0, insert: ["h"], terminatorOf: 1 }],
      "h\na\nb\r\nc\n",
    ],
    [
      "the k-th new line takes the end of the k-th removed one, further ones of the last",
      "a\nb\r\nc\n",
      [{ at: 1, remove: 2, insert: ["1", "2", "3"] }],
      "1\n2\r\n3\r\nc\n",
    ],
    [
      "an insert takes the end of its anchor",
      "a\r\nb\nc\n",
      [{ at: 2, remove: 0, insert: ["x"], terminatorOf: 2 }],
      "a\r\nx\nb\nc\n",
    ],
    ["a line without end takes the majority", "a\r\nb\r\nc", [{ at: 4, remove: 0, insert: ["x"] }], "a\r\nb\r\nc\r\nx"],
    ["a tie is decided by the first line", "a\r\nb\nc", [{ at: 4, remove: 0, insert: ["x"] }], "a\r\nb\nc\r\nx"],
    ["deleting the last line keeps the missing final newline", "a\nb", [{ at: 2, remove: 1, insert: [] }], "a"],
    ["a blank last line without final newline is no line", "a\n\nb", [{ at: 3, remove: 1, insert: [] }], "a\n"],
    ["an empty file gets a final newline", "", [{ at: 1, remove: 0, insert: ["h"] }], "h\n"],
    ["no lines left is zero bytes", "a\nb\n", [{ at: 1, remove: 2, insert: [] }], ""],
    ["no lines left keeps the byte order mark", "\ufeffa\n", [{ at: 1, remove: 1, insert: [] }], "\ufeff"],
    [
      "a byte order mark stays before a new first line",
      "\ufeffa\n",
      [{ at: 1, remove: 0, insert: ["h"] }],
      "\ufeffh\na\n",
    ],
    [
      "inserts at one gap keep their order and stand before a replaced line",
      "a\nb\n",
      [
        { at: 2, remove: 1, insert: ["B"] },
        { at: 2, remove: 0, insert: ["x"] },
        { at: 2, remove: 0, insert: ["y"] },
      ],
      "a\nx\ny\nB\n",
    ],
    [
      "content that ends in CR gets CRLF, for its CR would be lost before LF",
      "a\nb\n",
      [{ at: 1, remove: 1, insert: ["x\r"] }],
      "x\r\r\nb\n",
    ],
  ])("%s", (_, text, splices, result) => {
    expect(spliced(text, ...splices)).toBe(result);
  });

  it.each<[LineSplice[]]>([
    [[{ at: 0, remove: 1, insert: [] }]],
    [[{ at: 3, remove: 1, insert: [] }]],
    [[{ at: 4, remove: 0, insert: ["x"] }]],
    [
      [
        { at: 1, remove: 2, insert: [] },
        { at: 2, remove: 0, insert: ["x"] },
      ],
    ],
    [[{ at: 1, remove: 1, insert: ["a\nb"] }]],
    [[{ at: 1.5, remove: 0, insert: [] }]],
  ])("refuses %j on two lines", (splices) => {
    expect(() => spliceLines(parse("a\nb\n"), splices)).toThrow(RangeError);
  });
});

describe("spliceBytes", () => {
  const edits = (length: number, from: number) =>
    fc
      .array(
        fc.record({
          gap: fc.integer({ min: 0, max: 5 }),
          remove: fc.integer({ min: 0, max: 4 }),
          insert: fc.constantFrom("", "x", "\n", "a\nb", "\r\n", "\r", "y\n"),
        }),
        { maxLength: 4 },
      )
      .map((steps) => {
        let at = from;
        return steps.flatMap(({ gap, remove, insert }) => {
          const start = at + gap;
          const end = Math.min(length, start + remove);
          if (start > length) return [];
          at = end + 1;
          return [{ start, end, insert: Buffer.from(insert) }];
        });
      });

  it("replaces the bytes, and its changes tell every line that stayed", () => {
    fc.assert(
      fc.property(
        anyBytes.chain((bytes) => fc.tuple(fc.constant(bytes), edits(bytes.length, parseText(bytes).bom ? 3 : 0))),
        ([bytes, list]) => {
          const before = parseText(bytes);
          const { bytes: written, changes } = spliceBytes(before, list);
          let expected = Buffer.from(bytes).toString("latin1");
          for (const { start, end, insert } of list.toReversed()) {
            expected = expected.slice(0, start) + insert.toString("latin1") + expected.slice(end);
          }
          expect(Buffer.from(written).toString("latin1")).toBe(expected);
          const after = parseText(written);
          const shift = changes.reduce((sum, { oldLines, newLines }) => sum + newLines - oldLines, 0);
          if (before.bom === after.bom) expect(after.lineCount).toBe(before.lineCount + shift);
          for (let n = 1; n <= before.lineCount && before.bom === after.bom; n++) {
            const moved = mapLine(changes, n);
            if (moved === undefined) continue;
            const old = before.line(n);
            const now = after.line(moved);
            expect(Buffer.from(written.subarray(now.start, now.next))).toEqual(
              Buffer.from(bytes.subarray(old.start, old.next)),
            );
          }
        },
      ),
      { numRuns: runs(10_000) },
    );
  });

  it("leaves the line behind a whole removed or inserted line alone", () => {
    const text = parse("a\nb\nc\n");
    expect(spliceBytes(text, [{ start: 2, end: 4, insert: Buffer.from("") }]).changes).toEqual([
      { oldStart: 2, oldLines: 1, newStart: 2, newLines: 0 },
    ]);
    expect(spliceBytes(text, [{ start: 2, end: 2, insert: Buffer.from("x\n") }]).changes).toEqual([
      { oldStart: 2, oldLines: 0, newStart: 2, newLines: 1 },
    ]);
  });

  it("refuses overlaps, ranges past the end and the byte order mark", () => {
    const edit = (start: number, end: number) => ({ start, end, insert: Buffer.from("x") });
    expect(() => spliceBytes(parse("abc"), [edit(0, 2), edit(1, 3)])).toThrow(RangeError);
    expect(() => spliceBytes(parse("abc"), [edit(0, 4)])).toThrow(RangeError);
    expect(() => spliceBytes(parse("abc"), [edit(2, 1)])).toThrow(RangeError);
    expect(() => spliceBytes(parse("\ufeffabc"), [edit(0, 4)])).toThrow(/byte order mark/);
  });
});

describe("mapLine", () => {
  it("shifts lines behind changes and loses those inside", () => {
    const changes = [
      { oldStart: 2, oldLines: 0, newStart: 2, newLines: 2 },
      { oldStart: 4, oldLines: 2, newStart: 6, newLines: 1 },
    ];
    expect([1, 2, 3, 4, 5, 6].map((line) => mapLine(changes, line))).toEqual([1, 4, 5, undefined, undefined, 7]);
  });
});

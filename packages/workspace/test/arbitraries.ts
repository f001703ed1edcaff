import fc from "fast-check";
import type { LineSplice } from "../src/splice.ts";

/** Bytes that hold every trouble a text can hold: lone CRs, BOMs, invalid UTF-8, NUL, no final newline. */
export const anyBytes: fc.Arbitrary<Uint8Array> = fc
  .tuple(
    fc.boolean(),
    fc.array(
      fc.oneof(
        fc
          .constantFrom("\n", "\r\n", "\r", "a", "b", " ", "\t", "\ufeff", "é", "漢", "\u2028", "\f", "\0")
          .map((text) => Buffer.from(text)),
        fc.uint8Array({ minLength: 1, maxLength: 3 }),
      ),
      { maxLength: 24 },
    ),
  )
  .map(([bom, parts]) => Buffer.concat(bom ? [Buffer.from("\ufeff"), ...parts] : parts));

const payloadLine = fc.constantFrom("", "a", "b", "x", "  y", "z\t", "é", "r\r", "}", "-- x", "++");

/** Splices that do not overlap, for a text of `lineCount` lines, in no particular order. */
export function splicesFor(lineCount: number): fc.Arbitrary<readonly LineSplice[]> {
  return fc
    .array(
      fc.record({
        gap: fc.integer({ min: 0, max: 4 }),
        remove: fc.integer({ min: 0, max: 3 }),
        insert: fc.array(payloadLine, { maxLength: 3 }),
        before: fc.boolean(),
      }),
      { maxLength: 5 },
    )
    .chain((steps) => {
      const splices: LineSplice[] = [];
      let at = 1;
      for (const step of steps) {
        at += step.gap;
        const remove = Math.min(step.remove, lineCount + 1 - at);
        if (remove < 0) break;
        const anchor = step.before ? { terminatorOf: Math.min(at, Math.max(1, lineCount)) } : {};
        splices.push({ at, remove, insert: step.insert, ...(remove === 0 ? anchor : {}) });
        at += remove;
      }
      // Inserts at one gap keep their order, so only splices at different places are shuffled.
      const places = new Set(splices.map((splice) => splice.at));
      return places.size === splices.length
        ? fc.shuffledSubarray(splices, { minLength: splices.length })
        : fc.constant(splices);
    });
}

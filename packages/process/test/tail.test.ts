import fc from "fast-check";
import { expect, test } from "vitest";
import { createTail } from "../src/tail.ts";

test("keeps the end, starting at a whole character", () => {
  const tail = createTail(6);
  tail.push(Buffer.from("abc日本語"));
  expect(tail.text()).toBe("本語");
  expect(tail.total).toBe(12);
});

test("pushing piece by piece keeps the same as pushing at once", () => {
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 30 }),
      fc.integer({ min: 1, max: 50 }),
      (parts, max) => {
        const pieces = createTail(max);
        for (const part of parts) pieces.push(part);
        const once = createTail(max);
        once.push(Buffer.concat(parts));
        expect(pieces.text()).toBe(once.text());
        expect(pieces.total).toBe(once.total);
      },
    ),
  );
});

test("gives the last lines that are not blank", () => {
  const tail = createTail(100);
  tail.push(Buffer.from("one\r\n\ntwo\nthree\n"));
  expect(tail.lines(2)).toEqual(["two", "three"]);
});

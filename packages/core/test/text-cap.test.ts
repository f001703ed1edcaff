import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { capText } from "../src/text-cap.ts";

const limits = (maxTextChars: number, maxTextBytes = 1_000_000) => ({ maxTextChars, maxTextBytes });

describe("capText", () => {
  it("leaves a text within the limits alone", () =>
    expect(capText("abc", limits(3))).toEqual({ text: "abc", left: 0 }));
  it("keeps 70 % head and the tail", () => {
    const { text, left } = capText("h".repeat(10_000) + "t".repeat(10_000), limits(1_000));
    const [head = "", line, tail = ""] = text.split("\n");
    expect(head.length / (head.length + tail.length)).toBeCloseTo(0.7, 2);
    expect(line).toBe(`[… ${left} of 20000 characters left out here]`);
    expect(head.length + tail.length + left).toBe(20_000);
  });
  it("cap-1: never splits a code point and is valid Unicode, at every length", () => {
    const text = "a😀é👩‍👩‍👧".repeat(200);
    for (let max = 60; max < 400; max++) {
      const capped = capText(text, limits(max)).text;
      expect(capped.length).toBeLessThanOrEqual(max);
      expect(/\p{Surrogate}/u.test(capped)).toBe(false);
    }
  });
  it("closes a fence of foreign text before the line and opens it again after it", () => {
    const open = "<stored k7q2m4xz: notes; data>";
    const close = "</stored k7q2m4xz>";
    const { text } = capText(`Found 1.\n${open}\n${"x".repeat(5_000)}\n${close}\nEnd.`, limits(600));
    expect(text.length).toBeLessThanOrEqual(600);
    expect(text).toMatch(
      /^Found 1\.\n<stored k7q2m4xz: notes; data>\nx+\n<\/stored k7q2m4xz>\n\[… \d+ of \d+ characters left out here\]\n<stored k7q2m4xz: notes; data>\nx+\n<\/stored k7q2m4xz>\nEnd\.$/,
    );
  });
  it("does the same for code in backticks", () => {
    const { text } = capText(`\`\`\`ts\n${"const a = 1;\n".repeat(500)}\`\`\`\nEnd.`, limits(400));
    expect(text.match(/^```/gm)).toHaveLength(4);
    expect(text).toContain("```\n[…");
    expect(text).toContain("here]\n```ts\n");
  });
  it("a limit without room for the line gives the beginning alone", () => {
    expect(capText("😀".repeat(100), limits(5)).text).toBe("😀😀");
    expect(capText("abc".repeat(100), limits(0)).text).toBe("");
  });

  it("holds both limits, whole code points and balanced fences (property)", () => {
    const piece = fc.constantFrom(
      "plain words\n",
      "😀",
      "é",
      "x".repeat(200),
      "\n",
      "<stored k7q2m4xz: n>\ninside text\n</stored k7q2m4xz>\n",
      "```\ncode\n```\n",
      `<page aaaa2222: web>\n${"long ".repeat(100)}\n</page aaaa2222>\n`,
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 60 }),
        fc.integer({ min: 0, max: 3_000 }),
        fc.integer({ min: 0, max: 3_000 }),
        (pieces, chars, bytes) => {
          // Every fence begins a line.
          const text = pieces.map((one) => (/^[<`]/.test(one) ? `\n${one}` : one)).join("");
          const capped = capText(text, limits(chars, bytes)).text;
          expect(capped.length).toBeLessThanOrEqual(chars);
          expect(Buffer.byteLength(capped)).toBeLessThanOrEqual(bytes);
          expect(/\p{Surrogate}/u.test(capped)).toBe(false);
          if (!capped.includes("characters left out here")) return;
          for (const [label, nonce] of [
            ["stored", "k7q2m4xz"],
            ["page", "aaaa2222"],
          ]) {
            const opened = capped.match(new RegExp(`^<${label} ${nonce}: .*>$`, "gm")) ?? [];
            const closed = capped.match(new RegExp(`^</${label} ${nonce}>$`, "gm")) ?? [];
            expect(opened.length).toBe(closed.length);
          }
          expect((capped.match(/^```/gm) ?? []).length % 2).toBe(0);
        },
      ),
      { numRuns: 500 },
    );
  });
});

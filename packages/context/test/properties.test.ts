import { runs } from "@toolhaft/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { assemble, loadTokens, renderContext, type SourceResult } from "../src/index.ts";
import { snippetOf } from "../src/snippet.ts";
import { independentCount } from "./setting.ts";

const counter = await loadTokens("o200k_base");

const word = fc.constantFrom(
  "port",
  "postgres",
  "ports",
  "端口",
  "数据库",
  "moved",
  "the",
  "getPort",
  "naïve",
  "İstanbul",
);
const piece = fc.oneof(
  { weight: 6, arbitrary: word },
  { weight: 3, arbitrary: fc.string({ unit: "grapheme", maxLength: 30 }) },
  { weight: 3, arbitrary: fc.string({ unit: "binary", maxLength: 30 }) },
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      "\n",
      "\r\n",
      "\u2028",
      ". ",
      "。",
      "👩‍👩‍👧",
      "🏴󠁧󠁢󠁷󠁬󠁳󠁿",
      "<|endoftext|>",
      "\ud800",
      "\u0000",
      "\u202e",
      "| ",
      "[1] ",
      "# ",
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      "const port = await open({ host, port: 5433 });\n",
      "if (a[i] !== b?.[j]) { return b; }\n",
    ),
  },
  // Counting an unbroken run takes the square of its length: few of them are what keeps ten thousand inputs affordable.
  { weight: 1, arbitrary: fc.nat({ max: 900 }).map((length) => "x".repeat(length)) },
  { weight: 1, arbitrary: fc.nat({ max: 900 }).map((length) => "端".repeat(length)) },
);
const text = fc.array(piece, { maxLength: 10 }).map((pieces) => pieces.join(" "));
const hit = fc.record(
  {
    ref: fc.oneof(
      fc.constantFrom("a", "b", "mem_01JD7M"),
      fc.string({ minLength: 1, maxLength: 40 }).map((ref) => `r${ref}`),
    ),
    title: fc.oneof(text, fc.constant("Ports")),
    text,
    score: fc.float({ min: 0, max: 100, noNaN: true }),
    at: fc.integer({ min: -1e15, max: 1e16 }),
  },
  { requiredKeys: ["ref", "title", "text"] },
);
const failure = fc.record({
  code: fc.constant("upstream"),
  message: fc.oneof(text, fc.constant("database is locked")),
  retryable: fc.boolean(),
});
const result: fc.Arbitrary<SourceResult> = fc
  .record({
    name: fc.constantFrom("memory", "task", "session", "asset", "files", "wiki"),
    weight: fc.constantFrom(1, 0.5, 2, 0),
    semantic: fc.boolean(),
    durationMs: fc.nat({ max: 5_000 }),
  })
  .chain((base) =>
    fc.oneof(
      {
        weight: 4,
        arbitrary: fc
          .oneof({ weight: 5, arbitrary: fc.array(hit, { maxLength: 5 }) }, fc.array(hit, { maxLength: 20 }))
          .map((hits) => ({ ...base, status: "answered" as const, hits })),
      },
      { weight: 1, arbitrary: failure.map((error) => ({ ...base, status: "failed" as const, error })) },
      { weight: 1, arbitrary: fc.constant({ ...base, status: "not_configured" as const }) },
    ),
  );
const found = fc.uniqueArray(result, { minLength: 1, maxLength: 6, selector: ({ name }) => name });
const topic = fc
  .oneof(fc.constantFrom("postgres port", "端口", "where is the port of the database"), text)
  .filter((one) => one.trim() !== "")
  .map((one) => one.slice(0, 1_000));
const most = fc.oneof(
  { weight: 5, arbitrary: fc.integer({ min: 100, max: 600 }) },
  fc.integer({ min: 100, max: 20_000 }),
);

describe("assemble", () => {
  it(`keeps to the budget by an independent count (${runs(10_000)} inputs)`, { timeout: 600_000 }, () => {
    fc.assert(
      fc.property(topic, most, found, (topic, maxTokens, results) => {
        const made = assemble(topic, maxTokens, results, counter);
        const shown = renderContext(made.header, made.hits, made.footer);
        const count = independentCount(shown);
        expect(count).toBeLessThanOrEqual(maxTokens);
        expect(made.usedTokens).toBe(count);
        expect(new TextEncoder().encode(shown).length).toBeLessThanOrEqual(96_000);
        // Only header, headings and footer begin otherwise.
        const foreign = shown.split("\n").filter((line) => !line.startsWith("| "));
        expect(foreign.length).toBe(made.hits.length + 2);
        expect(foreign[0]).toMatch(/^# Context/);
        for (const [index, line] of foreign.slice(1, -1).entries())
          expect(line.startsWith(`[${index + 1}] `)).toBe(true);
        expect(shown).not.toMatch(/[\r\u2028\u2029\u0085\v\f\u202e\0]|\p{Surrogate}/u);
        for (const { name, status } of made.sources) if (status === "failed") expect(made.footer).toContain(name);
        const total = results.reduce((sum, one) => sum + (one.status === "answered" ? one.hits.length : 0), 0);
        const { unrelated, duplicate, noRoom } = made.dropped;
        expect(unrelated + duplicate + noRoom + made.hits.length).toBe(total);
      }),
      { numRuns: runs(10_000) },
    );
  });

  it(`depends on nothing but its input (${runs(400)} inputs)`, () => {
    fc.assert(
      fc.property(topic, most, found, (topic, maxTokens, results) => {
        expect(assemble(topic, maxTokens, results, counter)).toEqual(assemble(topic, maxTokens, results, counter));
      }),
      { numRuns: runs(400) },
    );
  });

  it("keeps to any other counter too, however odd", () => {
    const counters = [
      { name: "characters", count: (text: string) => text.length },
      { name: "words", count: (text: string) => text.split(/\s+/).length },
      { name: "constant", count: () => 99 },
    ];
    fc.assert(
      fc.property(topic, most, found, fc.constantFrom(...counters), (topic, maxTokens, results, tokens) => {
        const made = assemble(topic, maxTokens, results, tokens);
        expect(tokens.count(renderContext(made.header, made.hits, made.footer))).toBeLessThanOrEqual(maxTokens);
      }),
      { numRuns: runs(2_000) },
    );
  });
});

describe("snippetOf", () => {
  it(`gives a part of the text, whole code points, no longer than asked (${runs(6_000)} inputs)`, () => {
    fc.assert(
      fc.property(
        text,
        fc.integer({ min: 1, max: 700 }),
        fc.array(fc.nat(), { maxLength: 5 }),
        (text, chars, places) => {
          const matches = places
            .filter((at) => text.length > 0 && at % text.length < text.length)
            .map((at) => ({
              from: at % text.length,
              to: Math.min(text.length, (at % text.length) + 4),
              term: 0,
              strength: 1,
            }))
            .sort((a, b) => a.from - b.from);
          const { text: shown, truncated } = snippetOf(text, matches, [1], chars);
          const body = truncated ? shown.replace(/^…/u, "").replace(/…$/u, "") : shown;
          expect([...body].length).toBeLessThanOrEqual(chars);
          expect(text).toContain(body);
          if (!truncated) expect(shown).toBe(text.trim());
          const halves = (one: string) => one.match(/\p{Surrogate}/gu)?.length ?? 0;
          expect(halves(body)).toBeLessThanOrEqual(halves(text));
        },
      ),
      { numRuns: runs(6_000) },
    );
  });
});

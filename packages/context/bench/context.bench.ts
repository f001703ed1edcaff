import { defineBench } from "@toolhaft/testing";
import { analyse } from "@toolhaft/text";
import { assemble, type ContextHit, loadTokens, renderContext, type SourceResult } from "../src/index.ts";
import { plantedCorpus, seeded, type Text } from "./planted.ts";

const sources = ["memory", "task", "session", "asset", "files"];

function answered(hits: readonly ContextHit[]): SourceResult[] {
  return sources.map((name, index) => ({
    name,
    weight: 1,
    semantic: false,
    durationMs: 0,
    status: "answered",
    hits: hits.filter((_, place) => place % sources.length === index).slice(0, 20),
  }));
}

/** Texts of words that no tokenizer has seen together, so that nothing is counted from a cache. */
function texts(count: number, points: number): ContextHit[] {
  const random = seeded(3);
  const word = () => Math.floor(random() * 60_000_000).toString(36);
  return Array.from({ length: count }, (_, n) => {
    let text = `port ${n} of postgres. `;
    while (text.length < points) text += `${word()}${random() < 0.1 ? "." : ""} `;
    return { ref: `r${n}`, title: `Text ${n}`, text: text.slice(0, points) };
  });
}

export default defineBench(async (bench) => {
  const tokens = await loadTokens("o200k_base");
  const hundred = texts(100, 2_000);
  const found = answered(hundred);
  const countAll = () => hundred.reduce((sum, { text }) => sum + tokens.count(text), 0);
  const plain = await bench.compare({
    name: "100 hits of 2,000 code points into 4,000 tokens",
    ours: () => assemble("postgres port", 4_000, found, tokens),
    baseline: { name: "counting those texts once", run: countAll },
    target: { max: 2.5 },
  });
  const run = answered([...hundred.slice(0, 99), { ref: "run", title: "Run", text: `port ${"a".repeat(200_000)}` }]);
  await bench.compare({
    name: "the same with a hit of 200,000 letters without a break",
    ours: () => assemble("postgres port", 4_000, run, tokens),
    baseline: { name: "without it", run: () => assemble("postgres port", 4_000, found, tokens) },
    target: { max: 2 },
  });
  const used = [500, 1_000, 2_000, 4_000].map(
    (most) => assemble("postgres port", most, found, tokens).usedTokens / most,
  );
  bench.figure({
    name: "used of the tokens allowed, worst of four limits, when more was found than fits",
    ours: Math.min(...used),
    baseline: { name: "all of them", value: 1 },
    unit: "share",
    target: { min: 0.9 },
  });
  quality(bench, tokens);
  bench.note(`header says ${plain.timed?.rounds ?? 0} rounds; counts are of ${tokens.name}`);
});

/** How many planted answers stand in a text of 1,000 tokens. */
function quality(
  bench: Parameters<Parameters<typeof defineBench>[0]>[0],
  tokens: Awaited<ReturnType<typeof loadTokens>>,
): void {
  const { planted, texts } = plantedCorpus();
  const terms = texts.map(({ text }) => new Set(analyse(text)));
  const search = (topic: string): Text[] => {
    const wanted = analyse(topic);
    const scored = texts.map((text, place) => ({
      text,
      score: wanted.filter((term) => terms[place]?.has(term)).length,
    }));
    return scored
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score)
      .slice(0, 100)
      .map(({ text }) => text);
  };
  const kept = { ours: 0, equal: 0, first: 0, whole: 0 };
  for (const { topic, answer } of planted) {
    const found = answered(search(topic));
    const made = assemble(topic, 1_000, found, tokens);
    if (renderContext(made.header, made.hits, made.footer).includes(answer)) kept.ours++;
    const hits = found.map((result) => (result.status === "answered" ? result.hits : []));
    // Equal shares: each source has a fifth of the tokens, filled with the beginnings of its hits.
    if (
      hits.some((list) =>
        within(
          list.map(({ text }) => text.slice(0, 600)),
          200,
          tokens,
        ).includes(answer),
      )
    )
      kept.equal++;
    if (
      within(
        hits.flat().map(({ text }) => [...text].slice(0, 150).join("")),
        1_000,
        tokens,
      ).includes(answer)
    )
      kept.first++;
    const literal = texts.filter(({ text }) => text.includes(topic)).map(({ text }) => text.slice(0, 600));
    if (within(literal, 1_000, tokens).includes(answer)) kept.whole++;
  }
  const rows = [
    ["ours", kept.ours],
    ["equal shares, beginnings of 600 characters", kept.equal],
    ["first 150 characters of each hit", kept.first],
    ["the whole topic as a substring", kept.whole],
  ] as const;
  bench.table(`Planted answers kept at 1,000 tokens, of ${planted.length}`, ["way", "kept"], rows);
  bench.figure({
    name: "planted answers kept at 1,000 tokens",
    ours: kept.ours,
    baseline: { name: "the best of three plain ways", value: Math.max(kept.equal, kept.first, kept.whole) },
    unit: "answers",
    target: { min: 1.5 },
  });
}

/** As many texts, in order, as fit. */
function within(texts: readonly string[], most: number, tokens: { count(text: string): number }): string {
  let text = "";
  let left = most;
  for (const one of texts) {
    left -= tokens.count(one);
    if (left < 0) break;
    text += `${one}\n`;
  }
  return text;
}

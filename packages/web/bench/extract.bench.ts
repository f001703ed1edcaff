import { defineBench } from "@toolhaft/testing";
import { pageTypes } from "../src/page/types.ts";
import type { PageScore } from "./extract-child.ts";
import { extractors, heldOutName, shippedName } from "./extractors.ts";
import { articleScore, mean, median } from "./metrics.ts";
import { dataFolder, hasData, typeWeights } from "./pages.ts";
import { type ExtractorRun, runExtractor } from "./run-extractor.ts";

/** Two extractors at a time, each in its own process: CPU time is taken, so they do not bend each other's figures much. */
const atOnce = 2;

interface Quality {
  articles: ReturnType<typeof articleScore>;
  weighted: number;
  plain: number;
  perType: number[];
  withFound: number;
  withoutLeaked: number;
  title: number;
  author: number;
  date: number;
  cpuMs: number;
  tokens: number;
}

function qualityOf({ scores }: ExtractorRun): Quality {
  const articles = scores.filter(({ set }) => set === "articles");
  const typed = scores.filter(({ set }) => set === "types");
  const perType = pageTypes.map((type) => mean(typed.filter((each) => each.type === type).map(({ f1 }) => f1 ?? 0)));
  const seen = pageTypes.flatMap((type, at) =>
    typed.some((each) => each.type === type) ? [[typeWeights[type], perType[at] ?? 0] as const] : [],
  );
  const share = (of: (score: PageScore) => [number, number]): number => {
    const found = typed.reduce((sum, score) => sum + of(score)[0], 0);
    return found / typed.reduce((sum, score) => sum + of(score)[1], 0);
  };
  const right = (of: (score: PageScore) => boolean | undefined): number =>
    mean(typed.flatMap((score) => (of(score) === undefined ? [] : [of(score) ? 1 : 0])));
  return {
    articles: articleScore(articles.flatMap(({ grams }) => (grams ? [grams] : []))),
    weighted:
      seen.reduce((sum, [weight, value]) => sum + weight * value, 0) / seen.reduce((sum, [weight]) => sum + weight, 0),
    plain: mean(seen.map(([, value]) => value)),
    perType,
    withFound: share((score) => score.with),
    withoutLeaked: share((score) => score.without),
    title: right(({ title }) => title),
    author: right(({ author }) => author),
    date: right(({ date }) => date),
    cpuMs: mean(articles.map(({ cpuMs }) => cpuMs)),
    tokens: median(articles.flatMap(({ tokens }) => (tokens === undefined ? [] : [tokens]))),
  };
}

/** A page whose process died has no score: it counts as found nothing. */
function withFailures(run: ExtractorRun, all: readonly PageScore[]): ExtractorRun {
  const have = new Set(run.scores.map(({ id }) => id));
  const lost = all
    .filter(({ id }) => !have.has(id))
    .map((score): PageScore => {
      const { set, type, id } = score;
      const no = (value: boolean | undefined): boolean | undefined => (value === undefined ? undefined : false);
      return {
        id,
        set,
        type,
        cpuMs: 0,
        ...(score.grams ? { grams: { hits: 0, extra: 0, missed: 1 } } : { f1: 0 }),
        with: [0, score.with[1]],
        without: [0, score.without[1]],
        title: no(score.title),
        author: no(score.author),
        date: no(score.date),
        tokens: undefined,
      };
    });
  return { ...run, scores: [...run.scores, ...lost] };
}

async function runAll(
  names: readonly string[],
  every: number,
  skip: (name: string, reason: string) => void,
): Promise<Map<string, ExtractorRun>> {
  const runs = new Map<string, ExtractorRun>();
  const waiting = [...names];
  const lane = async (): Promise<void> => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift())
      try {
        runs.set(name, await runExtractor(name, every));
      } catch (error) {
        // A peer that does not load here has no row; ours must.
        if (name === heldOutName || name === shippedName) throw error;
        skip(name, error instanceof Error ? error.message : String(error));
      }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  return runs;
}

/** Quality and cost of reading, beside every npm extractor that runs on Node 20. `-- --quick` takes every twelfth page. */
export default defineBench(async (bench) => {
  if (!hasData()) return bench.skip("extraction", `no pages at ${dataFolder}; set TOOLHAFT_DATA`);
  const every = bench.flags.includes("--quick") ? 12 : 1;
  const names = Object.keys(extractors);
  // The slowest first, so that the two lanes end together.
  const runs = await runAll(
    ["Readability + jsdom", ...names.filter((name) => name !== "Readability + jsdom")],
    every,
    bench.skip,
  );
  const all = runs.get(shippedName)?.scores ?? [];
  const rows = names.flatMap((name) => {
    const run = runs.get(name);
    return run ? [{ name, run, quality: qualityOf(withFailures(run, all)) }] : [];
  });
  const digits = (value: number): string => (Number.isFinite(value) ? value.toFixed(3) : "-");
  bench.table(
    `F1 of main content, ${all.filter(({ set }) => set === "articles").length} articles and ${all.filter(({ set }) => set === "types").length} pages by type`,
    ["extractor", "articles", "P", "R", "types", "plain", ...pageTypes, "failed"],
    rows.map(({ name, run, quality }) => [
      name,
      ...[
        quality.articles.f1,
        quality.articles.precision,
        quality.articles.recall,
        quality.weighted,
        quality.plain,
        ...quality.perType,
      ].map(digits),
      run.failures.length,
    ]),
  );
  bench.table(
    "What was found beside it, and its cost",
    ["extractor", "with", "without", "title", "author", "date", "CPU ms per article", "peak MB"],
    rows.map(({ name, run, quality }) => [
      name,
      ...[quality.withFound, quality.withoutLeaked, quality.title, quality.author, quality.date].map(digits),
      quality.cpuMs.toFixed(1),
      Math.round(run.peakMb),
    ]),
  );
  bench.note(
    "Shipped weights were fitted on the visible pages: only the held-out row, whose weights never saw a page of the same host, says how other pages fare.",
  );
  const ours = rows.find(({ name }) => name === heldOutName);
  if (!ours) return;
  const { quality } = ours;
  const peers = rows.filter(({ name }) => name !== heldOutName && name !== shippedName);
  const best = (of: (quality: Quality) => number): { name: string; value: number } =>
    peers
      .map((peer) => ({ name: peer.name, value: of(peer.quality) }))
      .reduce((top, each) => (each.value > top.value ? each : top), { name: "", value: 0 });
  const bar = (value: number): { name: string; value: number } => ({ name: "bar", value });
  const atLeast = (name: string, value: number, baseline: { name: string; value: number }, unit = "F1"): void =>
    void bench.figure({ name, ours: value, baseline, unit, target: { min: 1 } });
  atLeast(
    "articles, best peer",
    quality.articles.f1,
    best(({ articles }) => articles.f1),
  );
  atLeast(
    "page types, best peer",
    quality.weighted,
    best(({ weighted }) => weighted),
  );
  atLeast("articles", quality.articles.f1, bar(0.965));
  atLeast("page types", quality.weighted, bar(0.85));
  pageTypes.forEach((type, at) => {
    const top = best(({ perType }) => perType[at] ?? 0);
    atLeast(`${type}, best peer less .01`, quality.perType[at] ?? 0, { name: top.name, value: top.value - 0.01 });
  });
  atLeast("with found", quality.withFound, bar(0.88), "share");
  bench.figure({
    name: "without leaked",
    ours: quality.withoutLeaked,
    baseline: bar(0.07),
    unit: "share",
    target: { max: 1 },
  });
  atLeast("title right", quality.title, bar(0.85), "share");
  atLeast("author right", quality.author, bar(0.68), "share");
  atLeast("date right", quality.date, bar(0.7), "share");
  bench.figure({
    name: "tokens of an article over its truth, median",
    ours: quality.tokens,
    baseline: bar(1.15),
    unit: "x",
    target: { max: 1 },
  });
  const shipped = rows.find(({ name }) => name === shippedName);
  for (const [name, max] of [
    ["Readability + linkedom", 1.5],
    ["Readability + jsdom", 0.25],
  ] as const) {
    const peer = peers.find((each) => each.name === name);
    if (shipped && peer)
      bench.figure({
        name: "CPU per article",
        ours: shipped.quality.cpuMs,
        baseline: { name, value: peer.quality.cpuMs },
        unit: "ms",
        target: { max },
      });
  }
});

/** One extractor on every page, in a process of its own: `extract-child.ts <extractor> <every nth page> <pages to leave out>`. */
import { Worker } from "node:worker_threads";
import { countTokens } from "gpt-tokenizer";
import { decodeBody } from "../src/page/charset.ts";
import { extractors, type Found, textOf } from "./extractors.ts";
import { foldText, type Shingles, shingles, squeezed, wordF1 } from "./metrics.ts";
import { articlePages, type BenchPage, typedPages } from "./pages.ts";

export interface PageScore {
  id: string;
  set: BenchPage["set"];
  type: BenchPage["type"];
  cpuMs: number;
  grams?: Shingles;
  f1?: number;
  /** Snippets that belong there and that do not: found, of all. */
  with: [number, number];
  without: [number, number];
  title: boolean | undefined;
  author: boolean | undefined;
  date: boolean | undefined;
  /** Tokens of the Markdown over those of the truth. */
  tokens: number | undefined;
  failed?: string;
}

export type ChildMessage = { started: string } | { score: PageScore } | { peakMb: number };

/** CPU time that one page may take. */
const hangMs = 60_000;

const [, , name = "", step = "1", done = ""] = process.argv;
const left = new Set(done.split(","));
const extract = await extractors[name]?.();
if (!extract) throw new Error(`no extractor "${name}"`);
const pages = [...articlePages(), ...typedPages()].filter(
  (page, at) => at % Number(step) === 0 && !left.has(keyOf(page)),
);
const watch = watchdog();
for (const page of pages) {
  const html = decodeBody(page.html, "text/html").text;
  say({ started: keyOf(page) });
  const start = process.cpuUsage();
  watch[0] = (start.user + start.system) / 1_000;
  let found: Found = {};
  let failed: string | undefined;
  try {
    found = await extract(html, page);
  } catch (error) {
    failed = String(error).slice(0, 200);
  }
  const used = process.cpuUsage(start);
  const score = scoreOf(page, found);
  say({
    score: { ...score, cpuMs: (used.user + used.system) / 1_000, ...(failed === undefined ? {} : { failed }) },
  });
}
process.send?.({ peakMb: process.resourceUsage().maxRSS / 1_024 }, () => process.exit());

/** Ends this process when one page has taken too much CPU time: of a busy machine's clock nothing can be said. */
function watchdog(): Float64Array {
  const started = new Float64Array(new SharedArrayBuffer(8));
  const code = `const { workerData } = require("node:worker_threads");
    setInterval(() => {
      const { user, system } = process.cpuUsage();
      if (workerData[0] > 0 && (user + system) / 1000 - workerData[0] > ${hangMs}) process.kill(process.pid, "SIGKILL");
    }, 500);`;
  new Worker(code, { eval: true, workerData: started }).unref();
  return started;
}

function keyOf({ set, id }: BenchPage): string {
  return `${set}/${id}`;
}

function say(message: ChildMessage): void {
  process.send?.(message);
}

function scoreOf(page: BenchPage, found: Found): PageScore {
  const text = found.text ?? textOf(found.html ?? "");
  const plain = squeezed(text);
  const share = (list: readonly string[]): [number, number] => [
    list.filter((snippet) => plain.includes(squeezed(snippet))).length,
    list.length,
  ];
  const same = (wanted: string | null, given: string | undefined): boolean | undefined =>
    wanted === null || wanted === "" ? undefined : foldText(wanted) === foldText(given ?? "");
  const day = (date: string | undefined): string => date?.trim().slice(0, 10) ?? "";
  return {
    id: keyOf(page),
    set: page.set,
    type: page.type,
    cpuMs: 0,
    ...(page.set === "articles" ? { grams: shingles(page.truth, text) } : { f1: wordF1(page.truth, text) }),
    with: share(page.with),
    without: share(page.without),
    title: same(page.title, found.title),
    author: same(page.author, found.author),
    date: page.date ? day(page.date) === day(found.date) : undefined,
    tokens:
      found.markdown === undefined || page.set !== "articles"
        ? undefined
        : countTokens(found.markdown) / Math.max(1, countTokens(page.truth)),
  };
}

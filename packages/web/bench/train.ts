/**
 * Fits the weights of page reading to the visible pages and writes them as readable trees.
 *
 *   npx tsx packages/web/bench/train.ts          fits on all pages, writes src/page/weights/
 *   npx tsx packages/web/bench/train.ts --folds  also fits on four fifths, five times, writes bench/folds/
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { cutBlocks } from "../src/page/blocks.ts";
import { decodeBody } from "../src/page/charset.ts";
import { findClues } from "../src/page/clues.ts";
import { blockFeatures } from "../src/page/features.ts";
import type { ForestText } from "../src/page/forest.ts";
import { foldMath } from "../src/page/markdown/math.ts";
import { pageFeatures } from "../src/page/page-features.ts";
import { parseHtml } from "../src/page/parse.ts";
import { pageTypes } from "../src/page/types.ts";
import { judgeVisibility } from "../src/page/visibility.ts";
import { type Binned, bin, type GrownTree, predict, train, valueAt } from "./gbdt.ts";
import { labelBlocks } from "./labels.ts";
import { words } from "./metrics.ts";
import { articlePages, type BenchPage, foldOf, typedPages, typeWeights } from "./pages.ts";

const folds = 5;
const typeOptions = { trees: 60, leaves: 4, rate: 0.1, lambda: 1, minWeight: 0.5, rowShare: 0.7, featureShare: 0.3 };
const blockOptions = {
  trees: 160,
  leaves: 24,
  rate: 0.07,
  lambda: 2,
  minWeight: 0.1,
  rowShare: 0.5,
  featureShare: 0.2,
};
/** Text that is not wanted counts at most this many times the wanted: long pages would drown the rest. */
const most = 1.5;

interface Prepared {
  page: BenchPage;
  rows: Float32Array[];
  names: string[];
  labels: number[];
  counts: number[];
  typeNames: string[];
  typeRow: number[];
}

const pages = [...typedPages(), ...articlePages()].map(prepare).filter(({ rows }) => rows.length > 0);
const names = pages[0]?.names ?? [];
const typeNames = pages[0]?.typeNames ?? [];
const typeData = bin(matrix(pages.map(({ typeRow }) => Float32Array.from(typeRow))));
// A page's own type chances must come from weights that never saw it, as they will for every other page.
const heldOut = pageTypes.map(() => new Float32Array(pages.length));
for (let fold = 0; fold < 2 * folds; fold += 1) {
  const [inside, outside] = split(pages, (page) => foldOf(page, 2 * folds) !== fold);
  for (const [at, type] of pageTypes.entries())
    predict(typeData, fitType(type, inside, fold), outside, heldOut[at] ?? new Float32Array(0));
}
const starts: number[] = [];
const all: Float32Array[] = [];
pages.forEach(({ rows }, index) => {
  starts.push(all.length);
  const chances = pageTypes.map((_, at) => heldOut[at]?.[index] ?? 0);
  const sum = chances.reduce((total, chance) => total + chance, 0) || 1;
  for (const row of rows) all.push(Float32Array.from([...row, ...chances.map((chance) => chance / sum)]));
});
const blockNames = [...names, ...pageTypes.map((type) => `type.${type}`)];
const blockData = bin(matrix(all));
const { target, weight } = goals();

write(
  new URL("../src/page/weights/", import.meta.url),
  pages.map((_, index) => index),
);
if (process.argv.includes("--folds"))
  for (let fold = 0; fold < folds; fold += 1)
    write(
      new URL(`./folds/${fold}/`, import.meta.url),
      pages.flatMap(({ page }, index) => (foldOf(page, folds) === fold ? [] : [index])),
    );

function prepare(page: BenchPage): Prepared {
  const document = parseHtml(decodeBody(page.html, "text/html").text);
  foldMath(document);
  const blocks = cutBlocks(document, judgeVisibility(document).skip);
  const { rows, names, groups } = blockFeatures(document, blocks, findClues(document, page.url));
  const texts = blocks.map(({ text }) => text);
  const whole = pageFeatures(
    rows,
    texts.map(({ length }) => length),
    names,
    groups,
  );
  return {
    page,
    rows,
    names,
    labels: labelBlocks(texts, page.truth),
    counts: texts.map((text) => words(text).length),
    typeNames: whole.names,
    typeRow: whole.values,
  };
}

function fitType(type: string, rows: Int32Array, seed: number): { base: number; trees: GrownTree[] } {
  const wanted = Float32Array.from(pages, ({ page }) => (page.type === type ? 1 : 0));
  const weights = Float32Array.from(pages, ({ page }) => (page.set === "types" ? 1 : 0.5));
  return train(typeData, rows, wanted, weights, { ...typeOptions, seed: seed * 10 + 1 });
}

function goals(): { target: Float32Array; weight: Float32Array } {
  const target = new Float32Array(all.length);
  const weight = new Float32Array(all.length);
  const visible = new Map<string, number>();
  for (const { page } of pages) if (page.set === "types") visible.set(page.type, (visible.get(page.type) ?? 0) + 1);
  pages.forEach(({ page, labels, counts }, index) => {
    const wanted = Math.max(20, words(page.truth).length);
    const extra = labels.reduce((sum, label, at) => sum + (label < 0.5 ? (counts[at] ?? 0) : 0), 0) / wanted;
    const share = page.set === "types" ? typeWeights[page.type] / (visible.get(page.type) ?? 1) / 4.4 : 1;
    labels.forEach((label, at) => {
      const row = (starts[index] ?? 0) + at;
      target[row] = label >= 0.95 ? 1 : label < 0.05 ? 0 : label;
      weight[row] = ((10 * share * ((counts[at] ?? 0) + 0.7)) / wanted) * (label < 0.5 ? Math.min(1, most / extra) : 1);
    });
  });
  return { target, weight };
}

function write(folder: URL, indices: readonly number[]): void {
  const typeForests = pageTypes.map((type): [string, ForestText] => [
    type,
    text(typeData, fitType(type, Int32Array.from(indices), 77), typeNames),
  ]);
  const rows = Int32Array.from(
    indices.flatMap((index) => (pages[index]?.rows ?? []).map((_, at) => (starts[index] ?? 0) + at)),
  );
  const blocks = text(blockData, train(blockData, rows, target, weight, { ...blockOptions, seed: 7 }), blockNames);
  mkdirSync(folder, { recursive: true });
  const head = "// Written by bench/train.ts. `[feature<bound yes no]`: see forest.ts.\n";
  writeFileSync(
    fileURLToPath(new URL("types.ts", folder)),
    `${head}export const typeWeights = ${print(Object.fromEntries(typeForests))};\n`,
  );
  writeFileSync(fileURLToPath(new URL("blocks.ts", folder)), `${head}export const blockWeights = ${print(blocks)};\n`);
  process.stdout.write(`${fileURLToPath(folder)}: ${rows.length} blocks of ${indices.length} pages\n`);
}

function print(value: unknown): string {
  return JSON.stringify(value, undefined, 2).replace(/"(\w+)":/g, "$1:");
}

function text(
  data: Binned,
  model: { base: number; trees: readonly GrownTree[] },
  columns: readonly string[],
): ForestText {
  const short = (value: number): string => String(Number(value.toPrecision(4)));
  return {
    base: Number(short(model.base)),
    trees: model.trees.map((tree) => {
      const print = (node: number): string => {
        const feature = tree.feature[node] ?? -1;
        if (feature < 0) return short(tree.value[node] ?? 0);
        return `[${columns[feature]}<${String(Number(valueAt(data, tree, node).toPrecision(6)))} ${print(tree.left[node] ?? 0)} ${print(tree.right[node] ?? 0)}]`;
      };
      return print(0);
    }),
  };
}

function matrix(rows: readonly Float32Array[]): { rows: number; columns: number; values: Float32Array } {
  const columns = rows[0]?.length ?? 0;
  const values = new Float32Array(rows.length * columns);
  rows.forEach((row, at) => {
    if (row.length !== columns) throw new Error(`row ${at} has ${row.length} numbers, not ${columns}`);
    values.set(row, at * columns);
  });
  return { rows: rows.length, columns, values };
}

function split(list: readonly Prepared[], test: (page: BenchPage) => boolean): [Int32Array, Int32Array] {
  const inside: number[] = [];
  const outside: number[] = [];
  list.forEach(({ page }, index) => void (test(page) ? inside : outside).push(index));
  return [Int32Array.from(inside), Int32Array.from(outside)];
}

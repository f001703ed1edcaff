/** Words as both benchmarks count them: runs of letters, digits and underscores. */
export function words(text: string): string[] {
  return text.match(/[\p{L}\p{N}\p{M}_]+/gu) ?? [];
}

/** Word F1 of one page, case folded, every word as often as it occurs. */
export function wordF1(truth: string, found: string): number {
  const wanted = counts(words(truth.toLowerCase()));
  const given = counts(words(found.toLowerCase()));
  const { hits, extra, missed } = compare(wanted, given);
  if (hits + extra + missed === 0) return 1;
  return (2 * hits) / (2 * hits + extra + missed);
}

export interface Shingles {
  hits: number;
  extra: number;
  missed: number;
}

/** Share of 4-grams found, invented and missed on one page, as the article benchmark counts them. */
export function shingles(truth: string, found: string, size = 4): Shingles {
  const result = compare(counts(grams(truth, size)), counts(grams(found, size)));
  const sum = result.hits + result.extra + result.missed;
  if (sum === 0) return result;
  return { hits: result.hits / sum, extra: result.extra / sum, missed: result.missed / sum };
}

/** Precision and recall are means over pages, F1 is made of the two. */
export function articleScore(pages: readonly Shingles[]): { precision: number; recall: number; f1: number } {
  const precisions = pages
    .filter((page) => page.hits + page.extra > 0)
    .map((page) => page.hits / (page.hits + page.extra));
  const recalls = pages
    .filter((page) => page.hits + page.missed > 0)
    .map((page) => page.hits / (page.hits + page.missed));
  const precision = mean(precisions);
  const recall = mean(recalls);
  return { precision, recall, f1: (2 * precision * recall) / (precision + recall) };
}

export function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

function grams(text: string, size: number): string[] {
  const list = words(text);
  const result: string[] = [];
  for (let start = 0; start < Math.max(1, list.length - size + 1); start += 1)
    result.push(list.slice(start, start + size).join(" "));
  return result;
}

function counts(list: readonly string[]): Map<string, number> {
  const map = new Map<string, number>();
  for (const item of list) map.set(item, (map.get(item) ?? 0) + 1);
  return map;
}

function compare(wanted: Map<string, number>, given: Map<string, number>): Shingles {
  let hits = 0;
  let extra = 0;
  let missed = 0;
  for (const [item, count] of wanted) {
    const there = given.get(item) ?? 0;
    hits += Math.min(count, there);
    missed += Math.max(0, count - there);
  }
  for (const [item, count] of given) extra += Math.max(0, count - (wanted.get(item) ?? 0));
  return { hits, extra, missed };
}

/** Letters and digits only, lower case: titles and names that differ in marks and blanks alone are the same. */
export function foldText(text: string): string {
  return text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "");
}

/** White space folded, lower case: how snippets are looked for. */
export function squeezed(text: string): string {
  return text.toLowerCase().replace(/\s+/gu, " ").trim();
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? 0;
}

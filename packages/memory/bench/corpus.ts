import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Document } from "./data.ts";

/** Words by Zipf's law, so that there are common and rare ones as in real text; the same on every run. */
export function vocabulary(): (random: () => number) => string {
  const size = 30_000;
  const cumulative: number[] = [];
  let sum = 0;
  for (let rank = 1; rank <= size; rank++) {
    sum += 1 / rank;
    cumulative.push(sum);
  }
  return (random) => {
    const wanted = random() * sum;
    let [low, high] = [0, size - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((cumulative[middle] ?? 0) < wanted) low = middle + 1;
      else high = middle;
    }
    return `w${low.toString(26).replace(/\d/g, (digit) => "qrstuvwxyz"[Number(digit)] ?? "q")}`;
  };
}

/** mulberry32 */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export function documents(count: number, random: () => number, word: (random: () => number) => string): Document[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `d${index}`,
    body: Array.from({ length: 12 + Math.floor(random() * 20) }, () => word(random)).join(" "),
    about: [`person${index % 7}`],
    thread: `t${Math.floor(index / 30)}`,
  }));
}

/** A folder that is gone once the work is done. */
export async function withFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "toolhaft-bench-"));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

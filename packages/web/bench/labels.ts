import { words } from "./metrics.ts";

/** Which share of each block's words stands in the truth: 0 to 1. Long blocks are placed first, short ones between them. */
export function labelBlocks(blocks: readonly string[], truth: string): number[] {
  const gold = words(truth.toLowerCase());
  const free = new Array<boolean>(gold.length).fill(true);
  const lists = blocks.map((text) => words(text.toLowerCase()));
  const labels = new Array<number>(blocks.length).fill(0);
  const places = new Array<number>(blocks.length).fill(-1);
  const index = new Map<string, number[]>();
  for (let at = 0; at + 4 <= gold.length; at += 1) {
    const key = gold.slice(at, at + 4).join(" ");
    const list = index.get(key);
    if (list) list.push(at);
    else index.set(key, [at]);
  }
  const order = lists.map((_, at) => at).sort((a, b) => (lists[b]?.length ?? 0) - (lists[a]?.length ?? 0));
  for (const at of order) {
    const list = lists[at] ?? [];
    if (list.length < 4) break;
    const covered = new Set<number>();
    let first = -1;
    const taken: number[] = [];
    for (let word = 0; word + 4 <= list.length; word += 1) {
      const found = index.get(list.slice(word, word + 4).join(" "))?.find((place) => free[place] && free[place + 3]);
      if (found === undefined) continue;
      if (first < 0) first = found;
      for (let step = 0; step < 4; step += 1) {
        covered.add(word + step);
        taken.push(found + step);
      }
    }
    labels[at] = covered.size / list.length;
    if ((labels[at] ?? 0) >= 0.5) {
      places[at] = first;
      for (const place of taken) free[place] = false;
    }
  }
  for (const length of [3, 2, 1]) {
    for (let at = 0; at < lists.length; at += 1) {
      const list = lists[at] ?? [];
      if (list.length !== length) continue;
      let low = 0;
      let high = gold.length;
      for (let back = at - 1; back >= 0; back -= 1) {
        const place = places[back] ?? -1;
        if (place >= 0) {
          low = place;
          break;
        }
      }
      for (let next = at + 1; next < lists.length; next += 1) {
        const place = places[next] ?? -1;
        if (place >= 0) {
          high = place;
          break;
        }
      }
      if (high < low) [low, high] = [Math.min(low, high) - 4, Math.max(low, high) + 40];
      low = Math.max(0, low);
      for (let place = low; place + length <= Math.min(high + 1, gold.length); place += 1) {
        if (!list.every((word, step) => gold[place + step] === word && free[place + step])) continue;
        labels[at] = 1;
        places[at] = place;
        for (let step = 0; step < length; step += 1) free[place + step] = false;
        break;
      }
    }
  }
  return labels;
}

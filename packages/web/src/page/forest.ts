/**
 * Boosted decision trees, written so that a person can read them: `[own.words<8.5 yes no]`, where yes and no are a
 * number or another bracket. The sum over all trees and `base` is the log-odds.
 */
export interface ForestText {
  base: number;
  trees: readonly string[];
}

export interface Forest {
  /** Chance between 0 and 1 for one row of numbers; `more` are the columns that follow it. */
  chance(row: ArrayLike<number>, more?: ArrayLike<number>): number;
}

/** @throws Error when a tree names a feature that the rows do not have */
export function readForest(text: ForestText, names: readonly string[]): Forest {
  const places = new Map(names.map((name, index) => [name, index]));
  const feature: number[] = [];
  const threshold: number[] = [];
  const no: number[] = [];
  const roots: number[] = [];
  for (const tree of text.trees) {
    const tokens = tree.match(/[[\]]|[^[\]\s]+/g) ?? [];
    let at = 0;
    const read = (): number => {
      const token = tokens[at++] ?? "";
      const node = feature.length;
      if (token !== "[") {
        feature.push(-1);
        threshold.push(Number(token));
        no.push(0);
        return node;
      }
      const [name = "", bound = ""] = (tokens[at++] ?? "").split("<");
      const place = places.get(name);
      if (place === undefined) throw new Error(`the weights name an unknown feature: ${name}`);
      feature.push(place);
      threshold.push(Number(bound));
      no.push(0);
      read();
      no[node] = read();
      at += 1;
      return node;
    };
    roots.push(read());
  }
  const features = Int16Array.from(feature);
  const thresholds = Float32Array.from(threshold);
  const noes = Int32Array.from(no);
  return {
    chance(row, more = none) {
      const width = row.length;
      let sum = text.base;
      for (const root of roots) {
        let node = root;
        for (let place = features[node] ?? -1; place >= 0; place = features[node] ?? -1)
          // The yes branch follows its node directly.
          node =
            ((place < width ? row[place] : more[place - width]) ?? 0) < (thresholds[node] ?? 0)
              ? node + 1
              : (noes[node] ?? 0);
        sum += thresholds[node] ?? 0;
      }
      return 1 / (1 + Math.exp(-sum));
    },
  };
}

const none: readonly number[] = [];

/** Reads each forest once; pages of one process share it. */
export function forestCache(): (text: ForestText, names: () => readonly string[]) => Forest {
  const read = new WeakMap<ForestText, Forest>();
  return (text, names) => {
    const before = read.get(text);
    if (before) return before;
    const forest = readForest(text, names());
    read.set(text, forest);
    return forest;
  };
}

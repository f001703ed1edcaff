/** A tree as parallel arrays; a node with `feature` -1 is a leaf. Children of node n are `left[n]` and `right[n]`. */
export interface GrownTree {
  feature: number[];
  threshold: number[];
  left: number[];
  right: number[];
  value: number[];
}

export interface TrainOptions {
  trees: number;
  leaves: number;
  rate: number;
  lambda: number;
  minWeight: number;
  rowShare: number;
  featureShare: number;
  seed: number;
}

export interface Matrix {
  rows: number;
  columns: number;
  /** Row by row. */
  values: Float32Array;
}

const binCount = 48;

/** Values of each column cut into at most 48 bins by quantile; made once for all trainings on the same rows. */
export interface Binned {
  rows: number;
  columns: number;
  bins: Uint8Array[];
  edges: Float32Array[];
}

export function bin(matrix: Matrix): Binned {
  const bins: Uint8Array[] = [];
  const edges: Float32Array[] = [];
  const step = Math.max(1, Math.floor(matrix.rows / 20_000));
  for (let column = 0; column < matrix.columns; column += 1) {
    const sample: number[] = [];
    for (let row = 0; row < matrix.rows; row += step) sample.push(matrix.values[row * matrix.columns + column] ?? 0);
    sample.sort((a, b) => a - b);
    const distinct = [...new Set(sample)];
    const cuts: number[] = [];
    if (distinct.length <= binCount)
      for (let at = 1; at < distinct.length; at += 1) cuts.push(((distinct[at - 1] ?? 0) + (distinct[at] ?? 0)) / 2);
    else
      for (let at = 1; at < binCount; at += 1) {
        const value = sample[Math.floor((at * sample.length) / binCount)] ?? 0;
        if (cuts.length === 0 || value > (cuts[cuts.length - 1] ?? 0)) cuts.push(value);
      }
    const edge = Float32Array.from(cuts);
    const list = new Uint8Array(matrix.rows);
    for (let row = 0; row < matrix.rows; row += 1) {
      const value = matrix.values[row * matrix.columns + column] ?? 0;
      let low = 0;
      let high = edge.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (value >= (edge[middle] ?? 0)) low = middle + 1;
        else high = middle;
      }
      list[row] = low;
    }
    bins.push(list);
    edges.push(edge);
  }
  return { rows: matrix.rows, columns: matrix.columns, bins, edges };
}

/** Boosted trees for a logistic target between 0 and 1. Returns the trees and the starting value. */
export function train(
  data: Binned,
  rows: Int32Array,
  target: Float32Array,
  weight: Float32Array,
  options: TrainOptions,
): { base: number; trees: GrownTree[] } {
  const random = mulberry(options.seed);
  let positive = 0;
  let sum = 0;
  for (const row of rows) {
    positive += (target[row] ?? 0) * (weight[row] ?? 0);
    sum += weight[row] ?? 0;
  }
  const base = Math.log(Math.max(1e-6, positive) / Math.max(1e-6, sum - positive));
  const score = new Float32Array(data.rows).fill(base);
  const gradient = new Float32Array(data.rows);
  const hessian = new Float32Array(data.rows);
  const trees: GrownTree[] = [];
  for (let round = 0; round < options.trees; round += 1) {
    for (const row of rows) {
      const probability = 1 / (1 + Math.exp(-(score[row] ?? 0)));
      const w = weight[row] ?? 0;
      gradient[row] = w * (probability - (target[row] ?? 0));
      hessian[row] = w * probability * (1 - probability);
    }
    const picked = rows.filter(() => random() < options.rowShare);
    const columns: number[] = [];
    for (let column = 0; column < data.columns; column += 1) if (random() < options.featureShare) columns.push(column);
    const tree = grow(data, picked, columns, gradient, hessian, options);
    trees.push(tree);
    for (const row of rows) score[row] = (score[row] ?? 0) + leafValue(data, tree, row);
  }
  return { base, trees };
}

export function predict(
  data: Binned,
  model: { base: number; trees: readonly GrownTree[] },
  rows: Int32Array,
  into: Float32Array,
): void {
  for (const row of rows) {
    let score = model.base;
    for (const tree of model.trees) score += leafValue(data, tree, row);
    into[row] = 1 / (1 + Math.exp(-score));
  }
}

function leafValue(data: Binned, tree: GrownTree, row: number): number {
  let node = 0;
  for (;;) {
    const feature = tree.feature[node] ?? -1;
    if (feature < 0) return tree.value[node] ?? 0;
    // Thresholds are bin numbers here; `valueAt` turns them into values.
    node = ((data.bins[feature]?.[row] ?? 0) <= (tree.threshold[node] ?? 0) ? tree.left[node] : tree.right[node]) ?? 0;
  }
}

/** The value below which a node sends a row to its left child. */
export function valueAt(data: Binned, tree: GrownTree, node: number): number {
  return data.edges[tree.feature[node] ?? 0]?.[tree.threshold[node] ?? 0] ?? 0;
}

interface Leaf {
  node: number;
  rows: Int32Array;
  gradient: number;
  hessian: number;
  histogram: Float64Array;
  gain: number;
  feature: number;
  cut: number;
}

function grow(
  data: Binned,
  rows: Int32Array,
  columns: readonly number[],
  gradient: Float32Array,
  hessian: Float32Array,
  options: TrainOptions,
): GrownTree {
  const tree: GrownTree = { feature: [-1], threshold: [0], left: [0], right: [0], value: [0] };
  const histogramOf = (list: Int32Array): Float64Array => {
    const histogram = new Float64Array(columns.length * binCount * 2);
    columns.forEach((column, at) => {
      const bins = data.bins[column];
      if (!bins) return;
      const start = at * binCount * 2;
      for (let index = 0; index < list.length; index += 1) {
        const row = list[index] as number;
        const place = start + (bins[row] as number) * 2;
        histogram[place] = (histogram[place] as number) + (gradient[row] as number);
        histogram[place + 1] = (histogram[place + 1] as number) + (hessian[row] as number);
      }
    });
    return histogram;
  };
  const leafOf = (node: number, list: Int32Array, histogram: Float64Array): Leaf => {
    let g = 0;
    let h = 0;
    for (const row of list) {
      g += gradient[row] ?? 0;
      h += hessian[row] ?? 0;
    }
    const leaf: Leaf = { node, rows: list, gradient: g, hessian: h, histogram, gain: 0, feature: -1, cut: 0 };
    const whole = (g * g) / (h + options.lambda);
    columns.forEach((column, at) => {
      let leftG = 0;
      let leftH = 0;
      const start = at * binCount * 2;
      for (let cut = 0; cut < binCount - 1; cut += 1) {
        leftG += histogram[start + cut * 2] as number;
        leftH += histogram[start + cut * 2 + 1] as number;
        const rightH = h - leftH;
        if (leftH < options.minWeight || rightH < options.minWeight) continue;
        const rightG = g - leftG;
        const gain = (leftG * leftG) / (leftH + options.lambda) + (rightG * rightG) / (rightH + options.lambda) - whole;
        if (gain > leaf.gain) {
          leaf.gain = gain;
          leaf.feature = column;
          leaf.cut = cut;
        }
      }
    });
    tree.value[node] = (-g / (h + options.lambda)) * options.rate;
    return leaf;
  };
  const leaves = [leafOf(0, rows, histogramOf(rows))];
  while (leaves.length < options.leaves) {
    let best: Leaf | undefined;
    for (const leaf of leaves) if (leaf.gain > 1e-6 && (!best || leaf.gain > best.gain)) best = leaf;
    if (!best) break;
    const bins = data.bins[best.feature];
    if (!bins) break;
    const { cut } = best;
    const leftRows = best.rows.filter((row) => (bins[row] ?? 0) <= cut);
    const rightRows = best.rows.filter((row) => (bins[row] ?? 0) > cut);
    const left = tree.feature.length;
    const right = left + 1;
    for (const node of [left, right]) {
      tree.feature[node] = -1;
      tree.threshold[node] = 0;
      tree.left[node] = 0;
      tree.right[node] = 0;
      tree.value[node] = 0;
    }
    tree.feature[best.node] = best.feature;
    tree.threshold[best.node] = cut;
    tree.left[best.node] = left;
    tree.right[best.node] = right;
    const small = leftRows.length < rightRows.length ? leftRows : rightRows;
    const smallHistogram = histogramOf(small);
    const bigHistogram = best.histogram.map((value, at) => value - (smallHistogram[at] ?? 0));
    leaves.splice(leaves.indexOf(best), 1);
    leaves.push(leafOf(left, leftRows, small === leftRows ? smallHistogram : bigHistogram));
    leaves.push(leafOf(right, rightRows, small === rightRows ? smallHistogram : bigHistogram));
  }
  return tree;
}

export function mulberry(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

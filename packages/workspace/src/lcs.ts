/**
 * Pairs that every longest common subsequence of two sequences holds. A line that can be paired in two ways, such as one
 * of two equal neighbours of which one was deleted, is in none of them.
 *
 * The k-th pair of a longest common subsequence can only be one of the pairs of rank k, so a pair is forced exactly when
 * no other pair has its rank. Ranks come from the edit graph: by furthest-reaching paths where the sequences are close
 * (Myers, An O(ND) Difference Algorithm, 1986), else by the table of lengths.
 */

/** Most cells of the table, and the square of the largest edit distance. */
const CELLS = 4_000_000;
const MAX_DISTANCE = 2_000;

/**
 * For every element of `a` the index of its forced partner in `b`, or -1. `undefined` when the sequences are too long and
 * too different to tell.
 */
export function forcedPairs(a: Int32Array, b: Int32Array): Int32Array | undefined {
  if (a.length === 0 || b.length === 0) return new Int32Array(a.length).fill(-1);
  return forcedByPaths(a, b) ?? (a.length * b.length <= CELLS ? forcedByTable(a, b) : undefined);
}

/** Counts the pairs of each rank and remembers one. */
class Ranks {
  readonly #count: Uint8Array;
  readonly #left: Int32Array;
  readonly #right: Int32Array;

  constructor(size: number) {
    this.#count = new Uint8Array(size);
    this.#left = new Int32Array(size);
    this.#right = new Int32Array(size);
  }

  add(rank: number, left: number, right: number): void {
    const seen = this.#count[rank] ?? 2;
    if (seen > 1) return;
    this.#count[rank] = seen + 1;
    this.#left[rank] = left;
    this.#right[rank] = right;
  }

  forced(size: number): Int32Array {
    const partner = new Int32Array(size).fill(-1);
    this.#count.forEach((count, rank) => {
      if (count === 1) partner[this.#left[rank] ?? 0] = this.#right[rank] ?? -1;
    });
    return partner;
  }
}

function forcedByPaths(a: Int32Array, b: Int32Array): Int32Array | undefined {
  const forward = furthestPaths(a, b);
  if (!forward) return undefined;
  const backward = furthestPaths(a.toReversed(), b.toReversed());
  if (!backward) return undefined;
  const distance = forward.length - 1;
  const delta = a.length - b.length;
  const ranks = new Ranks((a.length + b.length - distance) / 2);
  for (let d = 0; d <= distance; d++) {
    const e = distance - d;
    for (let k = -d; k <= d; k += 2) {
      // Nodes of diagonal k that lie d edits from the start and e from the end are on a shortest path.
      if (Math.abs(delta - k) > e) continue;
      const low = Math.max(at(forward, d - 2, k) + 1, 0, k, a.length - at(backward, e, delta - k));
      const high = Math.min(at(forward, d, k), a.length - at(backward, e - 2, delta - k) - 1);
      for (let x = low; x < high; x++) {
        if (a[x] === b[x - k]) ranks.add((2 * x - k - d) / 2, x, x - k);
      }
    }
  }
  return ranks.forced(a.length);
}

/** Furthest `x` on diagonal `k` within `d` edits; -1 when the diagonal is not reached by then. */
function at(paths: readonly Int32Array[], d: number, k: number): number {
  if (d < 0 || k < -d || k > d) return -1;
  return paths[d]?.[(k + d) >> 1] ?? -1;
}

/** Per number of edits the furthest `x` on every diagonal, until the end is reached. */
function furthestPaths(a: Int32Array, b: Int32Array): readonly Int32Array[] | undefined {
  const n = a.length;
  const m = b.length;
  const paths: Int32Array[] = [];
  for (let d = 0; d <= MAX_DISTANCE; d++) {
    const row = new Int32Array(d + 1).fill(-1);
    for (let k = Math.max(-d, -m + ((d - m) & 1)); k <= d && k <= n; k += 2) {
      let x = d === 0 ? 0 : at(paths, d - 2, k);
      const deleted = at(paths, d - 1, k - 1);
      if (deleted >= 0) x = Math.max(x, Math.min(deleted + 1, n));
      const inserted = at(paths, d - 1, k + 1);
      if (inserted >= 0) x = Math.max(x, Math.min(inserted, m + k));
      if (x < 0) continue;
      while (x < n && x - k < m && a[x] === b[x - k]) x++;
      row[(k + d) >> 1] = x;
    }
    paths.push(row);
    if (at(paths, d, n - m) >= n) return paths;
  }
  return undefined;
}

function forcedByTable(a: Int32Array, b: Int32Array): Int32Array {
  const n = a.length;
  const m = b.length;
  const width = m + 1;
  const prefix = new Int32Array((n + 1) * width);
  for (let i = 1; i <= n; i++) {
    for (let j = 1; j <= m; j++) {
      const cell = i * width + j;
      prefix[cell] =
        a[i - 1] === b[j - 1]
          ? (prefix[cell - width - 1] ?? 0) + 1
          : Math.max(prefix[cell - width] ?? 0, prefix[cell - 1] ?? 0);
    }
  }
  const longest = prefix[n * width + m] ?? 0;
  const ranks = new Ranks(longest);
  let below = new Int32Array(width);
  for (let i = n - 1; i >= 0; i--) {
    const suffix = new Int32Array(width);
    for (let j = m - 1; j >= 0; j--) {
      if (a[i] === b[j]) {
        const rank = prefix[i * width + j] ?? 0;
        const rest = below[j + 1] ?? 0;
        suffix[j] = rest + 1;
        if (rank + 1 + rest === longest) ranks.add(rank, i, j);
      } else {
        suffix[j] = Math.max(below[j] ?? 0, suffix[j + 1] ?? 0);
      }
    }
    below = suffix;
  }
  return ranks.forced(n);
}

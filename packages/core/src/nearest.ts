/**
 * The names most like a given one, best first: what every "did you mean" shows.
 *
 * Compared without case and without `_` and `-`, by edit distance with swapped neighbours as one edit; a name further
 * away than a third of its length (at least 2 edits) is not near, unless one begins with the other.
 *
 * @param max How many to give, default 3.
 */
export function nearest(name: string, names: Iterable<string>, max = 3): string[] {
  const wanted = plain(name.slice(0, 256));
  const found: { name: string; distance: number }[] = [];
  for (const candidate of names) {
    const other = plain(candidate.slice(0, 256));
    const limit = Math.max(2, Math.floor(Math.max(wanted.length, other.length) / 3));
    const begins = wanted.length >= 3 && other.length >= 3 && (other.startsWith(wanted) || wanted.startsWith(other));
    const distance = begins ? 1 : editDistance(wanted, other, limit);
    if (distance <= limit && distance < Math.max(wanted.length, other.length))
      found.push({ name: candidate, distance });
  }
  found.sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  return found.slice(0, max).map((entry) => entry.name);
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[_\-\s]/g, "");
}

/** Optimal string alignment distance; anything over `limit` is `limit + 1`. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    let best = i;
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, (beforeLast[j - 2] ?? 0) + 1);
      }
      row.push(cost);
      if (cost < best) best = cost;
    }
    if (best > limit) return limit + 1;
    beforeLast = last;
    last = row;
  }
  return last[b.length] ?? limit + 1;
}

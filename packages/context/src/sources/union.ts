/** One thing that was found by some of the words. */
export interface Found<T> {
  item: T;
  /** The sum over the words of 1 at the best place down to 0 at the last. */
  score: number;
}

/**
 * For searches that demand every word: the whole topic first, then each word by itself, best first. A thing found by
 * more words, or higher up, stands higher.
 */
export async function findEach<T>(
  queries: readonly string[],
  keyOf: (item: T) => string,
  search: (query: string) => Promise<readonly T[]>,
): Promise<Found<T>[]> {
  const found = new Map<string, Found<T>>();
  const answers = await Promise.all(queries.map(search));
  for (const items of answers) {
    for (const [rank, item] of items.entries()) {
      const score = 1 - rank / items.length;
      const entry = found.get(keyOf(item));
      if (entry) entry.score += score;
      else found.set(keyOf(item), { item, score });
    }
  }
  return [...found.values()].sort((a, b) => b.score - a.score);
}

/** The words to search for one by one: all together first, and no more than a source can bear. */
export function queriesOf(terms: readonly string[]): string[] {
  const few = terms.slice(0, 8);
  return few.length > 1 ? [few.join(" "), ...few] : few;
}

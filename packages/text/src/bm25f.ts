/** Facts about the collection that is searched. */
export interface Collection {
  /** Number of documents. */
  count: number;
  /** Mean length in terms. */
  averageLength: number;
}

export interface Bm25Options {
  /** Where repeated terms stop to count. */
  k: number;
  /** How much long documents are held back, 0–1. */
  b: number;
}

/** Rarity of a term that `df` of `count` documents hold; never negative. */
export function idf(df: number, count: number): number {
  return Math.log(1 + (Math.max(count, df) - df + 0.5) / (df + 0.5));
}

/**
 * BM25F: one saturation over the weighted frequency of all fields, instead of one per field.
 *
 * @param frequency weighted number of occurrences, summed over the fields
 * @see Robertson, Zaragoza, Taylor: Simple BM25 extension to multiple weighted fields (2004)
 */
export function saturated(
  frequency: number,
  length: number,
  { averageLength }: Collection,
  { k, b }: Bm25Options,
): number {
  if (frequency <= 0) return 0;
  const relative = averageLength > 0 ? length / averageLength : 1;
  return (frequency * (k + 1)) / (frequency + k * (1 - b + b * relative));
}

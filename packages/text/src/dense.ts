/** Any locale gives the same words in these scripts, for ICU chooses its dictionary by script. */
const segmenter = new Intl.Segmenter("en", { granularity: "word" });

/**
 * Terms of a run of a dense script: the dictionary's words and every overlapping two-letter piece, so that a word is
 * found also where the dictionary cuts elsewhere. A run of one letter is itself.
 */
export function denseTerms(run: string): string[] {
  const letters = [...run];
  if (letters.length <= 1) return letters;
  const terms: string[] = [];
  for (let i = 0; i + 1 < letters.length; i++) terms.push(`${letters[i]}${letters[i + 1]}`);
  if (letters.length === 2) return terms;
  for (const { segment } of segmenter.segment(run)) {
    if (segment.length !== 2 || [...segment].length !== 2) terms.push(segment);
  }
  return terms;
}

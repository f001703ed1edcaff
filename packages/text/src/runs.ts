/** Scripts whose words are not separated by blanks (and Hangul, whose particles stick to words). */
const dense =
  "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}ー々〆";
const denseRun = new RegExp(`[${dense}]+`, "gu");
const anyDense = new RegExp(`[${dense}]`, "u");

/** A stretch of a text: of a dense script, or of what stands between two such. */
export interface Run {
  text: string;
  /** Offset in UTF-16 units. */
  start: number;
  dense: boolean;
}

/** Splits a text into runs of dense scripts and everything between them. */
export function splitRuns(text: string): Run[] {
  if (!anyDense.test(text)) return [{ text, start: 0, dense: false }];
  const runs: Run[] = [];
  let end = 0;
  for (const match of text.matchAll(denseRun)) {
    if (match.index > end) runs.push({ text: text.slice(end, match.index), start: end, dense: false });
    end = match.index + match[0].length;
    runs.push({ text: match[0], start: match.index, dense: true });
  }
  if (end < text.length) runs.push({ text: text.slice(end), start: end, dense: false });
  return runs;
}

/** Whether a term comes from a dense run. */
export function isDense(term: string): boolean {
  return anyDense.test(term);
}

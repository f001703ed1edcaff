/** A text as folded code points, each with the code point of the text it comes from. */
export interface Folded {
  points: readonly string[];
  /** Code point of the text at which a folded one begins; one more entry for the end. */
  origins: readonly number[];
}

const cluster = /\P{M}\p{M}*|\p{M}+/gsu;
const plain = /^[\x00-\x7f]*$/;

/**
 * Composes (NFC) and, unless case counts, folds each code point by simple case folding: one code point stays one, so
 * that `ß` is not `ss` and `İ` is not two letters.
 */
export function foldPoints(text: string, caseSensitive: boolean): Folded {
  if (plain.test(text)) {
    const points = [...(caseSensitive ? text : text.toLowerCase())];
    return { points, origins: Array.from({ length: points.length + 1 }, (_, index) => index) };
  }
  const points: string[] = [];
  const origins: number[] = [];
  let at = 0;
  for (const [piece] of text.matchAll(cluster)) {
    const given = [...piece];
    const composed = [...piece.normalize("NFC")];
    const same = composed.length === given.length;
    composed.forEach((point, index) => {
      points.push(caseSensitive ? point : simpleFold(point));
      origins.push(at + (same ? index : 0));
    });
    at += given.length;
  }
  origins.push(at);
  return { points, origins };
}

/**
 * Simple folding: by way of the upper case, which brings ſ and s, µ and μ, ς and σ together; what has no single letter
 * stays, and so do the two i of Turkish.
 *
 * @see https://www.unicode.org/Public/UCD/latest/ucd/CaseFolding.txt
 */
function simpleFold(point: string): string {
  if (point === "ı") return point;
  const upper = single(point.toUpperCase()) ?? point;
  return single(upper.toLowerCase()) ?? point;
}

function single(text: string): string | undefined {
  return text.length === 1 || [...text].length === 1 ? text : undefined;
}

/** Where `needle` occurs in folded points, without overlaps, as code points of the text. */
export function findFolded({ points, origins }: Folded, needle: readonly string[]): { start: number; end: number }[] {
  const found: { start: number; end: number }[] = [];
  const [first] = needle;
  if (first === undefined) return found;
  for (
    let at = points.indexOf(first);
    at >= 0 && at + needle.length <= points.length;
    at = points.indexOf(first, at + 1)
  ) {
    if (!needle.every((point, index) => points[at + index] === point)) continue;
    const start = origins[at] ?? 0;
    let next = at + needle.length;
    // A composed letter ends where the next one begins.
    while (next < points.length && origins[next] === origins[next - 1]) next++;
    found.push({ start, end: origins[next] ?? start });
    at = next - 1;
  }
  return found;
}

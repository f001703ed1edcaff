import { stopWords } from "@toolhaft/text";

/** Scripts written without blanks, and Korean, whose particles cling to the word: found as a part of a run. */
const dense = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;
const withAccent = /[\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}]\p{M}/u;
const marks = /([\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}])\p{M}+/gu;
const mostTerms = 64;

export function isDense(term: string): boolean {
  return dense.test(term);
}

const han = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]/u;
/** A run ends where the script changes, and at signs that only join words. */
const hanRuns = /(?:(?![的了吗呢吧啊是])\p{sc=Han})+|[\p{sc=Katakana}ー]+|\p{sc=Hiragana}+/gu;
const particles = /^\p{sc=Hiragana}{1,2}$/u;

/** All pairs of neighbours: dictionaries of runtimes differ and cut 端口 in two, pairs are always found. */
function pairsOf(run: string): string[] {
  const characters = [...run];
  if (characters.length <= 2) return [run];
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}

/** NFKC, lower case, without accents in alphabets that have them. */
export function foldTerm(text: string): string {
  return text.normalize("NFKC").toLowerCase().normalize("NFD").replace(marks, "$1").normalize("NFC");
}

/**
 * The words of a topic: folded, distinct, in order. Words that carry no meaning and single characters are left out
 * unless there is nothing else; a topic without words is one term as it stands.
 */
export function topicTerms(topic: string): string[] {
  const words = new Set<string>();
  const folded = foldTerm(topic);
  for (const { segment, isWordLike } of new Intl.Segmenter(undefined, { granularity: "word" }).segment(folded)) {
    // Runs of Han and kana are read below, as a whole.
    if (!isWordLike || han.test(segment)) continue;
    // The segmenter keeps node.js and don't together; what is searched may hold the parts.
    for (const part of segment.split(/[^\p{L}\p{N}\p{M}'’]+/u)) if (part !== "") words.add(part);
  }
  for (const [run] of folded.matchAll(hanRuns)) for (const pair of pairsOf(run)) words.add(pair);
  const all = [...words];
  const telling = all.filter((word) => !stopWords.has(word) && !particles.test(word) && [...word].length > 1);
  const chosen = telling.length > 0 ? telling : all.filter((word) => [...word].length > 1);
  const terms = chosen.length > 0 ? chosen : all;
  const whole = foldTerm(topic).trim();
  return terms.length > 0 ? terms.slice(0, mostTerms) : whole === "" ? [] : [whole];
}

/** A folded text and where each of its UTF-16 units stood. */
export interface Folded {
  text: string;
  /** Offset in the original of a unit of the folded text; its length maps to the length of the original. */
  origin(unit: number): number;
}

/** Folding changes lengths (`İ`, ligatures, accents): where it does, each character keeps its place. */
export function foldText(text: string): Folded {
  const lower = text.toLowerCase();
  const plain =
    lower.length === text.length && text.normalize("NFKC") === text && !withAccent.test(text.normalize("NFD"));
  if (plain) return { text: lower, origin: (unit) => unit };
  let folded = "";
  const places: number[] = [];
  let at = 0;
  // A letter with its marks is folded as one.
  for (const [cluster] of text.matchAll(/\P{M}\p{M}*|\p{M}+/gsu)) {
    const form = foldTerm(cluster);
    for (let unit = 0; unit < form.length; unit++) places.push(at);
    folded += form;
    at += cluster.length;
  }
  return { text: folded, origin: (unit) => places[unit] ?? text.length };
}

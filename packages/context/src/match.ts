import { analyse } from "@toolhaft/text";
import { foldText, isDense } from "./words.ts";

/** A place where a term stands. */
export interface Match {
  /** UTF-16 offsets in the text, end exclusive. */
  from: number;
  to: number;
  /** Number of the term. */
  term: number;
  /** 1: the word itself or a form of it; 0.5: it begins a longer word; less: part of a run was found. */
  strength: number;
}

export type Matcher = (text: string) => Match[];

/** A longer run of letters is no word, and reading it over and over would take for ever. */
const longestWord = 64;
const mostPerTerm = 200;
const alphanumeric = /[\p{L}\p{N}]/u;
const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");

/** Finds the terms of a topic in texts: forms of a word, parts of `camelCase` and `kebab-case`, runs of Chinese. */
export function createMatcher(terms: readonly string[]): Matcher {
  const words = terms.flatMap((text, term) => (isDense(text) ? [] : [{ term, text, stem: stemOf(text) }]));
  const runs = terms.flatMap((text, term) => (isDense(text) ? [{ term, text }] : []));
  const beginnings = new Set(words.flatMap(({ text, stem }) => [text.slice(0, 3), stem.slice(0, 3)]));
  const pattern =
    beginnings.size === 0
      ? undefined
      : new RegExp(`(?:${[...beginnings].map(escaped).join("|")})[\\p{L}\\p{N}\\p{M}]{0,${longestWord}}`, "gu");
  const known = new Map<string, { term: number; strength: number }[]>();

  return (text) => {
    const folded = foldText(text);
    const found: Match[] = [];
    const place = (from: number, to: number, term: number, strength: number) =>
      found.push({ from: folded.origin(from), to: folded.origin(to), term, strength });
    if (pattern) {
      pattern.lastIndex = 0;
      for (let match = pattern.exec(folded.text); match !== null; match = pattern.exec(folded.text)) {
        const end = match.index + match[0].length;
        if (!beginsWord(text, folded.origin(match.index))) {
          pattern.lastIndex = match.index + 1;
          continue;
        }
        const part = humpEnd(text, folded.origin(match.index), folded.origin(end)) - folded.origin(match.index);
        const inside = [...judge(match[0]), ...(part < match[0].length ? judge(match[0].slice(0, part)) : [])];
        for (const { term, strength } of inside) place(match.index, end, term, strength);
        pattern.lastIndex = match.index + Math.max(1, Math.min(part, match[0].length));
      }
    }
    for (const { term, text: run } of runs) placeRun(folded.text, run, term, place);
    return found.sort((a, b) => a.from - b.from || b.to - a.to);
  };

  function judge(word: string): { term: number; strength: number }[] {
    const before = known.get(word);
    if (before) return before;
    const stem = stemOf(word);
    const judged = words.flatMap(({ term, text, stem: wanted }) => {
      if (word === text || stem === wanted) return [{ term, strength: 1 }];
      return text.length >= 3 && word.startsWith(text) ? [{ term, strength: 0.5 }] : [];
    });
    known.set(word, judged);
    return judged;
  }
}

/** The form under which a word is compared: `ports` and `port` are one. */
function stemOf(word: string): string {
  return /^[\p{L}\p{M}]{3,}$/u.test(word) ? (analyse(word)[0] ?? word) : word;
}

function beginsWord(text: string, at: number): boolean {
  const before = text.charAt(at - 1);
  const first = text.charAt(at);
  if (before === "" || !alphanumeric.test(before)) return true;
  if (/\p{Lu}/u.test(first) && !/\p{Lu}/u.test(before)) return true;
  return /\p{N}/u.test(before) !== /\p{N}/u.test(first) || isDense(before) !== isDense(first);
}

/** Where the first hump of a camelCase word ends. */
function humpEnd(text: string, from: number, to: number): number {
  const word = text.slice(from, to);
  const border = /\p{Ll}(?=\p{Lu})|\p{L}(?=\p{N})|\p{N}(?=\p{L})/u.exec(word);
  return border === null ? to : from + border.index + 1;
}

type Place = (from: number, to: number, term: number, strength: number) => void;

function placeRun(text: string, run: string, term: number, place: Place): void {
  let found = 0;
  for (let at = text.indexOf(run); at >= 0 && found < mostPerTerm; at = text.indexOf(run, at + run.length)) {
    place(at, at + run.length, term, 1);
    found++;
  }
  const characters = [...run];
  if (found > 0 || characters.length < 3) return;
  // No place holds all of it: its pairs count for their share.
  const pairs = characters.slice(1).map((character, index) => `${characters[index]}${character}`);
  for (const pair of new Set(pairs)) {
    const at = text.indexOf(pair);
    if (at >= 0) place(at, at + pair.length, term, 0.5 / pairs.length);
  }
}

/** How much of each term is found in the matches: 0 to 1, by number of the term. */
export function strengths(matches: readonly Match[], terms: number): number[] {
  const whole = new Array<number>(terms).fill(0);
  const parts = new Array<number>(terms).fill(0);
  for (const { term, strength } of matches) {
    if (strength >= 0.5) whole[term] = Math.max(whole[term] ?? 0, strength);
    else parts[term] = Math.min(0.5, (parts[term] ?? 0) + strength);
  }
  return whole.map((strength, term) => Math.max(strength, parts[term] ?? 0));
}

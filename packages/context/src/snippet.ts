import type { Match } from "./match.ts";

export interface Snippet {
  /** With `…` where it was cut. */
  text: string;
  truncated: boolean;
}

/** Ends of sentences and lines, in Western and CJK punctuation. */
const sentenceEnd = /[.!?…]["'”’)\]]*\s+|[。！？；][”’」』）]*|\n+/gu;

/**
 * The stretch of a text that shows most of what is looked for, cut at ends of sentences or lines where they are near.
 *
 * @param matches In order of their places.
 * @param weights By number of the term.
 * @param chars Most code points, the `…` aside.
 */
export function snippetOf(text: string, matches: readonly Match[], weights: readonly number[], chars: number): Snippet {
  const trimmed = text.trim();
  if (fitsIn(trimmed, chars)) return { text: trimmed, truncated: false };
  const best = bestStretch(matches, weights, chars);
  const focus = best ?? { from: text.length - text.trimStart().length, to: 0 };
  const lead = best ? Math.floor(Math.max(0, chars - (best.to - best.from)) / 3) : 0;
  let start = beginning(text, Math.max(0, focus.from - lead), focus.from);
  let end = advance(text, start, chars);
  if (end === text.length) start = beginning(text, retreat(text, end, chars), focus.from);
  end = advance(text, start, chars);
  if (end < text.length) end = ending(text, start, Math.max(focus.to, start), end);
  const body = text.slice(start, end).trim();
  const head = text.slice(0, start).trim() === "" ? "" : "…";
  const tail = text.slice(end).trim() === "" ? "" : "…";
  return { text: head + body + tail, truncated: head + tail !== "" };
}

/** At most this many code points on one line; white space runs become blanks. */
export function cutLine(text: string, chars: number): string {
  const line = text.replace(/\s+/gu, " ").trim();
  if (fitsIn(line, chars)) return line;
  return `${line.slice(0, advance(line, 0, chars)).trimEnd()}…`;
}

function fitsIn(text: string, chars: number): boolean {
  return text.length <= chars || (text.length <= chars * 2 && advance(text, 0, chars) === text.length);
}

/** The matches, one after another, that show the most weight within two thirds of the room. */
function bestStretch(
  matches: readonly Match[],
  weights: readonly number[],
  chars: number,
): { from: number; to: number } | undefined {
  const reach = Math.max(1, Math.floor((chars * 2) / 3));
  let best: { from: number; to: number } | undefined;
  let most = 0;
  for (const [index, first] of matches.entries()) {
    const seen = new Map<number, number>();
    let to = first.to;
    let extra = 0;
    for (let next = index; next < matches.length; next++) {
      const match = matches[next];
      if (!match || match.to - first.from > reach) break;
      const before = seen.get(match.term) ?? 0;
      if (match.strength > before) seen.set(match.term, match.strength);
      else extra = Math.min(extra + 0.001, 0.05);
      to = Math.max(to, match.to);
      if (next - index > 200) break;
    }
    let weight = extra;
    for (const [term, strength] of seen) weight += (weights[term] ?? 0) * strength + 0.0001;
    if (weight > most) {
      most = weight;
      best = { from: first.from, to: Math.min(to, first.from + chars) };
    }
  }
  return best;
}

/** A sentence or word that begins between two places, else the first of them. */
function beginning(text: string, from: number, to: number): number {
  if (from === 0) return 0;
  const before = text.slice(Math.max(0, from - 1), to);
  const offset = Math.max(0, from - 1);
  for (const match of before.matchAll(sentenceEnd)) {
    const at = offset + match.index + match[0].length;
    if (at >= from) return at;
  }
  const blank = /\s+/u.exec(before.slice(0, 60));
  return blank ? offset + blank.index + blank[0].length : wholePoint(text, from);
}

/** The last end of a sentence in the last quarter of the room, else the last blank near the end, else the end. */
function ending(text: string, start: number, least: number, end: number): number {
  const from = Math.max(least, start + Math.floor(((end - start) * 3) / 4));
  let last: number | undefined;
  for (const match of text.slice(from, end).matchAll(sentenceEnd)) last = from + match.index + match[0].length;
  if (last !== undefined) return last;
  if (/^\s/u.test(text.slice(end, end + 1))) return end;
  const tail = text.slice(Math.max(from, end - 40), end);
  const blank = tail.search(/\s\S*$/u);
  return blank >= 0 ? end - tail.length + blank : end;
}

/** The offset `points` code points after another. */
function advance(text: string, from: number, points: number): number {
  let at = from;
  for (let count = 0; count < points && at < text.length; count++) at += isPair(text, at) ? 2 : 1;
  return at;
}

function retreat(text: string, from: number, points: number): number {
  let at = from;
  for (let count = 0; count < points && at > 0; count++) at -= at >= 2 && isPair(text, at - 2) ? 2 : 1;
  return at;
}

function wholePoint(text: string, at: number): number {
  return at > 0 && isPair(text, at - 1) ? at + 1 : at;
}

function isPair(text: string, at: number): boolean {
  const high = text.charCodeAt(at);
  if (high < 0xd800 || high > 0xdbff) return false;
  const low = text.charCodeAt(at + 1);
  return low >= 0xdc00 && low <= 0xdfff;
}

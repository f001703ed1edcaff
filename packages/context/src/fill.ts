import { type Budget, mostBytes } from "./budget.ts";
import { renderHit, type ShownHit } from "./render.ts";
import type { Candidate } from "./score.ts";
import { cutLine, type Snippet, snippetOf } from "./snippet.ts";

export interface Placed {
  candidate: Candidate;
  title: string;
  snippet: Snippet;
  shown: ShownHit;
  /** Tokens of its lines, the line break after them included. */
  tokens: number;
}

export interface FillOptions {
  weights: readonly number[];
  snippetChars: number;
  titleChars: number;
}

/** A hit that does not fit is never cut to less than this. */
const leastTokens = 60;
/** Below this no hit fits: a heading alone takes more. */
const leastRoom = 8;

/**
 * Places hits in the order given. One that does not fit is cut, to 60 tokens at first, so that smaller ones after it get
 * their turn; what room is left in the end goes to those that were cut, best first.
 */
export function fill(candidates: readonly Candidate[], room: number, budget: Budget, options: FillOptions): Placed[] {
  const placed: Placed[] = [];
  const cut: Placed[] = [];
  let left = room;
  let bytes = 0;
  for (const candidate of candidates) {
    if (left < leastRoom) break;
    const whole = place(candidate, options.snippetChars, budget, options);
    const size = bytesOf(whole);
    if (bytes + size > mostBytes - 4_000) continue;
    if (whole.tokens <= left) {
      placed.push(whole);
      left -= whole.tokens;
      bytes += size;
      continue;
    }
    const least = shrink(whole, leastTokens + headTokens(whole, budget), budget, options);
    if (least === undefined || least.tokens > left) continue;
    placed.push(least);
    cut.push(least);
    left -= least.tokens;
    bytes += size;
  }
  for (const entry of cut) {
    const grown = shrink(
      place(entry.candidate, options.snippetChars, budget, options),
      entry.tokens + left,
      budget,
      options,
    );
    if (grown === undefined || grown.tokens <= entry.tokens || grown.tokens > entry.tokens + left) continue;
    left -= grown.tokens - entry.tokens;
    placed[placed.indexOf(entry)] = grown;
  }
  return placed;
}

function place(candidate: Candidate, chars: number, budget: Budget, options: FillOptions): Placed {
  const snippet = snippetOf(candidate.text, candidate.matches, options.weights, chars);
  const title = cutLine(candidate.title, options.titleChars);
  const { ref, alsoAt, source, at } = candidate;
  const shown = { ref, alsoAt, source, title, snippet: snippet.text, at };
  // The number has the tokens of any other of its length.
  return { candidate, title, snippet, shown, tokens: budget.count(renderHit(shown, 100)) + 1 };
}

function headTokens({ shown }: Placed, budget: Budget): number {
  return budget.count(renderHit({ ...shown, snippet: "" }, 100)) + 1;
}

/** The hit with the longest snippet that takes at most `most` tokens; undefined when none does. */
function shrink(whole: Placed, most: number, budget: Budget, options: FillOptions): Placed | undefined {
  if (whole.tokens <= most) return whole;
  const head = headTokens(whole, budget);
  let best: Placed | undefined;
  let low = 1;
  let high = [...whole.snippet.text].length;
  let guess = Math.floor((high * (most - head)) / Math.max(1, whole.tokens - head));
  for (let round = 0; round < 7 && low <= high; round++) {
    const chars = Math.min(high, Math.max(low, guess));
    const tried = place(whole.candidate, chars, budget, options);
    if (tried.tokens <= most) {
      if (best === undefined || tried.tokens > best.tokens) best = tried;
      low = chars + 1;
      // Close enough: another count costs more than the few tokens are worth.
      if (most - tried.tokens <= 3) break;
      guess = chars + Math.max(1, Math.floor(((most - tried.tokens) * chars) / Math.max(1, tried.tokens - head)));
    } else {
      high = chars - 1;
      guess = Math.floor((chars * (most - head)) / Math.max(1, tried.tokens - head)) - 2;
    }
  }
  return best;
}

function bytesOf({ shown }: Placed): number {
  return new TextEncoder().encode(shown.snippet).length + 400;
}

import { createMatcher, type Match, strengths } from "./match.ts";
import type { ContextHit, FollowUp, SourceResult } from "./source.ts";
import { foldTerm, topicTerms } from "./words.ts";

/** A hit with what it is worth, and what stands in it. */
export interface Candidate {
  ref: string;
  alsoAt: string[];
  source: string;
  title: string;
  text: string;
  matches: readonly Match[];
  value: number;
  at?: number;
  follow?: FollowUp;
}

export interface Scored {
  /** Best first. */
  candidates: Candidate[];
  /** Rarity of each term among all hits. */
  weights: number[];
  unrelated: number;
  duplicate: number;
}

const scoreShare = 0.4;
const coverShare = 0.6;

/** What each hit is worth: how its source ranks it, and how much of the topic stands in it. */
export function score(topic: string, found: readonly SourceResult[]): Scored {
  const terms = topicTerms(topic);
  const matcher = createMatcher(terms);
  const read = found.flatMap((result) =>
    result.status !== "answered"
      ? []
      : ranked(result.hits).map(({ hit, norm }) => {
          const matches = matcher(hit.text);
          const both = strengths([...matches, ...matcher(hit.title)], terms.length);
          return { result, hit, matches, both, norm };
        }),
  );
  const weights = rarity(
    read.map(({ both }) => both),
    terms.length,
  );
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const candidates: Candidate[] = [];
  let unrelated = 0;
  for (const { result, hit, matches, both, norm } of read) {
    const shown = both.reduce((sum, strength, term) => sum + strength * (weights[term] ?? 0), 0);
    const cover = total > 0 ? shown / total : 0;
    if (cover === 0 && !result.semantic) {
      unrelated++;
      continue;
    }
    const worth = result.semantic ? norm : scoreShare * norm + coverShare * cover;
    candidates.push({ ...plain(hit), source: result.name, matches, value: result.weight * worth });
  }
  candidates.sort(better);
  const merged = merge(candidates);
  return { candidates: merged, weights, unrelated, duplicate: candidates.length - merged.length };
}

function plain({ ref, title, text, at, follow }: ContextHit) {
  return { ref, title, text, alsoAt: [], ...(at !== undefined && { at }), ...(follow && { follow }) };
}

/** Scores as shares of the source's best; without scores the order counts. */
function ranked(hits: readonly ContextHit[]): { hit: ContextHit; norm: number }[] {
  const best = Math.max(0, ...hits.map(({ score }) => score ?? 0));
  return hits.map((hit, rank) => ({ hit, norm: best > 0 ? (hit.score ?? 0) / best : 1 - rank / hits.length }));
}

/** A term that few hits hold tells more than one that all of them hold. */
function rarity(all: readonly (readonly number[])[], terms: number): number[] {
  return Array.from({ length: terms }, (_, term) => {
    const holding = all.filter((strengths) => (strengths[term] ?? 0) > 0).length;
    return Math.log(1 + (all.length + 1) / (holding + 0.5));
  });
}

/** By value; ties: the newer one, then by ref. */
export function better(a: Candidate, b: Candidate): number {
  return (
    b.value - a.value ||
    (b.at ?? Number.NEGATIVE_INFINITY) - (a.at ?? Number.NEGATIVE_INFINITY) ||
    (a.ref < b.ref ? -1 : a.ref > b.ref ? 1 : 0)
  );
}

/** Equal refs and equal texts are one hit, the best of them, that names every ref. */
function merge(candidates: readonly Candidate[]): Candidate[] {
  const kept: Candidate[] = [];
  const byRef = new Map<string, Candidate>();
  const byText = new Map<string, Candidate>();
  for (const candidate of candidates) {
    const text = foldTerm(candidate.text).replace(/\s+/gu, " ").trim();
    const same = byRef.get(candidate.ref) ?? (text === "" ? undefined : byText.get(text));
    if (same) {
      if (same.ref !== candidate.ref && !same.alsoAt.includes(candidate.ref)) same.alsoAt.push(candidate.ref);
      byRef.set(candidate.ref, same);
      continue;
    }
    kept.push(candidate);
    byRef.set(candidate.ref, candidate);
    byText.set(text, candidate);
  }
  return kept;
}

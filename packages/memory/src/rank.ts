import { type AnalysedQuery, foldText, idf, saturated } from "@toolhaft/text";
import { type HalfLives, strength } from "./decay.ts";
import type { Candidate, Candidates } from "./store.ts";

/** How text counts; chosen on the visible half of the benches with one setting for all languages. */
export interface Weights {
  title: number;
  body: number;
  tags: number;
  about: number;
  /** Body terms of the neighbours, by distance. */
  context: readonly number[];
  /** Terms up to which a memory takes its neighbours in full; a longer one takes less of them. */
  contextLength: number;
  k: number;
  b: number;
  /** Factor for a memory about the one subject that the query names. */
  subject: number;
  halfLives: HalfLives;
}

/** A candidate with the memories around it: `neighbours[0]` are those next to it. */
export interface InContext {
  candidate: Candidate;
  neighbours: readonly (readonly Candidate[])[];
}

export interface Ranked {
  candidate: Candidate;
  /** 1 for the best of this query. */
  score: number;
  text: number;
  subject: number;
  prior: number;
  /** Terms in the memory itself. */
  matched: readonly string[];
  /** Its title is the query. */
  exact: boolean;
}

export interface RankQuery extends AnalysedQuery {
  /** The query as it would be as a title, folded. */
  titleKey: string;
}

/** Facts about what is searched. */
export type Population = Pick<Candidates, "df" | "count" | "averageLength">;

/**
 * Orders candidates by all terms of the query: BM25F over the memory's columns and, fainter, over its neighbours. Pure.
 *
 * @param now epoch milliseconds
 */
export function rank(
  query: RankQuery,
  candidates: readonly InContext[],
  population: Population,
  now: number,
  weights: Weights,
): readonly Ranked[] {
  const terms = query.terms.map((term) => ({
    term,
    padded: ` ${term} `,
    idf: idf(population.df.get(term) ?? 0, population.count),
  }));
  // A memory is a candidate and the neighbour of up to eight others: its terms are counted once.
  const counted = new Map<Candidate, Frequencies>();
  const count = (candidate: Candidate): Frequencies => {
    const known = counted.get(candidate) ?? countTerms(candidate, terms, weights);
    counted.set(candidate, known);
    return known;
  };
  const ranked: Ranked[] = [];
  for (const inContext of candidates) {
    const { candidate } = inContext;
    const exact = query.titleKey !== "" && foldText(candidate.title) === query.titleKey;
    const matched: string[] = [];
    const text = textScore(inContext, terms, count, population.averageLength, weights, matched);
    if (!exact && text <= 0) continue;
    const subject = isAboutTheOne(candidate, query.names) ? weights.subject : 1;
    const prior = 0.85 + 0.3 * strength(candidate, now, weights.halfLives);
    ranked.push({ candidate, score: text * subject * prior, text, subject, prior, matched, exact });
  }
  ranked.sort((a, b) => Number(b.exact) - Number(a.exact) || b.score - a.score || newer(a, b));
  return normalised(ranked);
}

interface QueryTerm {
  term: string;
  padded: string;
  idf: number;
}

/** Weighted frequency of each term in a candidate's own columns, and in its body alone. */
interface Frequencies {
  own: readonly number[];
  body: readonly number[];
}

function countTerms({ terms }: Candidate, wanted: readonly QueryTerm[], weights: Weights): Frequencies {
  const [title, body, tags, about] = [` ${terms.title} `, ` ${terms.body} `, ` ${terms.tags} `, ` ${terms.about} `];
  const bodies = wanted.map(({ padded }) => occurrences(body, padded));
  const own = wanted.map(
    ({ padded }, index) =>
      weights.title * occurrences(title, padded) +
      weights.body * (bodies[index] ?? 0) +
      weights.tags * occurrences(tags, padded) +
      weights.about * occurrences(about, padded),
  );
  return { own, body: bodies };
}

function textScore(
  { candidate, neighbours }: InContext,
  terms: readonly QueryTerm[],
  count: (candidate: Candidate) => Frequencies,
  average: number,
  weights: Weights,
  matched: string[],
): number {
  const { own } = count(candidate);
  const frequencies = [...own];
  const gate = contextShare(candidate.terms.length, weights);
  let whole = candidate.terms.length;
  let expected = average;
  for (const [index, weight] of weights.context.entries()) {
    for (const neighbour of neighbours[index] ?? []) {
      const { body } = count(neighbour);
      for (const [term, frequency] of body.entries())
        frequencies[term] = (frequencies[term] ?? 0) + weight * gate * frequency;
      // Short memories among long ones speak with them: the length that counts is that of the whole passage.
      whole += gate * neighbour.terms.length;
      expected += gate * average;
    }
  }
  const collection = { count: 0, averageLength: expected };
  let score = 0;
  for (const [index, { term, idf }] of terms.entries()) {
    if ((own[index] ?? 0) > 0) matched.push(term);
    score += idf * saturated(frequencies[index] ?? 0, whole, collection, weights);
  }
  return score;
}

/** A remark needs what was said around it, a long text speaks for itself. */
function contextShare(length: number, { contextLength }: Weights): number {
  return Math.min(1, contextLength / Math.max(1, length));
}

/** Terms stand between single blanks, so two of them share one: the search goes on at the blank. */
function occurrences(text: string, padded: string): number {
  let count = 0;
  for (let at = text.indexOf(padded); at >= 0; at = text.indexOf(padded, at + padded.length - 1)) count++;
  return count;
}

function isAboutTheOne({ about }: Candidate, names: readonly string[]): boolean {
  if (names.length !== 1) return false;
  const name = foldText(names[0] ?? "");
  return about.some((subject) => foldText(subject) === name);
}

function newer(a: Ranked, b: Ranked): number {
  return b.candidate.updatedAt - a.candidate.updatedAt || (b.candidate.id > a.candidate.id ? 1 : -1);
}

function normalised(ranked: readonly Ranked[]): readonly Ranked[] {
  const best = Math.max(...ranked.map((entry) => entry.score), 0);
  return best > 0 ? ranked.map((entry) => ({ ...entry, score: entry.score / best })) : ranked;
}

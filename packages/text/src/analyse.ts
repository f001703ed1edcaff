import { denseTerms } from "./dense.ts";
import { compose } from "./fold.ts";
import { splitRuns } from "./runs.ts";
import { plainTerms } from "./words.ts";

/** What the terms of an index depend on: when either rises, indexes are made anew. */
export const ANALYSER: { readonly version: number; readonly icu: string } = {
  version: 1,
  icu: process.versions.icu ?? "0",
};

/**
 * The terms of a text, in order and with repeats; the same function serves index and query. Total: any string gives
 * terms, and no term holds white space.
 *
 * @example
 * analyse("Deploys run on Ubuntu 20.04"); // deploi run on ubuntu 20.04 20 04
 */
export function analyse(text: string): string[] {
  const terms: string[] = [];
  for (const run of splitRuns(compose(text))) {
    for (const term of run.dense ? denseTerms(run.text) : plainTerms(run.text)) terms.push(term);
  }
  return terms;
}

import { analyse } from "./analyse.ts";
import { compose, foldText, foldWord } from "./fold.ts";
import { stopWords } from "./stop-words.ts";
import { wordTerm } from "./words.ts";

/** A query as the index sees it. */
export interface AnalysedQuery {
  /** Distinct terms to search for, in order of first occurrence. */
  terms: string[];
  /** The given names that occur in the query; their terms are not in `terms` while others remain. */
  names: string[];
  /** Folded contents of `"…"`: must occur as written. */
  phrases: string[];
  /** Words left out because they carry no meaning of their own. */
  ignored: string[];
}

const quoted = /"([^"]*)"|“([^”]*)”/gu;
/** Terms of stop words, for stop words are known as typed and terms are stemmed. */
const stopTerms: ReadonlySet<string> = new Set([...stopWords].flatMap((word) => [word, wordTerm(word)]));

/**
 * Takes a question apart. Only `"…"` is syntax, and a quote that is never closed is text.
 *
 * @param names names that may be meant, such as the subjects of a store's memories
 */
export function analyseQuery(query: string, names: ReadonlySet<string> = new Set()): AnalysedQuery {
  const all = [...new Set(analyse(query))];
  const found = namesIn(all, names);
  const nameTerms = new Set(found.flatMap((name) => analyse(name)));
  const meaningful = all.filter((term) => !stopTerms.has(term));
  const kept = meaningful.length > 0 ? meaningful : all;
  const withoutNames = kept.filter((term) => !nameTerms.has(term));
  return {
    terms: withoutNames.length > 0 ? withoutNames : kept,
    names: found,
    phrases: phrasesOf(query),
    ignored: meaningful.length > 0 ? all.filter((term) => stopTerms.has(term)).map(foldWord) : [],
  };
}

function namesIn(terms: readonly string[], names: ReadonlySet<string>): string[] {
  const present = new Set(terms);
  return [...names].filter((name) => {
    const wanted = analyse(name);
    return wanted.length > 0 && wanted.every((term) => present.has(term));
  });
}

function phrasesOf(query: string): string[] {
  const phrases: string[] = [];
  for (const match of compose(query).matchAll(quoted)) {
    const phrase = foldText(match[1] ?? match[2] ?? "");
    if (analyse(phrase).length > 0) phrases.push(phrase);
  }
  return phrases;
}

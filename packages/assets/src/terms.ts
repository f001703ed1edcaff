import { analyse, foldWord, splitRuns } from "@toolhaft/text";

/** Fields of the index, in the order of its columns, and how much a hit in each weighs. */
export const fieldWeights = { name: 8, tags: 4, description: 4, headings: 2, body: 1 } as const;
export type Field = keyof typeof fieldWeights;
export const fields: readonly Field[] = ["name", "tags", "description", "headings", "body"];

/** One value for each field. */
export function byField<T>(make: (field: Field) => T): Record<Field, T> {
  return {
    name: make("name"),
    tags: make("tags"),
    description: make("description"),
    headings: make("headings"),
    body: make("body"),
  };
}

/** Raised when the terms of a text change, so that indexes are made anew. */
export const termsVersion = 2;

/** A query as conditions on the index: each entry is one word, as terms of which one must occur. */
export interface QueryTerms {
  words: readonly (readonly QueryTerm[])[];
}

export interface QueryTerm {
  term: string;
  prefix: boolean;
}

/** Takes a query apart; nothing in it is syntax. */
export function queryTerms(query: string): QueryTerms {
  const words: QueryTerm[][] = [];
  const runs = splitRuns(query.normalize("NFKC"));
  runs.forEach((run, index) => {
    if (run.dense) words.push(...denseWords(run.text));
    else words.push(...plainWords(run.text, index === runs.length - 1));
  });
  return { words };
}

/** Every two letters side by side; a lone letter as the beginning of such a pair. */
function denseWords(text: string): QueryTerm[][] {
  const signs = [...text];
  if (signs.length === 1) return analyse(text).map((term) => [{ term, prefix: true }]);
  const pairs = signs.slice(1).map((sign, index) => `${signs[index] ?? ""}${sign}`);
  return [...new Set(pairs)].map((term) => [{ term, prefix: false }]);
}

function plainWords(text: string, last: boolean): QueryTerm[][] {
  const found: QueryTerm[][] = [];
  for (const piece of text.split(/\s+/)) {
    for (const term of new Set(analyse(piece))) found.push([{ term, prefix: false }]);
  }
  const end = /([\p{L}\p{N}\p{M}]+)$/u.exec(text)?.[1];
  const ending = found.at(-1);
  if (!last || end === undefined || !ending) return found;
  ending.push({ term: foldWord(end), prefix: true });
  return found;
}

/** The whole query as a `MATCH` expression. */
export function matchExpression({ words }: QueryTerms, mode: "all" | "any"): string {
  return words
    .map((alternatives) => {
      const terms = alternatives.map(({ term, prefix }) => `"${term.replace(/"/g, '""')}"${prefix ? "*" : ""}`);
      return terms.length === 1 ? terms[0] : `(${terms.join(" OR ")})`;
    })
    .join(mode === "all" ? " AND " : " OR ");
}

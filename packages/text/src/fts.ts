const signs = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";

/**
 * Value for FTS5's `tokenize=`: the tokenizer `ascii` with every ASCII sign as a token character, so that it splits at
 * blanks only. Terms of `analyse` joined by blanks then are exactly the index's terms.
 *
 * @example
 * `CREATE VIRTUAL TABLE words USING fts5(body, tokenize=${SPACE_TOKENIZER})`
 */
export const SPACE_TOKENIZER: string = `'ascii tokenchars ${doubled(`'${doubled(signs)}'`)}'`;

/**
 * A `MATCH` expression of analysed terms; each is a quoted string, so nothing that was typed is ever read as syntax.
 * Empty when there are no terms: ask for nothing then.
 *
 * @param mode `any` (OR) or `all` (AND)
 * @see https://sqlite.org/fts5.html#full_text_query_syntax
 */
export function ftsMatch(terms: readonly string[], mode: "any" | "all" = "any"): string {
  return terms.map((term) => `"${term.replace(/"/g, '""')}"`).join(mode === "any" ? " OR " : " AND ");
}

function doubled(text: string): string {
  return text.replace(/'/g, "''");
}

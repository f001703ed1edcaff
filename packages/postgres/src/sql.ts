import { createHash } from "node:crypto";

export interface Compiled {
  text: string;
  /** Of the prepared statement. */
  name: string;
  /** Of named values, in the order of their numbers. */
  names: readonly string[];
}

/** Statements most of which stay the same: more than these are looked at as made for once. */
const mostKept = 2_000;

/**
 * Puts the schema's name before `@table`, and numbers the `?` and the `:name`; no text in a statement holds such signs.
 * One name is one value, however often it stands there.
 */
export function compiler(schema: string): (sql: string) => Compiled {
  const kept = new Map<string, Compiled>();
  return (sql) => {
    const known = kept.get(sql);
    if (known !== undefined) return known;
    const names: string[] = [];
    let marks = 0;
    const text = sql
      .replace(/@([a-z_]+)/g, `"${schema}".$1`)
      .replace(/\?|(?<!:):([a-zA-Z]\w*)/g, (_, name?: string) => {
        if (name === undefined) return `$${++marks}`;
        if (!names.includes(name)) names.push(name);
        return `$${names.indexOf(name) + 1}`;
      });
    const digest = createHash("sha256").update(text).digest("base64url").slice(0, 20);
    const compiled = { text, name: `th_${digest}`, names };
    if (kept.size < mostKept) kept.set(sql, compiled);
    return compiled;
  };
}

import { createHash } from "node:crypto";

/** An index of arrays holds no entry above 2,700 bytes. */
const longest = 200;

/** How a term is written in an index: a longer word, like a key or a blob in a text, is known by its digest. */
export function termKey(term: string): string {
  return term.length <= longest ? term : `\u0001${createHash("sha256").update(term).digest("base64url")}`;
}

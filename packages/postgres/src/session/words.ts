import { createHash } from "node:crypto";
import { indexedTexts } from "@toolhaft/session/adapter";
import { analyse } from "@toolhaft/text";
import type { PostgresDatabase } from "../database.ts";

/** Parts that are indexed in one transaction, and the characters of texts after which one ends. */
const batch = 500;
const batchCharacters = 4_000_000;
/** An index of arrays holds no term above 2,700 bytes; a longer word is known by its digest. */
const longestTerm = 200;

interface NewPart {
  row: number;
  kind: string;
  text: string | null;
  input: string | null;
  output: string | null;
}

/** Brings the index up to what was recorded: a search pays for it, an append does not. */
export async function indexNewParts(db: PostgresDatabase, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const parts = await waitingParts(db);
    if (parts.length === 0) return;
    // Before the transaction: to analyse long texts takes time, and nobody has to wait for it.
    await indexParts(
      db,
      parts.map(({ row, ...part }) => ({ row, words: wordsOf(part) })),
    );
  }
}

function waitingParts(db: PostgresDatabase): Promise<NewPart[]> {
  return db.all<NewPart>(
    `WITH first AS (SELECT part FROM @waiting ORDER BY part LIMIT ${batch}), sized AS (
       SELECT p.row, sum(coalesce(length(p.text), 0) + coalesce(length(p.output), 0)) OVER (ORDER BY p.row) - coalesce(length(p.text), 0)
         - coalesce(length(p.output), 0) AS before FROM first JOIN @parts p ON p.row = first.part)
     SELECT p.row, p.kind, p.text, p.input, p.output FROM sized JOIN @parts p ON p.row = sized.row
     WHERE sized.before < ${batchCharacters} ORDER BY p.row`,
  );
}

interface FieldWords {
  field: string;
  terms: string[];
  counts: number[];
}

interface PartWords {
  fields: FieldWords[];
  /** Words of all fields. */
  length: number;
}

function wordsOf(part: Omit<NewPart, "row">): PartWords {
  let length = 0;
  const fields: FieldWords[] = [];
  for (const [field, text] of Object.entries(indexedTexts(part))) {
    const counts = new Map<string, number>();
    for (const term of text === null ? [] : analyse(text)) {
      const key = termKey(term);
      counts.set(key, (counts.get(key) ?? 0) + 1);
      length += 1;
    }
    if (counts.size > 0) fields.push({ field, terms: [...counts.keys()], counts: [...counts.values()] });
  }
  return { fields, length };
}

/** How a term is written in the index. */
export function termKey(term: string): string {
  return term.length <= longestTerm ? term : `\u0001${createHash("sha256").update(term).digest("base64url")}`;
}

/** Of several that index the same parts the first writes them; those that wait for it find nothing left to do. */
async function indexParts(db: PostgresDatabase, parts: readonly { row: number; words: PartWords }[]): Promise<void> {
  await db.transaction(async (sql) => {
    const mine = await sql.all<{ part: number }>(
      `DELETE FROM @waiting WHERE part IN (
         SELECT part FROM @waiting WHERE part = ANY(?::bigint[]) ORDER BY part FOR UPDATE) RETURNING part`,
      [parts.map(({ row }) => row)],
    );
    const rows = new Set(mine.map(({ part }) => part));
    const written = parts.filter(({ row, words }) => rows.has(row) && words.length > 0);
    for (const { row, words } of written) {
      for (const { field, terms, counts } of words.fields) {
        await sql.run("INSERT INTO @words(part, field, terms, counts, length) VALUES(?, ?, ?::text[], ?::int[], ?)", [
          row,
          field,
          terms,
          counts,
          words.length,
        ]);
      }
    }
    await sql.run("UPDATE @indexed SET parts = parts + ?::bigint, length = length + ?::bigint", [
      written.length,
      written.reduce((sum, { words }) => sum + words.length, 0),
    ]);
  });
}

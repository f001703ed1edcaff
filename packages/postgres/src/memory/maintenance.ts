import { type CheckReport, termsOf } from "@toolhaft/memory";
import { type Place, subjectsOf } from "@toolhaft/memory/adapter";
import type { Sql, Transaction } from "../database.ts";
import { addSubject, insertTerms, partitionId } from "./search-index.ts";

const alive = "m.superseded_by IS NULL AND m.forgotten_at IS NULL";

/** Makes terms, counts and subjects anew from the memories, in one transaction that keeps writers out. */
export async function rebuildIndex(db: Transaction): Promise<void> {
  await db.run("LOCK TABLE @memories, @memory_terms, @partitions, @memory_subjects IN SHARE ROW EXCLUSIVE MODE");
  await db.run("DELETE FROM @memory_terms");
  await db.run("DELETE FROM @memory_subjects");
  await db.run("UPDATE @partitions SET live = 0, length = 0");
  let after = 0;
  for (;;) {
    const rows = await db.all<Place & { row: number; title: string; content: string; tags: string; about: string }>(
      `SELECT m.row, m.workspace, m.scope, m.role, m.title, m.content, m.tags, m.about FROM @memories m
       WHERE m.row > ? AND ${alive} ORDER BY m.row LIMIT 500`,
      [after],
    );
    for (const { row, title, content, tags, about, ...place } of rows) {
      const subjects = JSON.parse(about) as string[];
      const terms = termsOf({ title, content, tags: JSON.parse(tags) as string[], about: subjects });
      const partition = await partitionId(db, place);
      await insertTerms(db, row, partition, terms);
      await db.run("UPDATE @partitions SET live = live + 1, length = length + ? WHERE id = ?", [
        terms.length,
        partition,
      ]);
      for (const { key, firstTerm, name } of subjectsOf(subjects))
        await addSubject(db, partition, key, firstTerm, name, 1);
      after = row;
    }
    if (rows.length < 500) return;
  }
}

const comparisons: readonly (readonly [string, string])[] = [
  [
    `SELECT count(*) AS n FROM @memories m WHERE ${alive} AND NOT EXISTS (SELECT 1 FROM @memory_terms t WHERE t.row = m.row)`,
    "live memories have no terms",
  ],
  [
    `SELECT count(*) AS n FROM @memory_terms t JOIN @memories m ON m.row = t.row WHERE NOT (${alive})`,
    "terms belong to no live memory",
  ],
  [
    `SELECT count(*) AS n FROM @memories m WHERE m.superseded_by IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM @memories s WHERE s.id = m.superseded_by)`,
    "memories name a successor that is not there",
  ],
  [
    `SELECT count(*) AS n FROM @partitions p WHERE p.live <> (SELECT count(*) FROM @memories m
       WHERE m.workspace = p.workspace AND m.scope = p.scope AND m.role = p.role AND ${alive})`,
    "partitions count wrongly",
  ],
];

/** What does not fit together, in words; changes nothing. */
export async function checkStore(db: Sql): Promise<CheckReport> {
  const problems: string[] = [];
  for (const [sql, what] of comparisons) {
    const row = await db.get<{ n: number }>(sql);
    if (row !== undefined && row.n > 0) problems.push(`${row.n} ${what}`);
  }
  const counts = await db.get<{ n: number; live: number }>(
    `SELECT count(*) AS n, count(*) FILTER (WHERE ${alive}) AS live FROM @memories m`,
  );
  return { ok: problems.length === 0, problems, memories: counts?.n ?? 0, live: counts?.live ?? 0 };
}

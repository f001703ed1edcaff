import { setImmediate as nextTurn } from "node:timers/promises";
import type { Database } from "@toolhaft/sqlite";
import { analyse, foldText } from "@toolhaft/text";
import type { CheckReport } from "../../store.ts";
import { termsOf } from "../../terms.ts";
import { type AnalyserMark, createFts, createTerms } from "./schema.ts";
import { insertTerms, isRebuilding, nextIndex, partitionId } from "./search-index.ts";

/** Rows that are indexed in one transaction: other writers get their turn between two of them. */
const batchRows = 500;

export function analyserOf(db: Database): AnalyserMark | undefined {
  const row = db.get<{ value: string }>("SELECT value FROM meta WHERE key = 'analyser'");
  return row && (JSON.parse(row.value) as AnalyserMark);
}

/** Older analysers use an index as it is: they never make it anew, or two Node versions would take turns for ever. */
export function isOutdated(mark: AnalyserMark, ours: AnalyserMark): boolean {
  if (mark.version !== ours.version) return mark.version < ours.version;
  return mark.icu < ours.icu;
}

/**
 * Makes the search index anew beside the one in use and swaps them at the end. Killed in between, the old one still
 * serves and the next call goes on where this one stopped.
 */
export async function rebuildIndex(db: Database, mark: AnalyserMark, signal: AbortSignal): Promise<void> {
  await db.write(() => begin(db, mark), { signal });
  for (;;) {
    const more = await db.write(() => nextBatch(db) || swap(db, mark), { signal });
    if (!more) return;
    await nextTurn();
  }
}

function begin(db: Database, mark: AnalyserMark): void {
  const running = db.get<{ value: string }>("SELECT value FROM meta WHERE key = 'rebuild'");
  if (running && running.value === JSON.stringify(mark)) return;
  dropNext(db);
  db.run(createTerms(nextIndex.terms));
  db.run(createFts(nextIndex.fts));
  setMeta(db, "rebuild", JSON.stringify(mark));
}

/** True while there may be more. */
function nextBatch(db: Database): boolean {
  // Another process may have finished the work.
  if (!isRebuilding(db)) return false;
  const rows = db.all<{
    row: number;
    workspace: string;
    scope: "workspace" | "role";
    role: string;
    title: string;
    content: string;
    tags: string;
    about: string;
  }>(
    `SELECT m.row, m.workspace, m.scope, m.role, m.title, m.content, m.tags, m.about FROM memories m
     WHERE m.row > coalesce((SELECT value FROM meta WHERE key = 'rebuild_row'), 0) + 0
       AND m.superseded_by IS NULL AND m.forgotten_at IS NULL ORDER BY m.row LIMIT ?`,
    [batchRows],
  );
  for (const { row, workspace, scope, role, title, content, tags, about } of rows) {
    if (db.get(`SELECT 1 FROM ${nextIndex.terms} WHERE row = ?`, [row])) continue;
    const terms = termsOf({ title, content, tags: JSON.parse(tags) as string[], about: JSON.parse(about) as string[] });
    insertTerms(db, nextIndex, row, partitionId(db, { workspace, scope, role }), terms);
  }
  const last = rows.at(-1);
  if (last) setMeta(db, "rebuild_row", String(last.row));
  return rows.length === batchRows;
}

/** Always false: there is nothing left to do. */
function swap(db: Database, mark: AnalyserMark): false {
  if (!isRebuilding(db)) return false;
  for (const table of ["memory_df", "memory_fts", "memory_terms"]) db.run(`DROP TABLE IF EXISTS ${table}`);
  db.run(`ALTER TABLE ${nextIndex.terms} RENAME TO memory_terms`);
  db.run(`ALTER TABLE ${nextIndex.fts} RENAME TO memory_fts`);
  db.run("CREATE VIRTUAL TABLE memory_df USING fts5vocab(memory_fts, 'row')");
  recount(db);
  setMeta(db, "analyser", JSON.stringify(mark));
  db.run("DELETE FROM meta WHERE key IN ('rebuild', 'rebuild_row')");
  return false;
}

function dropNext(db: Database): void {
  db.run(`DROP TABLE IF EXISTS ${nextIndex.fts}`);
  db.run(`DROP TABLE IF EXISTS ${nextIndex.terms}`);
  db.run("DELETE FROM meta WHERE key IN ('rebuild', 'rebuild_row')");
}

/** Counts that follow from the rows: partitions and subjects. */
function recount(db: Database): void {
  db.run(
    `UPDATE partitions AS p SET live = f.live, length = f.length FROM (
       SELECT q.id, count(t.row) AS live, coalesce(sum(t.len), 0) AS length FROM partitions q
       LEFT JOIN memories m ON m.workspace = q.workspace AND m.scope = q.scope AND m.role = q.role
         AND m.superseded_by IS NULL AND m.forgotten_at IS NULL
       LEFT JOIN memory_terms t ON t.row = m.row GROUP BY q.id) f WHERE f.id = p.id`,
  );
  db.run("DELETE FROM memory_subjects");
  const rows = db.all<{ partition: number; name: string; live: number }>(
    `SELECT p.id AS partition, a.value AS name, count(*) AS live FROM memories m
     JOIN partitions p ON p.workspace = m.workspace AND p.scope = m.scope AND p.role = m.role, json_each(m.about) a
     WHERE m.superseded_by IS NULL AND m.forgotten_at IS NULL GROUP BY p.id, a.value`,
  );
  for (const { partition, name, live } of rows) {
    const firstTerm = analyse(name)[0];
    if (firstTerm === undefined) continue;
    db.run(
      `INSERT INTO memory_subjects(partition, subject_key, first_term, name, live) VALUES(?, ?, ?, ?, ?)
       ON CONFLICT(partition, subject_key) DO UPDATE SET live = live + excluded.live`,
      [partition, foldText(name), firstTerm, name, live],
    );
  }
}

export function setMeta(db: Database, key: string, value: string): void {
  db.run("INSERT INTO meta(key, value) VALUES(?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value", [
    key,
    value,
  ]);
}

/** What does not fit together, in words; changes nothing. */
export async function checkStore(db: Database): Promise<CheckReport> {
  const problems: string[] = [];
  const quick = db.all<Record<string, string>>("PRAGMA quick_check(5)").map((row) => String(Object.values(row)[0]));
  for (const problem of quick) if (problem !== "ok") problems.push(`database: ${problem}`);
  try {
    await db.write(() => db.run("INSERT INTO memory_fts(memory_fts, rank) VALUES('integrity-check', 0)"));
  } catch (error) {
    problems.push(`search index: ${error instanceof Error ? error.message : String(error)}`);
  }
  for (const [sql, what] of comparisons) {
    try {
      const row = db.get<{ n: number }>(sql);
      if (row && row.n > 0) problems.push(`${row.n} ${what}`);
    } catch (error) {
      problems.push(`${what}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  const counts = db.get<{ n: number; live: number }>(
    "SELECT count(*) AS n, count(CASE WHEN superseded_by IS NULL AND forgotten_at IS NULL THEN 1 END) AS live FROM memories",
  );
  return { ok: problems.length === 0, problems, memories: counts?.n ?? 0, live: counts?.live ?? 0 };
}

const alive = "m.superseded_by IS NULL AND m.forgotten_at IS NULL";
const comparisons: readonly (readonly [string, string])[] = [
  [
    `SELECT count(*) AS n FROM memories m WHERE ${alive} AND m.row NOT IN (SELECT row FROM memory_terms)`,
    "live memories have no terms",
  ],
  [
    `SELECT count(*) AS n FROM memory_terms t WHERE t.row NOT IN (SELECT m.row FROM memories m WHERE ${alive})`,
    "terms belong to no live memory",
  ],
  [
    "SELECT count(*) AS n FROM memory_terms t WHERE t.row NOT IN (SELECT id FROM memory_fts_docsize)",
    "memories are not in the search index",
  ],
  [
    "SELECT count(*) AS n FROM memory_fts_docsize d WHERE d.id NOT IN (SELECT row FROM memory_terms) AND d.origin IS NOT NULL",
    "entries of the search index belong to no memory",
  ],
  [
    "SELECT count(*) AS n FROM memories m WHERE m.superseded_by IS NOT NULL AND m.superseded_by NOT IN (SELECT id FROM memories)",
    "memories name a successor that is not there",
  ],
  [
    `SELECT count(*) AS n FROM partitions p WHERE p.live <> (SELECT count(*) FROM memories m
       WHERE m.workspace = p.workspace AND m.scope = p.scope AND m.role = p.role AND ${alive})`,
    "partitions count wrongly",
  ],
  [
    "SELECT count(*) AS n FROM memory_history h WHERE h.row NOT IN (SELECT row FROM memories)",
    "history rows belong to no memory",
  ],
  [
    "SELECT count(*) AS n FROM edges WHERE from_row NOT IN (SELECT row FROM entities) OR to_row NOT IN (SELECT row FROM entities)",
    "edges point to nothing",
  ],
];

import type { Database, SqlValue } from "@toolhaft/sqlite";
import { fold, searchText } from "../../search-text.ts";
import type { TasksFile, WriteJob } from "./file.ts";
import { limitSql, type PackedEndedRow, taskColumns, toTask, unpackEnded } from "./rows.ts";

/** Tasks indexed in one transaction, so that nobody waits long for the lock. */
const batch = 250;

/** Brings the index up to date; edges leave that for later. */
export async function indexAll(file: TasksFile): Promise<void> {
  while (await file.read(isBehind)) await file.write(indexSome);
}

function isBehind(db: Database): boolean {
  if (db.get("SELECT 1 FROM task WHERE unindexed IS NOT NULL LIMIT 1") !== undefined) return true;
  return (db.get<{ seq: number | null }>("SELECT max(seq) AS seq FROM task")?.seq ?? 0) > indexedTo(db);
}

/** Tasks are indexed in their order, and one that was pruned has left its place: above the last nothing is indexed. */
function indexedTo(db: Database): number {
  return db.get<{ seq: number | null }>("SELECT max(seq) AS seq FROM doc")?.seq ?? 0;
}

/** Whether the index holds texts of a task, which a change then has to mark. */
export function isIndexed(write: WriteJob, seq: number): boolean {
  write.indexedTo ??= indexedTo(write.db);
  return seq <= write.indexedTo;
}

function indexSome(write: WriteJob): void {
  const { db } = write;
  write.indexedTo = undefined;
  const read = (condition: string, limit: number) =>
    db
      .all<PackedEndedRow>(`SELECT ${taskColumns} FROM task t WHERE ${condition} ORDER BY t.seq ${limitSql(limit)}`)
      .map(unpackEnded);
  const changed = read("t.unindexed IS NOT NULL", batch);
  const added = read("t.seq > (SELECT coalesce(max(d.seq), 0) FROM doc d)", batch - changed.length);
  for (const row of [...changed, ...added]) {
    const task = toTask(row);
    db.run(
      `INSERT INTO doc(seq, title, text) VALUES(?, ?, ?)
       ON CONFLICT(seq) DO UPDATE SET title = excluded.title, text = excluded.text`,
      [row.seq, fold(task.title), searchText(task)],
    );
    if (row.unindexed !== null) db.run("UPDATE task SET unindexed = NULL WHERE seq = ?", [row.seq]);
  }
}

/** A condition on `t.seq` for terms of any length: trigrams find the long ones, the text itself is asked for the rest. */
export function matchCondition(terms: readonly string[]): { sql: string; values: SqlValue[] } | undefined {
  if (terms.length === 0) return undefined;
  const long = terms.filter((term) => [...term].length >= 3);
  const short = terms.filter((term) => [...term].length < 3);
  const conditions: string[] = [];
  const values: SqlValue[] = [];
  if (long.length > 0) {
    conditions.push("t.seq IN (SELECT rowid FROM doc_trigram WHERE doc_trigram MATCH ?)");
    values.push(long.map(quoted).join(" AND "));
  }
  if (short.length > 0) {
    const all = short.map(() => "instr(d.text, ?) > 0").join(" AND ");
    // After the trigrams have found few, each of those is looked at; alone, the texts are read once in their order.
    conditions.push(
      long.length > 0
        ? `EXISTS (SELECT 1 FROM doc d WHERE d.seq = t.seq AND ${all})`
        : `t.seq IN (SELECT d.seq FROM doc d WHERE ${all})`,
    );
    values.push(...short);
  }
  return { sql: conditions.join(" AND "), values };
}

function quoted(term: string): string {
  return `"${term.replaceAll('"', '""')}"`;
}

/** Milliseconds without a change after which new texts are indexed. */
const idleMs = 1_000;

/** Indexes when nothing else happens, so that the next search need not. */
export function idleIndex(file: TasksFile): { stop(): Promise<void> } {
  let timer: NodeJS.Timeout | undefined;
  let working: Promise<void> | undefined;
  let stopped = false;
  file.listen(() => {
    if (stopped || working !== undefined) return;
    if (timer === undefined) timer = setTimeout(pass, idleMs).unref();
    else timer.refresh();
  });
  return {
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await working;
    },
  };

  function pass(): void {
    timer = undefined;
    if (stopped) return;
    working = indexAll(file)
      // Whoever searches next does it again, and is told what is wrong.
      .catch(() => undefined)
      .finally(() => {
        working = undefined;
      });
  }
}

import { fold, searchText, toTask } from "@toolhaft/tasks/adapter";
import type { PostgresDatabase, SqlValue, Transaction } from "../database.ts";
import { type PackedEndedRow, taskColumns, unpackEnded } from "./rows.ts";

/** Tasks indexed in one transaction, so that nobody waits long for their locks. */
const batch = 250;

/** Brings the index up to date; edges leave that for later. What others index just now is left to them. */
export async function indexAll(db: PostgresDatabase): Promise<void> {
  while ((await db.get("SELECT 1 AS behind FROM @task WHERE unindexed IS NOT NULL LIMIT 1")) !== undefined)
    if ((await db.transaction(indexSome)) === 0) return;
}

async function indexSome(db: Transaction): Promise<number> {
  const rows = await db.all<PackedEndedRow>(
    `SELECT ${taskColumns} FROM @task t WHERE t.unindexed IS NOT NULL ORDER BY t.seq LIMIT ${batch} FOR UPDATE OF t`,
  );
  const tasks = rows.map((row) => toTask(unpackEnded(row)));
  const seqs = tasks.map(({ seq }) => seq);
  await db.run(
    `INSERT INTO @doc(seq, title, text) SELECT * FROM unnest(?::bigint[], ?::text[], ?::text[])
     ON CONFLICT(seq) DO UPDATE SET title = excluded.title, text = excluded.text`,
    [seqs, tasks.map(({ title }) => plain(fold(title))), tasks.map((task) => plain(searchText(task)))],
  );
  await db.run("UPDATE @task SET unindexed = NULL WHERE seq = ANY(?::bigint[])", [seqs]);
  return rows.length;
}

function plain(text: string): string {
  return text.replaceAll("\0", "\ufffd");
}

/** A condition on `t.seq` for terms of any length; trigrams serve it where the server has them. */
export function matchCondition(terms: readonly string[]): { sql: string; values: SqlValue[] } | undefined {
  if (terms.length === 0) return undefined;
  const all = terms.map(() => "d.text LIKE ?").join(" AND ");
  return {
    sql: `t.seq IN (SELECT d.seq FROM @doc d WHERE ${all})`,
    values: terms.map((term) => `%${term.replace(/[\\%_]/g, "\\$&")}%`),
  };
}

/** Milliseconds without a change after which new texts are indexed. */
const idleMs = 1_000;

export interface IdleIndex {
  /** Something was changed here. */
  touch(): void;
  stop(): Promise<void>;
}

/** Indexes when nothing else happens, so that the next search need not. */
export function idleIndex(db: PostgresDatabase): IdleIndex {
  let timer: NodeJS.Timeout | undefined;
  let working: Promise<void> | undefined;
  let stopped = false;
  return {
    touch() {
      if (stopped || working !== undefined) return;
      if (timer === undefined) timer = setTimeout(pass, idleMs).unref();
      else timer.refresh();
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await working;
    },
  };

  function pass(): void {
    timer = undefined;
    if (stopped) return;
    working = indexAll(db)
      // Whoever searches next does it again, and is told what is wrong.
      .catch(() => undefined)
      .finally(() => {
        working = undefined;
      });
  }
}

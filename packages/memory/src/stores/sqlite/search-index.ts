import type { Database } from "@toolhaft/sqlite";
import { analyse, foldText } from "@toolhaft/text";
import type { Scope } from "../../model.ts";
import type { Caller, Terms } from "../../store.ts";

/** Where a memory is indexed: terms carry the partition's number, so foreign rows are never touched by a search. */
export interface Place {
  workspace: string;
  scope: Scope;
  role: string;
}

export function placeOf(caller: Caller, scope: Scope): Place {
  return { workspace: caller.workspace, scope, role: scope === "role" ? caller.agent : "" };
}

export function partitionId(db: Database, place: Place): number {
  const parameters = [place.workspace, place.scope, place.role];
  const found = db.get<{ id: number }>(
    "SELECT id FROM partitions WHERE workspace = ? AND scope = ? AND role = ?",
    parameters,
  );
  if (found) return found.id;
  return Number(db.run("INSERT INTO partitions(workspace, scope, role) VALUES(?, ?, ?)", parameters).lastInsertRowid);
}

export function liveCount(db: Database, partition: number): number {
  return db.get<{ live: number }>("SELECT live FROM partitions WHERE id = ?", [partition])?.live ?? 0;
}

/** `<partition>:<term>` for each term, as the full-text table holds them. */
export function prefixed(partition: number, terms: string): string {
  if (terms === "") return "";
  const prefix = `${partition.toString(36)}:`;
  return prefix + terms.replaceAll(" ", ` ${prefix}`);
}

/** Names of the tables of one index: there are two while it is made anew. */
interface IndexTables {
  fts: string;
  terms: string;
}

const current: IndexTables = { fts: "memory_fts", terms: "memory_terms" };
export const nextIndex: IndexTables = { fts: "memory_fts_new", terms: "memory_terms_new" };

export function addToIndex(db: Database, row: number, partition: number, terms: Terms, about: readonly string[]): void {
  insertTerms(db, current, row, partition, terms);
  if (isRebuilding(db)) {
    deleteTerms(db, nextIndex, row);
    insertTerms(db, nextIndex, row, partition, terms);
  }
  db.run("UPDATE partitions SET live = live + 1, length = length + ? WHERE id = ?", [terms.length, partition]);
  for (const subject of subjectsOf(about)) {
    db.run(
      `INSERT INTO memory_subjects(partition, subject_key, first_term, name, live) VALUES(?, ?, ?, ?, 1)
       ON CONFLICT(partition, subject_key) DO UPDATE SET live = live + 1`,
      [partition, subject.key, subject.firstTerm, subject.name],
    );
  }
}

export function removeFromIndex(db: Database, row: number, partition: number, about: readonly string[]): void {
  const length = db.get<{ len: number }>("SELECT len FROM memory_terms WHERE row = ?", [row])?.len ?? 0;
  deleteTerms(db, current, row);
  if (isRebuilding(db)) deleteTerms(db, nextIndex, row);
  db.run("UPDATE partitions SET live = live - 1, length = length - ? WHERE id = ?", [length, partition]);
  for (const { key } of subjectsOf(about)) {
    db.run("UPDATE memory_subjects SET live = live - 1 WHERE partition = ? AND subject_key = ?", [partition, key]);
    db.run("DELETE FROM memory_subjects WHERE partition = ? AND subject_key = ? AND live <= 0", [partition, key]);
  }
}

export function insertTerms(db: Database, tables: IndexTables, row: number, partition: number, terms: Terms): void {
  db.run(`INSERT INTO ${tables.terms}(row, title, body, tags, about, len) VALUES(?, ?, ?, ?, ?, ?)`, [
    row,
    terms.title,
    terms.body,
    terms.tags,
    terms.about,
    terms.length,
  ]);
  insertFts(db, tables.fts, row, partition, terms);
}

export function insertFts(
  db: Database,
  table: string,
  row: number,
  partition: number,
  terms: Omit<Terms, "length">,
): void {
  db.run(`INSERT INTO ${table}(rowid, title, body, tags, about) VALUES(?, ?, ?, ?, ?)`, [
    row,
    prefixed(partition, terms.title),
    prefixed(partition, terms.body),
    prefixed(partition, terms.tags),
    prefixed(partition, terms.about),
  ]);
}

function deleteTerms(db: Database, tables: IndexTables, row: number): void {
  const { changes } = db.run(`DELETE FROM ${tables.terms} WHERE row = ?`, [row]);
  if (changes > 0) db.run(`DELETE FROM ${tables.fts} WHERE rowid = ?`, [row]);
}

export function isRebuilding(db: Database): boolean {
  return db.get("SELECT 1 FROM meta WHERE key = 'rebuild'") !== undefined;
}

export function subjectsOf(about: readonly string[]): { key: string; firstTerm: string; name: string }[] {
  const subjects = new Map<string, { key: string; firstTerm: string; name: string }>();
  for (const name of about) {
    const key = foldText(name);
    const firstTerm = analyse(name)[0];
    if (firstTerm !== undefined) subjects.set(key, { key, firstTerm, name });
  }
  return [...subjects.values()];
}

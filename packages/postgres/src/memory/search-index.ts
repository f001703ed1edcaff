import type { Caller, MemoryRecord, Terms } from "@toolhaft/memory";
import { type Place, prefixed, subjectsOf } from "@toolhaft/memory/adapter";
import type { Sql } from "../database.ts";
import { termKey } from "../term-key.ts";

/** Taken by every write: what moves neighbours, counts and duplicates of one workspace happens one after another. */
export async function lockWorkspace(db: Sql, { workspace }: Pick<Caller, "workspace">): Promise<void> {
  await db.get("SELECT pg_advisory_xact_lock(hashtextextended(?, 2))", [workspace]);
}

export async function partitionId(db: Sql, { workspace, scope, role }: Place): Promise<number> {
  const place = [workspace, scope, role];
  const found = await db.get<{ id: number }>(
    "SELECT id FROM @partitions WHERE workspace = ? AND scope = ? AND role = ?",
    place,
  );
  if (found) return found.id;
  const made = await db.get<{ id: number }>(
    "INSERT INTO @partitions(workspace, scope, role) VALUES(?, ?, ?) RETURNING id",
    place,
  );
  return made?.id ?? 0;
}

export async function liveCount(db: Sql, partition: number): Promise<number> {
  return (await db.get<{ live: number }>("SELECT live FROM @partitions WHERE id = ?", [partition]))?.live ?? 0;
}

export async function addToIndex(
  db: Sql,
  row: number,
  partition: number,
  terms: Terms,
  about: MemoryRecord["about"],
): Promise<void> {
  await insertTerms(db, row, partition, terms);
  await db.run("UPDATE @partitions SET live = live + 1, length = length + ? WHERE id = ?", [terms.length, partition]);
  for (const { key, firstTerm, name } of subjectsOf(about)) await addSubject(db, partition, key, firstTerm, name, 1);
}

export async function addSubject(
  db: Sql,
  partition: number,
  key: string,
  firstTerm: string,
  name: string,
  live: number,
): Promise<void> {
  await db.run(
    `INSERT INTO @memory_subjects AS s(partition, subject_key, first_term, name, live) VALUES(?, ?, ?, ?, ?)
     ON CONFLICT(partition, subject_key) DO UPDATE SET live = s.live + excluded.live`,
    [partition, key, firstTerm, name, live],
  );
}

export async function removeFromIndex(
  db: Sql,
  row: number,
  partition: number,
  about: MemoryRecord["about"],
): Promise<void> {
  const gone = await db.get<{ len: number }>("DELETE FROM @memory_terms WHERE row = ? RETURNING len", [row]);
  await db.run("UPDATE @partitions SET live = live - 1, length = length - ? WHERE id = ?", [gone?.len ?? 0, partition]);
  for (const { key } of subjectsOf(about)) {
    await db.run("UPDATE @memory_subjects SET live = live - 1 WHERE partition = ? AND subject_key = ?", [
      partition,
      key,
    ]);
    await db.run("DELETE FROM @memory_subjects WHERE partition = ? AND subject_key = ? AND live <= 0", [
      partition,
      key,
    ]);
  }
}

export async function insertTerms(db: Sql, row: number, partition: number, terms: Terms): Promise<void> {
  const columns = [terms.title, terms.body, terms.tags, terms.about];
  const distinct = new Set(columns.flatMap((column) => prefixed(partition, column).split(" ")));
  distinct.delete("");
  await db.run(
    "INSERT INTO @memory_terms(row, title, body, tags, about, len, terms) VALUES(?, ?, ?, ?, ?, ?, ?::text[])",
    [row, ...columns, terms.length, [...distinct].map(termKey)],
  );
}

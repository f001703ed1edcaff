import {
  type EndedRow,
  headChars,
  parsed,
  recordColumns,
  type TaskRecord,
  type TaskRow,
} from "@toolhaft/tasks/adapter";
import type { Sql, SqlValue, Transaction } from "../database.ts";

interface PackedRow {
  packed: string;
  body: string;
}
export type PackedEndedRow = PackedRow & Pick<EndedRow, "result_json" | "head">;

/** One value instead of 57: a row so wide costs the driver more than its JSON. */
export const packedColumns = `json_build_array(${recordColumns.map((column) => `t.${column}`).join(", ")})::text AS packed`;
export const rowColumns = `${packedColumns}, t.body`;
const ofLast = "FROM @attempt a WHERE a.task = t.seq AND a.attempt = t.attempt AND t.ended_at IS NOT NULL";
export const taskColumns = `${rowColumns}, (SELECT a.result_json ${ofLast}) AS result_json,
  (SELECT left(a.text, ${headChars}) ${ofLast}) AS head`;

export function unpack({ packed, body }: PackedRow): TaskRow {
  const values = parsed<(string | number | null)[]>(packed);
  const row: Record<string, string | number | null> = { body };
  for (let index = 0; index < recordColumns.length; index++) row[recordColumns[index] ?? ""] = values[index] ?? null;
  return row as unknown as TaskRow;
}

export function unpackEnded(packed: PackedEndedRow): EndedRow {
  return { ...unpack(packed), result_json: packed.result_json, head: packed.head };
}

export async function readTask(db: Sql, id: string): Promise<EndedRow | undefined> {
  const packed = await db.get<PackedEndedRow>(`SELECT ${taskColumns} FROM @task t WHERE t.id = ?`, [id]);
  return packed && unpackEnded(packed);
}

/** Rows that a condition on `t` finds. */
export async function readRows(db: Sql, condition: string, values: readonly SqlValue[]): Promise<TaskRow[]> {
  return (await db.all<PackedRow>(`SELECT ${rowColumns} FROM ${condition}`, values)).map(unpack);
}

export async function readRecord(db: Sql, id: string): Promise<TaskRow | undefined> {
  return (await readRows(db, "@task t WHERE t.id = ?", [id]))[0];
}

/** The row under its lock; the clock is read after the wait for it. */
export async function lockRecord(db: Transaction, id: string): Promise<TaskRow | undefined> {
  const found = await db.get<PackedRow & { now: number }>(
    `WITH locked AS MATERIALIZED (SELECT ${rowColumns} FROM @task t WHERE t.id = ? FOR UPDATE)
     SELECT *, @clock_ms() AS now FROM locked`,
    [id],
  );
  if (found === undefined) return undefined;
  db.now = Math.max(db.now, found.now);
  return unpack(found);
}

/** Writes changed columns of one row, which is under its lock. */
export async function updateTask(db: Sql, row: TaskRecord, changes: Partial<TaskRecord>): Promise<void> {
  const entries = Object.entries(changes);
  if (entries.length === 0) return;
  const set = entries.map(([key]) => `${key} = ?`).join(", ");
  const values = [...entries.map(([, value]) => value), row.seq, row.state, row.fence];
  const { changes: written } = await db.run(
    `UPDATE @task SET ${set} WHERE seq = ? AND state = ? AND fence = ?`,
    values,
  );
  if (written !== 1) throw new Error(`task ${row.id} changed while it was being written`);
}

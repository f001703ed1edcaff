import type { NewTask, Task } from "@toolhaft/tasks";
import { noRoom, noSuchDependency, postedColumns, postedRecord, type TaskRow, toTask } from "@toolhaft/tasks/adapter";
import type { Sql, Transaction } from "../database.ts";
import { taskOf } from "./apply.ts";
import { writeLimits } from "./budget.ts";
import { writeNotice } from "./notices.ts";
import { type PackedEndedRow, readTask, taskColumns, unpackEnded } from "./rows.ts";
import { unblock } from "./write-edge.ts";
import type { WriteJob } from "./write-job.ts";

export interface Posted {
  task: Task;
  created: boolean;
}

/** Whether one statement posts it: nothing else has to be looked at or written. */
export function isPlain(init: NewTask): boolean {
  return (
    init.dedupeKey == null &&
    init.maxQueued === undefined &&
    init.budget == null &&
    init.assignee == null &&
    init.limits?.queueMs == null &&
    (init.dependsOn ?? []).length === 0
  );
}

/** Posts plain tasks in one statement that is a transaction by itself. */
export async function postPlain(db: Sql, tasks: readonly NewTask[], ids: readonly string[]): Promise<Posted[]> {
  const rows = tasks.map((init, index) => recordOf(init, ids[index] ?? "", 0));
  const inserted = await insertRows(db, rows);
  return rows.map((row) => {
    const { seq = 0, created_at = 0 } = inserted.get(row.id) ?? {};
    const whole = { ...row, seq, created_at, queued_at: created_at };
    return { task: taskOf({ row: whole, result: null }), created: true };
  });
}

/** Posts one task, inside a transaction; an open one with the same dedupe key stands in for it. */
export async function postTask(write: WriteJob, init: NewTask, id: string, again: boolean): Promise<Posted> {
  const { db } = write;
  const earlier = again ? await readTask(db, id) : undefined;
  if (earlier !== undefined) return { task: toTask(earlier), created: true };
  const known = init.dedupeKey == null ? undefined : await openWithKey(db, init.dedupeKey);
  if (known !== undefined) return { task: known, created: false };
  await checkRoom(db, init);
  const needs = await lockDependencies(db, init.dependsOn ?? []);
  const made = recordOf(init, id, db.now);
  const row: TaskRow = { ...made, seq: (await insertRows(db, [made])).get(id)?.seq ?? 0 };
  if (needs.length > 0) {
    await db.run("INSERT INTO @dependency(task, needs) SELECT ?, unnest(?::bigint[]) ON CONFLICT DO NOTHING", [
      row.seq,
      needs,
    ]);
    await db.run("UPDATE @task SET needed = 1 WHERE seq = ANY(?::bigint[]) AND needed = 0", [needs]);
  }
  if (init.budget != null) await writeLimits(db, { task: row.id }, init.budget);
  if (init.assignee != null) await writeNotice(write, row, { kind: "task_posted", to: `agent:${init.assignee}` });
  write.hint({ taskId: id, kind: "posted" });
  const moved = needs.length > 0 ? await unblock(write, row) : undefined;
  return { task: taskOf(moved ?? { row, result: null }), created: true };
}

async function openWithKey(db: Sql, key: string): Promise<Task | undefined> {
  const row = await db.get<PackedEndedRow>(
    `SELECT ${taskColumns} FROM @task t WHERE t.dedupe_key = ? AND t.ended_at IS NULL`,
    [key],
  );
  return row && toTask(unpackEnded(row));
}

/** @throws ToolError `unavailable` when its lane, or the board, holds as many as it may */
async function checkRoom(db: Sql, { maxQueued, kind, lane }: NewTask): Promise<void> {
  if (maxQueued === undefined) return;
  const board = kind === "board" || lane == null;
  // Two that count at once would each see the last place free.
  await db.get("SELECT pg_advisory_xact_lock(hashtextextended(?, 0))", [`room of ${board ? kind : `lane ${lane}`}`]);
  const queued = board
    ? await db.get<{ n: number }>(
        "SELECT count(*) AS n FROM (SELECT 1 FROM @task WHERE kind = ? AND state = 'queued' LIMIT ?) AS found",
        [kind, maxQueued],
      )
    : await db.get<{ n: number }>("SELECT count(*) AS n FROM @task WHERE lane = ? AND state = 'queued'", [lane]);
  if ((queued?.n ?? 0) < maxQueued) return;
  throw noRoom(kind, lane, queued?.n ?? 0, maxQueued);
}

/** Under their locks: whoever settles one of them meanwhile waits, and then sees that it is needed. */
async function lockDependencies(db: Sql, ids: readonly string[]): Promise<number[]> {
  if (ids.length === 0) return [];
  const found = await db.all<{ seq: number; id: string }>(
    "SELECT seq, id FROM @task WHERE id = ANY(?::text[]) ORDER BY seq FOR UPDATE",
    [ids],
  );
  if (found.length === new Set(ids).size) return found.map(({ seq }) => seq);
  throw noSuchDependency();
}

const insertedColumns: readonly (keyof TaskRow)[] = [...postedColumns, "body"];

const numbers: readonly string[] = [
  "priority",
  "depth",
  "max_attempts",
  "allow_empty",
  "not_before",
  "created_at",
  "queued_at",
  "last_seq",
  "due_at",
];
const recordset = insertedColumns
  .map((column) => `${column} ${numbers.includes(column) ? "bigint" : "text"}`)
  .join(", ");
/** A time of 0 is now, by the server's clock. */
const timed = insertedColumns.map((column) =>
  column === "created_at" || column === "queued_at"
    ? `CASE r.${column} WHEN 0 THEN c.now ELSE r.${column} END`
    : `r.${column}`,
);
const insertSql = `WITH c AS MATERIALIZED (SELECT @clock_ms() AS now),
  r AS MATERIALIZED (SELECT * FROM json_to_recordset(?::json) AS r(ord int, data text, ${recordset})),
  t AS (INSERT INTO @task(${insertedColumns.join(", ")}) SELECT ${timed.join(", ")} FROM r, c ORDER BY r.ord
    RETURNING seq, id, created_at),
  e AS (INSERT INTO @event(task, seq, attempt, at, kind, key, data)
    SELECT t.seq, 1, 0, t.created_at, 'posted', 'post', r.data FROM t JOIN r USING (id)),
  y AS (INSERT INTO @tally AS y(owner, kind, running, queued, waiting)
    SELECT owner, kind, 0, count(*), 0 FROM r GROUP BY owner, kind ORDER BY owner, kind
    ON CONFLICT(owner, kind) DO UPDATE SET queued = y.queued + excluded.queued)
  SELECT seq, id, created_at FROM t`;

/** Rows with their event, and counted for their owners; gives the numbers they got. */
async function insertRows(db: Sql | Transaction, rows: readonly TaskRow[]) {
  const input = rows.map((row, ord) => ({
    ord,
    ...Object.fromEntries(insertedColumns.map((column) => [column, row[column]])),
    data: JSON.stringify({
      by: { agent: row.created_agent, sessionId: row.created_session },
      assignee: row.assignee,
    }),
  }));
  const made = await db.all<{ seq: number; id: string; created_at: number }>(insertSql, [
    storable(JSON.stringify(input)),
  ]);
  return new Map(made.map((one) => [one.id, one]));
}

/** JSON whose texts PostgreSQL can hold: a NUL and half a surrogate become U+FFFD. */
function storable(json: string): string {
  return /\\u(0000|d[89a-f])/.test(json)
    ? json.replace(/(\\\\)|\\u0000|\\ud[89a-f][0-9a-f]{2}/g, (all, escaped) => (escaped === undefined ? "\ufffd" : all))
    : json;
}

/** The search index of this store marks what it has not seen yet. */
function recordOf(init: NewTask, id: string, now: number): TaskRow {
  return { ...postedRecord(init, now), id, body: init.body, unindexed: 1 };
}

import type { Database, SqlValue } from "@toolhaft/sqlite";
import type { Task } from "../../model.ts";
import { noRoom, noSuchDependency, postedColumns, postedRecord } from "../../posting.ts";
import type { NewTask } from "../../store.ts";
import { taskOf } from "./apply.ts";
import { writeLimits } from "./budget.ts";
import type { WriteJob } from "./file.ts";
import { writeNotice } from "./notices.ts";
import { kindSql, limitSql, type PackedEndedRow, type StoredRow, taskColumns, toTask, unpackEnded } from "./rows.ts";
import { unblock } from "./write-edge.ts";

/** Rows inserted by one statement. */
const insertedAtOnce = 50;
/** Code points of a body that still stands with its row. */
const shortBody = 500;

type Posted = { task: Task; created: boolean };

/** Posts tasks, inside a write; an open one with the same dedupe key stands in for a new one. */
export function postTasks(write: WriteJob, tasks: readonly NewTask[]): Posted[] {
  const posted: Posted[] = [];
  for (let at = 0; at < tasks.length; ) {
    const end = endOfPlain(tasks, at);
    const first = tasks[at];
    if (end > at)
      posted.push(
        ...insert(write, tasks.slice(at, end)).map((row) => ({ task: taskOf({ row, result: null }), created: true })),
      );
    else if (first !== undefined) posted.push(postOne(write, first));
    at = Math.max(end, at + 1);
  }
  return posted;
}

/** Where the tasks end that can be inserted together: none of them asks what is there already. */
function endOfPlain(tasks: readonly NewTask[], start: number): number {
  let end = start;
  while (end < tasks.length && end - start < insertedAtOnce) {
    const task = tasks[end];
    if (task === undefined || task.dedupeKey != null || task.maxQueued !== undefined || task.budget != null) break;
    if (task.dependsOn !== undefined && task.dependsOn.length > 0) break;
    end++;
  }
  return end;
}

function postOne(write: WriteJob, init: NewTask): Posted {
  const { db } = write;
  const known = init.dedupeKey == null ? undefined : openWithKey(db, init.dedupeKey);
  if (known !== undefined) return { task: known, created: false };
  checkRoom(db, init);
  const needs = dependenciesOf(db, init.dependsOn ?? []);
  const [row] = insert(write, [init]);
  if (row === undefined) throw new Error("nothing was inserted");
  for (const seq of needs) {
    db.run("INSERT OR IGNORE INTO dependency(task, needs) VALUES(?, ?)", [row.seq, seq]);
    db.run("UPDATE task SET needed = 1 WHERE seq = ?", [seq]);
  }
  if (init.budget != null) writeLimits(db, { task: row.id }, init.budget);
  const moved = needs.length > 0 ? unblock(write, row) : undefined;
  return { task: taskOf(moved ?? { row, result: null }), created: true };
}

/** Writes rows in one statement; with each goes its count, its long body and what its assignee is told. */
function insert(write: WriteJob, tasks: readonly NewTask[]): StoredRow[] {
  const { db, now } = write;
  const rows = tasks.map(
    (init): StoredRow => Object.assign(postedRecord(init, now), { body: init.body, tail_json: null, kept: 0 }),
  );
  const columns = postedColumns.filter((column) => rows.some((row) => row[column] !== null));
  const values: SqlValue[] = [];
  for (const row of rows) {
    for (const column of columns) values.push(row[column]);
    values.push(row.body.length <= shortBody ? row.body : null);
  }
  const { lastInsertRowid } = db.run(insertSql(columns, rows.length), values);
  const last = Number(lastInsertRowid);
  for (const [index, row] of rows.entries()) {
    // One statement under the write lock gives numbers that follow each other.
    row.seq = last - rows.length + 1 + index;
    if (row.body.length > shortBody) db.run("INSERT INTO body(task, text) VALUES(?, ?)", [row.seq, row.body]);
    if (row.due_at !== null && row.due_at <= now) write.caughtUp = false;
    write.tally.move(row.owner, row.kind, null, row.state);
    write.hint({ taskId: row.id, kind: "posted" });
    if (row.assignee !== null) writeNotice(write, row, { kind: "task_posted", to: `agent:${row.assignee}` });
  }
  return rows;
}

function insertSql(columns: readonly string[], rows: number): string {
  const marks = `(${"?, ".repeat(columns.length)}?)`;
  return `INSERT INTO task(${columns.join(", ")}, body) VALUES${`${marks}, `.repeat(rows - 1)}${marks}`;
}

function openWithKey(db: Database, key: string): Task | undefined {
  const row = db.get<PackedEndedRow>(`SELECT ${taskColumns} FROM task t WHERE dedupe_key = ? AND ended_at IS NULL`, [
    key,
  ]);
  return row && toTask(unpackEnded(row));
}

/** @throws ToolError `unavailable` when its lane, or the board, holds as many as it may */
function checkRoom(db: Database, { maxQueued, kind, lane }: NewTask): void {
  if (maxQueued === undefined) return;
  const queued =
    kind === "board" || lane == null
      ? db.get<{ n: number }>(
          `SELECT count(*) AS n FROM (SELECT 1 FROM task WHERE kind = ${kindSql(kind)} AND state = 'queued' ${limitSql(maxQueued)})`,
        )
      : db.get<{ n: number }>("SELECT count(*) AS n FROM task WHERE lane = ? AND state = 'queued'", [lane]);
  if ((queued?.n ?? 0) < maxQueued) return;
  throw noRoom(kind, lane, queued?.n ?? 0, maxQueued);
}

function dependenciesOf(db: Database, ids: readonly string[]): number[] {
  return ids.map((id) => {
    const found = db.get<{ seq: number }>("SELECT seq FROM task WHERE id = ?", [id]);
    if (found !== undefined) return found.seq;
    throw noSuchDependency();
  });
}

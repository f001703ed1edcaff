import { ToolError } from "@toolhaft/core";
import type { Database } from "@toolhaft/sqlite";
import { createTaskId } from "../../ids.ts";
import type { Task } from "../../model.ts";
import { dueOf, type TaskRecord } from "../../record.ts";
import type { NewTask } from "../../store.ts";
import { taskOf } from "./apply.ts";
import { writeLimits } from "./budget.ts";
import type { WriteJob } from "./file.ts";
import { writeNotice } from "./notices.ts";
import { type PackedEndedRow, type TaskRow, taskColumns, toTask, unpackEnded } from "./rows.ts";
import { moveTally } from "./tally.ts";
import { unblock, writeEvent } from "./write-edge.ts";

/** Posts one task, inside a write; an open one with the same dedupe key stands in for it. */
export function postTask(write: WriteJob, init: NewTask): { task: Task; created: boolean } {
  const { db } = write;
  const known = init.dedupeKey == null ? undefined : openWithKey(db, init.dedupeKey);
  if (known !== undefined) return { task: known, created: false };
  checkRoom(db, init);
  const needs = dependenciesOf(db, init.dependsOn ?? []);
  const row: TaskRow = { ...insertTask(write, init), body: init.body };
  db.run("INSERT INTO body(task, text) VALUES(?, ?)", [row.seq, init.body]);
  for (const seq of needs) {
    db.run("INSERT OR IGNORE INTO dependency(task, needs) VALUES(?, ?)", [row.seq, seq]);
    db.run("UPDATE task SET needed = 1 WHERE seq = ?", [seq]);
  }
  if (init.budget != null) writeLimits(db, { task: row.id }, init.budget);
  writeEvent(write, row, 1, "posted", "post", { by: init.createdBy, assignee: init.assignee ?? null });
  moveTally(db, row.owner, row.kind, null, row.state);
  if (init.assignee != null) writeNotice(write, row, { kind: "task_posted", to: `agent:${init.assignee}` });
  const moved = needs.length > 0 ? unblock(write, row) : undefined;
  return { task: taskOf(moved ?? { row, result: null }), created: true };
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
          "SELECT count(*) AS n FROM (SELECT 1 FROM task WHERE kind = ? AND state = 'queued' LIMIT ?)",
          [kind, maxQueued],
        )
      : db.get<{ n: number }>("SELECT count(*) AS n FROM task WHERE lane = ? AND state = 'queued'", [lane]);
  if ((queued?.n ?? 0) < maxQueued) return;
  const where = kind === "board" ? "the board" : `lane ${lane ?? ""}`;
  throw new ToolError("unavailable", `${where} holds ${queued?.n} waiting tasks, at most ${maxQueued} are allowed`, {
    hint: "wait until some of them are done, then repeat the call",
    retryable: true,
    details: { lane: lane ?? null, queued: queued?.n, limit: maxQueued, retryAfterMs: 5_000 },
  });
}

function dependenciesOf(db: Database, ids: readonly string[]): number[] {
  return ids.map((id) => {
    const found = db.get<{ seq: number }>("SELECT seq FROM task WHERE id = ?", [id]);
    if (found !== undefined) return found.seq;
    throw new ToolError("invalid_input", "depends_on names a task that is not on this store", {
      hint: "post the tasks it waits for first, and copy their ids whole",
    });
  });
}

const insertedColumns = [
  "id",
  "kind",
  "title",
  "agent",
  "assignee",
  "created_agent",
  "created_session",
  "state",
  "mode",
  "class",
  "priority",
  "lane",
  "owner",
  "root",
  "parent",
  "depth",
  "continues",
  "slot_of",
  "dedupe_key",
  "depends_json",
  "max_attempts",
  "on_lost",
  "session_id",
  "limits_json",
  "allow_empty",
  "resume_json",
  "not_before",
  "created_at",
  "queued_at",
  "last_seq",
  "meta_json",
  "due_at",
] as const satisfies readonly (keyof TaskRecord)[];
const insertSql = `INSERT INTO task(${insertedColumns.join(", ")}) VALUES(${insertedColumns.map(() => "?").join(", ")})`;

function insertTask({ db, now }: WriteJob, init: NewTask): TaskRecord {
  const depends = [...new Set(init.dependsOn ?? [])];
  const blocked = depends.length > 0;
  const row: TaskRecord = {
    ...blank,
    id: createTaskId(now),
    kind: init.kind,
    title: init.title,
    agent: init.agent ?? null,
    assignee: init.assignee ?? null,
    created_agent: init.createdBy.agent,
    created_session: init.createdBy.sessionId,
    state: blocked ? "blocked" : "queued",
    mode: init.mode ?? null,
    class: init.mode ?? null,
    priority: init.priority ?? 0,
    lane: init.lane ?? null,
    owner: init.ownerSession,
    root: init.rootSession,
    parent: init.parentTask ?? null,
    depth: init.depth ?? 0,
    continues: init.continues ?? null,
    slot_of: init.slotOf ?? null,
    dedupe_key: init.dedupeKey ?? null,
    depends_json: blocked ? JSON.stringify(depends) : null,
    max_attempts: init.maxAttempts ?? 1,
    on_lost: init.onLost ?? "requeue",
    session_id: init.sessionId ?? null,
    limits_json: init.limits === undefined ? null : JSON.stringify(init.limits),
    allow_empty: (init.allowEmptyOutput ?? init.kind === "board") ? 1 : 0,
    resume_json: init.continues == null ? null : JSON.stringify({ why: "continue" }),
    not_before: init.notBefore ?? null,
    created_at: now,
    queued_at: blocked ? null : now,
    last_seq: 1,
    meta_json: init.metadata == null ? null : JSON.stringify(init.metadata),
  };
  row.due_at = dueOf(row);
  const { lastInsertRowid } = db.run(
    insertSql,
    insertedColumns.map((column) => row[column]),
  );
  return { ...row, seq: Number(lastInsertRowid) };
}

/** What a task begins with. */
const blank = {
  seq: 0,
  claimed_agent: null,
  claimed_session: null,
  engine: null,
  token_hash: null,
  lease_until: null,
  attached: 0,
  attempt: 0,
  attempt_open: 0,
  fence: 0,
  sessions: 0,
  cancel_json: null,
  cancel_at: null,
  handle_json: null,
  reserved: 0,
  claimed_at: null,
  started_at: null,
  activity_at: null,
  ended_at: null,
  wait_until: null,
  end_json: null,
  usage_json: null,
  due_at: null,
  unindexed: 1,
  needed: 0,
};

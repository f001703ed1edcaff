import { ToolError } from "@toolhaft/core";
import type { Database, SqlValue } from "@toolhaft/sqlite";
import { noSuchTask } from "../../ids.ts";
import type { Attempt, EventKind, TaskEvent } from "../../model.ts";
import { isHeld, type TaskRecord } from "../../record.ts";
import type { LaneSnapshot, OwnerSnapshot, Page } from "../../store.ts";
import { countedActive, defaultLanes, limitOf } from "./caps.ts";
import { lanesInForce } from "./engines.ts";
import {
  type AttemptRow,
  type EventRow,
  headChars,
  limitSql,
  placeOf,
  readRecord,
  toAttempt,
  toEvent,
} from "./rows.ts";

/** Ended attempts as they were written, and the open one from the task's row. */
export function readAttempts(db: Database, id: string): Attempt[] {
  const row = readRecord(db, id);
  if (row === undefined) throw noSuchTask();
  const ended = db.all<AttemptRow>(
    `SELECT attempt, state, session_id, started_at, ended_at, end_json, result_json, substr(text, 1, ${headChars}) AS head, usage_json
     FROM tried WHERE task = ? AND place BETWEEN ? AND ? ORDER BY place`,
    [row.seq, placeOf(row.seq, 0), placeOf(row.seq, 65_535)],
  );
  const attempts = ended.map((one) => toAttempt(id, one));
  if (row.attempt_open === 1) attempts.push(openAttempt(row));
  return attempts;
}

function openAttempt(row: TaskRecord): Attempt {
  return toAttempt(row.id, {
    attempt: row.attempt,
    state: row.state,
    session_id: row.session_id,
    started_at: row.started_at,
    ended_at: null,
    end_json: null,
    result_json: null,
    head: null,
    usage_json: row.usage_json,
  });
}

export function readEvents(
  db: Database,
  id: string,
  query: { afterSeq?: number; since?: string; kinds?: readonly EventKind[]; limit: number },
): Page<TaskEvent> {
  const task = db.get<Posted>(
    "SELECT seq, created_at, created_agent, created_session, assignee FROM task WHERE id = ?",
    [id],
  );
  if (task === undefined) throw noSuchTask();
  const where = ["task = ?", "seq > ?"];
  const values: SqlValue[] = [task.seq, query.afterSeq ?? 0];
  let since = Number.NEGATIVE_INFINITY;
  if (query.since !== undefined) {
    since = Date.parse(query.since);
    if (Number.isNaN(since)) throw new ToolError("invalid_input", "since is not a time: write 2026-03-02T09:00:00Z");
    where.push("at >= ?");
    values.push(since);
  }
  if (query.kinds !== undefined) {
    where.push(`kind IN (${query.kinds.map(() => "?").join(", ")})`);
    values.push(...query.kinds);
  }
  const from = `FROM happened WHERE ${where.join(" AND ")}`;
  const wantsFirst = (query.afterSeq ?? 0) < 1 && (query.kinds?.includes("posted") ?? true) && task.created_at >= since;
  const first = wantsFirst ? [postedEvent(task)] : [];
  const total = first.length + (db.get<{ n: number }>(`SELECT count(*) AS n ${from}`, values)?.n ?? 0);
  const stored = db.all<EventRow>(
    `SELECT seq, attempt, at, kind, data ${from} ORDER BY seq ${limitSql(query.limit)}`,
    values,
  );
  const rows = [...first, ...stored].slice(0, query.limit);
  const last = rows.at(-1);
  return {
    items: rows.map((row) => toEvent(id, row)),
    total,
    nextCursor: last !== undefined && total > rows.length ? String(last.seq) : null,
  };
}

interface Posted {
  seq: number;
  created_at: number;
  created_agent: string;
  created_session: string;
  assignee: string | null;
}

/** The first event of every task, which its row tells. */
function postedEvent(task: Posted): EventRow {
  const by = { agent: task.created_agent, sessionId: task.created_session };
  const data = JSON.stringify({ by, assignee: task.assignee });
  return { seq: 1, attempt: 0, at: task.created_at, kind: "posted", data };
}

/** Lanes as the engines that live have set them, with what runs and waits in each. */
export function readLanes(db: Database, now: number): LaneSnapshot[] {
  const limits = lanesInForce(db, now) ?? defaultLanes;
  const queued = db.all<{ lane: string; n: number; oldest: number }>(
    `SELECT lane, count(*) AS n, min(queued_at) AS oldest FROM task
     WHERE state = 'queued' AND lane IS NOT NULL AND kind = 'dispatch' GROUP BY lane`,
  );
  const active = countedActive(db, limits);
  const names = new Set([
    ...Object.keys(limits.lanes ?? {}),
    ...queued.map(({ lane }) => lane),
    ...active.flatMap(({ lane }) => lane ?? []),
  ]);
  return [...names].sort().map((lane) => {
    const { limit, reservedSync } = limitOf(limits, lane);
    const here = active.filter((row) => row.lane === lane);
    const sync = here.filter((row) => row.class === "sync").length;
    const background = here.length - sync;
    const waiting = queued.find((one) => one.lane === lane);
    const free = Math.max(0, limit - here.length);
    return {
      lane,
      limit,
      reservedSync,
      active: { sync, background },
      available: { sync: free, background: Math.max(0, Math.min(free, limit - reservedSync - background)) },
      queued: waiting?.n ?? 0,
      oldestWaitMs: waiting === undefined ? null : Math.max(0, now - waiting.oldest),
    };
  });
}

export function readOwners(db: Database, now: number): OwnerSnapshot[] {
  const limits = lanesInForce(db, now) ?? defaultLanes;
  const owners = new Map<string, number>();
  for (const { owner } of countedActive(db, limits)) owners.set(owner, (owners.get(owner) ?? 0) + 1);
  return [...owners]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([session, active]) => ({ session, active, limit: limits.perOwner ?? null }));
}

/** The claim a token's hash belongs to, while it lives. */
export function claimOfHash(db: Database, id: string, hash: string, now: number) {
  const row = readRecord(db, id);
  if (row === undefined || row.token_hash !== hash || (row.lease_until ?? 0) <= now) return undefined;
  return isHeld(row) || row.attached === 1 ? { taskId: id, fence: row.fence } : undefined;
}

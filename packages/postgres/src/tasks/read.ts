import { ToolError } from "@toolhaft/core";
import type { Attempt, EventKind, LaneSnapshot, OwnerSnapshot, Page, TaskEvent } from "@toolhaft/tasks";
import {
  type AttemptRow,
  type EventRow,
  headChars,
  isHeld,
  noSuchTask,
  type TaskRecord,
  toAttempt,
  toEvent,
} from "@toolhaft/tasks/adapter";
import type { Sql, SqlValue } from "../database.ts";
import { countedActive, defaultLanes, limitOf } from "./caps.ts";
import { lanesInForce } from "./engines.ts";
import { readRecord } from "./rows.ts";

/** Ended attempts as they were written, and the open one from the task's row. */
export async function readAttempts(db: Sql, id: string): Promise<Attempt[]> {
  const row = await readRecord(db, id);
  if (row === undefined) throw noSuchTask();
  const ended = await db.all<AttemptRow>(
    `SELECT attempt, state, session_id, started_at, ended_at, end_json, result_json, left(text, ${headChars}) AS head, usage_json
     FROM @attempt WHERE task = ? ORDER BY attempt`,
    [row.seq],
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

export async function readEvents(
  db: Sql,
  id: string,
  query: { afterSeq?: number; since?: string; kinds?: readonly EventKind[]; limit: number },
): Promise<Page<TaskEvent>> {
  const task = await db.get<{ seq: number }>("SELECT seq FROM @task WHERE id = ?", [id]);
  if (task === undefined) throw noSuchTask();
  const where = ["task = ?", "seq > ?"];
  const values: SqlValue[] = [task.seq, query.afterSeq ?? 0];
  if (query.since !== undefined) {
    const since = Date.parse(query.since);
    if (Number.isNaN(since)) throw new ToolError("invalid_input", "since is not a time: write 2026-03-02T09:00:00Z");
    where.push("at >= ?");
    values.push(since);
  }
  if (query.kinds !== undefined) {
    where.push("kind = ANY(?::text[])");
    values.push(query.kinds);
  }
  const from = `FROM @event WHERE ${where.join(" AND ")}`;
  const total = (await db.get<{ n: number }>(`SELECT count(*) AS n ${from}`, values))?.n ?? 0;
  const rows = await db.all<EventRow>(`SELECT seq, attempt, at, kind, data ${from} ORDER BY seq LIMIT ?`, [
    ...values,
    query.limit,
  ]);
  const last = rows.at(-1);
  return {
    items: rows.map((row) => toEvent(id, row)),
    total,
    nextCursor: last !== undefined && total > rows.length ? String(last.seq) : null,
  };
}

/** Lanes as the engines that live have set them, with what runs and waits in each. */
export async function readLanes(db: Sql, now: number): Promise<LaneSnapshot[]> {
  const limits = (await lanesInForce(db, now)) ?? defaultLanes;
  const queued = await db.all<{ lane: string; n: number; oldest: number }>(
    `SELECT lane, count(*) AS n, min(queued_at) AS oldest FROM @task
     WHERE state = 'queued' AND lane IS NOT NULL AND kind = 'dispatch' GROUP BY lane`,
  );
  const active = await countedActive(db, limits);
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

export async function readOwners(db: Sql, now: number): Promise<OwnerSnapshot[]> {
  const limits = (await lanesInForce(db, now)) ?? defaultLanes;
  const owners = new Map<string, number>();
  for (const { owner } of await countedActive(db, limits)) owners.set(owner, (owners.get(owner) ?? 0) + 1);
  return [...owners]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([session, active]) => ({ session, active, limit: limits.perOwner ?? null }));
}

/** The claim a token's hash belongs to, while it lives. */
export async function claimOfHash(db: Sql, id: string, hash: string, now: number) {
  const row = await readRecord(db, id);
  if (row === undefined || row.token_hash !== hash || (row.lease_until ?? 0) <= now) return undefined;
  return isHeld(row) || row.attached === 1 ? { taskId: id, fence: row.fence } : undefined;
}

import type { Database } from "@toolhaft/sqlite";
import {
  type BudgetAmount,
  type BudgetLimits,
  type BudgetMeasure,
  type BudgetScope,
  type BudgetState,
  budgetMeasures,
  type Usage,
  unknownUsage,
} from "../../model.ts";
import type { TaskRecord } from "../../record.ts";
import { parsed } from "./rows.ts";

/** What a claim sets aside, and what a top-up adds. */
const defaultStep: BudgetLimits = { inputTokens: 50_000, outputTokens: 50_000, totalTokens: 50_000, costUsd: 0.5 };
/** A reservation grows once so much of it is used. */
const topUpAt = 0.8;
const nothing: BudgetAmount = { inputTokens: 0, outputTokens: 0, totalTokens: 0, costUsd: 0, sessions: 0 };

export function scopeKey(scope: BudgetScope): string {
  return "root" in scope ? `root:${scope.root}` : `task:${scope.task}`;
}

/** The task itself, what is above it, and the root. */
function scopesOf(db: Database, row: Pick<TaskRecord, "id" | "parent" | "root">): string[] {
  const scopes = [`task:${row.id}`];
  for (let parent = row.parent; parent !== null; ) {
    scopes.push(`task:${parent}`);
    parent = db.get<{ parent: string | null }>("SELECT parent FROM task WHERE id = ?", [parent])?.parent ?? null;
  }
  return [...scopes, `root:${row.root}`];
}

interface BudgetRow {
  limits_json: string | null;
  input_tokens: number;
  output_tokens: number;
  cost_usd: number;
  reported: number;
  priced: number;
  sessions: number;
}

function budgetRow(db: Database, scope: string): BudgetRow | undefined {
  return db.get<BudgetRow>("SELECT * FROM budget WHERE scope = ?", [scope]);
}

function usedOf(db: Database, scope: string, row: BudgetRow | undefined): BudgetAmount {
  const input = row?.input_tokens ?? 0;
  const output = row?.output_tokens ?? 0;
  return {
    inputTokens: input,
    outputTokens: output,
    totalTokens: input + output,
    costUsd: row?.cost_usd ?? 0,
    sessions: sessionsOf(db, scope) + (row?.sessions ?? 0),
  };
}

/** Attempts begun below a scope, counted from the rows. */
function sessionsOf(db: Database, scope: string): number {
  const [kind, name] = split(scope);
  const sql =
    kind === "root"
      ? "SELECT coalesce(sum(sessions), 0) AS n FROM task WHERE root = ? AND kind = 'dispatch'"
      : `${subtree} SELECT coalesce(sum(t.sessions), 0) AS n FROM below JOIN task t ON t.id = below.id`;
  return db.get<{ n: number }>(sql, [name])?.n ?? 0;
}

const subtree = `WITH RECURSIVE below(id) AS (
  SELECT id FROM task WHERE id = ? UNION SELECT t.id FROM below JOIN task t ON t.parent = below.id)`;

function split(scope: string): ["root" | "task", string] {
  const at = scope.indexOf(":");
  return [scope.startsWith("root") ? "root" : "task", scope.slice(at + 1)];
}

interface Reservation {
  granted: BudgetLimits;
  consumed: BudgetAmount;
}

/** Held by live claims in a scope and not yet used. */
function reservedIn(db: Database, scope: string): BudgetAmount {
  const sum = { ...nothing };
  const rows = db.all<{ granted_json: string; consumed_json: string }>(
    "SELECT granted_json, consumed_json FROM reservation WHERE scope = ?",
    [scope],
  );
  for (const row of rows) {
    const [granted, consumed] = [parsed<BudgetLimits>(row.granted_json), parsed<BudgetAmount>(row.consumed_json)];
    for (const measure of budgetMeasures) sum[measure] += Math.max(0, (granted[measure] ?? 0) - consumed[measure]);
  }
  return sum;
}

/** For each measure that something above limits: how much is left for a new reservation. */
function roomOf(
  db: Database,
  scopes: readonly string[],
): {
  room: BudgetLimits;
  /** Measures of which others hold a part. */
  held: Set<BudgetMeasure>;
  limited: string[];
} {
  const room: BudgetLimits = {};
  const limited: string[] = [];
  const held = new Set<BudgetMeasure>();
  for (const scope of scopes) {
    const row = budgetRow(db, scope);
    if (row?.limits_json == null) continue;
    limited.push(scope);
    const limits = parsed<BudgetLimits>(row.limits_json);
    const [used, reserved] = [usedOf(db, scope, row), reservedIn(db, scope)];
    for (const measure of budgetMeasures) {
      const limit = limits[measure];
      if (limit === undefined) continue;
      const left = limit - used[measure] - reserved[measure];
      room[measure] = Math.min(room[measure] ?? Number.POSITIVE_INFINITY, left);
      if (reserved[measure] > 0) held.add(measure);
    }
  }
  return { room, held, limited };
}

export type Reserved =
  | { outcome: "none" }
  | { outcome: "reserved"; granted: BudgetLimits }
  /** `wait`: others hold what is left. `exceed`: it is used up. */
  | { outcome: "wait" | "exceed"; measure: BudgetMeasure };

/** Sets aside one step in every limited scope above a task, or says why not. */
export function reserve(db: Database, row: TaskRecord, step: BudgetLimits | undefined, newAttempt: boolean): Reserved {
  // A run that waited has kept what it was granted.
  const kept = row.reserved === 1 ? reservationOf(db, row.seq) : undefined;
  if (kept !== undefined) return { outcome: "reserved", granted: kept.granted };
  const scopes = scopesOf(db, row);
  const before = roomOf(db, scopes);
  if (before.limited.length === 0) return { outcome: "none" };
  const { room, held, limited } = lend(db, row, before) ? roomOf(db, scopes) : before;
  const granted: BudgetLimits = {};
  for (const measure of budgetMeasures) {
    const left = room[measure];
    if (left === undefined) continue;
    const wanted = measure === "sessions" ? (newAttempt ? 1 : 0) : stepOf(step, measure);
    if (left <= 0 && wanted > 0) return { outcome: held.has(measure) ? "wait" : "exceed", measure };
    // The session is counted with the row from now on; it is used, not held.
    if (measure !== "sessions") granted[measure] = Math.min(left, wanted);
  }
  for (const scope of limited) {
    db.run("INSERT OR REPLACE INTO reservation(task, scope, granted_json, consumed_json) VALUES(?, ?, ?, ?)", [
      row.seq,
      scope,
      JSON.stringify(granted),
      JSON.stringify(nothing),
    ]);
  }
  return { outcome: "reserved", granted };
}

/**
 * Where what is left is held by the tasks above, they give half of it to the child: else a parent that waits for its child
 * would hold for ever what the child waits for. Nothing is used twice, for what is given is taken off.
 */
function lend(db: Database, row: TaskRecord, { room, held }: ReturnType<typeof roomOf>): boolean {
  const missing = budgetMeasures.filter((measure) => (room[measure] ?? 1) <= 0 && held.has(measure));
  let lent = false;
  for (let parent = row.parent; parent !== null && missing.length > 0; ) {
    const above = db.get<{ seq: number; parent: string | null }>("SELECT seq, parent FROM task WHERE id = ?", [parent]);
    const reservation = above && reservationOf(db, above.seq);
    const { granted, consumed } = reservation ?? { granted: {}, consumed: nothing };
    for (const measure of [...missing]) {
      const unused = (granted[measure] ?? 0) - consumed[measure];
      if (unused <= 0) continue;
      granted[measure] = (granted[measure] ?? 0) - (measure === "costUsd" ? unused / 2 : Math.ceil(unused / 2));
      db.run("UPDATE reservation SET granted_json = ? WHERE task = ?", [JSON.stringify(granted), above?.seq ?? 0]);
      missing.splice(missing.indexOf(measure), 1);
      lent = true;
    }
    parent = above?.parent ?? null;
  }
  return lent;
}

function stepOf(step: BudgetLimits | undefined, measure: BudgetMeasure): number {
  return step?.[measure] ?? defaultStep[measure] ?? 0;
}

export function releaseReservation(db: Database, row: Pick<TaskRecord, "seq">): void {
  db.run("DELETE FROM reservation WHERE task = ?", [row.seq]);
}

/** What a claim was granted and has used; undefined where nothing above it is limited. */
function reservationOf(db: Database, task: number): Reservation | undefined {
  const row = db.get<{ granted_json: string; consumed_json: string }>(
    "SELECT granted_json, consumed_json FROM reservation WHERE task = ? LIMIT 1",
    [task],
  );
  return row && { granted: parsed(row.granted_json), consumed: parsed(row.consumed_json) };
}

/**
 * Takes one usage report: the running total under its key replaces the one before, the difference is added to the task,
 * what is above it and the root, and the reservation grows by a step when most of it is used.
 */
export function recordUsage(
  db: Database,
  row: TaskRecord,
  key: string,
  total: Usage,
  step: BudgetLimits | undefined,
): string {
  const before = db.get<UsageRow>("SELECT * FROM usage WHERE task = ? AND key = ?", [row.seq, key]);
  db.run(
    `INSERT OR REPLACE INTO usage(task, key, attempt, input_tokens, output_tokens, reasoning_tokens, cache_read_tokens, cache_write_tokens, cost_usd)
     VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      row.seq,
      key,
      before?.attempt ?? row.attempt,
      total.inputTokens,
      total.outputTokens,
      total.reasoningTokens,
      total.cacheReadTokens,
      total.cacheWriteTokens,
      total.costUsd,
    ],
  );
  const spent = {
    inputTokens: (total.inputTokens ?? 0) - (before?.input_tokens ?? 0),
    outputTokens: (total.outputTokens ?? 0) - (before?.output_tokens ?? 0),
    costUsd: (total.costUsd ?? 0) - (before?.cost_usd ?? 0),
  };
  const scopes = scopesOf(db, row);
  for (const scope of scopes) {
    db.run(
      `INSERT INTO budget(scope, input_tokens, output_tokens, cost_usd, reported, priced) VALUES(?, ?, ?, ?, ?, ?)
       ON CONFLICT(scope) DO UPDATE SET input_tokens = input_tokens + excluded.input_tokens,
         output_tokens = output_tokens + excluded.output_tokens, cost_usd = cost_usd + excluded.cost_usd,
         reported = max(reported, excluded.reported), priced = max(priced, excluded.priced)`,
      [
        scope,
        spent.inputTokens,
        spent.outputTokens,
        spent.costUsd,
        total.inputTokens === null && total.outputTokens === null ? 0 : 1,
        total.costUsd === null ? 0 : 1,
      ],
    );
  }
  if (row.reserved === 1) consume(db, row, scopes, spent, step);
  return JSON.stringify({ ...sumUsage(db, row.seq), complete: false });
}

function consume(
  db: Database,
  row: TaskRecord,
  scopes: readonly string[],
  spent: { inputTokens: number; outputTokens: number; costUsd: number },
  step: BudgetLimits | undefined,
): void {
  const held = reservationOf(db, row.seq);
  if (held === undefined) return;
  const { granted, consumed } = held;
  consumed.inputTokens += spent.inputTokens;
  consumed.outputTokens += spent.outputTokens;
  consumed.totalTokens += spent.inputTokens + spent.outputTokens;
  consumed.costUsd += spent.costUsd;
  keep();
  const { room } = roomOf(db, scopes);
  for (const measure of budgetMeasures) {
    const most = granted[measure];
    const left = room[measure] ?? 0;
    if (most === undefined || left <= 0 || consumed[measure] <= topUpAt * most) continue;
    const missing = Math.max(stepOf(step, measure), consumed[measure] - most);
    granted[measure] = most + Math.min(left, missing);
  }
  keep();

  function keep(): void {
    db.run("UPDATE reservation SET granted_json = ?, consumed_json = ? WHERE task = ?", [
      JSON.stringify(granted),
      JSON.stringify(consumed),
      row.seq,
    ]);
  }
}

interface UsageRow {
  attempt: number;
  input_tokens: number | null;
  output_tokens: number | null;
  cost_usd: number | null;
}

/** Distinct keys of a task, or of one attempt, together. */
export function sumUsage(db: Database, task: number, attempt?: number): Usage {
  const sum = db.get<Omit<Usage, "complete">>(
    `SELECT sum(input_tokens) AS inputTokens, sum(output_tokens) AS outputTokens, sum(reasoning_tokens) AS reasoningTokens,
       sum(cache_read_tokens) AS cacheReadTokens, sum(cache_write_tokens) AS cacheWriteTokens, sum(cost_usd) AS costUsd
     FROM usage WHERE task = ?${attempt === undefined ? "" : " AND attempt = ?"}`,
    attempt === undefined ? [task] : [task, attempt],
  );
  return { ...unknownUsage, ...sum, complete: false };
}

export function readBudget(db: Database, scope: BudgetScope): BudgetState {
  const key = scopeKey(scope);
  const row = budgetRow(db, key);
  const amounts = usedOf(db, key, row);
  const unknown = unknownIn(db, key);
  const tokensKnown = row?.reported === 1 || unknown === 0;
  const costKnown = row?.priced === 1 || amounts.sessions === 0;
  return {
    scope,
    limits: row?.limits_json == null ? null : parsed<BudgetLimits>(row.limits_json),
    used: {
      inputTokens: tokensKnown ? amounts.inputTokens : null,
      outputTokens: tokensKnown ? amounts.outputTokens : null,
      totalTokens: tokensKnown ? amounts.totalTokens : null,
      costUsd: costKnown ? amounts.costUsd : null,
      sessions: amounts.sessions,
    },
    reserved: reservedIn(db, key),
    unknownUsage: unknown,
    claim: "task" in scope ? claimState(db, scope.task) : null,
  };
}

function claimState(db: Database, id: string): BudgetState["claim"] {
  const row = db.get<{ seq: number }>("SELECT seq FROM task WHERE id = ? AND reserved = 1", [id]);
  const held = row && reservationOf(db, row.seq);
  if (held === undefined) return null;
  const { granted, consumed } = held;
  const exceeded = budgetMeasures.find((measure) => {
    const most = granted[measure];
    return most !== undefined && consumed[measure] >= most && consumed[measure] > 0;
  });
  return { granted, consumed, exceeded: exceeded ?? null };
}

/** How many attempts of `t` have ended without a word of what they used; one that is kept in its row never said any. */
export const unknownAttempts = `(t.kept = 1 AND t.started_at IS NOT NULL) + (SELECT count(*) FROM attempt a
  WHERE a.place BETWEEN t.seq * 65536 AND t.seq * 65536 + 65535 AND a.started_at IS NOT NULL AND a.usage_json IS NULL)`;

/** Ended attempts of subagents that never said what they used. */
function unknownIn(db: Database, scope: string): number {
  const [kind, name] = split(scope);
  const from = kind === "root" ? "FROM task t WHERE t.root = ?" : "FROM below JOIN task t ON t.id = below.id WHERE 1";
  const rows = `${kind === "root" ? "" : subtree} SELECT coalesce(sum(${unknownAttempts}), 0) AS n ${from} AND t.kind = 'dispatch'`;
  const pruned = db.get<{ n: number }>("SELECT pruned_unknown AS n FROM budget WHERE scope = ?", [scope])?.n ?? 0;
  return (db.get<{ n: number }>(rows, [name])?.n ?? 0) + pruned;
}

export function writeLimits(db: Database, scope: BudgetScope, limits: BudgetLimits | null): void {
  const json =
    limits === null || Object.values(limits).every((limit) => limit === undefined) ? null : JSON.stringify(limits);
  db.run(
    "INSERT INTO budget(scope, limits_json) VALUES(?, ?) ON CONFLICT(scope) DO UPDATE SET limits_json = excluded.limits_json",
    [scopeKey(scope), json],
  );
}

/** A retry that starts with the task's own counters at zero; what is above it keeps what was spent. */
export function resetTaskBudget(db: Database, row: Pick<TaskRecord, "id" | "seq">): void {
  const below = sessionsOf(db, `task:${row.id}`);
  db.run(
    `INSERT INTO budget(scope, sessions) VALUES(?, ?) ON CONFLICT(scope) DO UPDATE SET
       input_tokens = 0, output_tokens = 0, cost_usd = 0, reported = 0, priced = 0, sessions = excluded.sessions`,
    [`task:${row.id}`, -below],
  );
}

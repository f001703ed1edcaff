import type { BudgetAmount, BudgetLimits, BudgetMeasure, BudgetScope, BudgetState, Usage } from "@toolhaft/tasks";
import { budgetMeasures, parsed, type TaskRecord, unknownUsage } from "@toolhaft/tasks/adapter";
import type { Sql } from "../database.ts";

/** What a claim sets aside, and what a top-up adds. */
const defaultStep: BudgetLimits = { inputTokens: 50_000, outputTokens: 50_000, totalTokens: 50_000, costUsd: 0.5 };
/** A reservation grows once so much of it is used. */
const topUpAt = 0.8;
const nothing: BudgetAmount = { inputTokens: 0, outputTokens: 0, totalTokens: 0, costUsd: 0, sessions: 0 };

export function scopeKey(scope: BudgetScope): string {
  return "root" in scope ? `root:${scope.root}` : `task:${scope.task}`;
}

/** The task itself, what is above it, and the root. */
async function scopesOf(db: Sql, row: Pick<TaskRecord, "id" | "parent" | "root">): Promise<string[]> {
  const scopes = [`task:${row.id}`];
  for (let parent = row.parent; parent !== null; ) {
    scopes.push(`task:${parent}`);
    parent =
      (await db.get<{ parent: string | null }>("SELECT parent FROM @task WHERE id = ?", [parent]))?.parent ?? null;
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

async function budgetRow(db: Sql, scope: string): Promise<BudgetRow | undefined> {
  return await db.get<BudgetRow>("SELECT * FROM @budget WHERE scope = ?", [scope]);
}

async function usedOf(db: Sql, scope: string, row: BudgetRow | undefined): Promise<BudgetAmount> {
  const input = row?.input_tokens ?? 0;
  const output = row?.output_tokens ?? 0;
  return {
    inputTokens: input,
    outputTokens: output,
    totalTokens: input + output,
    costUsd: row?.cost_usd ?? 0,
    sessions: (await sessionsOf(db, scope)) + (row?.sessions ?? 0),
  };
}

/** Attempts begun below a scope, counted from the rows. */
async function sessionsOf(db: Sql, scope: string): Promise<number> {
  const [kind, name] = split(scope);
  const sql =
    kind === "root"
      ? "SELECT coalesce(sum(sessions), 0) AS n FROM @task WHERE root = ? AND kind = 'dispatch'"
      : `${subtree} SELECT coalesce(sum(t.sessions), 0) AS n FROM below JOIN @task t ON t.id = below.id`;
  return (await db.get<{ n: number }>(sql, [name]))?.n ?? 0;
}

const subtree = `WITH RECURSIVE below(id) AS (
  SELECT id FROM @task WHERE id = ? UNION SELECT t.id FROM below JOIN @task t ON t.parent = below.id)`;

function split(scope: string): ["root" | "task", string] {
  const at = scope.indexOf(":");
  return [scope.startsWith("root") ? "root" : "task", scope.slice(at + 1)];
}

interface Reservation {
  granted: BudgetLimits;
  consumed: BudgetAmount;
}

/** Held by live claims in a scope and not yet used. */
async function reservedIn(db: Sql, scope: string): Promise<BudgetAmount> {
  const sum = { ...nothing };
  const rows = await db.all<{ granted_json: string; consumed_json: string }>(
    "SELECT granted_json, consumed_json FROM @reservation WHERE scope = ?",
    [scope],
  );
  for (const row of rows) {
    const [granted, consumed] = [parsed<BudgetLimits>(row.granted_json), parsed<BudgetAmount>(row.consumed_json)];
    for (const measure of budgetMeasures) sum[measure] += Math.max(0, (granted[measure] ?? 0) - consumed[measure]);
  }
  return sum;
}

/** For each measure that something above limits: how much is left for a new reservation. */
async function roomOf(
  db: Sql,
  scopes: readonly string[],
): Promise<{
  room: BudgetLimits;
  /** Measures of which others hold a part. */
  held: Set<BudgetMeasure>;
  limited: string[];
}> {
  const room: BudgetLimits = {};
  const limited: string[] = [];
  const held = new Set<BudgetMeasure>();
  for (const scope of scopes) {
    const row = await budgetRow(db, scope);
    if (row?.limits_json == null) continue;
    limited.push(scope);
    const limits = parsed<BudgetLimits>(row.limits_json);
    const used = await usedOf(db, scope, row);
    const reserved = await reservedIn(db, scope);
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

/** Taken before what is left below one root is counted: two that count at once would both be granted the last of it. */
async function lockBudget(db: Sql, row: Pick<TaskRecord, "root">): Promise<void> {
  await db.get("SELECT pg_advisory_xact_lock(hashtextextended(?, 1))", [row.root]);
}

/** Sets aside one step in every limited scope above a task, or says why not. */
export async function reserve(
  db: Sql,
  row: TaskRecord,
  step: BudgetLimits | undefined,
  newAttempt: boolean,
): Promise<Reserved> {
  // A run that waited has kept what it was granted.
  const kept = row.reserved === 1 ? await reservationOf(db, row.seq) : undefined;
  if (kept !== undefined) return { outcome: "reserved", granted: kept.granted };
  const scopes = await scopesOf(db, row);
  const limit = await db.get(
    "SELECT 1 AS found FROM @budget WHERE scope = ANY(?::text[]) AND limits_json IS NOT NULL LIMIT 1",
    [scopes],
  );
  if (limit === undefined) return { outcome: "none" };
  await lockBudget(db, row);
  const before = await roomOf(db, scopes);
  const { room, held, limited } = (await lend(db, row, before)) ? await roomOf(db, scopes) : before;
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
    await db.run(
      `INSERT INTO @reservation(task, scope, granted_json, consumed_json) VALUES(?, ?, ?, ?)
       ON CONFLICT(task, scope) DO UPDATE SET granted_json = excluded.granted_json, consumed_json = excluded.consumed_json`,
      [row.seq, scope, JSON.stringify(granted), JSON.stringify(nothing)],
    );
  }
  return { outcome: "reserved", granted };
}

/** Where the tasks above hold all that is left, the nearest gives half: else a parent would wait for ever for its child. */
async function lend(
  db: Sql,
  row: TaskRecord,
  { room, held }: Pick<Awaited<ReturnType<typeof roomOf>>, "room" | "held">,
): Promise<boolean> {
  const missing = budgetMeasures.filter((measure) => (room[measure] ?? 1) <= 0 && held.has(measure));
  let lent = false;
  for (let parent = row.parent; parent !== null && missing.length > 0; ) {
    const above = await db.get<{ seq: number; parent: string | null }>("SELECT seq, parent FROM @task WHERE id = ?", [
      parent,
    ]);
    const reservation = above && (await reservationOf(db, above.seq));
    const { granted, consumed } = reservation ?? { granted: {}, consumed: nothing };
    for (const measure of [...missing]) {
      const unused = (granted[measure] ?? 0) - consumed[measure];
      if (unused <= 0) continue;
      granted[measure] = (granted[measure] ?? 0) - (measure === "costUsd" ? unused / 2 : Math.ceil(unused / 2));
      await db.run("UPDATE @reservation SET granted_json = ? WHERE task = ?", [
        JSON.stringify(granted),
        above?.seq ?? 0,
      ]);
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

export async function releaseReservation(db: Sql, row: Pick<TaskRecord, "seq">): Promise<void> {
  await db.run("DELETE FROM @reservation WHERE task = ?", [row.seq]);
}

/** What a claim was granted and has used; undefined where nothing above it is limited. */
async function reservationOf(db: Sql, task: number): Promise<Reservation | undefined> {
  const row = await db.get<{ granted_json: string; consumed_json: string }>(
    "SELECT granted_json, consumed_json FROM @reservation WHERE task = ? LIMIT 1",
    [task],
  );
  return row && { granted: parsed(row.granted_json), consumed: parsed(row.consumed_json) };
}

/**
 * Takes one usage report: the running total under its key replaces the one before, the difference is added to the task,
 * what is above it and the root, and the reservation grows by a step when most of it is used.
 */
export async function recordUsage(
  db: Sql,
  row: TaskRecord,
  key: string,
  total: Usage,
  step: BudgetLimits | undefined,
): Promise<string> {
  if (row.reserved === 1) await lockBudget(db, row);
  const before = await db.get<UsageRow>("SELECT * FROM @usage WHERE task = ? AND key = ?", [row.seq, key]);
  await db.run(
    `INSERT INTO @usage(task, key, attempt, input_tokens, output_tokens, reasoning_tokens, cache_read_tokens, cache_write_tokens, cost_usd)
     VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT(task, key) DO UPDATE SET input_tokens = excluded.input_tokens, output_tokens = excluded.output_tokens,
       reasoning_tokens = excluded.reasoning_tokens, cache_read_tokens = excluded.cache_read_tokens,
       cache_write_tokens = excluded.cache_write_tokens, cost_usd = excluded.cost_usd`,
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
  const scopes = await scopesOf(db, row);
  for (const scope of scopes) {
    await db.run(
      `INSERT INTO @budget AS b(scope, input_tokens, output_tokens, cost_usd, reported, priced) VALUES(?, ?, ?, ?, ?, ?)
       ON CONFLICT(scope) DO UPDATE SET input_tokens = b.input_tokens + excluded.input_tokens,
         output_tokens = b.output_tokens + excluded.output_tokens, cost_usd = b.cost_usd + excluded.cost_usd,
         reported = greatest(b.reported, excluded.reported), priced = greatest(b.priced, excluded.priced)`,
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
  if (row.reserved === 1) await consume(db, row, scopes, spent, step);
  return JSON.stringify({ ...(await sumUsage(db, row.seq)), complete: false });
}

async function consume(
  db: Sql,
  row: TaskRecord,
  scopes: readonly string[],
  spent: { inputTokens: number; outputTokens: number; costUsd: number },
  step: BudgetLimits | undefined,
): Promise<void> {
  const held = await reservationOf(db, row.seq);
  if (held === undefined) return;
  const { granted, consumed } = held;
  consumed.inputTokens += spent.inputTokens;
  consumed.outputTokens += spent.outputTokens;
  consumed.totalTokens += spent.inputTokens + spent.outputTokens;
  consumed.costUsd += spent.costUsd;
  await keep();
  const { room } = await roomOf(db, scopes);
  for (const measure of budgetMeasures) {
    const most = granted[measure];
    const left = room[measure] ?? 0;
    if (most === undefined || left <= 0 || consumed[measure] <= topUpAt * most) continue;
    const missing = Math.max(stepOf(step, measure), consumed[measure] - most);
    granted[measure] = most + Math.min(left, missing);
  }
  await keep();

  async function keep(): Promise<void> {
    await db.run("UPDATE @reservation SET granted_json = ?, consumed_json = ? WHERE task = ?", [
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
export async function sumUsage(db: Sql, task: number, attempt?: number): Promise<Usage> {
  const sum = await db.get<Omit<Usage, "complete">>(
    `SELECT sum(input_tokens) AS "inputTokens", sum(output_tokens) AS "outputTokens", sum(reasoning_tokens) AS "reasoningTokens",
       sum(cache_read_tokens) AS "cacheReadTokens", sum(cache_write_tokens) AS "cacheWriteTokens", sum(cost_usd) AS "costUsd"
     FROM @usage WHERE task = ?${attempt === undefined ? "" : " AND attempt = ?"}`,
    attempt === undefined ? [task] : [task, attempt],
  );
  return { ...unknownUsage, ...sum, complete: false };
}

export async function readBudget(db: Sql, scope: BudgetScope): Promise<BudgetState> {
  const key = scopeKey(scope);
  const row = await budgetRow(db, key);
  const amounts = await usedOf(db, key, row);
  const unknown = await unknownIn(db, key);
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
    reserved: await reservedIn(db, key),
    unknownUsage: unknown,
    claim: "task" in scope ? await claimState(db, scope.task) : null,
  };
}

async function claimState(db: Sql, id: string): Promise<BudgetState["claim"]> {
  const row = await db.get<{ seq: number }>("SELECT seq FROM @task WHERE id = ? AND reserved = 1", [id]);
  const held = row && (await reservationOf(db, row.seq));
  if (held === undefined) return null;
  const { granted, consumed } = held;
  const exceeded = budgetMeasures.find((measure) => {
    const most = granted[measure];
    return most !== undefined && consumed[measure] >= most && consumed[measure] > 0;
  });
  return { granted, consumed, exceeded: exceeded ?? null };
}

/** Ended attempts of subagents that never said what they used. */
async function unknownIn(db: Sql, scope: string): Promise<number> {
  const [kind, name] = split(scope);
  const rows =
    kind === "root"
      ? "SELECT count(*) AS n FROM @task t JOIN @attempt a ON a.task = t.seq WHERE t.root = ? AND t.kind = 'dispatch' AND a.started_at IS NOT NULL AND a.usage_json IS NULL"
      : `${subtree} SELECT count(*) AS n FROM below JOIN @task t ON t.id = below.id JOIN @attempt a ON a.task = t.seq
         WHERE t.kind = 'dispatch' AND a.started_at IS NOT NULL AND a.usage_json IS NULL`;
  const pruned =
    (await db.get<{ n: number }>("SELECT pruned_unknown AS n FROM @budget WHERE scope = ?", [scope]))?.n ?? 0;
  return ((await db.get<{ n: number }>(rows, [name]))?.n ?? 0) + pruned;
}

export async function writeLimits(db: Sql, scope: BudgetScope, limits: BudgetLimits | null): Promise<void> {
  const json =
    limits === null || Object.values(limits).every((limit) => limit === undefined) ? null : JSON.stringify(limits);
  await db.run(
    "INSERT INTO @budget(scope, limits_json) VALUES(?, ?) ON CONFLICT(scope) DO UPDATE SET limits_json = excluded.limits_json",
    [scopeKey(scope), json],
  );
}

/** A retry that starts with the task's own counters at zero; what is above it keeps what was spent. */
export async function resetTaskBudget(db: Sql, row: Pick<TaskRecord, "id" | "seq">): Promise<void> {
  const below = await sessionsOf(db, `task:${row.id}`);
  await db.run(
    `INSERT INTO @budget(scope, sessions) VALUES(?, ?) ON CONFLICT(scope) DO UPDATE SET
       input_tokens = 0, output_tokens = 0, cost_usd = 0, reported = 0, priced = 0, sessions = excluded.sessions`,
    [`task:${row.id}`, -below],
  );
}

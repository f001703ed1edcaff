import type { Database } from "@toolhaft/sqlite";
import type { Problem, ProblemCode } from "../model.ts";
import type { ModelUsage, UsageReport } from "../store.ts";
import type { SessionRow } from "./summaries.ts";

interface UsageRow {
  model: string | null;
  provider: string | null;
  inherited: number;
  answers: number;
  input: number;
  output: number;
  reasoning: number;
  cache_read: number;
  cache_write: number;
  cache_write_1h: number;
  usd: number | null;
  at: string | null;
}

/** Some lines of an answer may lack the id of its request: they tell of the same answer. */
export const countedOnce = `NOT (u.key = u.response AND EXISTS (
  SELECT 1 FROM usage same WHERE same.response = u.response AND same.session = u.session AND same.key <> u.key))`;

/**
 * What a session used. A response that a sidechain repeats was counted where it was made; one that an older session of
 * the project holds as well was inherited from it.
 */
export function usageReport(db: Database, session: SessionRow): UsageReport {
  const models = db
    .all<UsageRow>(
      `SELECT model, provider, inherited OR elsewhere AS inherited, count(*) AS answers, sum(input) AS input, sum(output) AS output, sum(reasoning) AS reasoning,
         sum(cache_read) AS cache_read, sum(cache_write) AS cache_write, sum(cache_write_1h) AS cache_write_1h, sum(usd) AS usd, max(at) AS at
       FROM (
         SELECT u.model, u.provider, u.inherited, u.input, u.output, u.reasoning, u.cache_read, u.cache_write, u.cache_write_1h, u.usd,
           (SELECT m.at FROM messages m WHERE m.session = u.session AND m.key = u.message) AS at,
           EXISTS (
             SELECT 1 FROM usage o JOIN sessions s ON s.row = o.session
             WHERE o.response = u.response AND o.session <> u.session AND s.live = 1 AND s.store = :store AND s.store <> 'codex'
               AND (s.id = :parent OR ((:parent IS NULL OR u.sidechain = 0) AND s.directory IS :directory AND (s.created, s.updated, s.id) < (:created, :updated, :id) AND coalesce(s.parent, '') <> :id))
           ) AS elsewhere
         FROM usage u WHERE u.session = :row AND ${countedOnce}
       ) GROUP BY model, provider, inherited OR elsewhere ORDER BY inherited, model`,
      {
        store: session.store,
        row: session.row,
        parent: session.parent,
        directory: session.directory,
        created: session.created,
        updated: session.updated,
        id: session.id,
      },
    )
    .map(modelUsage);
  const problems = problemsOf(db, session.row);
  return {
    models,
    complete: !problems.some(
      ({ code }) => code === "estimated_usage" || code === "malformed_line" || code === "partial_tail",
    ),
    context: { peakTokens: session.peak, window: session.window },
    activeMs: session.active_ms,
    version: session.version,
    counts: countsOf(db, session),
    tools: toolsOf(db, session.row),
    problems,
  };
}

function modelUsage(row: UsageRow): ModelUsage {
  return {
    provider: row.provider,
    model: row.model ?? "unknown",
    answers: row.answers,
    usage: {
      inputTokens: row.input,
      outputTokens: row.output,
      reasoningTokens: row.reasoning,
      cacheReadTokens: row.cache_read,
      cacheWriteTokens: row.cache_write,
    },
    cacheWrite1h: row.cache_write_1h,
    recordedUsd: row.usd,
    at: row.at,
    inherited: row.inherited === 1,
  };
}

export function problemsOf(db: Database, session: number): Problem[] {
  return db
    .all<{ code: ProblemCode; count: number; file: string; line: number; offset: number }>(
      "SELECT code, count, file, line, offset FROM problems WHERE session = ? ORDER BY line, code",
      [session],
    )
    .map(({ code, count, file, line, offset }) => ({ code, count, first: { file, line, offset } }));
}

function countsOf(db: Database, session: SessionRow): UsageReport["counts"] {
  const row = db.get<{ answers: number; compactions: number; branches: number }>(
    `SELECT coalesce(sum(kind = 'answer'), 0) AS answers, coalesce(sum(kind = 'compaction'), 0) AS compactions,
       count(DISTINCT branch) AS branches FROM messages WHERE session = ?`,
    [session.row],
  );
  const calls = db.get<{ n: number }>("SELECT count(*) AS n FROM calls WHERE session = ?", [session.row]);
  return {
    messages: session.messages,
    prompts: session.prompts,
    answers: row?.answers ?? 0,
    toolCalls: calls?.n ?? 0,
    compactions: row?.compactions ?? 0,
    branches: row?.branches ?? 0,
  };
}

function toolsOf(db: Database, session: number): UsageReport["tools"] {
  return db.all(
    `SELECT name, count(*) AS calls, coalesce(sum(status = 'error'), 0) AS errors, coalesce(sum(status = 'denied'), 0) AS denied
     FROM calls WHERE session = ? GROUP BY name ORDER BY calls DESC, name`,
    [session],
  );
}

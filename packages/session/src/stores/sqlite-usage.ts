import type { Database } from "@toolhaft/sqlite";
import { activeMsOf } from "../recording.ts";
import type { UsageReport } from "../store.ts";
import { type ModelSums, modelSums, modelUsageFrom } from "./recorded.ts";
import { chain } from "./sqlite-rows.ts";

/** What a recorded session cost, and what was done in it. */
export function usageOf(db: Database, session: number): UsageReport {
  const models = db
    .all<ModelSums & { own: number }>(
      `${chain} SELECT model, provider, own, ${modelSums} FROM path WHERE input IS NOT NULL GROUP BY model, provider, own`,
      { session },
    )
    .map((row) => modelUsageFrom(row, row.own === 0));
  const counts = db.get<{ messages: number; prompts: number; answers: number; compactions: number }>(
    `${chain} SELECT count(*) AS messages, coalesce(sum(kind = 'prompt'), 0) AS prompts, coalesce(sum(kind = 'answer'), 0) AS answers, coalesce(sum(kind = 'compaction'), 0) AS compactions FROM path`,
    { session },
  ) ?? { messages: 0, prompts: 0, answers: 0, compactions: 0 };
  const tools = db.all<{ name: string; calls: number; errors: number; denied: number }>(
    `${chain} SELECT p.tool AS name, count(*) AS calls, coalesce(sum(p.status = 'error'), 0) AS errors, coalesce(sum(p.status = 'denied'), 0) AS denied
       FROM path m JOIN parts p ON p.message = m.row WHERE p.kind = 'tool' GROUP BY p.tool ORDER BY calls DESC, name`,
    { session },
  );
  const times = db
    .all<{ at: string }>(`${chain} SELECT at FROM path ORDER BY at`, { session })
    .map(({ at }) => Date.parse(at));
  return {
    models,
    complete: true,
    context: { peakTokens: null, window: null },
    activeMs: activeMsOf(times),
    version: null,
    counts: { ...counts, toolCalls: tools.reduce((sum, { calls }) => sum + calls, 0), branches: 1 },
    tools,
    problems: [],
  };
}

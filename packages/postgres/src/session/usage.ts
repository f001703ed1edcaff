import type { UsageReport } from "@toolhaft/session";
import { activeMsOf, type ModelSums, modelSums, modelUsageFrom } from "@toolhaft/session/adapter";
import type { Sql } from "../database.ts";
import { messagesOfPath, pathValues, type Stretch } from "./path.ts";

/** What a recorded session cost, and what was done in it. */
export async function usageOf(sql: Sql, path: readonly Stretch[]): Promise<UsageReport> {
  const values = pathValues(path);
  const own = path.at(-1)?.session ?? 0;
  const models = await sql.all<ModelSums & { own: boolean }>(
    `SELECT model, provider, m.session = :own AS own, ${modelSums} FROM ${messagesOfPath}
     WHERE input IS NOT NULL GROUP BY model, provider, m.session = :own`,
    { ...values, own },
  );
  const counts = await sql.get<{ messages: number; prompts: number; answers: number; compactions: number }>(
    `SELECT count(*) AS messages, count(*) FILTER (WHERE m.kind = 'prompt') AS prompts,
       count(*) FILTER (WHERE m.kind = 'answer') AS answers, count(*) FILTER (WHERE m.kind = 'compaction') AS compactions
     FROM ${messagesOfPath}`,
    values,
  );
  const tools = await sql.all<{ name: string; calls: number; errors: number; denied: number }>(
    `SELECT p.tool AS name, count(*) AS calls, count(*) FILTER (WHERE p.status = 'error') AS errors,
       count(*) FILTER (WHERE p.status = 'denied') AS denied
     FROM ${messagesOfPath} JOIN @parts p ON p.message = m.row
     WHERE p.kind = 'tool' GROUP BY p.tool ORDER BY calls DESC, p.tool COLLATE "C"`,
    values,
  );
  const times = await sql.all<{ at: string }>(`SELECT at FROM ${messagesOfPath} ORDER BY at`, values);
  return {
    models: models.map((row) => modelUsageFrom(row, !row.own)),
    complete: true,
    context: { peakTokens: null, window: null },
    activeMs: activeMsOf(times.map(({ at }) => Date.parse(at))),
    version: null,
    counts: {
      ...(counts ?? { messages: 0, prompts: 0, answers: 0, compactions: 0 }),
      toolCalls: tools.reduce((sum, { calls }) => sum + calls, 0),
      branches: 1,
    },
    tools,
    problems: [],
  };
}

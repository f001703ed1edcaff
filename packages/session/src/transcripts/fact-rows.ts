import type { Database } from "@toolhaft/sqlite";
import type { Fact, Place } from "../facts.ts";

export type FactOf<K extends Fact["kind"]> = Extract<Fact, { kind: K }>;

/** The first prompt is the title of last resort; of the others the newest counts, for each leaf that one is written for. */
export function writeTitle(db: Database, fact: FactOf<"title">, session: number, place: Place): void {
  const conflict = fact.rank === 1 ? "DO NOTHING" : "DO UPDATE SET text = excluded.text, n = excluded.n";
  db.run(
    `INSERT INTO titles(session, rank, leaf, n, text) VALUES (?, ?, ?, ?, ?) ON CONFLICT(session, rank, leaf) ${conflict}`,
    [session, fact.rank, fact.leaf ?? "", place.offset, fact.text],
  );
}

export function writeUsage(db: Database, fact: FactOf<"usage">, session: number, place: Place): void {
  const { usage } = fact;
  db.run(
    `INSERT INTO usage(session, key, response, message, n, model, provider, input, output, reasoning, cache_read, cache_write, cache_write_1h, usd, sidechain, inherited)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT(session, key) DO UPDATE SET model = coalesce(excluded.model, model), input = excluded.input, output = excluded.output,
       reasoning = excluded.reasoning, cache_read = excluded.cache_read, cache_write = excluded.cache_write,
       cache_write_1h = excluded.cache_write_1h, usd = coalesce(excluded.usd, usd), inherited = excluded.inherited`,
    [
      session,
      fact.key,
      fact.response,
      fact.message,
      place.offset,
      fact.model,
      fact.provider,
      usage.inputTokens,
      usage.outputTokens,
      usage.reasoningTokens,
      usage.cacheReadTokens,
      usage.cacheWriteTokens,
      fact.cacheWrite1h,
      fact.costUsd,
      fact.sidechain ? 1 : 0,
      fact.inherited ? 1 : 0,
    ],
  );
}

export function writeChange(db: Database, fact: FactOf<"change">, session: number, file: number, place: Place): void {
  const call =
    fact.callId === null
      ? undefined
      : db.get<{ message: number }>("SELECT message FROM calls WHERE session = ? AND call_id = ?", [
          session,
          fact.callId,
        ]);
  const { change } = fact;
  db.run(
    `INSERT INTO changes(session, n, message, call_id, path, from_path, kind, additions, deletions, file, offset, length)
     VALUES (?, (SELECT coalesce(max(n), -1) + 1 FROM changes WHERE session = ?), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      session,
      session,
      call?.message ?? null,
      fact.callId,
      change.path,
      change.from,
      change.kind,
      change.additions,
      change.deletions,
      file,
      place.offset,
      place.length,
    ],
  );
}

export function writeContext(db: Database, fact: FactOf<"context">, session: number): void {
  db.run(
    "UPDATE sessions SET peak = max(coalesce(peak, 0), coalesce(?, 0)), window = coalesce(?, window) WHERE row = ?",
    [fact.peakTokens, fact.window, session],
  );
}

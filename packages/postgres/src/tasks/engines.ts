import type { EngineInfo, KnownEngine, LaneLimits } from "@toolhaft/tasks";
import { parsed } from "@toolhaft/tasks/adapter";
import type { Sql, Transaction } from "../database.ts";

/** An engine that was not heard of for so long, in milliseconds, is taken for gone. */
const aliveMs = 30_000;

interface EngineRow {
  id: string;
  host: string;
  pid: number;
  started_at: number;
  beat_at: number;
  lanes_json: string | null;
  sessions_json: string;
}

export async function beat(db: Transaction, engine: EngineInfo): Promise<void> {
  await db.run(
    `INSERT INTO @engine(id, host, pid, started_at, beat_at, lanes_json, sessions_json) VALUES(?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT(id) DO UPDATE SET beat_at = excluded.beat_at, lanes_json = excluded.lanes_json, sessions_json = excluded.sessions_json`,
    [
      engine.id,
      engine.host,
      engine.pid,
      Date.parse(engine.startedAt),
      db.now,
      engine.lanes === null ? null : JSON.stringify(engine.lanes),
      JSON.stringify(engine.sessions),
    ],
  );
}

export async function readEngines(db: Sql, now: number): Promise<KnownEngine[]> {
  return (await db.all<EngineRow>("SELECT * FROM @engine ORDER BY started_at, id")).map((row) => ({
    id: row.id,
    host: row.host,
    pid: row.pid,
    startedAt: new Date(row.started_at).toISOString(),
    lanes: row.lanes_json === null ? null : parsed<LaneLimits>(row.lanes_json),
    sessions: parsed<string[]>(row.sessions_json),
    beatAt: new Date(row.beat_at).toISOString(),
    alive: row.beat_at + aliveMs > now,
  }));
}

/** The limits of the engine that was heard of last. */
export async function lanesInForce(db: Sql, now: number): Promise<LaneLimits | undefined> {
  const row = await db.get<{ lanes_json: string }>(
    "SELECT lanes_json FROM @engine WHERE lanes_json IS NOT NULL AND beat_at > ? ORDER BY beat_at DESC LIMIT 1",
    [now - aliveMs],
  );
  return row && parsed<LaneLimits>(row.lanes_json);
}

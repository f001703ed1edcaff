import type { Clock } from "@toolhaft/core";
import type { Database, SqlValue } from "@toolhaft/sqlite";
import type { Resolution, SessionState, Signal, SignalEffect, SignalType } from "../model.ts";
import type { NewSignal, SignalLog } from "../store.ts";
import { summarise } from "../terminating.ts";

interface Row {
  seq: number;
  id: string;
  session: string;
  at: number;
  type: SignalType;
  class: Signal["class"];
  payload: string | null;
  agent: string | null;
  call_id: string | null;
  expires_at: number | null;
  functions: string;
}

const columns = "seq, id, session, at, type, class, payload, agent, call_id, expires_at, functions";

export function recordSignal(db: Database, session: string, signal: NewSignal): Signal {
  const { id, at, type, class: kind, payload, agent, callId, expiresAt, functions } = signal;
  const { lastInsertRowid } = db.run(
    "INSERT INTO signals(id, session, at, type, class, payload, agent, call_id, expires_at, functions) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [
      id,
      session,
      at,
      type,
      kind,
      payload === null ? null : JSON.stringify(payload),
      agent,
      callId,
      expiresAt,
      JSON.stringify(functions),
    ],
  );
  return { ...signal, seq: Number(lastInsertRowid), session };
}

export function signalOfCall(db: Database, session: string, callId: string): Signal | undefined {
  const row = db.get<Row>(`SELECT ${columns} FROM signals WHERE session = ? AND call_id = ?`, [session, callId]);
  return row && toSignal(row);
}

export function signalLog(
  open: () => Promise<Database>,
  listeners: Set<(signal: Signal) => void>,
  clock: Clock,
): SignalLog {
  const select = async (where: string, parameters: readonly SqlValue[]) =>
    (await open()).all<Row>(`SELECT ${columns} FROM signals WHERE ${where}`, parameters).map(toSignal);
  return {
    since: (session, seq = 0, limit = -1) =>
      select("session = ? AND seq > ? ORDER BY seq LIMIT ?", [session, seq, Number.isFinite(limit) ? limit : -1]),
    async openPause(session) {
      const row = (await open()).get<{ state: string }>("SELECT state FROM sessions WHERE session = ?", [session]);
      if (row === undefined) return undefined;
      const { pauses } = JSON.parse(row.state) as SessionState;
      const now = clock.now();
      const newest = pauses.filter(({ expiresAt }) => expiresAt === null || expiresAt > now).at(-1);
      return newest && (await select("seq = ?", [newest.seq]))[0];
    },
    async terminating(session, sinceSeq = 0) {
      return summarise(
        await select("session = ? AND seq > ? AND class = 'terminating' ORDER BY seq", [session, sinceSeq]),
      );
    },
    async resolutions(session) {
      const sql = 'SELECT pause AS "of", at, kind, by FROM resolutions WHERE session = ? ORDER BY id';
      return (await open()).all<Resolution>(sql, [session]);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async prune({ olderThan }) {
      const db = await open();
      return db.write(() => {
        db.run("INSERT INTO pruning(on_since) VALUES(?)", [Math.floor(clock.now())]);
        const open = "SELECT json_extract(value, '$.seq') FROM sessions, json_each(sessions.state, '$.pauses')";
        const time = Math.floor(olderThan);
        const { changes } = db.run(`DELETE FROM signals WHERE at < ? AND seq NOT IN (${open})`, [time]);
        db.run("DELETE FROM resolutions WHERE pause NOT IN (SELECT seq FROM signals)");
        // Steps make sense as a whole only: those of sessions that rest go, with the states kept.
        db.run("DELETE FROM steps WHERE session IN (SELECT session FROM sessions WHERE at < ?)", [time]);
        db.run("DELETE FROM pruning");
        return changes;
      });
    },
  };
}

function toSignal(row: Row): Signal {
  const { seq, id, session, at, type, class: kind, payload, agent } = row;
  return {
    seq,
    id,
    session,
    at,
    type,
    class: kind,
    payload: payload === null ? null : (JSON.parse(payload) as Record<string, unknown>),
    agent,
    callId: row.call_id,
    expiresAt: row.expires_at,
    functions: JSON.parse(row.functions) as SignalEffect[],
  };
}

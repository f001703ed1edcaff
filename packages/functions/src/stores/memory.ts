import { type Clock, systemClock } from "@toolhaft/core";
import { emptyState, type Resolution, type SessionState, type Signal } from "../model.ts";
import type { FunctionStore, SignalLog, StepEntry } from "../store.ts";
import { summarise } from "../terminating.ts";

interface Kept {
  state: SessionState;
  steps: StepEntry[];
  resolutions: Resolution[];
}

/** A store that lives as long as the process. */
export function memoryStore(options: { clock?: Clock } = {}): FunctionStore {
  const clock = options.clock ?? systemClock;
  const sessions = new Map<string, Kept>();
  const listeners = new Set<(signal: Signal) => void>();
  let all: Signal[] = [];
  let lastSeq = 0;

  const of = (session: string) => all.filter((signal) => signal.session === session);
  const signals: SignalLog = {
    async since(session, seq = 0, limit = Number.POSITIVE_INFINITY) {
      return of(session)
        .filter((signal) => signal.seq > seq)
        .slice(0, limit);
    },
    async openPause(session) {
      const now = clock.now();
      const open = sessions.get(session)?.state.pauses.filter(({ expiresAt }) => expiresAt === null || expiresAt > now);
      const newest = open?.at(-1)?.seq;
      return all.find(({ seq }) => seq === newest);
    },
    async terminating(session, sinceSeq = 0) {
      return summarise(of(session).filter((signal) => signal.seq > sinceSeq && signal.class === "terminating"));
    },
    resolutions: async (session) => [...(sessions.get(session)?.resolutions ?? [])],
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async prune({ olderThan }) {
      const open = new Set([...sessions.values()].flatMap(({ state }) => state.pauses.map(({ seq }) => seq)));
      const kept = all.filter(({ seq, at }) => at >= olderThan || open.has(seq));
      const gone = all.length - kept.length;
      all = kept;
      for (const session of sessions.values())
        if ((session.steps.at(-1)?.at ?? olderThan) < olderThan) session.steps = [];
      return gone;
    },
  };

  return {
    async transact(session, reduce, { callId, signal: stop } = {}) {
      stop?.throwIfAborted();
      const kept = sessions.get(session) ?? { state: emptyState(session), steps: [], resolutions: [] };
      const repeated = callId === undefined ? undefined : of(session).find((signal) => signal.callId === callId);
      const { result, write } = reduce(kept.state, { seq: lastSeq + 1, repeated });
      if (write === undefined) return result;
      kept.state = structuredClone(write.state);
      kept.steps.push(structuredClone(write.entry));
      kept.resolutions.push(...write.resolutions);
      sessions.delete(session);
      sessions.set(session, kept);
      if (write.signal) {
        lastSeq += 1;
        const recorded: Signal = structuredClone({ ...write.signal, seq: lastSeq, session });
        all.push(recorded);
        for (const listener of [...listeners]) listener(recorded);
      }
      return result;
    },
    read: async (session) => structuredClone(sessions.get(session)?.state ?? emptyState(session)),
    sessions: async (limit) => [...sessions.keys()].reverse().slice(0, limit),
    steps: async (session) => structuredClone(sessions.get(session)?.steps ?? []),
    signals,
    close: async () => undefined,
  };
}

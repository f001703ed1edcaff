import type { FunctionStore, SignalLog } from "../store.ts";
import type { SqliteStoreOptions } from "./sqlite.ts";

/**
 * The SQLite store; its module, and SQLite with it, is loaded by the first use. Sessions and signals share one file
 * `<directory>/.toolhaft/functions.db` or wherever `path` says.
 */
export function sqliteStore(options: SqliteStoreOptions): FunctionStore {
  let loading: Promise<FunctionStore> | undefined;
  const listeners = new Set<Parameters<SignalLog["subscribe"]>[0]>();
  let closed = false;
  const store = () => {
    if (closed) throw new Error("the family is closed");
    loading ??= import("./sqlite.ts").then(({ openSqliteStore }) => openSqliteStore(options, listeners));
    return loading;
  };
  return {
    transact: async (session, reduce, more) => (await store()).transact(session, reduce, more),
    read: async (session) => (await store()).read(session),
    sessions: async (limit) => (await store()).sessions(limit),
    steps: async (session) => (await store()).steps(session),
    signals: {
      since: async (session, seq, limit) => (await store()).signals.since(session, seq, limit),
      openPause: async (session) => (await store()).signals.openPause(session),
      terminating: async (session, sinceSeq) => (await store()).signals.terminating(session, sinceSeq),
      resolutions: async (session) => (await store()).signals.resolutions(session),
      subscribe(listener) {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
      prune: async (prune) => (await store()).signals.prune(prune),
    },
    async close() {
      closed = true;
      listeners.clear();
      const opened = loading;
      loading = undefined;
      if (opened) await (await opened).close();
    },
  };
}

import type { Migration } from "@toolhaft/sqlite";

/** Refuses a change of a log, whoever makes it, unless a row in `pruning` says that its own transaction may. */
const refuse = (table: string, verb: "UPDATE" | "DELETE", unless: string) => `
  CREATE TRIGGER ${table}_refuse_${verb.toLowerCase()} BEFORE ${verb} ON ${table} ${unless}
  BEGIN SELECT RAISE(ABORT, '${table} is append-only'); END;`;
const unlessPruning = "WHEN NOT EXISTS (SELECT 1 FROM pruning)";

export const migrations: readonly Migration[] = [
  {
    version: 1,
    name: "sessions, functions, steps, signals",
    up: `
      CREATE TABLE sessions(session TEXT PRIMARY KEY, step INTEGER NOT NULL, at INTEGER NOT NULL, state TEXT NOT NULL) STRICT, WITHOUT ROWID;
      CREATE INDEX sessions_by_time ON sessions(at DESC);
      CREATE TABLE functions(session TEXT NOT NULL, id TEXT NOT NULL, record TEXT NOT NULL, PRIMARY KEY(session, id)) STRICT, WITHOUT ROWID;
      CREATE TABLE steps(session TEXT NOT NULL, step INTEGER NOT NULL, at INTEGER NOT NULL, entry TEXT NOT NULL, PRIMARY KEY(session, step)) STRICT, WITHOUT ROWID;
      CREATE TABLE signals(seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, session TEXT NOT NULL, at INTEGER NOT NULL,
        type TEXT NOT NULL, class TEXT NOT NULL, payload TEXT, agent TEXT, call_id TEXT, expires_at INTEGER, functions TEXT NOT NULL) STRICT;
      CREATE INDEX signals_by_session ON signals(session, seq);
      CREATE UNIQUE INDEX signals_by_call ON signals(session, call_id) WHERE call_id IS NOT NULL;
      CREATE TABLE resolutions(id INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT NOT NULL, pause INTEGER NOT NULL, at INTEGER NOT NULL,
        kind TEXT NOT NULL, by TEXT) STRICT;
      CREATE INDEX resolutions_by_session ON resolutions(session, id);
      CREATE TABLE pruning(on_since INTEGER NOT NULL) STRICT;
      ${refuse("signals", "UPDATE", "")}
      ${refuse("signals", "DELETE", unlessPruning)}
      ${refuse("resolutions", "UPDATE", "")}
      ${refuse("resolutions", "DELETE", unlessPruning)}`,
  },
];

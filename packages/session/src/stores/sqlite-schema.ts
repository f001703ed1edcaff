import type { Migration } from "@toolhaft/sqlite";
import { SPACE_TOKENIZER } from "@toolhaft/text";

export const migrations: readonly Migration[] = [
  {
    version: 1,
    name: "sessions",
    up: `
CREATE TABLE sessions(
  row INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, parent TEXT, parent_row INTEGER, fork_seq INTEGER, title TEXT NOT NULL, directory TEXT NOT NULL,
  branch TEXT, agent TEXT, created TEXT NOT NULL, updated TEXT NOT NULL, archived INTEGER NOT NULL DEFAULT 0, todos TEXT, next_seq INTEGER NOT NULL
);
CREATE INDEX sessions_list ON sessions(directory, updated DESC, id);
CREATE INDEX sessions_parent ON sessions(parent_row);
CREATE TABLE messages(
  row INTEGER PRIMARY KEY, session INTEGER NOT NULL REFERENCES sessions(row), seq INTEGER NOT NULL, id TEXT NOT NULL, role TEXT NOT NULL, kind TEXT NOT NULL,
  at TEXT NOT NULL, model TEXT, provider TEXT, input INTEGER, output INTEGER, reasoning INTEGER, cache_read INTEGER, cache_write INTEGER, usd REAL, hash TEXT NOT NULL,
  UNIQUE(session, id), UNIQUE(session, seq)
);
CREATE TABLE parts(
  row INTEGER PRIMARY KEY, message INTEGER NOT NULL REFERENCES messages(row), n INTEGER NOT NULL, kind TEXT NOT NULL, text TEXT,
  tool TEXT, call_id TEXT, input TEXT, output TEXT, status TEXT, file_name TEXT, mime TEXT, bytes INTEGER, UNIQUE(message, n)
);
CREATE TABLE blobs(sha256 TEXT PRIMARY KEY, bytes BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE file_changes(session INTEGER NOT NULL, n INTEGER NOT NULL, message INTEGER NOT NULL, path TEXT NOT NULL, before TEXT, after TEXT, PRIMARY KEY(session, n)) WITHOUT ROWID;
CREATE TABLE indexed(part INTEGER NOT NULL);
INSERT INTO indexed VALUES (0);
CREATE VIRTUAL TABLE parts_fts USING fts5(text, tool, thinking, output, content='', contentless_delete=1, tokenize=${SPACE_TOKENIZER});
`,
  },
];

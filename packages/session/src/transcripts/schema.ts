import type { Migration } from "@toolhaft/sqlite";
import { SPACE_TOKENIZER } from "@toolhaft/text";

/** SQL for the milliseconds since the epoch of a time in ISO 8601. */
export function millisecondsOf(time: string): string {
  return `CAST(round((julianday(${time}) - 2440587.5) * 86400000) AS INTEGER)`;
}

const emptied = [
  "files",
  "sessions",
  "messages",
  "lines",
  "nodes",
  "usage",
  "calls",
  "changes",
  "problems",
  "parts",
  "message_fts",
]
  .map((table) => `DELETE FROM ${table};`)
  .join("\n");

/**
 * The index holds places, links and counts; no transcript text is stored but the words of the full-text index.
 * A message is read again from its `lines`.
 */
export const migrations: readonly Migration[] = [
  {
    version: 1,
    name: "transcript index",
    up: `
CREATE TABLE files(
  id INTEGER PRIMARY KEY, store TEXT NOT NULL, path TEXT NOT NULL UNIQUE, session TEXT NOT NULL, parent TEXT,
  archived INTEGER NOT NULL, packed INTEGER NOT NULL, scope TEXT NOT NULL,
  dev TEXT NOT NULL, ino TEXT NOT NULL, size INTEGER NOT NULL, mtime_ns TEXT NOT NULL,
  offset INTEGER NOT NULL, line INTEGER NOT NULL, head_hash TEXT NOT NULL, tail_hash TEXT NOT NULL,
  state TEXT NOT NULL, bookkeeping INTEGER NOT NULL, building INTEGER NOT NULL, complete INTEGER NOT NULL,
  lease_until INTEGER NOT NULL, lease_by TEXT, error TEXT
);
CREATE TABLE sessions(
  row INTEGER PRIMARY KEY, store TEXT NOT NULL, id TEXT NOT NULL, file INTEGER NOT NULL, live INTEGER NOT NULL,
  title TEXT NOT NULL, directory TEXT, branch TEXT, version TEXT, parent TEXT, parent_kind TEXT, parent_at TEXT,
  created TEXT, updated TEXT, archived INTEGER NOT NULL, own_from INTEGER, replay INTEGER NOT NULL,
  messages INTEGER NOT NULL, prompts INTEGER NOT NULL, all_messages INTEGER NOT NULL, active_ms INTEGER NOT NULL,
  models TEXT NOT NULL, peak INTEGER, window INTEGER, todos TEXT, dirty INTEGER NOT NULL
);
CREATE UNIQUE INDEX sessions_live ON sessions(store, id) WHERE live = 1;
CREATE INDEX sessions_list ON sessions(directory, updated DESC, id);
CREATE INDEX sessions_file ON sessions(file);
CREATE INDEX sessions_parent ON sessions(store, parent) WHERE parent IS NOT NULL;
CREATE TABLE titles(session INTEGER NOT NULL, rank INTEGER NOT NULL, text TEXT NOT NULL, leaf TEXT, PRIMARY KEY(session, rank)) WITHOUT ROWID;
CREATE TABLE messages(
  row INTEGER PRIMARY KEY, session INTEGER NOT NULL, seq INTEGER NOT NULL, key TEXT NOT NULL, idx INTEGER,
  role TEXT NOT NULL, kind TEXT NOT NULL, at TEXT, model TEXT, provider TEXT, branch TEXT NOT NULL, parent TEXT,
  inherited INTEGER NOT NULL, reverted INTEGER NOT NULL, offset INTEGER NOT NULL
);
CREATE UNIQUE INDEX messages_key ON messages(session, key);
CREATE INDEX messages_seq ON messages(session, seq);
CREATE INDEX messages_idx ON messages(session, idx);
CREATE TABLE lines(message INTEGER NOT NULL, file INTEGER NOT NULL, offset INTEGER NOT NULL, length INTEGER NOT NULL, record INTEGER NOT NULL, oversize INTEGER NOT NULL, PRIMARY KEY(message, file, offset, record)) WITHOUT ROWID;
CREATE INDEX lines_place ON lines(file, offset);
CREATE TABLE nodes(session INTEGER NOT NULL, n INTEGER NOT NULL, id TEXT NOT NULL, parent TEXT, logical TEXT, message INTEGER, PRIMARY KEY(session, n)) WITHOUT ROWID;
CREATE UNIQUE INDEX nodes_id ON nodes(session, id);
CREATE TABLE usage(
  session INTEGER NOT NULL, key TEXT NOT NULL, response TEXT NOT NULL, message TEXT NOT NULL, n INTEGER NOT NULL, model TEXT, provider TEXT,
  input INTEGER NOT NULL, output INTEGER NOT NULL, reasoning INTEGER NOT NULL, cache_read INTEGER NOT NULL, cache_write INTEGER NOT NULL,
  cache_write_1h INTEGER NOT NULL, usd REAL, at TEXT, sidechain INTEGER NOT NULL, inherited INTEGER NOT NULL, PRIMARY KEY(session, key)
) WITHOUT ROWID;
CREATE INDEX usage_response ON usage(response);
CREATE TABLE calls(session INTEGER NOT NULL, call_id TEXT NOT NULL, message INTEGER NOT NULL, name TEXT NOT NULL, status TEXT NOT NULL, rank INTEGER NOT NULL, PRIMARY KEY(session, call_id)) WITHOUT ROWID;
CREATE TABLE changes(session INTEGER NOT NULL, n INTEGER NOT NULL, message INTEGER, call_id TEXT, path TEXT NOT NULL, from_path TEXT, kind TEXT NOT NULL, additions INTEGER, deletions INTEGER, file INTEGER NOT NULL, offset INTEGER NOT NULL, length INTEGER NOT NULL, PRIMARY KEY(session, n)) WITHOUT ROWID;
CREATE TABLE problems(session INTEGER NOT NULL, code TEXT NOT NULL, count INTEGER NOT NULL, file TEXT NOT NULL, line INTEGER NOT NULL, offset INTEGER NOT NULL, PRIMARY KEY(session, code)) WITHOUT ROWID;
CREATE TABLE parts(row INTEGER PRIMARY KEY, message INTEGER NOT NULL, part TEXT NOT NULL, tool TEXT);
CREATE INDEX parts_message ON parts(message);
CREATE VIRTUAL TABLE message_fts USING fts5(text, tool, thinking, content='', contentless_delete=1, tokenize=${SPACE_TOKENIZER});
`,
  },
  {
    version: 2,
    name: "a part tells its session and time",
    up: `
ALTER TABLE parts ADD COLUMN session INTEGER NOT NULL DEFAULT 0;
ALTER TABLE parts ADD COLUMN at INTEGER;
UPDATE parts SET session = m.session, at = ${millisecondsOf("m.at")} FROM messages m WHERE m.row = parts.message;
`,
  },
  {
    version: 3,
    name: "times that a host keeps of a session, a title for each leaf, what a session begins with",
    // What the rows lack stands in the transcripts: they are read again.
    up: `
ALTER TABLE sessions ADD COLUMN told_created TEXT;
ALTER TABLE sessions ADD COLUMN told_updated TEXT;
ALTER TABLE sessions ADD COLUMN first_key TEXT;
CREATE INDEX sessions_first ON sessions(store, first_key) WHERE first_key IS NOT NULL;
DROP TABLE titles;
CREATE TABLE titles(session INTEGER NOT NULL, rank INTEGER NOT NULL, leaf TEXT NOT NULL, n INTEGER NOT NULL, text TEXT NOT NULL, PRIMARY KEY(session, rank, leaf)) WITHOUT ROWID;
${emptied}
`,
  },
];

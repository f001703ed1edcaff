import type { Migration } from "../migrate.ts";

/**
 * As in the SQLite file. Times are ISO 8601 and compared as bytes, as there. `waiting` names parts that no search has
 * indexed yet: row numbers do not tell, since transactions commit in another order than they were numbered.
 */
const sessions = `
CREATE TABLE @sessions(
  row bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id text COLLATE "C" NOT NULL UNIQUE, parent text COLLATE "C",
  parent_row bigint REFERENCES @sessions(row), fork_seq bigint, title text NOT NULL, directory text COLLATE "C" NOT NULL,
  branch text, agent text, created text COLLATE "C" NOT NULL, updated text COLLATE "C" NOT NULL,
  archived boolean NOT NULL DEFAULT false, todos text, next_seq bigint NOT NULL DEFAULT 0
);
CREATE INDEX sessions_list ON @sessions(directory, updated DESC, id);
CREATE INDEX sessions_recent ON @sessions(updated DESC, id);
CREATE INDEX sessions_parent ON @sessions(parent) WHERE parent IS NOT NULL;
CREATE TABLE @messages(
  row bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, session bigint NOT NULL REFERENCES @sessions(row), seq bigint NOT NULL,
  id text COLLATE "C" NOT NULL, role text NOT NULL, kind text NOT NULL, at text COLLATE "C" NOT NULL, model text, provider text,
  input bigint, output bigint, reasoning bigint, cache_read bigint, cache_write bigint, usd double precision, hash text NOT NULL,
  UNIQUE(session, id), UNIQUE(session, seq)
);
CREATE TABLE @parts(
  row bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, message bigint NOT NULL REFERENCES @messages(row), n int NOT NULL,
  kind text NOT NULL, text text, tool text, call_id text, input text, output text, status text, file_name text, mime text,
  bytes bigint, UNIQUE(message, n)
);
CREATE TABLE @blobs(sha256 text PRIMARY KEY, bytes bytea NOT NULL);
CREATE TABLE @file_changes(
  session bigint NOT NULL, n bigint NOT NULL, message bigint NOT NULL REFERENCES @messages(row), path text NOT NULL,
  before text, after text, key text NOT NULL UNIQUE, PRIMARY KEY(session, n)
);
CREATE INDEX file_changes_message ON @file_changes(message);
CREATE TABLE @waiting(part bigint PRIMARY KEY);
CREATE TABLE @words(
  part bigint NOT NULL REFERENCES @parts(row), field text NOT NULL, terms text[] NOT NULL, counts int[] NOT NULL,
  length int NOT NULL, PRIMARY KEY(part, field)
);
CREATE INDEX words_text ON @words USING gin (terms) WHERE field = 'text';
CREATE INDEX words_tool_input ON @words USING gin (terms) WHERE field = 'tool_input';
CREATE INDEX words_thinking ON @words USING gin (terms) WHERE field = 'thinking';
CREATE INDEX words_tool_output ON @words USING gin (terms) WHERE field = 'tool_output';
CREATE TABLE @indexed(one boolean PRIMARY KEY DEFAULT true CHECK(one), parts bigint NOT NULL, length bigint NOT NULL);
INSERT INTO @indexed(parts, length) VALUES(0, 0);
`;

export const migrations: readonly Migration[] = [{ version: 1, up: sessions }];

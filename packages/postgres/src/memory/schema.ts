import type { Migration } from "../migrate.ts";

/** Terms carry the number of their partition, so that a search never touches a row of another. */
const memories = `
CREATE TABLE @memories(
  row bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id text NOT NULL UNIQUE, workspace text NOT NULL,
  scope text NOT NULL CHECK(scope IN ('workspace', 'role')), role text NOT NULL, thread text NOT NULL,
  title text NOT NULL, title_key text NOT NULL, content text NOT NULL, category text NOT NULL,
  relevance int NOT NULL CHECK(relevance BETWEEN 0 AND 2), tags text NOT NULL, tag_keys text NOT NULL,
  about text NOT NULL, about_keys text NOT NULL, confidence double precision NOT NULL,
  kind text NOT NULL CHECK(kind IN ('note', 'fragment')), hash bytea NOT NULL, version int NOT NULL,
  created_at bigint NOT NULL, updated_at bigint NOT NULL, superseded_by text, forgotten_at bigint, provenance text NOT NULL,
  CHECK((scope = 'role') = (role <> ''))
);
CREATE UNIQUE INDEX memories_once ON @memories(workspace, scope, role, hash) WHERE superseded_by IS NULL AND forgotten_at IS NULL;
CREATE INDEX memories_thread ON @memories(workspace, scope, role, thread, row) WHERE superseded_by IS NULL AND forgotten_at IS NULL;
CREATE INDEX memories_title ON @memories(workspace, scope, role, md5(title_key)) WHERE superseded_by IS NULL AND forgotten_at IS NULL;
CREATE INDEX memories_recent ON @memories(workspace, scope, role, updated_at, id);
CREATE INDEX memories_successor ON @memories(superseded_by) WHERE superseded_by IS NOT NULL;
CREATE TABLE @partitions(
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, workspace text NOT NULL, scope text NOT NULL, role text NOT NULL,
  live int NOT NULL DEFAULT 0, length bigint NOT NULL DEFAULT 0, UNIQUE(workspace, scope, role)
);
CREATE TABLE @memory_terms(
  row bigint PRIMARY KEY REFERENCES @memories(row) ON DELETE CASCADE, title text NOT NULL, body text NOT NULL,
  tags text NOT NULL, about text NOT NULL, len int NOT NULL, terms text[] NOT NULL
);
CREATE INDEX memory_terms_gin ON @memory_terms USING gin (terms);
CREATE TABLE @memory_subjects(
  partition bigint NOT NULL REFERENCES @partitions(id), subject_key text NOT NULL, first_term text NOT NULL,
  name text NOT NULL, live int NOT NULL, PRIMARY KEY(partition, subject_key)
);
CREATE INDEX memory_subjects_first ON @memory_subjects(partition, first_term);
CREATE TABLE @memory_uses(
  row bigint PRIMARY KEY REFERENCES @memories(row) ON DELETE CASCADE, uses int NOT NULL, last_used_at bigint NOT NULL
);
CREATE TABLE @memory_history(
  row bigint NOT NULL REFERENCES @memories(row) ON DELETE CASCADE, version int NOT NULL, at bigint NOT NULL,
  agent text NOT NULL, session text NOT NULL, kind text NOT NULL, before text, PRIMARY KEY(row, version)
);
CREATE TABLE @memory_vectors(
  row bigint PRIMARY KEY REFERENCES @memories(row) ON DELETE CASCADE, model text NOT NULL, dims int NOT NULL,
  bits bytea NOT NULL, vector bytea NOT NULL
);
`;

const keysAndGraph = `
CREATE TABLE @kv(
  workspace text NOT NULL, agent text NOT NULL, key text COLLATE "C" NOT NULL, value text NOT NULL, version int NOT NULL,
  updated_at bigint NOT NULL, PRIMARY KEY(workspace, agent, key)
);
CREATE TABLE @entities(
  row bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id text NOT NULL UNIQUE, workspace text NOT NULL, agent text NOT NULL,
  name text COLLATE "C" NOT NULL, type text NOT NULL, name_key text NOT NULL, type_key text COLLATE "C" NOT NULL,
  attributes text NOT NULL, created_at bigint NOT NULL, updated_at bigint NOT NULL, removed_at bigint,
  UNIQUE(workspace, agent, name_key, type_key)
);
CREATE TABLE @edges(
  id text NOT NULL UNIQUE, from_row bigint NOT NULL REFERENCES @entities(row), to_row bigint NOT NULL REFERENCES @entities(row),
  type text NOT NULL, type_key text NOT NULL, weight double precision NOT NULL, created_at bigint NOT NULL,
  updated_at bigint NOT NULL, removed_at bigint, PRIMARY KEY(from_row, to_row, type_key)
);
CREATE INDEX edges_to ON @edges(to_row, type_key);
CREATE INDEX edges_heavy ON @edges(from_row, weight DESC);
`;

/** Notes, keys and graph live in one schema, each behind a port of its own. */
export const migrations: readonly Migration[] = [{ version: 1, up: `${memories}${keysAndGraph}` }];

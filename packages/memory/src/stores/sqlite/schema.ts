import type { Migration } from "@toolhaft/sqlite";
import { ANALYSER, SPACE_TOKENIZER } from "@toolhaft/text";

/** Statement that makes the full-text table; also used when the index is made anew beside the old one. */
export function createFts(name: string): string {
  return `CREATE VIRTUAL TABLE ${name} USING fts5(title, body, tags, about, content='', contentless_delete=1, tokenize=${SPACE_TOKENIZER})`;
}

export function createTerms(name: string): string {
  return `CREATE TABLE ${name}(row INTEGER PRIMARY KEY REFERENCES memories(row) ON DELETE CASCADE, title TEXT NOT NULL,
    body TEXT NOT NULL, tags TEXT NOT NULL, about TEXT NOT NULL, len INTEGER NOT NULL) STRICT`;
}

const memories = `
CREATE TABLE memories(
  row INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, workspace TEXT NOT NULL,
  scope TEXT NOT NULL CHECK(scope IN ('workspace', 'role')), role TEXT NOT NULL, thread TEXT NOT NULL,
  title TEXT NOT NULL, title_key TEXT NOT NULL, content TEXT NOT NULL, category TEXT NOT NULL,
  relevance INTEGER NOT NULL CHECK(relevance BETWEEN 0 AND 2), tags TEXT NOT NULL, tag_keys TEXT NOT NULL,
  about TEXT NOT NULL, about_keys TEXT NOT NULL,
  confidence REAL NOT NULL, kind TEXT NOT NULL CHECK(kind IN ('note', 'fragment')), hash BLOB NOT NULL,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
  superseded_by TEXT, forgotten_at INTEGER, provenance TEXT NOT NULL,
  CHECK((scope = 'role') = (role <> ''))
) STRICT;
CREATE UNIQUE INDEX memories_once ON memories(workspace, scope, role, hash) WHERE superseded_by IS NULL AND forgotten_at IS NULL;
CREATE INDEX memories_thread ON memories(workspace, scope, role, thread, row) WHERE superseded_by IS NULL AND forgotten_at IS NULL;
CREATE INDEX memories_title ON memories(workspace, scope, role, title_key) WHERE superseded_by IS NULL AND forgotten_at IS NULL;
CREATE INDEX memories_recent ON memories(workspace, scope, role, updated_at, id);
CREATE INDEX memories_successor ON memories(superseded_by) WHERE superseded_by IS NOT NULL;
CREATE TABLE partitions(
  id INTEGER PRIMARY KEY, workspace TEXT NOT NULL, scope TEXT NOT NULL, role TEXT NOT NULL,
  live INTEGER NOT NULL DEFAULT 0, length INTEGER NOT NULL DEFAULT 0, UNIQUE(workspace, scope, role)
) STRICT;
${createTerms("memory_terms")};
${createFts("memory_fts")};
CREATE VIRTUAL TABLE memory_df USING fts5vocab(memory_fts, 'row');
CREATE TABLE memory_subjects(
  partition INTEGER NOT NULL REFERENCES partitions(id), subject_key TEXT NOT NULL, first_term TEXT NOT NULL,
  name TEXT NOT NULL, live INTEGER NOT NULL, PRIMARY KEY(partition, subject_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_subjects_first ON memory_subjects(partition, first_term);
CREATE TABLE memory_uses(
  row INTEGER PRIMARY KEY REFERENCES memories(row) ON DELETE CASCADE, uses INTEGER NOT NULL, last_used_at INTEGER NOT NULL
) STRICT;
CREATE TABLE memory_history(
  row INTEGER NOT NULL REFERENCES memories(row) ON DELETE CASCADE, version INTEGER NOT NULL, at INTEGER NOT NULL,
  agent TEXT NOT NULL, session TEXT NOT NULL, kind TEXT NOT NULL, before TEXT, PRIMARY KEY(row, version)
) STRICT, WITHOUT ROWID;
CREATE TABLE memory_vectors(
  row INTEGER PRIMARY KEY REFERENCES memories(row) ON DELETE CASCADE, model TEXT NOT NULL, dims INTEGER NOT NULL, bits BLOB NOT NULL, vector BLOB NOT NULL
) STRICT;
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
`;

const keysAndGraph = `
CREATE TABLE kv(
  workspace TEXT NOT NULL, agent TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, version INTEGER NOT NULL,
  updated_at INTEGER NOT NULL, PRIMARY KEY(workspace, agent, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE entities(
  row INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, workspace TEXT NOT NULL, agent TEXT NOT NULL, name TEXT NOT NULL,
  type TEXT NOT NULL, name_key TEXT NOT NULL, type_key TEXT NOT NULL, attributes TEXT NOT NULL,
  created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, removed_at INTEGER,
  UNIQUE(workspace, agent, name_key, type_key)
) STRICT;
CREATE TABLE edges(
  id TEXT NOT NULL UNIQUE, from_row INTEGER NOT NULL REFERENCES entities(row), to_row INTEGER NOT NULL REFERENCES entities(row),
  type TEXT NOT NULL, type_key TEXT NOT NULL, weight REAL NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
  removed_at INTEGER, PRIMARY KEY(from_row, to_row, type_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX edges_to ON edges(to_row, type_key);
CREATE INDEX edges_heavy ON edges(from_row, weight DESC);
`;

/** What made an index: it is made anew when either number rises. */
export interface AnalyserMark {
  version: number;
  /** Major version of ICU, which knows the words of dense scripts. */
  icu: number;
}

export const thisAnalyser: AnalyserMark = { version: ANALYSER.version, icu: Number.parseInt(ANALYSER.icu, 10) || 0 };

/** Schema of `memory.db`: notes, keys and graph live in one file, each behind a port of its own. */
export function migrations(analyser: AnalyserMark): readonly Migration[] {
  return [
    {
      version: 1,
      name: "memories, keys and graph",
      up(db) {
        for (const statement of `${memories}${keysAndGraph}`.split(/;\n/))
          if (statement.trim() !== "") db.run(statement);
        db.run("INSERT INTO meta(key, value) VALUES('analyser', ?)", [JSON.stringify(analyser)]);
      },
    },
  ];
}

export const live = "m.superseded_by IS NULL AND m.forgotten_at IS NULL";
/** The filter that no statement on memories goes without; binds `:workspace` and `:agent`. */
export const visible = "m.workspace = :workspace AND (m.scope = 'workspace' OR m.role = :agent)";

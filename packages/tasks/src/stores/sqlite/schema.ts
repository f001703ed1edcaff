import type { Migration } from "@toolhaft/sqlite";

/**
 * Columns are named as the keys of `TaskRecord`. A body may be long and never changes: a long one lies in a table of its own.
 * Events, attempts and notices are written with every edge and go with their task by name: a foreign key would look for
 * the task at each.
 * What a row tells is not written twice: most tasks are owned by their root, so the index of owners holds the others, and
 * the event `posted`, always the first, is made from the row when it is read.
 * What an edge brings is kept where the edge writes anyway: the row holds its newest events (\`tail_json\`) and, once it has
 * ended, its last attempt (\`kept\`, \`last_…\`), as long as they are small. The views \`happened\` and \`tried\` show all of them.
 * Every table an edge writes is one b-tree where it can be: what a commit costs is the pages it touches. An attempt
 * stands at `place` = task × 65,536 + attempt; keys of events are unique per task because they are looked up, under the
 * write lock, before they are written.
 */
const tasks = `
CREATE TABLE task(
  seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, title TEXT NOT NULL, agent TEXT, assignee TEXT,
  created_agent TEXT NOT NULL, created_session TEXT NOT NULL, claimed_agent TEXT, claimed_session TEXT, engine TEXT,
  token_hash TEXT, lease_until INTEGER, attached INTEGER NOT NULL DEFAULT 0, state TEXT NOT NULL, mode TEXT, class TEXT,
  priority INTEGER NOT NULL, lane TEXT, owner TEXT NOT NULL, root TEXT NOT NULL, parent TEXT, depth INTEGER NOT NULL,
  continues TEXT, slot_of TEXT, dedupe_key TEXT, depends_json TEXT, attempt INTEGER NOT NULL DEFAULT 0,
  attempt_open INTEGER NOT NULL DEFAULT 0, max_attempts INTEGER NOT NULL, on_lost TEXT NOT NULL,
  fence INTEGER NOT NULL DEFAULT 0, sessions INTEGER NOT NULL DEFAULT 0, cancel_json TEXT, cancel_at INTEGER,
  session_id TEXT, handle_json TEXT, limits_json TEXT, allow_empty INTEGER NOT NULL, reserved INTEGER NOT NULL DEFAULT 0,
  resume_json TEXT, not_before INTEGER, created_at INTEGER NOT NULL, queued_at INTEGER, claimed_at INTEGER,
  started_at INTEGER, activity_at INTEGER, ended_at INTEGER, wait_until INTEGER, end_json TEXT, usage_json TEXT,
  last_seq INTEGER NOT NULL DEFAULT 0, meta_json TEXT, due_at INTEGER, unindexed INTEGER, needed INTEGER NOT NULL DEFAULT 0, body TEXT,
  tail_json TEXT, kept INTEGER NOT NULL DEFAULT 0, last_json TEXT, last_text TEXT
) STRICT;
CREATE UNIQUE INDEX task_dedupe ON task(dedupe_key) WHERE dedupe_key IS NOT NULL AND ended_at IS NULL;
CREATE UNIQUE INDEX task_session ON task(session_id)
  WHERE session_id IS NOT NULL AND state IN ('starting', 'running');
CREATE INDEX task_queue ON task(kind, priority DESC, seq) WHERE state = 'queued';
CREATE INDEX task_lane ON task(lane) WHERE state = 'queued' AND lane IS NOT NULL;
CREATE INDEX task_active ON task(lane) WHERE kind = 'dispatch' AND (lease_until IS NOT NULL OR state = 'waiting');
CREATE INDEX task_due ON task(due_at) WHERE due_at IS NOT NULL;
CREATE INDEX task_owner ON task(owner, seq) WHERE owner <> root;
CREATE INDEX task_root ON task(root, seq);
CREATE INDEX task_parent ON task(parent) WHERE parent IS NOT NULL;
CREATE INDEX task_continues ON task(continues) WHERE continues IS NOT NULL;
CREATE INDEX task_agent ON task(agent, created_at) WHERE agent IS NOT NULL;
CREATE INDEX task_run ON task(session_id) WHERE session_id IS NOT NULL;
CREATE INDEX task_unindexed ON task(unindexed) WHERE unindexed IS NOT NULL;
CREATE TABLE body(task INTEGER PRIMARY KEY REFERENCES task(seq) ON DELETE CASCADE, text TEXT NOT NULL) STRICT;
CREATE TABLE dependency(
  task INTEGER NOT NULL REFERENCES task(seq) ON DELETE CASCADE, needs INTEGER NOT NULL, PRIMARY KEY(needs, task)
) STRICT, WITHOUT ROWID;
CREATE INDEX dependency_task ON dependency(task);
CREATE TABLE attempt(
  task INTEGER NOT NULL, attempt INTEGER NOT NULL, state TEXT NOT NULL, session_id TEXT, started_at INTEGER, ended_at INTEGER NOT NULL, end_json TEXT NOT NULL, result_json TEXT, text TEXT,
  usage_json TEXT, place INTEGER PRIMARY KEY
) STRICT;
CREATE TABLE chunk(
  task INTEGER NOT NULL REFERENCES task(seq) ON DELETE CASCADE, attempt INTEGER NOT NULL, start_char INTEGER NOT NULL,
  text TEXT NOT NULL, PRIMARY KEY(task, attempt, start_char)
) STRICT;
CREATE TABLE event(
  task INTEGER NOT NULL, seq INTEGER NOT NULL, attempt INTEGER NOT NULL,
  at INTEGER NOT NULL, kind TEXT NOT NULL, key TEXT NOT NULL, data TEXT NOT NULL, PRIMARY KEY(task, seq)
) STRICT, WITHOUT ROWID;
CREATE VIEW tried AS
  SELECT task, attempt, state, session_id, started_at, ended_at, end_json, result_json, text, usage_json, place FROM attempt
  UNION ALL
  SELECT seq, attempt, state, session_id, started_at, ended_at, end_json, last_json, last_text, NULL, seq * 65536 + attempt
  FROM task WHERE kept = 1;
CREATE VIEW happened AS
  SELECT task, seq, attempt, at, kind, key, data FROM event
  UNION ALL
  SELECT t.seq, e.value ->> 0, e.value ->> 1, e.value ->> 2, e.value ->> 3, e.value ->> 4, e.value -> 5
  FROM task t JOIN json_each(t.tail_json) e;
CREATE INDEX event_kept ON event(task, attempt, kind, seq) WHERE kind IN ('progress', 'activity', 'checkpoint');
CREATE TABLE notice(
  task INTEGER NOT NULL, attempt INTEGER NOT NULL,
  kind TEXT NOT NULL, n INTEGER NOT NULL DEFAULT 0, recipient TEXT NOT NULL, created_at INTEGER NOT NULL,
  deliver_after INTEGER NOT NULL, lease_until INTEGER, tries INTEGER NOT NULL DEFAULT 0, acked_at INTEGER,
  running INTEGER NOT NULL, queued INTEGER NOT NULL, waiting INTEGER NOT NULL, settled INTEGER NOT NULL, wake INTEGER NOT NULL,
  PRIMARY KEY(task, attempt, kind, n)
) STRICT, WITHOUT ROWID;
CREATE INDEX notice_pending ON notice(recipient, created_at, settled) WHERE acked_at IS NULL;
CREATE TABLE tally(
  owner TEXT NOT NULL, kind TEXT NOT NULL, running INTEGER NOT NULL, queued INTEGER NOT NULL, waiting INTEGER NOT NULL,
  PRIMARY KEY(owner, kind)
) STRICT, WITHOUT ROWID;
`;

const money = `
CREATE TABLE approval(
  id TEXT PRIMARY KEY, task INTEGER NOT NULL REFERENCES task(seq) ON DELETE CASCADE, attempt INTEGER NOT NULL,
  ask_key TEXT NOT NULL, kind TEXT NOT NULL, title TEXT NOT NULL, detail_json TEXT NOT NULL, approvers_json TEXT NOT NULL,
  state TEXT NOT NULL, on_expire TEXT NOT NULL, on_reject TEXT NOT NULL, attached INTEGER NOT NULL,
  requested_at INTEGER NOT NULL, expires_at INTEGER NOT NULL, decided_at INTEGER, decided_by_json TEXT, comment TEXT
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX approval_once ON approval(task, attempt, ask_key);
CREATE INDEX approval_open ON approval(task) WHERE state = 'open';
CREATE TABLE usage(
  task INTEGER NOT NULL REFERENCES task(seq) ON DELETE CASCADE, key TEXT NOT NULL, attempt INTEGER NOT NULL,
  input_tokens INTEGER, output_tokens INTEGER, reasoning_tokens INTEGER, cache_read_tokens INTEGER,
  cache_write_tokens INTEGER, cost_usd REAL, PRIMARY KEY(task, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE budget(
  scope TEXT PRIMARY KEY, limits_json TEXT, input_tokens INTEGER NOT NULL DEFAULT 0, output_tokens INTEGER NOT NULL DEFAULT 0,
  cost_usd REAL NOT NULL DEFAULT 0, reported INTEGER NOT NULL DEFAULT 0, priced INTEGER NOT NULL DEFAULT 0,
  sessions INTEGER NOT NULL DEFAULT 0, pruned_unknown INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE TABLE reservation(
  task INTEGER NOT NULL REFERENCES task(seq) ON DELETE CASCADE, scope TEXT NOT NULL, granted_json TEXT NOT NULL,
  consumed_json TEXT NOT NULL, PRIMARY KEY(task, scope)
) STRICT, WITHOUT ROWID;
CREATE INDEX reservation_scope ON reservation(scope);
CREATE TABLE engine(
  id TEXT PRIMARY KEY, host TEXT NOT NULL, pid INTEGER NOT NULL, started_at INTEGER NOT NULL, beat_at INTEGER NOT NULL,
  lanes_json TEXT, sessions_json TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;
`;

/** Folded texts and the trigrams over them; all of it can be made anew from the tasks. */
const search = `
CREATE TABLE doc(seq INTEGER PRIMARY KEY, title TEXT NOT NULL, text TEXT NOT NULL) STRICT;
CREATE VIRTUAL TABLE doc_trigram USING fts5(text, content = 'doc', content_rowid = 'seq', tokenize = 'trigram case_sensitive 1', detail = 'full');
CREATE TRIGGER doc_added AFTER INSERT ON doc BEGIN
  INSERT INTO doc_trigram(rowid, text) VALUES(new.seq, new.text);
END;
CREATE TRIGGER doc_removed AFTER DELETE ON doc BEGIN
  INSERT INTO doc_trigram(doc_trigram, rowid, text) VALUES('delete', old.seq, old.text);
END;
CREATE TRIGGER doc_changed AFTER UPDATE ON doc BEGIN
  INSERT INTO doc_trigram(doc_trigram, rowid, text) VALUES('delete', old.seq, old.text);
  INSERT INTO doc_trigram(rowid, text) VALUES(new.seq, new.text);
END;
`;

export const migrations: readonly Migration[] = [{ version: 1, name: "tasks", up: tasks + money + search }];

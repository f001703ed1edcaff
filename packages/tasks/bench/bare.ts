import Sqlite from "better-sqlite3";

/** Ids as long as ours. */
const idOf = (index: number): string => `task_01KBQ7W3M2V8Y0${String(index).padStart(12, "0")}`;

export interface BareQueue {
  post(): void;
  postMany(count: number): void;
  /** Claims and finishes tasks one by one; gives how many there were. */
  work(count: number): number;
  close(): void;
}

/**
 * What a queue on bare SQLite needs to hand out each task once, by priority and then age, and to take no result from a
 * holder that is none any more: one table, one statement to claim, one to finish. It keeps no history and tells nobody.
 */
export function bareQueue(path: string): BareQueue {
  const db = new Sqlite(path, { timeout: 10_000 });
  db.pragma("journal_mode = WAL");
  db.pragma("synchronous = NORMAL");
  db.exec(`CREATE TABLE IF NOT EXISTS q(seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, title TEXT NOT NULL,
    body TEXT NOT NULL, priority INTEGER NOT NULL, owner TEXT NOT NULL, created_at INTEGER NOT NULL, state TEXT NOT NULL,
    claimed_by TEXT, lease_until INTEGER, fence INTEGER NOT NULL DEFAULT 0, ended_at INTEGER, result TEXT) STRICT;
    CREATE INDEX IF NOT EXISTS q_open ON q(priority DESC, seq) WHERE state = 'queued'`);
  const insert = db.prepare(
    "INSERT INTO q(id, title, body, priority, owner, created_at, state) VALUES(?, ?, ?, ?, ?, ?, 'queued')",
  );
  const claim = db.prepare<[string, number], { seq: number; fence: number }>(
    `UPDATE q SET state = 'running', claimed_by = ?, lease_until = ?, fence = fence + 1
     WHERE seq = (SELECT seq FROM q WHERE state = 'queued' ORDER BY priority DESC, seq LIMIT 1) RETURNING *`,
  );
  const finish = db.prepare(
    "UPDATE q SET state = 'completed', result = ?, ended_at = ?, lease_until = NULL WHERE seq = ? AND fence = ? AND state = 'running'",
  );
  let posted = 0;
  const post = (): void => {
    insert.run(idOf(posted), `Task ${posted++}`, "What is to be done.", 0, "bench", Date.now());
  };
  return {
    post,
    postMany: db.transaction((count: number) => {
      for (let index = 0; index < count; index++) post();
    }),
    work(count) {
      for (let done = 0; done < count; done++) {
        const row = claim.get("bench", Date.now() + 60_000);
        if (row === undefined) return done;
        finish.run("done", Date.now(), row.seq, row.fence);
      }
      return count;
    },
    close: () => void db.close(),
  };
}

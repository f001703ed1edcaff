import type { Database } from "@toolhaft/sqlite";
import { markCopiesOf } from "./copies.ts";
import type { FileStat } from "./file-state.ts";

const ofSession = ["titles", "nodes", "usage", "calls", "changes", "problems"];

/** Removes sessions of a file with all that hangs on them. Runs inside a write. */
export function dropSessions(db: Database, file: number, live: 0 | 1): void {
  const dropped = db.all<{ row: number; store: string; first_key: string | null }>(
    "SELECT row, store, first_key FROM sessions WHERE file = ? AND live = ?",
    [file, live],
  );
  for (const { row } of dropped) {
    db.run(
      "DELETE FROM message_fts WHERE rowid IN (SELECT p.row FROM parts p JOIN messages m ON m.row = p.message WHERE m.session = ?)",
      [row],
    );
    db.run("DELETE FROM parts WHERE message IN (SELECT row FROM messages WHERE session = ?)", [row]);
    db.run("DELETE FROM lines WHERE message IN (SELECT row FROM messages WHERE session = ?)", [row]);
    db.run("DELETE FROM messages WHERE session = ?", [row]);
    for (const table of ofSession) db.run(`DELETE FROM ${table} WHERE session = ?`, [row]);
    db.run("DELETE FROM sessions WHERE row = ?", [row]);
  }
  for (const { store, first_key: key } of dropped) if (key !== null) markCopiesOf(db, store, key);
}

/** What was read again takes the place of what was shown while it was read. */
export function goLive(db: Database, file: number): void {
  dropSessions(db, file, 1);
  db.run("UPDATE sessions SET live = 1 WHERE file = ? AND live = 0", [file]);
  db.run("UPDATE files SET building = 0 WHERE id = ?", [file]);
}

/** Of a file whose head alone was read, its end tells the last time. */
export function touchHead(db: Database, file: number, stat: FileStat, updated: string): void {
  db.run("UPDATE files SET size = ?, mtime_ns = ? WHERE id = ?", [stat.size, stat.mtimeNs, file]);
  db.run("UPDATE sessions SET updated = ? WHERE file = ?", [updated, file]);
}

/** The file has gone, and its sessions with it. */
export function dropFile(db: Database, file: number): void {
  dropSessions(db, file, 1);
  dropSessions(db, file, 0);
  db.run("DELETE FROM files WHERE id = ?", [file]);
}

export function dropFileAt(db: Database, path: string): void {
  const file = db.get<{ id: number }>("SELECT id FROM files WHERE path = ?", [path]);
  if (file !== undefined) dropFile(db, file.id);
}

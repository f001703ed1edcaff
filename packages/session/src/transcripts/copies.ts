import type { Database } from "@toolhaft/sqlite";

/**
 * A host that resumes a session may copy its lines into a file of their own, without a word of that: what begins with the
 * same line as an older session of the folder was resumed from it, and the lines of both are the older one's.
 */
export function markCopies(db: Database, session: number): void {
  const key = db.get<{ key: string }>("SELECT key FROM messages WHERE session = ? ORDER BY seq LIMIT 1", [
    session,
  ])?.key;
  // A place in the file is no id of the host's.
  if (key === undefined || key.startsWith("@")) return;
  db.run("UPDATE sessions SET first_key = ? WHERE row = ?", [key, session]);
  const siblings = db.all<{ row: number; id: string }>(
    `SELECT s.row, s.id FROM sessions s JOIN sessions o ON o.row = ? AND s.store = o.store AND s.directory IS o.directory
     WHERE s.first_key = ? AND (s.row = o.row OR (s.live = 1 AND s.id <> o.id)) AND coalesce(s.parent_kind, 'resume') = 'resume'
     ORDER BY s.created, s.updated, s.id`,
    [session, key],
  );
  const [oldest] = siblings;
  for (const [at, { row }] of siblings.entries()) {
    const older = siblings.slice(0, at).map((sibling) => sibling.row);
    db.run(
      `UPDATE messages SET inherited = EXISTS (
         SELECT 1 FROM messages o WHERE o.key = messages.key AND o.session IN (SELECT value FROM json_each(?)))
       WHERE session = ? AND (inherited = 1 OR ?)`,
      [JSON.stringify(older), row, at > 0 ? 1 : 0],
    );
    db.run("UPDATE sessions SET parent = ?, parent_kind = ? WHERE row = ? AND parent IS NOT ?", [
      at === 0 ? null : (oldest?.id ?? null),
      at === 0 ? null : "resume",
      row,
      at === 0 ? null : (oldest?.id ?? null),
    ]);
  }
}

/** Looks again at what began as a session that has gone. */
export function markCopiesOf(db: Database, store: string, key: string): void {
  const left = db.get<{ row: number }>(
    "SELECT row FROM sessions WHERE store = ? AND first_key = ? AND live = 1 LIMIT 1",
    [store, key],
  );
  if (left !== undefined) markCopies(db, left.row);
}

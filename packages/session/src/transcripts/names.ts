import type { Database } from "@toolhaft/sqlite";
import type { TranscriptFormat } from "./format.ts";
import { titleOf } from "./settle.ts";

/** A name that stands beside the transcripts comes after those that stand in them, before the first prompt. */
const rank = 4;

/** Gives sessions the names that the host keeps in a file of its own, as far as that file or a session changed. */
export async function nameSessions({
  db,
  format,
  signal,
}: {
  db: Database;
  format: TranscriptFormat;
  signal: AbortSignal;
}): Promise<void> {
  const names = format.names?.();
  if (names === undefined || names.size === 0) return;
  const renamed = db.all<{ row: number; name: string }>(
    `SELECT s.row, n.value AS name FROM json_each(?) n JOIN sessions s ON s.store = ? AND s.id = n.key AND s.live = 1
     LEFT JOIN titles t ON t.session = s.row AND t.rank = ${rank} WHERE t.text IS NOT n.value`,
    [JSON.stringify(Object.fromEntries(names)), format.source],
  );
  if (renamed.length === 0) return;
  await db.write(
    () => {
      for (const { row, name } of renamed) {
        db.run("INSERT OR REPLACE INTO titles(session, rank, leaf, n, text) VALUES (?, ?, '', 0, ?)", [
          row,
          rank,
          name,
        ]);
        db.run("UPDATE sessions SET title = ? WHERE row = ?", [titleOf(db, row), row]);
      }
    },
    { signal },
  );
}

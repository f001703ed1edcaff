import type { Retention } from "../../store.ts";
import { unknownAttempts } from "./budget.ts";
import type { WriteJob } from "./file.ts";
import { placeOf } from "./rows.ts";

const dayMs = 86_400_000;
/** Tasks taken out in one transaction. */
const batch = 200;

/** Takes out old ended tasks that no living one needs; gives how many of at most one batch. */
export function pruneSome({ db, now }: WriteJob, { days = 90, keep = 0 }: Retention): number {
  const rows = db.all<{ seq: number; id: string; root: string }>(
    `SELECT t.seq, t.id, t.root FROM task t
     WHERE t.created_at < :before AND t.ended_at IS NOT NULL AND t.ended_at < :before
       AND NOT EXISTS (SELECT 1 FROM task c WHERE c.parent = t.id)
       AND NOT EXISTS (SELECT 1 FROM task c WHERE c.continues = t.id)
       AND NOT EXISTS (SELECT 1 FROM dependency d JOIN task w ON w.seq = d.task WHERE d.needs = t.seq AND w.ended_at IS NULL)
       AND t.seq NOT IN (SELECT seq FROM task WHERE ended_at IS NOT NULL ORDER BY seq DESC LIMIT :keep)
     ORDER BY t.seq LIMIT :batch`,
    { before: now - days * dayMs, keep, batch },
  );
  for (const { seq, id, root } of rows) {
    keepSums();
    db.run("DELETE FROM doc WHERE seq = ?", [seq]);
    db.run("DELETE FROM budget WHERE scope = ?", [`task:${id}`]);
    db.run("DELETE FROM attempt WHERE place BETWEEN ? AND ?", [placeOf(seq, 0), placeOf(seq, 65_535)]);
    db.run("DELETE FROM event WHERE task = ?", [seq]);
    db.run("DELETE FROM notice WHERE task = ?", [seq]);
    db.run("DELETE FROM task WHERE seq = ?", [seq]);

    /** What the root has spent is spent, whether or not the task is still there. */
    function keepSums(): void {
      db.run(
        `INSERT INTO budget(scope, sessions, pruned_unknown)
         SELECT :scope, t.sessions, ${unknownAttempts}
         FROM task t WHERE t.seq = :seq AND t.kind = 'dispatch'
         ON CONFLICT(scope) DO UPDATE SET sessions = sessions + excluded.sessions, pruned_unknown = pruned_unknown + excluded.pruned_unknown`,
        { scope: `root:${root}`, seq },
      );
    }
  }
  return rows.length;
}

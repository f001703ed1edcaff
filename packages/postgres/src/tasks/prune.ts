import type { Retention } from "@toolhaft/tasks";
import type { Transaction } from "../database.ts";

const dayMs = 86_400_000;
/** Tasks taken out in one transaction. */
const batch = 200;

/** Takes out old ended tasks that no living one needs; gives how many of at most one batch. */
export async function pruneSome(db: Transaction, { days = 90, keep = 0 }: Retention): Promise<number> {
  const before = db.now - days * dayMs;
  const rows = await db.all<{ seq: number; id: string; root: string }>(
    `SELECT t.seq, t.id, t.root FROM @task t
     WHERE t.created_at < ? AND t.ended_at IS NOT NULL AND t.ended_at < ?
       AND NOT EXISTS (SELECT 1 FROM @task c WHERE c.parent = t.id)
       AND NOT EXISTS (SELECT 1 FROM @task c WHERE c.continues = t.id)
       AND NOT EXISTS (SELECT 1 FROM @dependency d JOIN @task w ON w.seq = d.task WHERE d.needs = t.seq AND w.ended_at IS NULL)
       AND t.seq NOT IN (SELECT seq FROM @task WHERE ended_at IS NOT NULL ORDER BY seq DESC LIMIT ?)
     ORDER BY t.seq LIMIT ? FOR UPDATE OF t SKIP LOCKED`,
    [before, before, keep, batch],
  );
  if (rows.length === 0) return 0;
  const seqs = rows.map(({ seq }) => seq);
  // What the root has spent is spent, whether or not the task is still there.
  await db.run(
    `INSERT INTO @budget AS b(scope, sessions, pruned_unknown)
     SELECT 'root:' || t.root, sum(t.sessions), sum((SELECT count(*) FROM @attempt a
       WHERE a.task = t.seq AND a.started_at IS NOT NULL AND a.usage_json IS NULL))
     FROM @task t WHERE t.seq = ANY(?::bigint[]) AND t.kind = 'dispatch' GROUP BY t.root ORDER BY t.root
     ON CONFLICT(scope) DO UPDATE SET sessions = b.sessions + excluded.sessions,
       pruned_unknown = b.pruned_unknown + excluded.pruned_unknown`,
    [seqs],
  );
  await db.run("DELETE FROM @budget WHERE scope = ANY(?::text[])", [rows.map(({ id }) => `task:${id}`)]);
  await db.run("DELETE FROM @doc WHERE seq = ANY(?::bigint[])", [seqs]);
  for (const table of ["attempt", "event", "notice"])
    await db.run(`DELETE FROM @${table} WHERE task = ANY(?::bigint[])`, [seqs]);
  await db.run("DELETE FROM @task WHERE seq = ANY(?::bigint[])", [seqs]);
  return rows.length;
}

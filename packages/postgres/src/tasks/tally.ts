import type { Remaining, TaskKind, TaskState } from "@toolhaft/tasks";
import { heapOf } from "@toolhaft/tasks/adapter";
import type { Sql, Transaction } from "../database.ts";

/** Counts the owner's open tasks along with every change of a state, so that an end knows what is left. */
export async function moveTally(
  db: Sql,
  owner: string,
  kind: TaskKind,
  from: TaskState | null,
  to: TaskState | null,
): Promise<void> {
  const [left, entered] = [heapOf(from), heapOf(to)];
  if (left === entered) return;
  if (left !== null) {
    const second = entered === null ? "" : `, ${entered} = ${entered} + 1`;
    await db.run(`UPDATE @tally SET ${left} = ${left} - 1${second} WHERE owner = ? AND kind = ?`, [owner, kind]);
  } else if (entered !== null) {
    const start = { running: 0, queued: 0, waiting: 0, [entered]: 1 };
    await db.run(
      `INSERT INTO @tally AS y(owner, kind, running, queued, waiting) VALUES(?, ?, ?, ?, ?)
       ON CONFLICT(owner, kind) DO UPDATE SET ${entered} = y.${entered} + 1`,
      [owner, kind, start.running, start.queued, start.waiting],
    );
  }
}

/** What is left, and the time: with the row of the tally locked, a later end has a later time. */
export async function remainingOf(
  db: Transaction,
  owner: string,
  kind: TaskKind,
): Promise<Remaining & { now: number }> {
  const found = await db.get<Remaining & { now: number }>(
    "SELECT running, queued, waiting, @clock_ms() AS now FROM @tally WHERE owner = ? AND kind = ?",
    [owner, kind],
  );
  return found ?? { running: 0, queued: 0, waiting: 0, now: db.now };
}

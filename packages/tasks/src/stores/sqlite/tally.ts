import type { Database } from "@toolhaft/sqlite";
import type { Remaining, TaskKind, TaskState } from "../../model.ts";

type Heap = keyof Remaining;

/** Under which heading an open task counts for its owner. */
function heapOf(state: TaskState | null): Heap | null {
  switch (state) {
    case "blocked":
    case "queued":
    case "starting":
      return "queued";
    case "running":
      return "running";
    case "waiting":
      return "waiting";
    default:
      return null;
  }
}

/** Counts the owner's open tasks along with every change of a state, so that an end knows what is left. */
export function moveTally(
  db: Database,
  owner: string,
  kind: TaskKind,
  from: TaskState | null,
  to: TaskState | null,
): void {
  const [left, entered] = [heapOf(from), heapOf(to)];
  if (left === entered) return;
  if (left !== null) {
    const second = entered === null ? "" : `, ${entered} = ${entered} + 1`;
    db.run(`UPDATE tally SET ${left} = ${left} - 1${second} WHERE owner = ? AND kind = ?`, [owner, kind]);
  } else if (entered !== null) {
    const start = { running: 0, queued: 0, waiting: 0, [entered]: 1 };
    db.run(
      `INSERT INTO tally(owner, kind, running, queued, waiting) VALUES(?, ?, ?, ?, ?)
       ON CONFLICT(owner, kind) DO UPDATE SET ${entered} = ${entered} + 1`,
      [owner, kind, start.running, start.queued, start.waiting],
    );
  }
}

export function remainingOf(db: Database, owner: string, kind: TaskKind): Remaining {
  return (
    db.get<Remaining>("SELECT running, queued, waiting FROM tally WHERE owner = ? AND kind = ?", [owner, kind]) ?? {
      running: 0,
      queued: 0,
      waiting: 0,
    }
  );
}
